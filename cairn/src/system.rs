//! Lookup of a system by its name.

use local::{Served, systems};

use crate::failure::Failure;

/// Returns the system with this name.
pub fn named(name: &str) -> Result<&'static Served, Failure> {
    systems::named(name).ok_or_else(|| {
        let names: Vec<&str> = systems::ALL.iter().map(|served| served.system.name).collect();
        Failure::new(format!("There is no system `{name}`.\nUse one of: {}.", names.join(", ")))
    })
}
