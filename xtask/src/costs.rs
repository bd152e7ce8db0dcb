//! The costs of a system's access patterns, as a table of the docs.

use std::fmt::Write;

use table::access::Cost;

/// Returns a table with one row per use and pattern. Consecutive rows of a use name it once.
pub fn table(costs: &[Cost]) -> String {
    let mut text = String::from("| use | access pattern | read units | write units |\n|---|---|---|---|\n");
    let mut named = "";
    for cost in costs {
        let of = if cost.of == named { "" } else { cost.of };
        named = cost.of;
        let _ = writeln!(text, "| {of} | {} | {} | {} |", cost.pattern.name, cost.read_units, cost.write_units);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use table::access::Call;

    use crate::systems;

    #[test]
    fn every_pattern_on_a_table_has_a_cost_unless_it_depends_on_a_file() {
        for declared in systems::all() {
            let routes = declared.app.routes().flat_map(|route| route.declared_patterns());
            let handlers = declared.app.event_handlers().iter().flat_map(|handler| handler.declared_patterns());
            let reaches = |call: &Call| matches!(call, Call::Table { .. } | Call::Index { .. });
            let patterns = routes.chain(handlers).filter(|pattern| pattern.calls.iter().any(reaches));
            let known: BTreeSet<&str> = declared.costs.iter().map(|cost| cost.pattern.name).collect();
            let unknown: BTreeSet<&str> =
                patterns.map(|pattern| pattern.name).filter(|name| !known.contains(name)).collect();
            let expected: &[&str] = match declared.app.system().name {
                "parks" => &["checkUpload", "importRows", "work"],
                _ => &[],
            };
            assert_eq!(unknown.into_iter().collect::<Vec<_>>(), expected);
        }
    }
}
