//! Deletes a tenant: its directory row and its members first, which hides it from all callers, then its projects, each
//! by a job of its own, and the tenant last.

use jobs::{Counts, Start, Step, Then, Worker};
use table::{Access, Action, EntityKey, Error, Key};
use web::Problem;

use super::delete_project::{Conditions, mark};
use super::{Lease, TrackerJobs};
use crate::access::{OF_TENANT, TENANT_STEP};
use crate::items::Tenant;
use crate::keys::{DirectoryKey, MemberKey, ProjectKey, TenantKey};
use crate::names::{ProjectId, TenantId};
use crate::project::{Consistency, Gates, Schema};
use crate::schema::{INDEX, TRACKER};

/// Seconds to wait for projects that are being deleted.
const WAIT: u64 = 10;

/// Members that are removed at once. Requests remove them, too, and a tenant may have tens of thousands.
const MAX_MEMBERS: u32 = 1000;

#[derive(Debug)]
pub struct DeleteTenant;

impl Worker<TrackerJobs> for DeleteTenant {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let key = TenantKey { tenant: lease.group }.key();
        let tracker = access.table(&TENANT_STEP, &TRACKER);
        let Some(stored) = tracker.get_consistent(key.clone()).await? else {
            return Ok(Step::unchanged(&lease.job, Then::Succeed));
        };
        if !hide(access, lease.group).await? {
            return Ok(Step::unchanged(&lease.job, Then::Continue));
        }
        let listed = tracker.query(lease.group.id()).index(INDEX).page(10).await?;
        for project in listed.items.iter().filter_map(|entry| project_of(&entry.key)) {
            let schema = Schema::load(access, lease.group, project, Consistency::Strong).await?;
            let Some(schema) = schema else { continue };
            let gates = Gates::load(access, project).await?;
            let (_, actions) =
                mark(access, &schema, &gates, Conditions::default(), lease.job.created_by.clone(), Start::After(0))?;
            let counts = Counts { total: lease.job.counts.total + 1, ..lease.job.counts };
            return Step::new(actions, &(), counts, Then::Continue);
        }
        let tenant: Tenant = stored.read()?;
        if tenant.projects > 0 {
            return Step::new(Vec::new(), &(), lease.job.counts, Then::Wait(WAIT));
        }
        let counts = Counts { done: lease.job.counts.total, ..lease.job.counts };
        Step::new(vec![Action::delete(&TRACKER, key).if_unchanged(&stored)], &(), counts, Then::Succeed)
    }
}

/// Hides a marked tenant, to which no member can be added any more: deletes its directory row and up to 1000 of its
/// members. Returns whether no member is left.
pub async fn hide(access: &Access, tenant: TenantId) -> Result<bool, Error> {
    let members = access.table(&OF_TENANT, &TRACKER).query(tenant.id()).begins_with("user-").consistent();
    let members = members.page(MAX_MEMBERS).await?;
    let mut keys: Vec<Key> = members.items.into_iter().map(|stored| stored.key).collect();
    keys.retain(|key| MemberKey::parse(key).is_some());
    keys.push(DirectoryKey { tenant }.key());
    access.table(&TENANT_STEP, &TRACKER).batch_delete(&keys).await?;
    Ok(members.next.is_none())
}

fn project_of(key: &Key) -> Option<ProjectId> {
    ProjectKey::parse(key).map(|key| key.project)
}
