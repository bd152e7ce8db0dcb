//! The samples that `cargo local --sample` loads through the gateway, a few of each system.

mod agencies;
mod archive;
mod chat;
mod judged;
mod parks;
mod tracker;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    [parks::tests(), judged::tests(), agencies::tests(), tracker::tests(), archive::tests(), chat::tests()]
        .into_iter()
        .flatten()
        .collect()
}
