//! Reading and writing JSON text without building a tree, for stream events and documents. Numbers stay text.

mod reader;
mod special;
mod writer;

pub(crate) use reader::{Malformed, Reader};
pub(crate) use writer::{write_member, write_text};
