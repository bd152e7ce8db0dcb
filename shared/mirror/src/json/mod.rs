//! Reading and writing JSON text in place: the stream's events are read without building a tree, and documents are
//! written without one. Numbers stay the text that they are.

mod reader;
mod special;
mod writer;

pub(crate) use reader::{Malformed, Reader};
pub(crate) use writer::{write_member, write_text};
