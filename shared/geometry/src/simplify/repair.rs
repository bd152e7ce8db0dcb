//! Makes a simplified form valid: edges that intersect get positions back, and rings that an edge has passed over are
//! removed.

use std::collections::BTreeSet;

use never::never;

use super::selection::{Selection, Substitute};
use crate::interior::holes_disconnecting_interior;
use crate::orientation::is_counterclockwise;
use crate::ring_nesting::{NestingFault, nesting_faults};
use crate::segment_graph::{Edge, Ring, SegmentGraph};
use crate::sweep::sweep;

/// In the first rounds, an edge that intersects another one is split in two. In later rounds it gets all its positions
/// back. A form that is invalid after them is given up.
const MAX_SPLIT_ROUNDS: usize = 8;
const MAX_ROUNDS: usize = 16;

enum RepairOutcome {
    Valid,
    Changed,
    Failed,
}

impl Selection<'_> {
    /// Repairs the form until it is valid. Returns false if this is not possible with at most `max_positions`.
    pub(super) fn make_valid(&mut self, max_positions: usize) -> bool {
        if !self.is_areal() {
            return self.positions() <= max_positions;
        }
        for round in 0..MAX_ROUNDS {
            if self.positions() > max_positions {
                return false;
            }
            match self.repair(round < MAX_SPLIT_ROUNDS) {
                RepairOutcome::Valid => return true,
                RepairOutcome::Changed => {}
                RepairOutcome::Failed => return false,
            }
        }
        false
    }

    fn repair(&mut self, split: bool) -> RepairOutcome {
        let (graph, lines) = self.segment_graph();
        let swept = sweep(&graph);
        let line_of = |ring: u32| {
            lines.get(ring as usize).copied().unwrap_or_else(|| {
                never!("ring {ring} of {}", lines.len());
                usize::MAX
            })
        };
        if !swept.intersections.is_empty() {
            let edges: BTreeSet<Edge> =
                swept.intersections.iter().flat_map(|found| [found.earlier, found.later]).collect();
            let edges: Vec<_> = edges.into_iter().collect();
            let mut changed = false;
            for edges in edges.chunk_by(|one, other| one.ring == other.ring) {
                changed |= edges.first().is_some_and(|edge| self.refine(line_of(edge.ring), edges, split));
            }
            return if changed { RepairOutcome::Changed } else { RepairOutcome::Failed };
        }
        let faults = nesting_faults(&graph, &swept, &vec![false; graph.rings.len()]);
        if !faults.is_empty() {
            // A simplified edge has passed over the ring, so all of it is within the tolerance of that edge's ring.
            let passed_over = faults.into_iter().map(|fault| match fault {
                NestingFault::OutsideShell(hole) => {
                    let line = line_of(hole);
                    (line, Substitute::Line(line.saturating_sub(graph.ring(hole).index as usize)))
                }
                NestingFault::InHole { hole, outer } => (line_of(hole), Substitute::Line(line_of(outer))),
                NestingFault::Parts { inner_shell, outer, .. } => (line_of(inner_shell), Substitute::Part(outer)),
            });
            let passed_over = passed_over.collect();
            self.remove_all(passed_over);
            return RepairOutcome::Changed;
        }
        let holes = holes_disconnecting_interior(&graph, &swept);
        if holes.is_empty() {
            return RepairOutcome::Valid;
        }
        let parts: BTreeSet<u32> = holes.into_iter().map(|hole| graph.ring(hole).part).collect();
        let of_parts = (0_u32..).zip(lines).filter(|(ring, _)| parts.contains(&graph.ring(*ring).part));
        let restored = of_parts.filter(|(_, line)| self.restore(*line)).count();
        if restored == 0 { RepairOutcome::Failed } else { RepairOutcome::Changed }
    }

    /// Returns the kept rings, and the index of each among the lines of the shape.
    fn segment_graph(&self) -> (SegmentGraph, Vec<usize>) {
        let mut graph = SegmentGraph::with_capacity(self.positions());
        let mut lines = Vec::new();
        for (index, line) in self.kept_lines() {
            let ring = self.open_ring(index);
            graph.add(Ring::new(line.part, line.index, is_counterclockwise(&ring)), ring);
            lines.push(index);
        }
        (graph, lines)
    }
}
