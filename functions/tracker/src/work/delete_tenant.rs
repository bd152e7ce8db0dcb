//! The deletion of a tenant: its directory row and its members first, so that it is nobody's; then its projects, each by
//! work of its own; the tenant last.

use table::{Access, Action, EntityKey, Key};
use web::Problem;

use super::{Counts, Held, Start, Step, Then, mark_project};
use crate::access::{OF_TENANT, TENANT_STEP};
use crate::items::Tenant;
use crate::keys::{DirectoryKey, MemberKey, ProjectKey, TenantKey};
use crate::names::ProjectId;
use crate::project::{Consistency, Gates, Schema};
use crate::schema::{INDEX, TRACKER};

/// How long to wait for projects that are being deleted, in seconds.
const AGAIN: u64 = 10;

pub async fn step(access: &Access, held: &Held) -> Result<Step, Problem> {
    let key = TenantKey { tenant: held.tenant }.key();
    let tracker = access.table(&TENANT_STEP, &TRACKER);
    let Some(stored) = tracker.get_consistent(key.clone()).await? else {
        return Ok(Step::end(held, Then::Done, Vec::new()));
    };
    let members = access.table(&OF_TENANT, &TRACKER).query(key.pk.as_str()).begins_with("user-").consistent();
    let members = members.all().await?;
    let mut nobodys: Vec<Key> = members.into_iter().map(|stored| stored.key).collect();
    nobodys.retain(|key| MemberKey::parse(key).is_some());
    nobodys.push(DirectoryKey { tenant: held.tenant }.key());
    tracker.batch_delete(&nobodys).await?;
    let listed = tracker.query(held.tenant.id()).index(INDEX).page(10).await?;
    for project in listed.items.iter().filter_map(|entry| project_of(&entry.key)) {
        let schema = Schema::load(access, held.tenant, project, Consistency::Strong).await?;
        let Some(schema) = schema else { continue };
        let gates = Gates::load(access, project).await?;
        let (_, actions) =
            mark_project(access, &schema, &gates, false, false, held.work.created_by.clone(), Start::After(0))?;
        let counts = Counts { total: held.work.counts.total + 1, ..held.work.counts };
        return Step::new(actions, &(), counts, Then::More);
    }
    let tenant: Tenant = stored.read()?;
    if tenant.projects > 0 {
        return Step::new(Vec::new(), &(), held.work.counts, Then::Wait(AGAIN));
    }
    let counts = Counts { done: held.work.counts.total, ..held.work.counts };
    Step::new(vec![Action::delete(&TRACKER, key).if_unchanged(&stored)], &(), counts, Then::Done)
}

fn project_of(key: &Key) -> Option<ProjectId> {
    ProjectKey::parse(key).map(|key| key.project)
}
