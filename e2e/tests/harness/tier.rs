//! The tier of a run, which decides which tests run and the size of the long ones.

use std::sync::LazyLock;

use super::engines::Set;
use super::suite::Test;

/// The tier, which `CAIRN_TIER` sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The tests that a contributor runs before each commit: all but those marked `long`.
    Ordinary,
    /// The tests that must pass before a change lands: all, each at the smallest size that shows its behaviour.
    Complete,
    /// The tests whose outcome depends on the engines, for the sets of engines other than the default.
    Engines,
    /// All tests at full size: each crash at each step, and large collections.
    Nightly,
}

/// Themes with behaviour that may differ between DynamoDB engines: conditions, transactions, pages and streams.
const DYNAMODB: [&str; 17] = [
    "contract",
    "costs",
    "agency_costs",
    "tracker_costs",
    "archive_costs",
    "chat_costs",
    "shelf_costs",
    "agency_races",
    "archive_races",
    "change_events",
    "chat_private_chats",
    "chat_reactions",
    "idempotency",
    "mirror",
    "pages",
    "tracker_changes",
    "tracker_concurrent",
];

/// Themes with behaviour that may differ between search engines: shapes, words, orders and versions of documents.
const SEARCH: [&str; 15] = [
    "contract",
    "agency_search",
    "archive_people",
    "archive_places",
    "archive_search",
    "chat_search",
    "geometry",
    "mirror",
    "open_days",
    "places",
    "search",
    "shelf",
    "tombstones",
    "tracker_search",
    "uploads",
];

static TIER: LazyLock<Tier> = LazyLock::new(|| match std::env::var("CAIRN_TIER").as_deref() {
    Err(_) | Ok("ordinary") => Tier::Ordinary,
    Ok("complete") => Tier::Complete,
    Ok("engines") => Tier::Engines,
    Ok("nightly") => Tier::Nightly,
    Ok(other) => panic!("CAIRN_TIER is `{other}`; set it to `ordinary`, `complete`, `engines` or `nightly`"),
});

impl Tier {
    /// Returns the tier that `CAIRN_TIER` names, or `ordinary` if it is not set.
    pub fn of_the_run() -> Self {
        *TIER
    }

    /// Whether the test is part of a run of this tier on these engines.
    pub fn has(self, set: Set, test: &Test) -> bool {
        let theme = theme(test);
        match self {
            Self::Ordinary => !test.long,
            Self::Complete | Self::Nightly => true,
            Self::Engines => match set {
                Set::Embedded => DYNAMODB.contains(&theme) || SEARCH.contains(&theme),
                Set::Real => DYNAMODB.contains(&theme),
                Set::WithoutJava => SEARCH.contains(&theme),
            },
        }
    }
}

/// Returns the themes of the tier `engines` that have no test.
pub fn themes_without_tests(tests: &[Test]) -> Vec<&'static str> {
    let themes = DYNAMODB.into_iter().chain(SEARCH);
    themes.filter(|listed| tests.iter().all(|test| theme(test) != *listed)).collect()
}

fn theme(test: &Test) -> &str {
    test.name.split("::").next().unwrap_or_default()
}

/// Returns the size of a test: the second in the nightly tier, otherwise the first.
pub fn sized<T>(ordinary: T, nightly: T) -> T {
    match Tier::of_the_run() {
        Tier::Ordinary | Tier::Complete | Tier::Engines => ordinary,
        Tier::Nightly => nightly,
    }
}
