//! The access patterns of a system with their calls and operations, as a table of the docs.

use std::collections::BTreeSet;
use std::fmt::Write;

use table::AccessPattern;
use table::access::Call;
use web::App;

use crate::schema::code;

/// Returns a table with one row per pattern, in the order of first use by routes and event handlers.
pub fn table(app: &App) -> String {
    let routes = app.routes().map(|route| (route.name(), route.declared_patterns()));
    let handlers = app.event_handlers().iter().map(|handler| (handler.name(), handler.declared_patterns()));
    let mut rows: Vec<(&AccessPattern, Vec<&str>)> = Vec::new();
    for (operation, patterns) in routes.chain(handlers) {
        for pattern in patterns {
            match rows.iter_mut().find(|(known, _)| known == pattern) {
                Some((_, operations)) => operations.push(operation),
                None => rows.push((pattern, vec![operation])),
            }
        }
    }
    let mut text = String::from("| access pattern | calls | used by |\n|---|---|---|\n");
    for (pattern, operations) in rows {
        let calls: BTreeSet<String> = pattern.calls.iter().map(call).collect();
        let calls = calls.into_iter().collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "| {} | {calls} | {} |", pattern.name, operations.join(", "));
    }
    text
}

fn call(call: &Call) -> String {
    match call {
        Call::Table { table, action } => format!("{action:?} on {table}"),
        Call::Index { table, index } => format!("Query of {table}, index {index}"),
        Call::Objects { bucket, prefix, action } => {
            format!("{action:?} in {bucket} under {}", code(prefix))
        }
        Call::Queue { queue } => format!("SendMessage to {queue}"),
        Call::EventBus { source } => format!("PutEvents of {source}"),
        Call::Socket { action } => format!("{action:?} of the socket"),
        Call::Secret { secret } => format!("GetSecretValue of {secret}"),
        Call::Search { alias } => format!("POST {}", code(&format!("/{alias}/_search"))),
    }
}
