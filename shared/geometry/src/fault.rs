//! The faults of a document and their locations.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The most faults that are listed. Further ones are counted.
pub const MAX_FAULTS: usize = 100;

/// A fault of a document.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// JSON pointer (RFC 6901) into the document as it was sent.
    pub pointer: String,
    pub detail: String,
}

/// The faults of a document that breaks rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InvalidShape {
    /// In document order, at most [`MAX_FAULTS`].
    pub faults: Vec<Fault>,
    /// The number of all faults, the listed ones included. Where rings cross themselves at more than [`MAX_FAULTS`]
    /// points, the faults that these hide are not counted.
    pub count: usize,
    /// The last fault is an exceeded limit. For the body of a request the status is then 413.
    pub too_large: bool,
}

impl fmt::Display for InvalidShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.faults.first() else { return formatter.write_str("not a valid shape") };
        write!(formatter, "{}: {}", first.pointer, first.detail)?;
        match self.count {
            0 | 1 => Ok(()),
            more => write!(formatter, " (and {} more)", more - 1),
        }
    }
}

/// A member of the document: its pointer, and the byte offset of its value, which orders the faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    pub pointer: String,
    pub offset: usize,
}

/// The path from a member down into its arrays: at most part, ring and position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    /// Indices plus one, and 0 after the last, so that a shorter path comes first.
    steps: [usize; 3],
}

impl Path {
    /// Returns the path to an element of the array at this path.
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

/// Collects faults in any order. Each location has one fault, the first that is found.
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

    /// Returns the number of faults, also of those that are not listed.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Adds a fault at a member.
    pub(crate) fn at(&mut self, member: &Member, detail: impl FnOnce() -> String) {
        self.within(member, Path::default(), detail);
    }

    /// Adds a fault at an element of a member's arrays.
    pub(crate) fn within(&mut self, member: &Member, path: Path, detail: impl FnOnce() -> String) {
        let location = (member.offset, path);
        if self.first.contains_key(&location) {
            return;
        }
        self.count += 1;
        if self.first.len() >= MAX_FAULTS && self.first.last_key_value().is_some_and(|(last, _)| *last < location) {
            return;
        }
        let mut pointer = member.pointer.clone();
        for step in path.steps.into_iter().take_while(|step| *step > 0) {
            let _ = write!(pointer, "/{}", step - 1);
        }
        self.first.insert(location, Fault { pointer, detail: detail() });
        if self.first.len() > MAX_FAULTS {
            self.first.pop_last();
        }
    }

    /// Adds a fault for an exceeded limit.
    pub(crate) fn too_large(&mut self, member: &Member, path: Path, detail: String) {
        self.too_large = true;
        self.within(member, path, || detail);
    }

    pub(crate) fn into_error(self) -> InvalidShape {
        InvalidShape { faults: self.first.into_values().collect(), count: self.count, too_large: self.too_large }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_listed_in_document_order_up_to_100_and_all_counted() {
        let mut faults = Faults::default();
        let coordinates = Member { pointer: "/coordinates".to_owned(), offset: 20 };
        for position in (0..150).rev() {
            faults.within(&coordinates, Path::default().down(2).down(position), || format!("position {position}"));
        }
        faults.within(&coordinates, Path::default().down(2).down(7), || "again".to_owned());
        faults.within(&coordinates, Path::default().down(2), || "the ring".to_owned());
        faults.at(&Member { pointer: "/crs".to_owned(), offset: 4 }, || "first in the document".to_owned());
        let refused = faults.into_error();
        assert_eq!((refused.faults.len(), refused.count), (100, 152));
        let pointers: Vec<_> = refused.faults.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers[..4], ["/crs", "/coordinates/2", "/coordinates/2/0", "/coordinates/2/1"]);
        assert_eq!(refused.faults[9].detail, "position 7");
    }
}
