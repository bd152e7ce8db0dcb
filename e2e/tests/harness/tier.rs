//! The tier of a run: how large its long tests are.

use std::sync::LazyLock;

/// Which tests a run has, and at which sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// What a contributor runs before each commit: each behaviour once, at the smallest size that shows it.
    Ordinary,
    /// What runs at night: each crash at each step, and collections of full size.
    Nightly,
}

static TIER: LazyLock<Tier> = LazyLock::new(|| match std::env::var("CAIRN_TIER").as_deref() {
    Err(_) | Ok("ordinary") => Tier::Ordinary,
    Ok("nightly") => Tier::Nightly,
    Ok(other) => panic!("CAIRN_TIER is `{other}`; set it to `ordinary` or `nightly`"),
});

impl Tier {
    /// The tier that `CAIRN_TIER` names, `ordinary` where it is not set.
    pub fn of_the_run() -> Self {
        *TIER
    }
}

/// The size of a test: the first in the ordinary tier, the second in the nightly one.
pub fn sized<T>(ordinary: T, nightly: T) -> T {
    match Tier::of_the_run() {
        Tier::Ordinary => ordinary,
        Tier::Nightly => nightly,
    }
}
