//! The systems of the platform, as this tool sees them: their declarations, on engines that nobody asks anything.

use serde_json::Value;
use table::access::Cost;
use table::{Clock, Config, Engines};
use web::App;

use crate::deployed::smoke::{self, Smoke};
use crate::rehearsal::Step;
use crate::{records, rehearsal};

/// A system, what its access patterns cost, and writes to its tables that show its mirror at work.
pub struct Declared {
    pub app: App,
    pub costs: &'static [Cost],
    pub records: Vec<Value>,
    /// An order in which all its sample events succeed.
    pub rehearsal: &'static [Step],
    /// What has to work where it is deployed.
    pub smoke: Smoke,
}

/// All of them, in the order of the docs.
pub fn all() -> Vec<Declared> {
    let config = Config::new(records::REGION, "");
    let engines = Engines::new(config, Clock::system());
    vec![Declared {
        app: parks::app(engines),
        costs: parks::costs::COSTS,
        records: records::parks::records(),
        rehearsal: rehearsal::parks::STEPS,
        smoke: |stage, stranger| Box::pin(smoke::parks::run(stage, stranger)),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_declaration_contradicts_itself() {
        for declared in all() {
            assert_eq!(declared.app.misdeclared(), Vec::<String>::new());
        }
    }
}
