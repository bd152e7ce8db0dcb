//! What the first pass over a file must remember of all earlier records: their numbers, to find repeated ones, and the
//! invalid records. Both are stored in S3 before the checkpoint names them, so a crash in between loses nothing.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use jobs::JobId;
use table::Access;
use web::Problem;

use crate::access::{LOAD_SEEN, SAVE_SEEN};
use crate::schema::BUCKET;

const PREFIX: &str = "checks/";

/// Invalid records; a file with more is rejected.
pub const MAX_INVALID: usize = 100_000;

/// The numbers and the invalid records so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// A bit for each number, 64 in a word. The numbers of a file are close to each other.
    numbers: BTreeMap<u64, u64>,
    invalid: BTreeSet<u64>,
}

impl Seen {
    /// Loads what an earlier run has stored under this name.
    pub async fn load(access: &Access, name: &str) -> Result<Self, Problem> {
        let objects = access.objects(&LOAD_SEEN, BUCKET, PREFIX);
        let numbers = objects.get(&numbers_of(name)).await?;
        let invalid = access.objects(&LOAD_SEEN, BUCKET, PREFIX).get(&invalid_of(name)).await?;
        let record = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
        let word = |bytes: &[u8]| {
            let (place, bits) = bytes.split_at_checked(8)?;
            Some((record(place)?, record(bits)?))
        };
        let invalid = invalid.chunks(8).filter_map(record).collect();
        Ok(Self { numbers: numbers.chunks(16).filter_map(word).collect(), invalid })
    }

    /// Stores it under a new name, which no worker that has lost its lease writes. None if there is nothing to store.
    pub async fn save(&self, access: &Access, job: JobId) -> Result<Option<String>, Problem> {
        if self.numbers.is_empty() && self.invalid.is_empty() {
            return Ok(None);
        }
        let name = format!("{job}-{:016x}", fastrand::u64(..));
        let words = self.numbers.iter().flat_map(|(place, bits)| [place.to_le_bytes(), bits.to_le_bytes()]).flatten();
        put(access, &numbers_of(&name), words.collect()).await?;
        let records = self.invalid.iter().flat_map(|record| record.to_le_bytes());
        put(access, &invalid_of(&name), records.collect()).await?;
        Ok(Some(name))
    }

    /// Adds a number. False if an earlier record has it.
    pub fn add_number(&mut self, number: u64) -> bool {
        let (bits, bit) = (self.numbers.entry(number / 64).or_default(), 1 << (number % 64));
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    /// Adds an invalid record. False if there are too many.
    pub fn add_invalid(&mut self, record: u64) -> bool {
        self.invalid.insert(record);
        self.invalid.len() <= MAX_INVALID
    }

    pub fn is_invalid(&self, record: u64) -> bool {
        self.invalid.contains(&record)
    }
}

async fn put(access: &Access, name: &str, bytes: Vec<u8>) -> Result<(), Problem> {
    let objects = access.objects(&SAVE_SEEN, BUCKET, PREFIX);
    Ok(objects.put(name, Bytes::from(bytes), "application/octet-stream").await?)
}

fn numbers_of(name: &str) -> String {
    format!("{name}.numbers")
}

fn invalid_of(name: &str) -> String {
    format!("{name}.unsound")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_number_is_found() {
        let mut seen = Seen::default();
        assert!(seen.add_number(1_000_000_000_000) && seen.add_number(1) && seen.add_number(64));
        assert!(!seen.add_number(1) && !seen.add_number(1_000_000_000_000) && seen.add_number(65));
    }
}
