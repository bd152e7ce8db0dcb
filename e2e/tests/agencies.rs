//! The tests of agencies, one file for each theme.

mod change_events;
mod clocks;
mod costs;
mod deletion;
mod detour;
mod founding;
mod invitations;
mod lists;
mod members;
mod races;
mod rights;
mod search;
pub mod stage;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    let themes = [
        lists::tests(),
        founding::tests(),
        rights::tests(),
        members::tests(),
        deletion::tests(),
        invitations::all(),
        races::tests(),
        search::tests(),
        change_events::tests(),
        clocks::tests(),
        costs::tests(),
    ];
    themes.into_iter().flatten().collect()
}
