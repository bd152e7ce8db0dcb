//! The tables, indexes, bucket and event sources of parks.

use table::schema::{Bucket, Entity, EventSource, Index, Projection, Search, System, Table};

pub static SYSTEM: System = System {
    name: "parks",
    tables: &[&PARKS, &MIRROR],
    buckets: &[Bucket {
        name: "parks",
        expiring: &[("uploads/", 7), ("imports/", 7), ("faults/", 38), ("quarantine/", 90)],
    }],
    secrets: &[],
    sources: &[
        EventSource::Streams { handler: mirror::HANDLER, filtered: false },
        EventSource::Deployment { handler: mirror::CREATE_INDEX },
        mirror::REBUILDS,
        EventSource::Schedule { every_minutes: 60, handler: mirror::SWEEP },
        EventSource::Schedule { every_minutes: mirror::AUDIT_MINUTES, handler: mirror::AUDIT },
        EventSource::Objects { bucket: "parks", prefix: "uploads/", handler: "checkUpload" },
        EventSource::Objects { bucket: "parks", prefix: "imports/", handler: "startImport" },
        EventSource::Schedule { every_minutes: 1, handler: "runJobs" },
        EventSource::Schedule { every_minutes: 1440, handler: "sweepGeometries" },
    ],
};

/// The alias of the documents in search.
pub const ALIAS: &str = "parks";

/// The bucket of shapes and uploads.
pub const BUCKET: &str = "parks";

/// Where the mirror keeps its generations, markers and checkpoints.
static MIRROR: Table = mirror::schema::state_table("parks-mirror");

pub static PARKS: Table = Table {
    name: "parks",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[
        Index { name: "globalId", pk: "globalId", sk: None, projection: Projection::KeysOnly },
        Index { name: "list", pk: "listPk", sk: Some("listSk"), projection: Projection::Include(SUMMARY) },
        Index {
            name: "publicList",
            pk: "publicPk",
            sk: Some("listSk"),
            projection: Projection::Include(PUBLIC_SUMMARY),
        },
        Index { name: "reverse", pk: "gsipk", sk: Some("gsisk"), projection: Projection::KeysOnly },
        Index { name: "publicReverse", pk: "publicGsipk", sk: Some("gsisk"), projection: Projection::KeysOnly },
    ],
    entities: &[
        document("collection", "collection", "{collection}"),
        document("geozone", "geozone::{collection}", "{number}"),
        document("facility", "facility::{collection}", "{facilityType}::{number}"),
        document("activity", "activity::{collection}", "{activityType}::{number}"),
        document("product", "product::{collection}::{activityType}::{activity}", "{number}"),
        never("productDate", "productDate::{collection}::{activityType}::{activity}", "{product}::{date}"),
        never("relationship", "rel::{end1}", "{end2}"),
        never("detached", "detached::{deleted}", "{other}"),
        never("sequence", "counter::{partition}", "sequence"),
        never("live", "counter::{partition}", "live"),
        never("externalId", "external::{entity}::{collection}", "{externalId}"),
        never("geometry", "geometry::{sha256}", "object"),
        never("upload", "upload::{upload}", "upload"),
        never("job", "job::{job}", "job"),
        never("jobDue", "job::{job}", "due"),
    ],
};

/// The attributes of lists for administrators. Without `rev` and `updatedAt` an update of a description writes no index.
const SUMMARY: &[&str] = &[
    "entity",
    "globalId",
    "displayName",
    "collectionId",
    "facilityType",
    "activityType",
    "subType",
    "number",
    "isVisible",
    "isDeleted",
    "location",
    "envelope",
];

/// The attributes of lists for visitors, without those for administrators.
const PUBLIC_SUMMARY: &[&str] = &[
    "entity",
    "globalId",
    "displayName",
    "collectionId",
    "facilityType",
    "activityType",
    "subType",
    "number",
    "isVisible",
    "location",
    "envelope",
];

const fn document(name: &'static str, pk: &'static str, sk: &'static str) -> Entity {
    Entity { name, pk, sk: Some(sk), search: Search::Document }
}

const fn never(name: &'static str, pk: &'static str, sk: &'static str) -> Entity {
    Entity { name, pk, sk: Some(sk), search: Search::Never }
}
