//! The recorded costs of a system's access patterns: `costs.json` in the folder of its crate.

use std::fmt::Write;
use std::fs;

use serde::Deserialize;

use crate::systems;

/// The record that a test writes when `CAIRN_RECORD` is set.
#[derive(Debug, Default, Deserialize)]
pub struct Record {
    pub costs: Vec<Cost>,
}

/// The capacity units that one use of a system consumes under one access pattern.
#[derive(Debug, Deserialize)]
pub struct Cost {
    #[serde(rename = "use")]
    pub of: String,
    pub pattern: String,
    pub read: f64,
    pub write: f64,
}

impl Record {
    /// The record of a system. A system whose costs were never recorded has an empty one.
    pub fn read(system: &str) -> Self {
        let file = crate::root().join(systems::folder(system)).join("costs.json");
        fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// The table of the docs: one row per use and pattern, which names each use once.
    pub fn table(&self) -> String {
        let mut text = String::from("| use | access pattern | read units | write units |\n|---|---|---|---|\n");
        let mut named = "";
        for cost in &self.costs {
            let of = if cost.of == named { "" } else { &cost.of };
            named = &cost.of;
            let _ = writeln!(text, "| {of} | {} | {} | {} |", cost.pattern, cost.read, cost.write);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use table::access::Call;

    use super::Record;
    use crate::systems;

    #[test]
    fn every_pattern_on_a_table_has_a_cost_unless_it_depends_on_a_file() {
        for declared in systems::all() {
            let routes = declared.app.routes().flat_map(|route| route.declared_patterns());
            let handlers = declared.app.event_handlers().iter().flat_map(|handler| handler.declared_patterns());
            let reaches = |call: &Call| matches!(call, Call::Table { .. } | Call::Index { .. });
            let patterns = routes.chain(handlers).filter(|pattern| pattern.calls.iter().any(reaches));
            let record = Record::read(declared.app.system().name);
            let known: BTreeSet<&str> = record.costs.iter().map(|cost| cost.pattern.as_str()).collect();
            let unknown: BTreeSet<&str> =
                patterns.map(|pattern| pattern.name).filter(|name| !known.contains(name)).collect();
            let expected: &[&str] = match declared.app.system().name {
                "parks" => &["checkUpload", "externalIds", "importRows"],
                _ => &[],
            };
            assert_eq!(unknown.into_iter().collect::<Vec<_>>(), expected);
        }
    }
}
