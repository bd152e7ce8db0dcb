//! Which rings lie in which, for rings that do not cross.

use std::collections::BTreeSet;

use crate::plane::{NONE, Plane};
use crate::sweep::Findings;

/// Rings that lie where they must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    OutsideShell(u32),
    InHole {
        hole: u32,
        outer: u32,
    },
    /// Both parts by their number: they share area.
    Parts {
        inner: u32,
        outer: u32,
        inner_shell: u32,
    },
}

/// The ring next around each ring, or [`NONE`]. Tangled rings surround nothing.
pub(crate) fn containers(plane: &Plane, findings: &Findings, tangled: &[bool]) -> Vec<u32> {
    let mut containers = vec![NONE; plane.rings.len()];
    for (ring, beneath) in &findings.beneath {
        let container = match beneath {
            Some((beneath, true)) if tangled.get(*beneath as usize) != Some(&true) => *beneath,
            // Beside it, within the same one. It begins further west, so this is known.
            Some((beneath, _)) => containers.get(*beneath as usize).copied().unwrap_or(NONE),
            None => NONE,
        };
        containers.get_mut(*ring as usize).into_iter().for_each(|slot| *slot = container);
    }
    containers
}

/// Walks into each ring and out again, and looks at what surrounds it there.
pub(crate) fn nest(plane: &Plane, findings: &Findings, tangled: &[bool]) -> Vec<Nested> {
    let containers = containers(plane, findings, tangled);
    let rings = u32::try_from(plane.rings.len()).unwrap_or(NONE);
    let mut inner: Vec<(u32, u32)> = (0..rings).zip(containers).map(|(ring, container)| (container, ring)).collect();
    inner.sort_unstable();
    let within = |container: u32| {
        let start = inner.partition_point(|(other, _)| *other < container);
        inner.get(start..).unwrap_or_default().iter().take_while(move |(other, _)| *other == container)
    };
    let parts = plane.rings.last().map_or(0, |last| last.part as usize + 1);
    let mut shells = vec![Shell::Missing; parts];
    for (ring, tangled) in plane.rings.iter().zip(tangled).filter(|(ring, _)| ring.place == 0) {
        let shell = if *tangled { Shell::Missing } else { Shell::Outside };
        shells.get_mut(ring.part as usize).into_iter().for_each(|slot| *slot = shell);
    }
    let mut walk = Walk { plane, shells, covering: BTreeSet::new(), unnamed: BTreeSet::new(), found: Vec::new() };
    let mut steps: Vec<Step> = within(NONE).map(|(_, ring)| Step::Into(*ring)).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Into(ring) => {
                if tangled.get(ring as usize) != Some(&true) {
                    walk.enter(ring);
                    steps.push(Step::OutOf(ring));
                }
                steps.extend(within(ring).map(|(_, ring)| Step::Into(*ring)));
            }
            Step::OutOf(ring) => walk.leave(ring),
        }
    }
    walk.found
}

enum Step {
    Into(u32),
    OutOf(u32),
}

/// A part's shell and holes, as seen from where the walk is.
#[derive(Clone, Copy, PartialEq)]
enum Shell {
    /// Faulty by itself: nothing can be said of its holes.
    Missing,
    Outside,
    Inside,
    /// Within the shell and, the outermost of those around, this hole.
    InHole(u32),
}

struct Walk<'a> {
    plane: &'a Plane,
    shells: Vec<Shell>,
    /// The parts whose area is here.
    covering: BTreeSet<u32>,
    /// Those of them that have not been named yet.
    unnamed: BTreeSet<u32>,
    found: Vec<Nested>,
}

impl Walk<'_> {
    fn enter(&mut self, ring: u32) {
        let part = self.plane.ring(ring).part;
        if self.plane.ring(ring).place == 0 {
            if let Some(outer) = self.covering.first().copied() {
                self.found.push(Nested::Parts { inner: part, outer, inner_shell: ring });
            }
            // Each part that is later in the document than what lies in it is one to name, once.
            for outer in self.unnamed.split_off(&part) {
                self.found.push(Nested::Parts { inner: part, outer, inner_shell: ring });
            }
            self.cover(part);
            self.set(part, Shell::Inside);
        } else {
            match self.shell(part) {
                Shell::Missing => return,
                Shell::Outside => self.found.push(Nested::OutsideShell(ring)),
                Shell::Inside => self.set(part, Shell::InHole(ring)),
                Shell::InHole(outer) => self.found.push(Nested::InHole { hole: ring, outer }),
            }
            self.uncover(part);
        }
    }

    fn leave(&mut self, ring: u32) {
        let part = self.plane.ring(ring).part;
        if self.plane.ring(ring).place == 0 {
            self.uncover(part);
            self.set(part, Shell::Outside);
        } else if self.shell(part) == Shell::InHole(ring) {
            self.set(part, Shell::Inside);
            self.cover(part);
        }
    }

    fn cover(&mut self, part: u32) {
        self.covering.insert(part);
        self.unnamed.insert(part);
    }

    fn uncover(&mut self, part: u32) {
        self.covering.remove(&part);
        self.unnamed.remove(&part);
    }

    fn shell(&self, part: u32) -> Shell {
        self.shells.get(part as usize).copied().unwrap_or(Shell::Missing)
    }

    fn set(&mut self, part: u32, shell: Shell) {
        self.shells.get_mut(part as usize).into_iter().for_each(|slot| *slot = shell);
    }
}
