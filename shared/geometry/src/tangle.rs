//! Rings that cross themselves or one another: what a sweep, which such edges leave, cannot tell of them.

use std::cmp::Ordering;

use crate::Position;
use crate::fault::NAMED_FAULTS;
use crate::inside::lies_in;
use crate::meeting::{How, Meeting, crossing_place, touch};
use crate::orient::{Side, side, sweep_order};
use crate::plane::{NONE, Node, Plane};
use crate::sweep::Findings;

/// How many edges are counted for holes in shells that cross themselves; then the holes pass unjudged, beside the
/// faults of their shells.
const COUNTED_EDGES: usize = 20_000_000;

/// What else meets the segments that left the sweep, which had compared them with their neighbours only.
pub(crate) fn meetings_of_removed(plane: &Plane, findings: &Findings) -> Vec<Meeting> {
    let mut meetings = Vec::new();
    for removed in findings.removed.iter().take(NAMED_FAULTS) {
        let ends = plane.ends_in_order(*removed);
        let one = plane.edge(*removed);
        let (south, north) = (ends[0][1].min(ends[1][1]), ends[0][1].max(ends[1][1]));
        for segment in plane.nodes.iter().map(|node| node.out).filter(|segment| *segment != NONE) {
            let other_ends @ [[west, y], [east, other_y]] = plane.ends_in_order(segment);
            if east < ends[0][0] || west > ends[1][0] || y.max(other_y) < south || y.min(other_y) > north {
                continue;
            }
            let other = plane.edge(segment);
            let apart = one.edge.abs_diff(other.edge);
            let neighbours = one.ring == other.ring && (apart <= 1 || apart + 1 == plane.ring(one.ring).edges);
            let Some((how, at)) = meet(ends, other_ends) else { continue };
            match how {
                How::Touch if one.ring != other.ring || neighbours => {}
                How::Touch => meetings.push(touch(plane, *removed, segment, at)),
                How::Overlap if one == other => {}
                How::Overlap | How::Cross => meetings.push(Meeting::new(how, one, other, at)),
            }
        }
    }
    meetings
}

/// The holes that lie outside a shell that crosses itself, by the number of its edges beneath them.
pub(crate) fn holes_outside(plane: &Plane, tangled: &[bool]) -> Vec<u32> {
    let mut budget = COUNTED_EDGES;
    let mut shell = NONE;
    let mut edges = Vec::new();
    let mut outside = Vec::new();
    for (id, ring) in (0_u32..).zip(&plane.rings) {
        if ring.place == 0 {
            shell = id;
            edges.clear();
        } else if tangled.get(shell as usize) == Some(&true) && plane.ring(shell).part == ring.part {
            if edges.is_empty() {
                edges.extend(nodes(plane, shell).iter().map(|node| node.out).filter(|edge| *edge != NONE));
            }
            // A vertex at the seam or on the shell says nothing.
            let places = nodes(plane, id).iter().map(|node| node.at).filter(|at| at[0].abs() < 180.0);
            let lies_in = places.map_while(|place| {
                budget = budget.checked_sub(edges.len())?;
                Some(lies_in(edges.iter().map(|edge| plane.ends_in_order(*edge)), place))
            });
            if lies_in.flatten().next() == Some(false) {
                outside.push(id);
            }
        }
    }
    outside
}

fn nodes(plane: &Plane, ring: u32) -> &[Node] {
    let start = plane.nodes.partition_point(|node| node.ring < ring);
    let end = plane.nodes.partition_point(|node| node.ring <= ring);
    plane.nodes.get(start..end).unwrap_or_default()
}

/// How two segments, each with its ends in sweep order, meet, and where.
fn meet(one: [Position; 2], other: [Position; 2]) -> Option<(How, Position)> {
    use Side::{Left, On, Right};
    let of_other = other.map(|end| side(one[0], one[1], end));
    let of_one = one.map(|end| side(other[0], other[1], end));
    let apart = |sides: [Side; 2]| matches!(sides, [Left, Left] | [Right, Right]);
    if apart(of_other) || apart(of_one) {
        return None;
    }
    if of_other == [On, On] {
        let start = if sweep_order(&one[0], &other[0]).is_lt() { other[0] } else { one[0] };
        let end = if sweep_order(&one[1], &other[1]).is_lt() { one[1] } else { other[1] };
        return match sweep_order(&start, &end) {
            Ordering::Less => Some((How::Overlap, start)),
            Ordering::Equal => Some((How::Touch, start)),
            Ordering::Greater => None,
        };
    }
    match (of_other, of_one) {
        ([On, _], _) => Some((How::Touch, other[0])),
        ([_, On], _) => Some((How::Touch, other[1])),
        (_, [On, _]) => Some((How::Touch, one[0])),
        (_, [_, On]) => Some((How::Touch, one[1])),
        _ => Some((How::Cross, crossing_place(one, other))),
    }
}
