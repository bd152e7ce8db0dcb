//! A file in S3, read block by block: never the whole of it at once.

use table::{Access, Error};
use web::Problem;

use super::PREFIX;
use crate::access;
use crate::schema::BUCKET;

/// How much is fetched at once, in bytes.
const BLOCK: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct File {
    name: String,
    bytes: u64,
    /// What was fetched and not taken yet.
    buffer: Vec<u8>,
    taken: usize,
    /// Where the next block begins.
    next: u64,
}

impl File {
    /// The file of so many bytes, from this one on.
    pub fn new(name: String, bytes: u64, from: u64) -> Self {
        Self { name, bytes, buffer: Vec::new(), taken: 0, next: from }
    }

    /// What is at hand.
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.taken..).unwrap_or_default()
    }

    /// Where that begins, in bytes from the file's begin.
    pub fn offset(&self) -> u64 {
        self.next - self.rest().len() as u64
    }

    pub fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes).min(self.buffer.len());
    }

    pub fn at_end(&self) -> bool {
        self.next >= self.bytes
    }

    /// Fetches the next block. False where the object is gone or ends too early: S3 has lost it, and a job cannot go on.
    pub async fn more(&mut self, access: &Access) -> Result<bool, Problem> {
        let objects = access.objects(&access::READ_IMPORT, BUCKET, PREFIX);
        let length = BLOCK.min(self.bytes.saturating_sub(self.next));
        let block = match objects.get_range(&self.name, self.next, length).await {
            Ok(block) if block.len() as u64 == length => block,
            Ok(_) | Err(Error::NotFound) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        self.buffer.drain(..self.taken);
        self.taken = 0;
        // A row that was larger than the rest leaves its room behind.
        if self.buffer.is_empty() {
            self.buffer = Vec::with_capacity(block.len());
        }
        self.buffer.extend_from_slice(&block);
        self.next += length;
        Ok(true)
    }
}
