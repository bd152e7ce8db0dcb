//! What each access pattern consumes, as a test measures it over HTTP: issues have less than 1 KB, in a project of four
//! attributes.

use table::AccessPattern;
use table::access::Cost;

use crate::access;

/// Use by use, the patterns of each by name.
pub const COSTS: &[Cost] = &[cost("create a tenant", &access::CREATE_TENANT, 0.0, 0.0)];

const fn cost(of: &'static str, pattern: &'static AccessPattern, read_units: f64, write_units: f64) -> Cost {
    Cost { of, pattern, read_units, write_units }
}
