//! The expected status of each operation for each principal: the table `e2e/tenancy.md`.
//!
//! A row is named for its operation. An operation whose path has a parameter with few values can have a row for each of
//! them: `sendMessage` in privatechats.

use std::collections::{BTreeMap, BTreeSet};

/// The rows of all systems.
pub struct Expectations {
    systems: BTreeMap<String, Table>,
}

/// The rows of one system.
#[derive(Default)]
struct Table {
    principals: Vec<String>,
    rows: BTreeMap<String, Vec<u16>>,
}

const FILE: &str = include_str!("../../tenancy.md");

impl Expectations {
    pub fn read() -> Self {
        let mut systems: BTreeMap<String, Table> = BTreeMap::new();
        let mut at = String::new();
        for line in FILE.lines() {
            if let Some(system) = line.strip_prefix("## ") {
                at = system.to_owned();
            }
            let Some(row) = line.strip_prefix("| ") else { continue };
            let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
            let table = systems.entry(at.clone()).or_default();
            if cells[0].starts_with('`') {
                let operation = cells[0].replace('`', "");
                let statuses: Vec<u16> = cells[1..].iter().map(|status| status.parse().unwrap()).collect();
                assert_eq!(statuses.len(), table.principals.len(), "a status for each principal: {line}");
                assert!(table.rows.insert(operation, statuses).is_none(), "stated twice: {line}");
            } else {
                table.principals = cells[1..].iter().map(|name| (*name).to_owned()).collect();
            }
        }
        Self { systems }
    }

    pub fn operations(&self, system: &str) -> BTreeSet<&str> {
        let rows = self.systems.get(system).into_iter().flat_map(|table| table.rows.keys());
        rows.filter_map(|row| row.split(' ').next()).collect()
    }

    pub fn principals(&self, system: &str) -> Vec<&str> {
        self.systems.get(system).into_iter().flat_map(|table| table.principals.iter().map(String::as_str)).collect()
    }

    /// The status for each principal, in the order of the columns. `None` if the table states none.
    pub fn of(&self, system: &str, row: &str) -> Option<&[u16]> {
        self.systems.get(system)?.rows.get(row).map(Vec::as_slice)
    }
}
