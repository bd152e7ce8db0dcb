//! Beginning work, in the transaction that marks what it works on.

use serde_json::Value;
use table::clock::rfc3339;
use table::{Access, Action, EntityKey, Error};

use super::line::{self, in_seconds, lease};
use super::{Counts, Due, Kind, Work, WorkState};
use crate::keys::{WorkDueKey, WorkKey};
use crate::names::{AttributeId, ProjectId, TenantId, WorkId};
use crate::schema::TRACKER;

/// When work that is made goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At once, by whoever makes it, who holds its lease.
    Held,
    /// After so many seconds, by whoever takes it.
    After(u64),
}

/// Work that is being made.
#[derive(Debug)]
pub struct Begun {
    pub id: WorkId,
    pub work: Work,
    /// Where its due row stands.
    pub due: String,
    /// What its record and its due row are made by.
    pub actions: [Action; 2],
}

/// Work of a tenant.
pub fn begin(
    access: &Access,
    tenant: TenantId,
    kind: Kind,
    of: (Option<ProjectId>, Option<AttributeId>),
    who: Option<String>,
    start: Start,
) -> Result<Begun, Error> {
    begin_work(access, (tenant, WorkId::new()), Work::new(access, kind, of, who), start)
}

/// The same for work that has more to say of itself.
pub fn begin_work(access: &Access, (tenant, id): (TenantId, WorkId), work: Work, start: Start) -> Result<Begun, Error> {
    let key = WorkKey { tenant, work: id }.key();
    let time = match start {
        Start::Held => lease(access),
        Start::After(seconds) => in_seconds(access, seconds),
    };
    let due = line::stand(tenant, work.state, &time);
    let row = Due { data: due.clone(), owner: key.clone() };
    let actions = [Action::create(&TRACKER, key, &work)?, Action::create(&TRACKER, WorkDueKey { work: id }, &row)?];
    Ok(Begun { id, work, due, actions })
}

impl Work {
    /// Work that is under way from now on.
    pub fn new(
        access: &Access,
        kind: Kind,
        (project, attribute): (Option<ProjectId>, Option<AttributeId>),
        who: Option<String>,
    ) -> Self {
        Self {
            kind,
            project,
            attribute,
            state: WorkState::Running,
            counts: Counts::default(),
            reason: None,
            faults: Vec::new(),
            checkpoint: Value::Null,
            places: None,
            created_at: rfc3339(access.engines().clock.now()),
            created_by: who,
            ended_at: None,
            expires: None,
        }
    }
}
