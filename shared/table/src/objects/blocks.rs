//! An object read block by block: never the whole of it at once.

use super::Objects;
use crate::error::Error;

/// How much is fetched at once, in bytes.
const BLOCK: u64 = 1024 * 1024;

/// What was fetched of an object and not taken yet, and where to go on.
#[derive(Debug)]
pub struct Blocks {
    name: String,
    bytes: u64,
    buffer: Vec<u8>,
    taken: usize,
    /// Where the next block begins.
    next: u64,
}

impl Blocks {
    /// The object of this name and so many bytes, from this byte on.
    pub fn new(name: String, bytes: u64, from: u64) -> Self {
        Self { name, bytes, buffer: Vec::new(), taken: 0, next: from }
    }

    /// What is at hand.
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.taken..).unwrap_or_default()
    }

    /// Where that begins, in bytes from the object's begin.
    pub fn offset(&self) -> u64 {
        self.next - self.rest().len() as u64
    }

    pub fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes).min(self.buffer.len());
    }

    /// Whether nothing follows what is at hand.
    pub fn at_end(&self) -> bool {
        self.next >= self.bytes
    }

    /// Fetches the next block. False where the object is gone or ends too early: S3 has lost it.
    pub async fn more(&mut self, objects: Objects<'_>) -> Result<bool, Error> {
        let length = BLOCK.min(self.bytes.saturating_sub(self.next));
        let block = match objects.get_range(&self.name, self.next, length).await {
            Ok(block) if block.len() as u64 == length => block,
            Ok(_) | Err(Error::NotFound) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.buffer.drain(..self.taken);
        self.taken = 0;
        // What was larger than the rest leaves its room behind.
        if self.buffer.is_empty() {
            self.buffer = Vec::with_capacity(block.len());
        }
        self.buffer.extend_from_slice(&block);
        self.next += length;
        Ok(true)
    }
}
