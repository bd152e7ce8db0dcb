//! The table, its index, the bucket and the event sources of the archive.

use table::schema::{Bucket, Entity, EventSource, Index, Projection, System, Table};

use crate::keys::{
    CategoryKey, CategoryNameKey, CategoryUseKey, CollectionCategoryKey, CollectionKey, CollectionUseKey,
    HiddenRunsKey, JobDueKey, JobKey, PlaceKey, PlaceSettingsKey, PlaceWordKey, PostKey, PostRunKey, RecordAddressKey,
    RecordHouseholdKey, RecordKey, ReportCountKey, ReportKey, SequenceKey, SettingsKey, UserHashKey, UserKey,
};

pub static SYSTEM: System = System {
    name: "archive",
    tables: &[&ARCHIVE, &MIRROR],
    buckets: &[Bucket { name: BUCKET, expiring: &[("incoming/", 7), ("work/", 7), ("quarantine/", 90)] }],
    secrets: &[],
    sources: &[
        EventSource::Streams { handler: mirror::HANDLER, filtered: false },
        EventSource::Deployment { handler: mirror::CREATE_INDEX },
        mirror::REBUILDS,
        EventSource::Schedule { every_minutes: 60, handler: mirror::SWEEP },
        EventSource::Schedule { every_minutes: mirror::AUDIT_MINUTES, handler: mirror::AUDIT },
        EventSource::Objects { bucket: BUCKET, prefix: "incoming/", handler: INSPECT_FILE },
        EventSource::Queue { name: QUEUE, handler: RUN_JOB },
        EventSource::Schedule { every_minutes: 1, handler: jobs::RUN_JOBS },
    ],
};

/// The bucket of uploaded files.
pub const BUCKET: &str = "archive";

/// The queue of jobs that begin at once.
pub const QUEUE: &str = "archive-jobs";

/// The handler of uploaded files.
pub const INSPECT_FILE: &str = "inspectFile";

/// The handler of the queue.
pub const RUN_JOB: &str = "runJob";

/// The mirror's generations, markers and checkpoints.
static MIRROR: Table = mirror::schema::state_table("archive-mirror");

/// The one index, with every list. Its partition key is the table's sort key.
pub const INDEX: &str = "GSI";

pub static ARCHIVE: Table = Table {
    name: "archive",
    pk: "PK",
    sk: Some("SK"),
    stream: true,
    // A list is whole in one query. An item without `GSISK` is in no list.
    indexes: &[Index { name: INDEX, pk: "SK", sk: Some("GSISK"), projection: Projection::All }],
    entities: &[
        Entity::document::<CategoryKey>("category"),
        Entity::document::<CollectionKey>("collection"),
        Entity::never::<CollectionCategoryKey>("collectionCategory"),
        Entity::document::<PostKey>("post"),
        Entity::document::<RecordKey>("record"),
        Entity::never::<RecordHouseholdKey>("recordHousehold"),
        Entity::document::<PlaceKey>("place"),
        Entity::never::<PlaceWordKey>("placeWord"),
        Entity::never::<PlaceSettingsKey>("placeSettings"),
        Entity::never::<SettingsKey>("settings"),
        Entity::never::<SequenceKey>("sequence"),
        Entity::document::<UserKey>("user"),
        Entity::never::<CategoryNameKey>("categoryName"),
        Entity::never::<CategoryUseKey>("categoryUse"),
        Entity::never::<CollectionUseKey>("collectionUse"),
        Entity::never::<UserHashKey>("userKey"),
        Entity::never::<PostRunKey>("postRun"),
        Entity::never::<RecordAddressKey>("recordAddress"),
        Entity::never::<ReportKey>("report"),
        Entity::never::<ReportCountKey>("reportCount"),
        Entity::never::<HiddenRunsKey>("hiddenRuns"),
        Entity::never::<JobKey>("job"),
        Entity::never::<JobDueKey>("jobDue"),
    ],
};
