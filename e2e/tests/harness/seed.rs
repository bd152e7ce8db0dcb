//! The seed of a run, from which every random test draws.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use fastrand::Rng;

static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("CAIRN_SEED") {
    Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("CAIRN_SEED is `{seed}`; set it to a whole number")),
    Err(_) => fastrand::u64(..),
});

/// The seed that `CAIRN_SEED` gives, another for each run where it is not set.
pub fn of_the_run() -> u64 {
    *SEED
}

/// The random numbers of one test: the same whenever the seed is, whichever other tests run.
pub fn random(test: &str) -> Rng {
    let mut hasher = DefaultHasher::new();
    (of_the_run(), test).hash(&mut hasher);
    Rng::with_seed(hasher.finish())
}
