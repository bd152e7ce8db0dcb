//! The tests that a set of engines cannot pass, which are the table in `e2e/differences.md`.

use super::Test;
use super::engines::Set;

/// The rows of the table.
pub struct Differences(Vec<Difference>);

struct Difference {
    set: Set,
    test: String,
    reason: String,
}

const FILE: &str = include_str!("../../differences.md");

impl Differences {
    pub fn read() -> Self {
        let rows = FILE.lines().filter_map(|line| line.strip_prefix("| `"));
        Self(rows.map(Difference::read).collect())
    }

    /// Returns the reason why this set cannot pass the test, if there is one.
    pub fn reason(&self, set: Set, test: &str) -> Option<&str> {
        let difference = self.0.iter().find(|difference| difference.set == set && difference.test == test);
        difference.map(|difference| difference.reason.as_str())
    }

    /// Returns the rows that do not name a test.
    pub fn unknown(&self, tests: &[Test]) -> Vec<String> {
        let known = |difference: &&Difference| tests.iter().any(|test| test.name == difference.test);
        self.0.iter().filter(|row| !known(row)).map(|row| row.test.clone()).collect()
    }
}

impl Difference {
    fn read(row: &str) -> Self {
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let [set, test, reason] = cells[..] else { panic!("`{row}` is no row of set, test, reason") };
        let set = set.trim_matches('`');
        Self {
            set: Set::of_name(set).unwrap_or_else(|| panic!("there is no set of engines `{set}`")),
            test: test.trim_matches('`').to_owned(),
            reason: reason.to_owned(),
        }
    }
}
