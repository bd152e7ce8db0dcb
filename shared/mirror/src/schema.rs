//! The mirror's state table `{system}-mirror`, which a system declares among its tables.

use table::schema::{Entity, Search, Table};

use crate::ports::Segment;

/// Declares the table by its full name: `state_table("toy-mirror")`.
pub const fn state_table(name: &'static str) -> Table {
    Table { name, pk: "pk", sk: Some("sk"), indexes: &[], entities: ENTITIES, stream: false }
}

const ENTITIES: &[Entity] = &[
    Entity { name: "generations", pk: CONFIG_PK, sk: Some(CONFIG_SK), search: Search::Never },
    Entity { name: "marker", pk: "marker#{generation}", sk: Some("{subject}"), search: Search::Never },
    Entity { name: "audit", pk: "audit#{generation}", sk: Some("{note}"), search: Search::Never },
    Entity { name: "heartbeat", pk: "heartbeat", sk: Some("{table}"), search: Search::Never },
    Entity { name: "checkpoint", pk: "scan#{generation}", sk: Some("{table}#{segment}"), search: Search::Never },
];

pub(crate) const CONFIG_PK: &str = "config";
pub(crate) const CONFIG_SK: &str = "generations";

pub(crate) fn state_table_name(system: &str) -> String {
    format!("{system}-mirror")
}

pub(crate) fn marker_pk(generation: &str) -> String {
    format!("marker#{generation}")
}

pub(crate) fn audit_pk(generation: &str) -> String {
    format!("audit#{generation}")
}

pub(crate) fn scan_pk(generation: &str) -> String {
    format!("scan#{generation}")
}

pub(crate) fn segment_sk(table: &Table, segment: Segment) -> String {
    format!("{}#{}-{}", table.name, segment.number, segment.of)
}
