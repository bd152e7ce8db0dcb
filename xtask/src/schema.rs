//! The tables, indexes and other resources of a system, as tables of the docs.

use std::fmt::Write;

use table::schema::{EventSource, MAX_RECEIVES, Projection, Search, System, dead_letter_queue};

/// Returns a table with one row per entity and its key templates.
pub fn entities(system: &System) -> String {
    let mut text = String::from("| table | entity | partition key | sort key | in search |\n|---|---|---|---|---|\n");
    for table in system.tables {
        for entity in table.entities {
            let sk = entity.sk.map(code).unwrap_or_default();
            let search = match entity.search {
                Search::Document => "a document per item",
                Search::Never => "never",
            };
            let _ = writeln!(text, "| {} | {} | {} | {sk} | {search} |", table.name, entity.name, code(entity.pk));
        }
    }
    text
}

/// Returns a table with one row per index.
pub fn indexes(system: &System) -> String {
    let mut text = String::from("| table | index | partition key | sort key | carries |\n|---|---|---|---|---|\n");
    for table in system.tables {
        for index in table.indexes {
            let (pk, sk) = (code(index.pk), index.sk.map(code).unwrap_or_default());
            let carries = match index.projection {
                Projection::KeysOnly => "keys".to_owned(),
                Projection::All => "all attributes".to_owned(),
                Projection::Include(attributes) => format!("keys, {}", attributes.join(", ")),
            };
            let _ = writeln!(text, "| {} | {} | {pk} | {sk} | {carries} |", table.name, index.name);
        }
    }
    text
}

/// Returns a table of tables, buckets, queues and event handlers.
pub fn resources(system: &System) -> String {
    let mut text = String::from("| what | name | how it is set up |\n|---|---|---|\n");
    for table in system.tables {
        let stream = if table.stream { "a stream with both images" } else { "no stream" };
        let keys = [Some(table.pk), table.sk].into_iter().flatten().map(code).collect::<Vec<_>>().join(" and ");
        let _ = writeln!(text, "| table | {} | keyed by {keys}; {stream}; TTL attribute `expires` |", table.name);
    }
    for bucket in system.buckets {
        let expiring = bucket.expiring.iter().map(|(prefix, days)| format!("{} go after {days} days", code(prefix)));
        let _ = writeln!(text, "| bucket | {} | {} |", bucket.name, expiring.collect::<Vec<_>>().join("; "));
    }
    for source in system.sources {
        if let EventSource::Queue { name, .. } = source {
            let dead = dead_letter_queue(name);
            let _ = writeln!(text, "| queue | {name} | after {MAX_RECEIVES} deliveries a message goes to {dead} |");
        }
    }
    for source in system.sources {
        let _ = match source {
            EventSource::Streams { handler, filtered } => {
                let of = if *filtered { ", of keys that have documents" } else { "" };
                writeln!(
                    text,
                    "| event handler | {handler} | for records of every searchable table with a stream{of} |"
                )
            }
            EventSource::Records { handler, filtered } => {
                let of = if *filtered { ", of keys that have documents" } else { "" };
                writeln!(
                    text,
                    "| event handler | {handler} | for records of every table with a stream{of}, beside the mirror |"
                )
            }
            EventSource::Objects { bucket, prefix, handler } => {
                writeln!(text, "| event handler | {handler} | for new objects in {bucket} under {} |", code(prefix))
            }
            EventSource::Queue { name, handler } => {
                writeln!(text, "| event handler | {handler} | for each message of {name} |")
            }
            EventSource::Schedule { every_minutes, handler } => {
                writeln!(text, "| event handler | {handler} | every {every_minutes} min |")
            }
            EventSource::Deployment { handler } => {
                writeln!(text, "| event handler | {handler} | when its stack is deployed |")
            }
            EventSource::StateMachine { name, handler, .. } => {
                writeln!(text, "| event handler | {handler} | for each call of the state machine {name} |")
            }
            EventSource::Socket { connect, disconnect, receive } => {
                let when = [
                    (connect, "when a client opens the socket"),
                    (receive, "for each message of a client"),
                    (disconnect, "after a connection of the socket has ended"),
                ];
                when.iter().try_for_each(|(handler, when)| writeln!(text, "| event handler | {handler} | {when} |"))
            }
        };
    }
    text
}

pub(crate) fn code(text: &str) -> String {
    format!("`{text}`")
}
