//! The tables, bucket and event sources of the shelf, its keys and its access patterns.

use jobs::{JobDueKey, JobKey, RUN_JOBS};
use table::access::{AccessPattern, Call, OnTable};
use table::schema::{Bucket, Entity, EventSource, Index, Projection, System, Table};

pub static SYSTEM: System = System {
    name: "shelf",
    tables: &[&SHELF, &MIRROR],
    buckets: &[Bucket { name: "shelf", expiring: &[("quarantine/", 90)] }],
    secrets: &[],
    sources: &[
        EventSource::Streams { handler: mirror::HANDLER, filtered: false },
        EventSource::Deployment { handler: mirror::CREATE_INDEX },
        mirror::REBUILDS,
        EventSource::Schedule { every_minutes: 60, handler: mirror::SWEEP },
        EventSource::Schedule { every_minutes: mirror::AUDIT_MINUTES, handler: mirror::AUDIT },
        EventSource::Schedule { every_minutes: 1, handler: RUN_JOBS },
    ],
};

static MIRROR: Table = mirror::schema::state_table("shelf-mirror");

pub static SHELF: Table = Table {
    name: "shelf",
    pk: "PK",
    sk: Some("SK"),
    stream: true,
    indexes: &[Index { name: DUE, pk: "list", sk: Some("time"), projection: Projection::KeysOnly }],
    entities: &[
        Entity::document::<BookKey>("book"),
        Entity::never::<JobKey>("job"),
        Entity::never::<JobDueKey>("jobDue"),
    ],
};

web::id! {
    /// The id of a book. Ids sort by the time at which the books were added.
    pub struct BookId
}

table::key! {
    /// The key of a book, and the parameters of its path. All books are in one partition, so that they can be listed.
    #[derive(serde::Deserialize, utoipa::ToSchema)]
    pub struct BookKey { book: BookId }
    pk "BOOKS"
    sk "{book}"
}

/// The index of jobs by the time at which they are due.
pub const DUE: &str = "dueJobs";
pub const TABLE: OnTable = OnTable("shelf");
pub const CREATE: AccessPattern = AccessPattern::new("create", &[TABLE.put()]);
pub const GET: AccessPattern = AccessPattern::new("get", &[TABLE.get()]);
pub const LIST: AccessPattern = AccessPattern::new("list", &[TABLE.query()]);
pub const SEARCH: AccessPattern = AccessPattern::new("search", &[Call::Search { alias: "shelf" }]);
pub const FOUND: AccessPattern = AccessPattern::new("found", &[TABLE.batch_get()]);
pub const LEASE: AccessPattern = AccessPattern::new("lease", &[TABLE.query_index(DUE), TABLE.get(), TABLE.update()]);
/// Whether search answers, and how far it is behind.
pub const HEALTH: AccessPattern =
    AccessPattern::new("health", &[OnTable("shelf-mirror").query(), Call::Search { alias: "shelf" }]);
pub const CLEAR: AccessPattern =
    AccessPattern::new("clear", &[TABLE.query(), TABLE.batch_delete(), TABLE.update(), TABLE.delete()]);
