//! Due rows: a partition of an index lists them by group, and within a group by time. So a worker that looks for due jobs
//! can skip the rest of a group, however many jobs it has. Jobs that wait for a file come after all groups, by time
//! alone.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::clock::rfc3339;
use table::schema::Index;
use table::{Access, Action, Changes, Condition, Error, Key, Stored, item};

use crate::{JobId, Jobs};

/// The time in this number of seconds, as due rows have it.
pub(crate) fn in_seconds(access: &Access, seconds: u64) -> String {
    let now = access.engines().clock.now();
    rfc3339(now.checked_add(Duration::from_secs(seconds)).unwrap_or(now))
}

/// The end of a lease that begins now.
pub fn lease_end(access: &Access) -> String {
    in_seconds(access, access.engines().config.lease.as_secs())
}

/// Stands in place of the group of jobs that wait for files. `~` sorts after letters, digits, `-` and `_`.
const UPLOADS: &str = "~upload";

/// Index entries in one page.
const PAGE: u32 = 100;

/// The limits of due jobs that are listed at once: of one group, and of jobs that wait for files.
const MAX_OF_GROUP: usize = 10;
const MAX_UPLOADS: u32 = 25;

/// The attribute of [`Due::leases`].
const LEASES: &str = "leases";

/// The row that lists something by the time at which it is due.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// The sort key of the row in the index: `{group} {time}`, or `~upload {time}` of a job that waits for its file.
    pub position: String,
    pub group: Option<String>,
    /// The key of what is due.
    pub owner: Key,
    /// How often it was leased since its last step.
    pub leases: u32,
}

/// The attributes of a due row beside its position in the index.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attributes {
    group: Option<String>,
    owner: Key,
    #[serde(default, skip_serializing_if = "is_zero")]
    leases: u32,
    #[serde(flatten)]
    position: BTreeMap<String, serde_json::Value>,
}

impl Due {
    /// A row of a group that is due at a time.
    pub fn new<J: Jobs>(group: &J::Group, time: &str, owner: Key) -> Self {
        let group = J::group_name(group);
        Self { position: position(&group, time), group: Some(group), owner, leases: 0 }
    }

    /// A row of a job that waits for its file.
    pub(crate) fn upload<J: Jobs>(group: &J::Group, time: &str, owner: Key) -> Self {
        Self { position: position(UPLOADS, time), group: Some(J::group_name(group)), owner, leases: 0 }
    }

    /// Creates the row.
    pub fn create<J: Jobs>(&self, key: Key) -> Result<Action, Error> {
        let index = index::<J>()?;
        let mut position = BTreeMap::from([(sort_attribute::<J>()?.to_owned(), self.position.as_str().into())]);
        if ![Some(J::TABLE.pk), J::TABLE.sk].contains(&Some(index.pk)) {
            position.insert(index.pk.to_owned(), J::DUE.partition.into());
        }
        let attributes =
            Attributes { group: self.group.clone(), owner: self.owner.clone(), leases: self.leases, position };
        Action::create(J::TABLE, key, &attributes)
    }

    pub(crate) fn read<J: Jobs>(stored: &Stored) -> Result<Self, Error> {
        let Attributes { group, owner, leases, .. } = stored.read()?;
        let position = listed_at(stored, sort_attribute::<J>()?);
        let position = position.ok_or_else(|| Error::Misfit("a due row without its time".to_owned()))?.to_owned();
        Ok(Self { position, group, owner, leases })
    }

    pub(crate) fn is_due(&self, access: &Access) -> bool {
        time(&self.position) <= in_seconds(access, 0).as_str()
    }
}

/// Moves a row that is listed at `from`.
pub(crate) fn move_row<J: Jobs>(key: Key, from: &str, to: &str) -> Result<Action, Error> {
    change_row::<J>(key, from, to, Changes::new())
}

/// Moves a row after a step: the leases before it do not count any more.
pub(crate) fn move_row_after_step<J: Jobs>(key: Key, from: &str, to: &str) -> Result<Action, Error> {
    change_row::<J>(key, from, to, Changes::new().remove(LEASES))
}

fn change_row<J: Jobs>(key: Key, from: &str, to: &str, changes: Changes) -> Result<Action, Error> {
    let attribute = sort_attribute::<J>()?;
    let changes = changes.set(attribute, item::text(to));
    Ok(Action::update(J::TABLE, key, changes).when(Condition::Equals(attribute, item::text(from))))
}

/// Deletes a row that is listed at `from`.
pub(crate) fn delete_row<J: Jobs>(key: Key, from: &str) -> Result<Action, Error> {
    let is_there = Condition::Equals(sort_attribute::<J>()?, item::text(from));
    Ok(Action::delete(J::TABLE, key).when(is_there))
}

