//! The samples, as `cargo local --sample` loads them: a few of each system, through the gateway.

mod agencies;
mod judged;
mod parks;
mod tracker;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    [parks::tests(), judged::tests(), agencies::tests(), tracker::tests()].into_iter().flatten().collect()
}
