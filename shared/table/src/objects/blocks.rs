//! An object that is read block by block, never as a whole.

use super::Objects;
use crate::error::Error;

/// The size of a block in bytes.
const BLOCK: u64 = 1024 * 1024;

/// The part of an object that was fetched and not yet consumed, and the offset of the next block.
#[derive(Debug)]
pub struct Blocks {
    name: String,
    bytes: u64,
    buffer: Vec<u8>,
    taken: usize,
    /// Offset of the next block.
    next: u64,
}

impl Blocks {
    /// Starts to read the object of this name and size at this offset.
    pub fn new(name: String, bytes: u64, from: u64) -> Self {
        Self { name, bytes, buffer: Vec::new(), taken: 0, next: from }
    }

    /// Returns the bytes that were fetched and not yet consumed.
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.taken..).unwrap_or_default()
    }

    /// Returns the offset of [`Blocks::rest`] in the object.
    pub fn offset(&self) -> u64 {
        self.next - self.rest().len() as u64
    }

    /// Consumes this many bytes.
    pub fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes).min(self.buffer.len());
    }

    /// Whether the whole object was fetched.
    pub fn at_end(&self) -> bool {
        self.next >= self.bytes
    }

    /// Fetches the next block. Returns false if the object is missing or shorter than its size.
    pub async fn more(&mut self, objects: Objects<'_>) -> Result<bool, Error> {
        let length = BLOCK.min(self.bytes.saturating_sub(self.next));
        let block = match objects.get_range(&self.name, self.next, length).await {
            Ok(block) if block.len() as u64 == length => block,
            Ok(_) | Err(Error::NotFound) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.buffer.drain(..self.taken);
        self.taken = 0;
        // Frees the capacity of an unusually long rest.
        if self.buffer.is_empty() {
            self.buffer = Vec::with_capacity(block.len());
        }
        self.buffer.extend_from_slice(&block);
        self.next += length;
        Ok(true)
    }
}
