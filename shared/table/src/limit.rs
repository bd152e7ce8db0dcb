//! Limits on how often something may be done. A system counts in its own table.

use crate::Config;

/// A limit within a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name in the configuration and in the docs.
    pub name: &'static str,
    /// The default number within the period.
    pub most: u32,
    /// The period in seconds.
    pub seconds: u32,
}

impl Limit {
    pub const fn new(name: &'static str, most: u32, seconds: u32) -> Self {
        Self { name, most, seconds }
    }

    /// Returns the number that a deployment allows.
    pub fn most(&self, config: &Config) -> u32 {
        config.limits.get(self.name).copied().unwrap_or(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_of_the_configuration_replaces_the_default() {
        const SENDS: Limit = Limit::new("sends", 30, 10);
        for (name, most) in [("sends", 300), ("searches", 30)] {
            let limits = [(name.to_owned(), 300)].into();
            assert_eq!(SENDS.most(&Config { limits, ..Config::new("r", "s") }), most, "{name}");
        }
    }
}
