//! The table, its index, the bucket and the event sources of tracker.

use table::schema::{Bucket, Entity, EventSource, Index, Projection, System, Table};

use crate::keys::{
    AttributeKey, BlankRowKey, ChangeKey, CounterKey, DirectoryKey, GateKey, IssueDueKey, IssueKey, JobDueKey, JobKey,
    LastChangeKey, MemberKey, PersonSlotKey, ProjectKey, ProjectSlotKey, StateRowKey, TenantKey, TenantSlotKey,
    ValueRowKey, WrittenKey,
};

pub static SYSTEM: System = System {
    name: "tracker",
    tables: &[&TRACKER, &MIRROR],
    buckets: &[Bucket {
        name: BUCKET,
        expiring: &[("imports/", 7), ("checks/", 8), ("faults/", 38), ("exports/", 38), ("quarantine/", 90)],
    }],
    secrets: &[],
    sources: &[
        // An issue has a row for each attribute, but only one document.
        EventSource::Streams { handler: mirror::HANDLER, filtered: true },
        EventSource::Records { handler: LOG_CHANGES, filtered: true },
        EventSource::Deployment { handler: mirror::CREATE_INDEX },
        mirror::REBUILDS,
        EventSource::Schedule { every_minutes: 60, handler: mirror::SWEEP },
        EventSource::Schedule { every_minutes: mirror::AUDIT_MINUTES, handler: mirror::AUDIT },
        EventSource::Objects { bucket: BUCKET, prefix: "imports/", handler: "startImport" },
        EventSource::Queue { name: QUEUE, handler: "runJob" },
        EventSource::Schedule { every_minutes: 1, handler: jobs::RUN_JOBS },
    ],
};

/// The bucket of files that are imported and exported.
pub const BUCKET: &str = "tracker";

/// The handler of the stream's records that logs the changes of issues.
pub const LOG_CHANGES: &str = "logChanges";

/// The queue of jobs that begin at once.
pub const QUEUE: &str = "tracker-jobs";

/// The mirror's generations, markers and checkpoints.
static MIRROR: Table = mirror::schema::state_table("tracker-mirror");

/// The one index, with every order of every list.
pub const INDEX: &str = "SK-Data";

/// The index's sort key.
pub const DATA: &str = "Data";

pub static TRACKER: Table = Table {
    name: "tracker",
    pk: "PK",
    sk: Some("SK"),
    stream: true,
    indexes: &[Index { name: INDEX, pk: "SK", sk: Some(DATA), projection: Projection::KeysOnly }],
    entities: &[
        Entity::document::<TenantKey>("tenant"),
        Entity::never::<DirectoryKey>("directory"),
        Entity::never::<MemberKey>("member"),
        Entity::document::<ProjectKey>("project"),
        Entity::never::<AttributeKey>("attribute"),
        Entity::document::<IssueKey>("issue"),
        Entity::never::<ValueRowKey>("value"),
        Entity::never::<BlankRowKey>("blank"),
        Entity::never::<StateRowKey>("state"),
        Entity::never::<CounterKey>("counter"),
        Entity::never::<GateKey>("gate"),
        Entity::never::<LastChangeKey>("lastChange"),
        Entity::never::<ChangeKey>("change"),
        Entity::never::<JobKey>("job"),
        Entity::never::<JobDueKey>("jobDue"),
        Entity::never::<TenantSlotKey>("tenantSlot"),
        Entity::never::<ProjectSlotKey>("projectSlot"),
        Entity::never::<PersonSlotKey>("personSlot"),
        Entity::never::<WrittenKey>("written"),
        Entity::never::<IssueDueKey>("issueDue"),
    ],
};
