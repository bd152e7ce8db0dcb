//! Rings that cross themselves or one another: checks that complete the sweep, which such segments leave.

use crate::fault::MAX_FAULTS;
use crate::intersection::{Intersection, touch};
use crate::point_in_polygon::point_in_polygon;
use crate::segment::{IntersectionKind, intersect};
use crate::segment_graph::{NONE, SegmentGraph};
use crate::sweep::SweepResult;

/// The most edges that are tested for holes in shells that cross themselves. Further holes are not judged, as their
/// shells have faults anyway.
const MAX_EDGE_TESTS: usize = 20_000_000;

/// Returns all intersections of the segments that left the sweep, which compared them with their neighbours only.
pub(crate) fn intersections_of_removed(graph: &SegmentGraph, swept: &SweepResult) -> Vec<Intersection> {
    let mut intersections = Vec::new();
    for removed in swept.removed.iter().take(MAX_FAULTS) {
        let ends = graph.sweep_endpoints(*removed);
        let one = graph.edge(*removed);
        let (south, north) = (ends[0][1].min(ends[1][1]), ends[0][1].max(ends[1][1]));
        for segment in graph.nodes.iter().map(|node| node.outgoing).filter(|segment| *segment != NONE) {
            let other_ends @ [[west, y], [east, other_y]] = graph.sweep_endpoints(segment);
            if east < ends[0][0] || west > ends[1][0] || y.max(other_y) < south || y.min(other_y) > north {
                continue;
            }
            let other = graph.edge(segment);
            let distance = one.edge.abs_diff(other.edge);
            let are_adjacent = one.ring == other.ring && (distance <= 1 || distance + 1 == graph.ring(one.ring).edges);
            let Some((kind, at)) = intersect(ends, other_ends) else { continue };
            match kind {
                IntersectionKind::Touch if one.ring != other.ring || are_adjacent => {}
                IntersectionKind::Touch => intersections.push(touch(graph, *removed, segment, at)),
                IntersectionKind::Overlap if one == other => {}
                IntersectionKind::Overlap | IntersectionKind::Cross => {
                    intersections.push(Intersection::new(kind, one, other, at));
                }
            }
        }
    }
    intersections
}

/// Returns the holes outside a shell that crosses itself, by the even-odd rule.
pub(crate) fn holes_outside_shell(graph: &SegmentGraph, intersecting: &[bool]) -> Vec<u32> {
    let mut budget = MAX_EDGE_TESTS;
    let mut shell = NONE;
    let mut edges = Vec::new();
    let mut outside = Vec::new();
    for (id, ring) in (0_u32..).zip(&graph.rings) {
        if ring.index == 0 {
            shell = id;
            edges.clear();
        } else if intersecting.get(shell as usize) == Some(&true) && graph.ring(shell).part == ring.part {
            if edges.is_empty() {
                edges.extend(graph.ring_nodes(shell).iter().map(|node| node.outgoing).filter(|edge| *edge != NONE));
            }
            // A vertex at the antimeridian or on the shell does not decide.
            let vertices = graph.ring_nodes(id).iter().map(|node| node.at).filter(|at| at[0].abs() < 180.0);
            let inside = vertices.map_while(|vertex| {
                budget = budget.checked_sub(edges.len())?;
                Some(point_in_polygon(edges.iter().map(|edge| graph.sweep_endpoints(*edge)), vertex))
            });
            if inside.flatten().next() == Some(false) {
                outside.push(id);
            }
        }
    }
    outside
}
