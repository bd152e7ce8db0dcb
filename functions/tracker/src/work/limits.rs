//! How many imports and exports may be open at once: what people begin. Each has a place of its tenant, one of its project
//! and one of its person from its begin to its end. A place is an item that is made and deleted in the transactions of both,
//! so that no two can have the last one. What follows from a change, such as a deletion, needs none and is never refused.

use serde::{Deserialize, Serialize};
use table::part::Number;
use table::{Access, Action, EntityKey, Error, Idpid, Key};
use web::{Kind as ProblemKind, Problem};

use super::begin::begin_work;
use super::{Kind, Start, Work};
use crate::access::OPEN_JOBS;
use crate::keys::{PersonPlaceKey, ProjectPlaceKey, TenantPlaceKey, WorkKey};
use crate::names::{ProjectId, TenantId, WorkId};
use crate::schema::TRACKER;

pub const TOO_MANY_JOBS: ProblemKind = ProblemKind::new(409, "too-many-jobs", "Too many imports and exports are open");

/// The most that are open at once, each in one tenant.
const OF_A_TENANT: u64 = 30;
const OF_A_PROJECT: u64 = 10;
const OF_A_PERSON: u64 = 3;

/// The places that a job has, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Places {
    tenant: u64,
    project: u64,
    person: u64,
}

/// What the table holds of a place.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Place {
    kind: Kind,
    /// The key of the job that has it.
    owner: Key,
}

/// Whose places a job takes.
struct Takes<'a> {
    tenant: TenantId,
    project: ProjectId,
    person: &'a Idpid,
}

impl Takes<'_> {
    fn of_tenant(&self, place: u64) -> Key {
        TenantPlaceKey { tenant: self.tenant, place: Number(place) }.key()
    }

    fn of_project(&self, place: u64) -> Key {
        ProjectPlaceKey { tenant: self.tenant, project: self.project, place: Number(place) }.key()
    }

    fn of_person(&self, place: u64) -> Key {
        PersonPlaceKey { tenant: self.tenant, user: self.person.clone(), place: Number(place) }.key()
    }

    fn keys(&self, places: Places) -> [Key; 3] {
        [self.of_tenant(places.tenant), self.of_project(places.project), self.of_person(places.person)]
    }

    /// Places that nobody has, or why there are none.
    fn free(&self, taken: &[Key]) -> Result<Places, Problem> {
        let free = |most: u64, key: &dyn Fn(u64) -> Key| {
            let free: Vec<u64> = (0..most).filter(|place| !taken.contains(&key(*place))).collect();
            // Any of them, so that those who begin at once seldom meet.
            fastrand::choice(free)
        };
        let full = |whose: &str, most: u64, who: &str| {
            let detail = format!(
                "{whose} {most} imports and exports that are open, the most that {who} may have. Wait until one of \
                 them has ended, or cancel one."
            );
            TOO_MANY_JOBS.because(detail)
        };
        Ok(Places {
            person: free(OF_A_PERSON, &|place| self.of_person(place))
                .ok_or_else(|| full("You have", OF_A_PERSON, "a person"))?,
            project: free(OF_A_PROJECT, &|place| self.of_project(place))
                .ok_or_else(|| full("The project has", OF_A_PROJECT, "a project"))?,
            tenant: free(OF_A_TENANT, &|place| self.of_tenant(place))
                .ok_or_else(|| full("The tenant has", OF_A_TENANT, "a tenant"))?,
        })
    }
}

impl Work {
    /// What gives its places back, once it has ended.
    pub fn gives_back(&self, tenant: TenantId) -> Vec<Action> {
        let person = self.created_by.as_deref().and_then(|who| who.parse::<Idpid>().ok());
        let (Some(places), Some(project), Some(person)) = (self.places, self.project, &person) else {
            return Vec::new();
        };
        let keys = Takes { tenant, project, person }.keys(places);
        keys.into_iter().map(|key| Action::delete(&TRACKER, key).or_absent()).collect()
    }
}

/// Whether an import into a project is open.
pub async fn imports_are_open(access: &Access, tenant: TenantId, project: ProjectId) -> Result<bool, Error> {
    let key = ProjectPlaceKey { tenant, project, place: Number(0) }.key();
    let places = access.table(&OPEN_JOBS, &TRACKER).query(key.pk).consistent().all().await?;
    let of_project = places
        .iter()
        .filter(|stored| ProjectPlaceKey::parse(&stored.key).is_some_and(|place| place.project == project));
    let kinds = of_project.map(|stored| Ok(stored.read::<Place>()?.kind)).collect::<Result<Vec<_>, Error>>()?;
    Ok(kinds.contains(&Kind::Import))
}

/// The actions that create an import or an export, if a place is free for it.
pub async fn new_job(
    access: &Access,
    person: &Idpid,
    (tenant, id): (TenantId, WorkId),
    work: &Work,
    start: Start,
) -> Result<Vec<Action>, Problem> {
    let project = work.project.ok_or_else(|| Problem::internal("a job without a project takes no place"))?;
    let takes = Takes { tenant, project, person };
    let taken = access.table(&OPEN_JOBS, &TRACKER).query(takes.of_tenant(0).pk).consistent().all().await?;
    let taken: Vec<Key> = taken.into_iter().map(|stored| stored.key).collect();
    let places = takes.free(&taken)?;
    let place = Place { kind: work.kind, owner: WorkKey { tenant, work: id }.key() };
    let work = Work { places: Some(places), ..work.clone() };
    let mut actions = begin_work(access, (tenant, id), work, start)?.actions.to_vec();
    for key in takes.keys(places) {
        actions.push(Action::create(&TRACKER, key, &place)?);
    }
    Ok(actions)
}
