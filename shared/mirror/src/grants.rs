//! The grants of a system's functions that mirror, create indexes, audit them and sweep tombstones. The access patterns
//! that read shapes are granted separately.

use table::grant::{Grant, Resource};
use table::rev;
use table::schema::{System, Table};

use crate::fill::searchable;
use crate::schema::state_table_name;

/// The number of a generation in a policy: six digits, where `?` matches one character. `*` would match paths of any
/// length and lists of indexes.
const GENERATION: &str = "??????";

/// Returns the grants of a batch: read items and set only their `rev`, write the state table and the quarantine, and
/// write documents and read versions through the write aliases of the system's generations.
pub fn grants(system: &System) -> Vec<Grant> {
    let state = |action| Grant { action, resource: Resource::Table(state_table_name(system.name)) };
    let search = |path| Grant {
        action: "es:ESHttpPost",
        resource: Resource::Search { path: format!("{}-{GENERATION}-write/{path}", system.name) },
    };
    let quarantine = Resource::Objects { bucket: system.name.to_owned(), prefix: "quarantine/".to_owned() };
    let mut grants = vec![
        state("dynamodb:GetItem"),
        state("dynamodb:BatchGetItem"),
        state("dynamodb:PutItem"),
        state("dynamodb:Query"),
        state("dynamodb:DeleteItem"),
        Grant { action: "s3:PutObject", resource: quarantine },
        search("_bulk"),
        search("_mget"),
    ];
    for table in system.mirrored() {
        grants.push(Grant { action: "dynamodb:GetItem", resource: Resource::Table(table.name.to_owned()) });
        grants.push(Grant { action: "dynamodb:UpdateItem", resource: stamped(table) });
    }
    grants
}

/// Returns the grants of the function that creates indexes: those of a batch, to write each item as its record would,
/// those to scan the tables, create the index and compare it with the tables, and those to move the alias to the first
/// one. They do not suffice to move the alias from one index to another in one step.
pub fn index_grants(system: &'static System) -> Vec<Grant> {
    let search = |action, path: String| Grant { action, resource: Resource::Search { path } };
    let index = format!("{}-{GENERATION}", system.name);
    let mut grants = grants(system);
    grants.extend([
        search("es:ESHttpPut", index.clone()),
        search("es:ESHttpPost", format!("{index}/_refresh")),
        search("es:ESHttpPost", format!("{index}-write/_search")),
        search("es:ESHttpGet", format!("{}/_alias", system.name)),
        search("es:ESHttpGet", format!("{index}/_alias")),
        search("es:ESHttpPut", format!("{index}/_alias/{}", system.name)),
        search("es:ESHttpDelete", format!("{index}/_alias/{}", system.name)),
    ]);
    grants.extend(scans(system));
    grants
}

/// Returns the grants of a sweep: refresh the indexes that the config item names, and find and delete tombstones through
/// their write aliases.
pub fn sweep_grants(system: &System) -> Vec<Grant> {
    let search = |path: &str| Grant {
        action: "es:ESHttpPost",
        resource: Resource::Search { path: format!("{}-{GENERATION}{path}", system.name) },
    };
    let state = Grant { action: "dynamodb:GetItem", resource: Resource::Table(state_table_name(system.name)) };
    vec![state, search("/_refresh"), search("-write/_search"), search("-write/_bulk")]
}

/// Returns the grants of an audit: those of a batch, to repair as a record would, and those to scan the tables, refresh
/// the indexes, search them through their write aliases, and read which index the readers' alias names.
pub fn audit_grants(system: &'static System) -> Vec<Grant> {
    let search = |path: String| Grant { action: "es:ESHttpPost", resource: Resource::Search { path } };
    let index = format!("{}-{GENERATION}", system.name);
    let mut grants = grants(system);
    grants.extend([search(format!("{index}/_refresh")), search(format!("{index}-write/_search"))]);
    let readers = Resource::Search { path: format!("{}/_alias", system.name) };
    grants.push(Grant { action: "es:ESHttpGet", resource: readers });
    grants.extend(scans(system));
    grants
}

/// Returns the grants to scan the tables that may have documents.
fn scans(system: &'static System) -> impl Iterator<Item = Grant> {
    let scan = |table: &Table| Grant { action: "dynamodb:Scan", resource: Resource::Table(table.name.to_owned()) };
    searchable(system).map(scan)
}

/// Returns the resource of a stamp, which names the key attributes, in the request and in its condition, and `rev`.
fn stamped(table: &Table) -> Resource {
    let attributes = [Some(table.pk), table.sk, Some(rev::ATTRIBUTE)].into_iter().flatten();
    Resource::Attributes { table: table.name.to_owned(), attributes: attributes.map(str::to_owned).collect() }
}
