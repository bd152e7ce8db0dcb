//! Parks, a file for each theme.

mod collections;
mod facilities;
mod geozones;
mod search;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    [collections::tests(), geozones::tests(), facilities::tests(), search::tests()].into_iter().flatten().collect()
}
