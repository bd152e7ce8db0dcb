//! Rings that touch, and so cut the interior of their polygon in two.

use crate::Position;
use crate::meeting::Contact;
use crate::orient::sweep_order;
use crate::plane::Plane;
use crate::sweep::Findings;

/// The holes that cut an interior. Rings and the places where they touch are joined in the order of the document; a
/// hole that joins what was joined already closes a circle, and what it encloses is apart from the rest.
pub(crate) fn holes_that_cut(plane: &Plane, findings: &Findings) -> Vec<u32> {
    let contact = |contact: &Contact| {
        // ±180 is one meridian.
        let [x, y] = contact.at;
        (plane.ring(contact.ring()).part, [if x == -180.0 { 180.0 } else { x }, y], contact.ring())
    };
    let mut contacts: Vec<(u32, Position, u32)> = findings.contacts.iter().map(contact).collect();
    contacts.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then(sweep_order(&one.1, &other.1)).then(one.2.cmp(&other.2))
    });
    contacts.dedup();
    let mut touches: Vec<(u32, usize)> = Vec::new();
    let mut place = plane.rings.len();
    for touching in contacts.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        if touching.len() > 1 {
            touches.extend(touching.iter().map(|(_, _, ring)| (*ring, place)));
            place += 1;
        }
    }
    touches.sort_unstable();
    let mut joined = Joined { parents: (0..place).collect() };
    let mut holes: Vec<_> =
        touches.into_iter().filter_map(|(ring, place)| (!joined.join(ring as usize, place)).then_some(ring)).collect();
    holes.dedup();
    holes
}

/// Sets that grow together (union-find).
struct Joined {
    parents: Vec<usize>,
}

impl Joined {
    /// Whether they were apart before.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.set(one, other);
        one != other
    }

    fn root(&mut self, mut of: usize) -> usize {
        while let Some(parent) = self.parents.get(of).copied().filter(|parent| *parent != of) {
            // Halves the way for the next time.
            let above = self.parents.get(parent).copied().unwrap_or(parent);
            self.set(of, above);
            of = above;
        }
        of
    }

    fn set(&mut self, of: usize, parent: usize) {
        if let Some(slot) = self.parents.get_mut(of) {
            *slot = parent;
        }
    }
}
