//! What is wrong with a document, and where.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// How many faults are named; the rest are counted.
pub const NAMED_FAULTS: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// JSON pointer (RFC 6901) into the document as it was sent.
    pub pointer: String,
    pub detail: String,
}

/// A document that breaks rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refused {
    /// In document order, at most [`NAMED_FAULTS`].
    pub faults: Vec<Fault>,
    /// Of all faults, the named ones included. Where rings cross themselves in more than [`NAMED_FAULTS`] places, what
    /// is hidden behind these is not counted.
    pub count: usize,
    /// It breaks a limit of size, at the last fault: 413 where it is the body of a request.
    pub too_large: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.faults.first() else { return formatter.write_str("no valid shape") };
        write!(formatter, "{}: {}", first.pointer, first.detail)?;
        match self.count {
            0 | 1 => Ok(()),
            more => write!(formatter, " (and {} more)", more - 1),
        }
    }
}

/// A member of the document: its pointer, and the byte where its value begins, by which faults are put in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    pub pointer: String,
    pub offset: usize,
}

/// The way from a member down its arrays: at most part, ring and position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    /// Indices plus one, 0 after the last: so the shorter way comes first.
    steps: [usize; 3],
}

impl Path {
    pub(crate) fn down(self, index: usize) -> Self {
        let step = index + 1;
        let steps = match self.steps {
            [0, ..] => [step, 0, 0],
            [first, 0, _] => [first, step, 0],
            [first, second, _] => [first, second, step],
        };
        Self { steps }
    }
}

/// The faults found so far, in whatever order. One place has one fault, the first that was found.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    first: BTreeMap<(usize, Path), Fault>,
    count: usize,
    too_large: bool,
}

impl Faults {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn at(&mut self, member: &Member, detail: impl FnOnce() -> String) {
        self.within(member, Path::default(), detail);
    }

    pub(crate) fn within(&mut self, member: &Member, path: Path, detail: impl FnOnce() -> String) {
        let place = (member.offset, path);
        if self.first.contains_key(&place) {
            return;
        }
        self.count += 1;
        if self.first.len() >= NAMED_FAULTS && self.first.last_key_value().is_some_and(|(last, _)| *last < place) {
            return;
        }
        let mut pointer = member.pointer.clone();
        for step in path.steps.into_iter().take_while(|step| *step > 0) {
            let _ = write!(pointer, "/{}", step - 1);
        }
        self.first.insert(place, Fault { pointer, detail: detail() });
        if self.first.len() > NAMED_FAULTS {
            self.first.pop_last();
        }
    }

    /// A limit is broken there.
    pub(crate) fn too_large(&mut self, member: &Member, path: Path, detail: String) {
        self.too_large = true;
        self.within(member, path, || detail);
    }

    pub(crate) fn refuse(self) -> Refused {
        Refused { faults: self.first.into_values().collect(), count: self.count, too_large: self.too_large }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_in_document_order_at_most_a_hundred_and_a_count() {
        let mut faults = Faults::default();
        let coordinates = Member { pointer: "/coordinates".to_owned(), offset: 20 };
        for position in (0..150).rev() {
            faults.within(&coordinates, Path::default().down(2).down(position), || format!("position {position}"));
        }
        faults.within(&coordinates, Path::default().down(2).down(7), || "again".to_owned());
        faults.within(&coordinates, Path::default().down(2), || "the ring".to_owned());
        faults.at(&Member { pointer: "/crs".to_owned(), offset: 4 }, || "first in the document".to_owned());
        let refused = faults.refuse();
        assert_eq!((refused.faults.len(), refused.count), (100, 152));
        let pointers: Vec<_> = refused.faults.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers[..4], ["/crs", "/coordinates/2", "/coordinates/2/0", "/coordinates/2/1"]);
        assert_eq!(refused.faults[9].detail, "position 7");
    }
}
