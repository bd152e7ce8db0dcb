//! The nesting of rings that do not cross: which rings enclose which.

use std::collections::BTreeSet;

use never::never;

use crate::segment_graph::{NONE, SegmentGraph};
use crate::sweep::SweepResult;

/// A ring inside another ring where the rules do not allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NestingFault {
    OutsideShell(u32),
    InHole {
        hole: u32,
        outer: u32,
    },
    /// Two parts, by their numbers, that share area.
    Parts {
        inner: u32,
        outer: u32,
        inner_shell: u32,
    },
}

/// Returns the innermost ring around each ring, or [`NONE`]. Rings that intersect enclose nothing.
pub(crate) fn enclosing_rings(graph: &SegmentGraph, swept: &SweepResult, intersecting: &[bool]) -> Vec<u32> {
    let mut enclosing = vec![NONE; graph.rings.len()];
    for (ring, below) in &swept.below {
        let encloser = match below {
            Some((below, true)) if intersecting.get(*below as usize) != Some(&true) => *below,
            // Its sibling in the same ring. That one starts further west, so its encloser is known.
            Some((below, _)) => enclosing.get(*below as usize).copied().unwrap_or_else(|| {
                never!("ring {below} is below ring {ring} of {}", graph.rings.len());
                NONE
            }),
            None => NONE,
        };
        match enclosing.get_mut(*ring as usize) {
            Some(known) => *known = encloser,
            None => never!("ring {ring} of {} was swept", graph.rings.len()),
        }
    }
    enclosing
}

/// Returns the nesting faults, by a depth-first traversal of the tree of rings.
pub(crate) fn nesting_faults(graph: &SegmentGraph, swept: &SweepResult, intersecting: &[bool]) -> Vec<NestingFault> {
    let enclosing = enclosing_rings(graph, swept, intersecting);
    let rings = u32::try_from(graph.rings.len()).unwrap_or(NONE);
    let mut children: Vec<(u32, u32)> = (0..rings).zip(enclosing).map(|(ring, encloser)| (encloser, ring)).collect();
    children.sort_unstable();
    let children_of = |encloser: u32| {
        let start = children.partition_point(|(other, _)| *other < encloser);
        children.iter().skip(start).take_while(move |(other, _)| *other == encloser)
    };
    let parts = graph.rings.last().map_or(0, |last| last.part as usize + 1);
    let mut traversal = Traversal {
        graph,
        parts: vec![PartState::NoShell; parts],
        covering: BTreeSet::new(),
        unreported: BTreeSet::new(),
        faults: Vec::new(),
    };
    for (ring, _) in graph.rings.iter().zip(intersecting).filter(|(ring, is)| ring.index == 0 && !**is) {
        traversal.set(ring.part, PartState::Outside);
    }
    let mut steps: Vec<Step> = children_of(NONE).map(|(_, ring)| Step::Enter(*ring)).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(ring) => {
                if intersecting.get(ring as usize) != Some(&true) {
                    traversal.enter(ring);
                    steps.push(Step::Leave(ring));
                }
                steps.extend(children_of(ring).map(|(_, ring)| Step::Enter(*ring)));
            }
            Step::Leave(ring) => traversal.leave(ring),
        }
    }
    traversal.faults
}

enum Step {
    Enter(u32),
    Leave(u32),
}

/// Where the traversal is, relative to the shell and holes of a part.
#[derive(Clone, Copy, PartialEq)]
enum PartState {
    /// The shell itself is faulty, so the holes are not judged.
    NoShell,
    Outside,
    Inside,
    /// In the shell and in this hole, the outermost of those around.
    InHole(u32),
}

struct Traversal<'a> {
    graph: &'a SegmentGraph,
    parts: Vec<PartState>,
    /// The parts whose interior contains the current position of the traversal.
    covering: BTreeSet<u32>,
    /// The covering parts that no fault has named yet.
    unreported: BTreeSet<u32>,
    faults: Vec<NestingFault>,
}

impl Traversal<'_> {
    fn enter(&mut self, ring: u32) {
        let part = self.graph.ring(ring).part;
        if self.graph.ring(ring).index == 0 {
            if let Some(outer) = self.covering.first().copied() {
                self.faults.push(NestingFault::Parts { inner: part, outer, inner_shell: ring });
            }
            // A fault is reported at the later part. Each outer part that comes later is reported once.
            for outer in self.unreported.split_off(&part) {
                self.faults.push(NestingFault::Parts { inner: part, outer, inner_shell: ring });
            }
            self.cover(part);
            self.set(part, PartState::Inside);
        } else {
            match self.state(part) {
                PartState::NoShell => return,
                PartState::Outside => self.faults.push(NestingFault::OutsideShell(ring)),
                PartState::Inside => self.set(part, PartState::InHole(ring)),
                PartState::InHole(outer) => self.faults.push(NestingFault::InHole { hole: ring, outer }),
            }
            self.uncover(part);
        }
    }

    fn leave(&mut self, ring: u32) {
        let part = self.graph.ring(ring).part;
        if self.graph.ring(ring).index == 0 {
            self.uncover(part);
            self.set(part, PartState::Outside);
        } else if self.state(part) == PartState::InHole(ring) {
            self.set(part, PartState::Inside);
            self.cover(part);
        }
    }

    fn cover(&mut self, part: u32) {
        self.covering.insert(part);
        self.unreported.insert(part);
    }

    fn uncover(&mut self, part: u32) {
        self.covering.remove(&part);
        self.unreported.remove(&part);
    }

    fn state(&self, part: u32) -> PartState {
        self.parts.get(part as usize).copied().unwrap_or_else(|| {
            never!("part {part} of {}", self.parts.len());
            PartState::NoShell
        })
    }

    fn set(&mut self, part: u32, state: PartState) {
        match self.parts.get_mut(part as usize) {
            Some(known) => *known = state,
            None => never!("part {part} of {}", self.parts.len()),
        }
    }
}
