//! What the first pass over a file must remember of all records before: which numbers they have, so that none is given
//! twice, and which of them cannot be. Both are kept in S3 before the checkpoint names them, which then has what belongs
//! to it, whoever dies in between.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use table::Access;
use web::Problem;

use crate::access::{LOAD_SEEN, SAVE_SEEN};
use crate::names::WorkId;
use crate::schema::BUCKET;

const PREFIX: &str = "checks/";

/// The most records that cannot be; a file with more is none of this project.
pub const MAX_INVALID: usize = 100_000;

/// What was seen so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// A bit for each number, 64 a word: the numbers of a file lie close to one another, wherever they begin.
    numbers: BTreeMap<u64, u64>,
    unsound: BTreeSet<u64>,
}

impl Seen {
    /// What a run before has kept under this name.
    pub async fn load(access: &Access, name: &str) -> Result<Self, Problem> {
        let objects = access.objects(&LOAD_SEEN, BUCKET, PREFIX);
        let numbers = objects.get(&numbers_of(name)).await?;
        let unsound = access.objects(&LOAD_SEEN, BUCKET, PREFIX).get(&unsound_of(name)).await?;
        let record = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
        let word = |bytes: &[u8]| {
            let (place, bits) = bytes.split_at_checked(8)?;
            Some((record(place)?, record(bits)?))
        };
        let unsound = unsound.chunks(8).filter_map(record).collect();
        Ok(Self { numbers: numbers.chunks(16).filter_map(word).collect(), unsound })
    }

    /// Keeps it under a name that nobody else writes, not even a worker that has lost its lease; no name if it is nothing.
    pub async fn keep(&self, access: &Access, work: WorkId) -> Result<Option<String>, Problem> {
        if self.numbers.is_empty() && self.unsound.is_empty() {
            return Ok(None);
        }
        let name = format!("{}-{:016x}", work.id(), fastrand::u64(..));
        let words = self.numbers.iter().flat_map(|(place, bits)| [place.to_le_bytes(), bits.to_le_bytes()]).flatten();
        put(access, &numbers_of(&name), words.collect()).await?;
        let records = self.unsound.iter().flat_map(|record| record.to_le_bytes());
        put(access, &unsound_of(&name), records.collect()).await?;
        Ok(Some(name))
    }

    /// Takes note of a number; false if it was there before.
    pub fn meet(&mut self, number: u64) -> bool {
        let (bits, bit) = (self.numbers.entry(number / 64).or_default(), 1 << (number % 64));
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    /// Takes note of a record that cannot be; false if there are too many of them.
    pub fn condemn(&mut self, record: u64) -> bool {
        self.unsound.insert(record);
        self.unsound.len() <= MAX_INVALID
    }

    pub fn is_unsound(&self, record: u64) -> bool {
        self.unsound.contains(&record)
    }
}

async fn put(access: &Access, name: &str, bytes: Vec<u8>) -> Result<(), Problem> {
    let objects = access.objects(&SAVE_SEEN, BUCKET, PREFIX);
    Ok(objects.put(name, Bytes::from(bytes), "application/octet-stream").await?)
}

fn numbers_of(name: &str) -> String {
    format!("{name}.numbers")
}

fn unsound_of(name: &str) -> String {
    format!("{name}.unsound")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_met_once() {
        let mut seen = Seen::default();
        assert!(seen.meet(1_000_000_000_000) && seen.meet(1) && seen.meet(64));
        assert!(!seen.meet(1) && !seen.meet(1_000_000_000_000) && seen.meet(65));
    }
}
