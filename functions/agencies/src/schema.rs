//! The table, indexes and event sources of agencies.

use jobs::{JobDueKey, JobKey};
use table::schema::{Bucket, Entity, EventSource, Index, Projection, System, Table};

use crate::keys::{AgencyKey, GateKey, InvitationKey, KnownAddressKey, MemberKey, RemovalKey};

pub static SYSTEM: System = System {
    name: "agencies",
    tables: &[&AGENCIES, &MIRROR],
    buckets: &[Bucket { name: "agencies", expiring: &[("quarantine/", 90)] }],
    secrets: &[],
    sources: &[
        EventSource::Streams { handler: mirror::HANDLER, filtered: false },
        EventSource::Records { handler: PUBLISH_EVENTS, filtered: false },
        EventSource::Deployment { handler: mirror::CREATE_INDEX },
        mirror::REBUILDS,
        EventSource::Schedule { every_minutes: 60, handler: mirror::SWEEP },
        EventSource::Schedule { every_minutes: mirror::AUDIT_MINUTES, handler: mirror::AUDIT },
        EventSource::Schedule { every_minutes: 1, handler: jobs::RUN_JOBS },
    ],
};

/// The handler of the stream's records that puts events of changes on the event bus.
pub const PUBLISH_EVENTS: &str = "publishEvents";

/// Where the mirror keeps its generations, markers and checkpoints.
static MIRROR: Table = mirror::schema::state_table("agencies-mirror");

pub static AGENCIES: Table = Table {
    name: "agencies",
    pk: "PK",
    sk: Some("SK"),
    stream: true,
    indexes: &[
        // Items are under 1 KB: a smaller projection would cost the same, and a second read.
        Index { name: BY_TYPE, pk: "type", sk: Some("created"), projection: Projection::All },
        Index { name: BY_PERSON, pk: "idpid", sk: Some("agencyId"), projection: Projection::All },
    ],
    entities: &[
        Entity::document::<AgencyKey>("agency"),
        Entity::document::<MemberKey>("member"),
        Entity::never::<InvitationKey>("invitation"),
        Entity::never::<KnownAddressKey>("knownAddress"),
        Entity::never::<RemovalKey>("removal"),
        Entity::never::<GateKey>("gate"),
        Entity::never::<JobKey>("job"),
        Entity::never::<JobDueKey>("jobDue"),
    ],
};

/// All agencies and all members by creation, and due jobs by agency and time.
pub const BY_TYPE: &str = "GSI1";

/// A person's memberships and an address's invitations, by agency.
pub const BY_PERSON: &str = "GSI2";
