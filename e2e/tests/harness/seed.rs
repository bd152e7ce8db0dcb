//! The seed of a run, which every random test uses.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use fastrand::Rng;

static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("CAIRN_SEED") {
    Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("CAIRN_SEED is `{seed}`; set it to a whole number")),
    Err(_) => fastrand::u64(..),
});

/// Returns the seed in `CAIRN_SEED`, or a random one if it is not set.
pub fn of_the_run() -> u64 {
    *SEED
}

/// Returns the random numbers of one test, which depend only on the seed and the test.
pub fn random(test: &str) -> Rng {
    let mut hasher = DefaultHasher::new();
    (of_the_run(), test).hash(&mut hasher);
    Rng::with_seed(hasher.finish())
}
