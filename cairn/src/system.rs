//! A system by the name that was given.

use local::{Served, systems};

use crate::failure::Failure;

pub fn named(name: &str) -> Result<&'static Served, Failure> {
    systems::named(name).ok_or_else(|| {
        let names: Vec<&str> = systems::ALL.iter().map(|served| served.system.name).collect();
        Failure::new(format!("There is no system `{name}`.\nGive one of: {}.", names.join(", ")))
    })
}
