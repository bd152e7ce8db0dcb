//! Digests of the table and of the index, in buckets by the id. Their memory does not depend on the number of documents.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The number of buckets.
const BUCKETS: usize = 1 << 16;

/// The number of texts in which the digests are kept. Each fits an item of DynamoDB.
pub(super) const PARTS: usize = 2;

/// For each bucket the sum of the digests of the table's documents, less that of the index's documents. Sums do not
/// depend on the order, and a document that occurs twice counts twice.
#[derive(Debug)]
pub(super) struct Digests(Vec<u64>);

/// The buckets whose digests differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Buckets(Vec<u8>);

impl Default for Digests {
    fn default() -> Self {
        Self(vec![0; BUCKETS])
    }
}

impl Digests {
    /// Adds a document that the index must have.
    pub(super) fn add(&mut self, id: &str, digest: u64) {
        self.0.get_mut(bucket(id)).into_iter().for_each(|sum| *sum = sum.wrapping_add(digest));
    }

    /// Subtracts a document that the index has.
    pub(super) fn subtract(&mut self, id: &str, digest: u64) {
        self.add(id, digest.wrapping_neg());
    }

    pub(super) fn differing(&self) -> Buckets {
        let byte = |sums: &[u64]| sums.iter().rev().fold(0, |bits, sum| (bits << 1) | u8::from(*sum != 0));
        Buckets(self.0.chunks(8).map(byte).collect())
    }

    /// Returns the texts in which the digests are kept.
    pub(super) fn texts(&self) -> Vec<String> {
        let bytes = self.0.iter().map(|sum| sum.to_be_bytes()).collect::<Vec<_>>();
        bytes.chunks(BUCKETS / PARTS).map(|part| STANDARD.encode(part.as_flattened())).collect()
    }

    /// Reads the digests. Returns `None` for any other texts.
    pub(super) fn of_texts(texts: &[String]) -> Option<Self> {
        let mut sums = Vec::with_capacity(BUCKETS);
        for text in texts {
            let bytes = STANDARD.decode(text).ok()?;
            sums.extend(bytes.chunks_exact(8).filter_map(|sum| sum.try_into().ok().map(u64::from_be_bytes)));
        }
        (sums.len() == BUCKETS).then_some(Self(sums))
    }
}

impl Buckets {
    pub(super) fn contain(&self, id: &str) -> bool {
        let bucket = bucket(id);
        self.0.get(bucket / 8).is_some_and(|bits| (bits >> (bucket % 8)) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    pub(super) fn text(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// Reads the buckets. Returns `None` for any other text.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok().filter(|bits| bits.len() == BUCKETS / 8).map(Self)
    }
}

/// Returns the bucket of an id. A later release finds the same one.
fn bucket(id: &str) -> usize {
    Sha256::digest(id.as_bytes()).iter().take(2).fold(0, |number, byte| (number << 8) | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_equal_sets_differ_in_no_bucket() {
        let mut digests = Digests::default();
        let ids: Vec<String> = (0..1000).map(|number| format!("LEAF#{number}")).collect();
        ids.iter().zip(1..).for_each(|(id, digest)| digests.add(id, digest));
        ids.iter().zip(1..).collect::<Vec<_>>().into_iter().rev().for_each(|(id, digest)| digests.subtract(id, digest));
        assert!(digests.differing().is_empty());
    }

    #[test]
    fn lost_and_repeated_documents_differ_in_their_buckets() {
        let mut digests = Digests::default();
        digests.add("lost", 7);
        digests.subtract("twice", 9);
        digests.subtract("twice", 9);
        let differing = digests.differing();
        assert!(differing.contain("lost") && differing.contain("twice") && !differing.contain("other"));
    }

    #[test]
    fn kept_digests_and_buckets_are_read_as_they_were() {
        let mut digests = Digests::default();
        digests.add("lost", 7);
        digests.subtract("ghost", 9);
        let texts = digests.texts();
        assert!(texts.len() == PARTS && texts.iter().all(|text| text.len() < 380_000));
        let read = Digests::of_texts(&texts).unwrap();
        assert_eq!(read.0, digests.0);
        assert_eq!(Buckets::of_text(&read.differing().text()), Some(digests.differing()));
        assert!(Digests::of_texts(&texts[1..]).is_none() && Buckets::of_text("AA==").is_none());
    }
}
