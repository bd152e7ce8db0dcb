//! The tests of the archive, one file for each theme.

mod catalog;
mod corrected;
mod costs;
mod inspection;
mod lists;
mod outages;
mod people;
mod places;
mod posts;
pub mod publishing;
mod publishing_runs;
mod races;
pub mod records;
mod replaced;
mod retiring;
mod search;
mod settings;
pub mod stage;
mod users;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    let themes = [
        catalog::tests(),
        posts::tests(),
        inspection::tests(),
        publishing::tests(),
        publishing_runs::tests(),
        outages::tests(),
        replaced::tests(),
        corrected::tests(),
        retiring::tests(),
        lists::tests(),
        places::tests(),
        settings::tests(),
        users::tests(),
        races::tests(),
        records::tests(),
        search::tests(),
        people::tests(),
        costs::tests(),
    ];
    themes.into_iter().flatten().collect()
}
