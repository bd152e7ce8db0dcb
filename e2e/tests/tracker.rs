//! The tests of tracker, one file for each theme.

mod cancelled;
mod changes;
mod concurrent;
mod costs;
mod crashes;
mod deletions;
mod edges;
mod exports;
mod fair;
mod files;
mod files_killed;
pub mod fixture;
mod grid;
mod issues;
mod messages;
mod numbers;
mod people;
mod progress;
mod questions;
mod rule;
mod schema;
mod searched;
mod stopped;
mod tenancy;
mod undone;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    let themes = [
        grid::tests(),
        cancelled::tests(),
        changes::tests(),
        concurrent::tests(),
        costs::tests(),
        crashes::tests(),
        stopped::tests(),
        issues::tests(),
        messages::tests(),
        numbers::tests(),
        people::tests(),
        schema::tests(),
        deletions::tests(),
        edges::tests(),
        exports::tests(),
        fair::tests(),
        files::tests(),
        files_killed::tests(),
        progress::tests(),
        searched::tests(),
        tenancy::tests(),
        undone::tests(),
    ];
    themes.into_iter().flatten().collect()
}
