//! The limits of open imports, exports and undo jobs: of a tenant, of a project and of a person. Other jobs follow from
//! changes, such as a deletion, and are never refused.

use jobs::limits::{Limit, Slot, take};
use jobs::{JobId, Start};
use table::part::Number;
use table::{Access, Action, EntityKey, Error, Idpid};
use web::Problem;

use super::{Job, Kind, NewJob, TrackerJobs};
use crate::access::OPEN_JOBS;
use crate::keys::{PersonSlotKey, ProjectSlotKey, TenantSlotKey};
use crate::names::{ProjectId, TenantId};
use crate::schema::TRACKER;

/// The limits of open jobs, in one tenant.
const OF_TENANT: u64 = 30;
const OF_PROJECT: u64 = 10;
const OF_PERSON: u64 = 3;

/// An import or an export that is to be created.
#[derive(Debug)]
pub struct Limited {
    pub tenant: TenantId,
    pub project: ProjectId,
    pub person: Idpid,
    pub id: JobId,
    pub job: Job,
}

impl Limited {
    /// The actions that create the job. 409 if one of its limits is reached.
    pub async fn create(&self, access: &Access) -> Result<Vec<Action>, Problem> {
        let (tenant, project) = (self.tenant, self.project);
        let full = |whose: &str, max: u64, who: &str| {
            format!(
                "{whose} {max} imports and exports that are open, the most that {who} may have. Wait until one of \
                 them has ended, or cancel one."
            )
        };
        let limits = [
            Limit {
                max: OF_PERSON,
                slot: Box::new(move |slot| {
                    PersonSlotKey { tenant, user: self.person.clone(), slot: Number(slot) }.key()
                }),
                full: full("You have", OF_PERSON, "a person"),
            },
            Limit {
                max: OF_PROJECT,
                slot: Box::new(move |slot| ProjectSlotKey { tenant, project, slot: Number(slot) }.key()),
                full: full("The project has", OF_PROJECT, "a project"),
            },
            Limit {
                max: OF_TENANT,
                slot: Box::new(move |slot| TenantSlotKey { tenant, slot: Number(slot) }.key()),
                full: full("The tenant has", OF_TENANT, "a tenant"),
            },
        ];
        let mut job = self.job.clone();
        let slots = take::<TrackerJobs>(access, &OPEN_JOBS, (&tenant, self.id), &mut job, &limits).await?;
        let new = NewJob::with_id(access, tenant, self.id, job, Start::After(0))?;
        Ok(new.actions.into_iter().chain(slots).collect())
    }
}

/// Whether an import into a project is open.
pub async fn imports_are_open(access: &Access, tenant: TenantId, project: ProjectId) -> Result<bool, Error> {
    let key = ProjectSlotKey { tenant, project, slot: Number(0) }.key();
    let slots = access.table(&OPEN_JOBS, &TRACKER).query(key.pk).consistent().all().await?;
    let of_project =
        slots.iter().filter(|stored| ProjectSlotKey::parse(&stored.key).is_some_and(|slot| slot.project == project));
    let kinds = of_project.map(|stored| Ok(stored.read::<Slot<Kind>>()?.kind)).collect::<Result<Vec<_>, Error>>()?;
    Ok(kinds.contains(&Kind::Import))
}