/// Leases what a due row lists: moves the row to the end of the lease, and returns it as it is then. None if it is not due,
/// or if another worker was faster.
pub async fn acquire_due<J: Jobs>(access: &Access, key: Key) -> Result<Option<Due>, Error> {
    let Some(stored) = access.table(J::LEASE, J::TABLE).get_consistent(key.clone()).await? else { return Ok(None) };
    let due = Due::read::<J>(&stored)?;
    if !due.is_due(access) {
        return Ok(None);
    }
    let (until, leases) = (at_time(&due.position, &lease_end(access)), due.leases.saturating_add(1));
    let counted = Changes::new().set(LEASES, item::number(leases));
    match access.write(J::LEASE, change_row::<J>(key, &due.position, &until, counted)?).await {
        Ok(_) => Ok(Some(Due { position: until, leases, ..due })),
        Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns how long it takes until a job is due: it waits or is leased until then. None if it has ended.
pub(crate) async fn time_until_due<J: Jobs>(access: &Access, id: JobId) -> Result<Option<Duration>, Error> {
    let stored = access.table(J::LEASE, J::TABLE).get_consistent(J::due_key(id)).await?;
    let due = stored.map(|stored| Due::read::<J>(&stored)).transpose()?;
    Ok(due.and_then(|due| access.engines().clock.time_until(time(&due.position))))
}

/// The due rows that were found.
#[derive(Debug)]
pub(crate) struct Found<G> {
    /// By group, in random order; within a group the row that has been due for longest comes first. For jobs that wait for
    /// files the index does not say the group.
    pub due: Vec<(Option<G>, Vec<Key>)>,
    /// Whether a group has more due rows than listed here.
    pub more: bool,
}

/// Looks for due rows.
pub(crate) async fn look<J: Jobs>(access: &Access) -> Result<Found<J::Group>, Error> {
    let now = in_seconds(access, 0);
    let attribute = sort_attribute::<J>()?;
    let line = || access.table(J::LIST_DUE, J::TABLE).query(J::DUE.partition).index(J::DUE.index);
    let (mut due, mut more) = (BTreeMap::<Option<J::Group>, Vec<Key>>::new(), false);
    let mut rest = line().below(UPLOADS);
    loop {
        let page = rest.clone().page(PAGE).await?;
        let mut passed = None;
        for entry in &page.items {
            let Some((group, time)) = listed_at(entry, attribute).and_then(|position| position.rsplit_once(' ')) else {
                continue;
            };
            let listed = due.entry(J::parse_group(group)).or_default();
            let is_due = time <= now.as_str();
            more |= is_due && listed.len() >= MAX_OF_GROUP;
            passed = (!is_due || listed.len() >= MAX_OF_GROUP).then_some(group);
            if passed.is_none() {
                listed.push(entry.key.clone());
            }
        }
        let Some(next) = page.next else { break };
        rest = match passed {
            // The rest of this group is not due, or beyond the limit. `!` sorts after the space, so the next range begins
            // after all rows of the group.
            Some(group) => line().between(format!("{group}!"), UPLOADS),
            None => rest.after(Some(next)),
        };
    }
    if J::UPLOADS.is_some() {
        let uploads = line().between(position(UPLOADS, ""), position(UPLOADS, &now)).page(MAX_UPLOADS).await?;
        more |= uploads.next.is_some();
        due.entry(None).or_default().extend(uploads.items.into_iter().map(|entry| entry.key));
    }
    let mut due: Vec<_> = due.into_iter().filter(|(_, keys)| !keys.is_empty()).collect();
    // A run may not have time for all groups: no group is always the last.
    fastrand::shuffle(&mut due);
    Ok(Found { due, more })
}

/// Where the index lists a row of a group that is due at a time.
pub(crate) fn position(group: &str, time: &str) -> String {
    format!("{group} {time}")
}

/// The same position at another time.
pub(crate) fn at_time(before: &str, time: &str) -> String {
    position(before.rsplit_once(' ').map_or(before, |(group, _)| group), time)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn time(position: &str) -> &str {
    position.rsplit_once(' ').map_or(position, |(_, time)| time)
}

fn listed_at<'a>(entry: &'a Stored, attribute: &str) -> Option<&'a str> {
    entry.item.get(attribute)?.as_s().ok().map(String::as_str)
}

fn index<J: Jobs>() -> Result<&'static Index, Error> {
    let index = J::TABLE.indexes.iter().find(|index| index.name == J::DUE.index);
    index.ok_or_else(|| Error::Misfit(format!("`{}` has no index `{}`", J::TABLE.name, J::DUE.index)))
}

fn sort_attribute<J: Jobs>() -> Result<&'static str, Error> {
    index::<J>()?.sk.ok_or_else(|| Error::Misfit(format!("the index `{}` has no sort key", J::DUE.index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_before_jobs_that_wait_for_files() {
        let (now, later) = ("2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:01.000000Z");
        let in_order = [
            position("bcparks", now),
            position("bcparks", later),
            "bcparks!".to_owned(),
            position("bcparks-2", now),
            position("bcparks_2", now),
            position("zoo", now),
            UPLOADS.to_owned(),
            position(UPLOADS, now),
            position(UPLOADS, later),
        ];
        assert!(in_order.is_sorted(), "{in_order:#?}");
    }

    #[test]
    fn a_row_moves_within_its_group() {
        assert_eq!(at_time("tenant-0001 a", "b"), "tenant-0001 b");
        assert_eq!(time(&position(UPLOADS, "a")), "a");
    }
}
