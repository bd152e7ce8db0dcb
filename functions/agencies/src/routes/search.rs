//! `/agencies/search`.

use std::time::Duration;

use web::{Route, Sample, problem};

use super::SIGNED_IN;
use crate::access::{FOUND, MEMBERSHIPS, SEARCH, STANDING};
use crate::search::{self, Found, NARROW_SEARCH, SearchForm};

/// Search that does not answer is told as such: its own patience ends before this.
const TIMEOUT: Duration = Duration::from_secs(15);

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("search", "/agencies/search", SIGNED_IN, search::search)
            .summary("Finds the caller's agencies by name, and the members of one")
            .patterns(&[&MEMBERSHIPS, &STANDING, &SEARCH, &FOUND])
            .timeout(TIMEOUT)
            .query::<SearchForm>()
            .answers::<Found>(200)
            .problems(&[NARROW_SEARCH, problem::NOT_FOUND, problem::SEARCH_UNAVAILABLE])
            .sample(Sample::new("/agencies/search?q=nort%20res")),
    ]
}
