//! Beginning work, in the transaction that marks what it works on.

use std::time::Duration;

use serde_json::Value;
use table::clock::rfc3339;
use table::{Access, Action, EntityKey, Error};

use super::{Counts, Due, Kind, Work, WorkState};
use crate::keys::{WorkDueKey, WorkKey};
use crate::names::{AttributeId, ProjectId, TenantId, WorkId};
use crate::schema::TRACKER;

/// Work that is being made.
#[derive(Debug)]
pub struct Begun {
    pub id: WorkId,
    pub work: Work,
    /// What its record and its due row are made by.
    pub actions: [Action; 2],
}

/// Work of a tenant that is due after so many seconds.
pub fn begin(
    access: &Access,
    tenant: TenantId,
    kind: Kind,
    (project, attribute): (Option<ProjectId>, Option<AttributeId>),
    who: Option<String>,
    after: u64,
) -> Result<Begun, Error> {
    let id = WorkId::new();
    let work = Work {
        kind,
        project,
        attribute,
        state: WorkState::Running,
        counts: Counts::default(),
        checkpoint: Value::Null,
        created_at: rfc3339(access.engines().clock.now()),
        created_by: who,
        ended_at: None,
        expires: None,
    };
    let key = WorkKey { tenant, work: id }.key();
    let due = Due { data: in_seconds(access, after), owner: key.clone() };
    let actions =
        [Action::create(&TRACKER, key, &work)?, Action::create(&TRACKER, WorkDueKey { work: id }, &due)?];
    Ok(Begun { id, work, actions })
}

/// The time in so many seconds, as due rows have it.
pub fn in_seconds(access: &Access, seconds: u64) -> String {
    let now = access.engines().clock.now();
    rfc3339(now.checked_add(Duration::from_secs(seconds)).unwrap_or(now))
}
