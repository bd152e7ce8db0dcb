//! The line of what is due: a partition of the index, by tenants, and of each by time. So what one tenant has due, however
//! much that is, is passed over to see what the next one has. Imports that wait for their files stand apart, by time alone.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::clock::rfc3339;
use table::{Access, Error, Key, Stored};

use super::WorkState;
use crate::access::DUE;
use crate::names::TenantId;
use crate::schema::{DATA, INDEX, TRACKER};

/// The time in so many seconds, as due rows have it.
pub fn in_seconds(access: &Access, seconds: u64) -> String {
    let now = access.engines().clock.now();
    rfc3339(now.checked_add(Duration::from_secs(seconds)).unwrap_or(now))
}

/// The time at which a lease ends that is acquired or renewed now.
pub fn lease(access: &Access) -> String {
    in_seconds(access, access.engines().config.lease.as_secs())
}

/// The line's partition.
const LINE: &str = "due";

/// After all tenants.
const WAITING: &str = "waiting";

/// How many entries are read at once, and how many that are due are listed of one tenant, and of those that wait for files.
const PAGE: u32 = 100;
const OF_ONE: usize = 10;
const OF_WAITING: u32 = 25;

/// When something is to go on: the index lists it by `data`, which ends with that time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Due {
    pub data: String,
    /// The key of what waits.
    pub owner: Key,
}

impl Due {
    /// Something of a tenant that goes on at a time.
    pub fn of(tenant: Option<TenantId>, time: &str, owner: Key) -> Self {
        Self { data: tenant.map_or_else(|| time.to_owned(), |tenant| of(tenant, time)), owner }
    }
}

fn of(tenant: TenantId, time: &str) -> String {
    format!("{} {time}", tenant.id())
}

/// Where work in this state stands that goes on at a time.
pub fn stand(tenant: TenantId, state: WorkState, time: &str) -> String {
    if state == WorkState::Waiting { format!("{WAITING} {time}") } else { of(tenant, time) }
}

/// The same place at another time.
pub fn moved(data: &str, time: &str) -> String {
    match data.rsplit_once(' ') {
        Some((whose, _)) => format!("{whose} {time}"),
        None => time.to_owned(),
    }
}

/// When what stands here goes on. Rows that an earlier version has written have the time alone.
pub fn time(data: &str) -> &str {
    data.rsplit_once(' ').map_or(data, |(_, time)| time)
}

/// What was found due.
#[derive(Debug, Default)]
pub struct Found {
    /// By tenants, in no order; of each the longest due first. Of those that wait for files, and of what an earlier version has
    /// written, the index does not tell the tenant.
    pub due: Vec<(Option<TenantId>, Vec<Key>)>,
    /// Whether a tenant has more due than is listed here.
    pub more: bool,
}

/// Looks along the line.
pub async fn look(access: &Access) -> Result<Found, Error> {
    let now = in_seconds(access, 0);
    let line = || access.table(&DUE, &TRACKER).query(LINE).index(INDEX);
    let (mut due, mut more) = (BTreeMap::<Option<TenantId>, Vec<Key>>::new(), false);
    let mut rest = line().below(WAITING);
    loop {
        let page = rest.clone().page(PAGE).await?;
        let mut passed = None;
        for entry in &page.items {
            let Some(data) = data(entry) else { continue };
            let whose = data.rsplit_once(' ').map(|(whose, _)| whose);
            let listed = due.entry(whose.and_then(TenantId::parse_id)).or_default();
            let is_due = time(data) <= now.as_str();
            more |= is_due && listed.len() >= OF_ONE;
            passed = (!is_due || listed.len() >= OF_ONE).then_some(whose);
            if passed.is_none() {
                listed.push(entry.key.clone());
            }
        }
        let Some(next) = page.next else { break };
        rest = match passed {
            // What follows of this tenant is not due either, or too much.
            Some(Some(whose)) => line().between(format!("{whose}!"), WAITING),
            Some(None) => line().between(TENANTS, WAITING),
            None => rest.after(Some(next)),
        };
    }
    let waiting = line().between(format!("{WAITING} "), format!("{WAITING} {now}")).page(OF_WAITING).await?;
    more |= waiting.next.is_some();
    due.entry(None).or_default().extend(waiting.items.into_iter().map(|entry| entry.key));
    let mut due: Vec<_> = due.into_iter().filter(|(_, keys)| !keys.is_empty()).collect();
    // Where there are more tenants than a run has time for, none is always the last.
    fastrand::shuffle(&mut due);
    Ok(Found { due, more })
}

/// Before all tenants, and after the times that earlier versions have written.
const TENANTS: &str = "tenant-";

fn data(entry: &Stored) -> Option<&str> {
    entry.item.get(DATA)?.as_s().ok().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_stand_before_what_waits_for_files() {
        let (one, other) = (TenantId::parse_id("tenant-0001").unwrap(), TenantId::parse_id("tenant-0002").unwrap());
        let (now, later) = ("2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:01.000000Z");
        let in_order = [
            now.to_owned(),
            TENANTS.to_owned(),
            stand(one, WorkState::Running, now),
            stand(one, WorkState::Cancelling, later),
            "tenant-0001!".to_owned(),
            stand(other, WorkState::Running, now),
            WAITING.to_owned(),
            stand(one, WorkState::Waiting, now),
            stand(other, WorkState::Waiting, later),
        ];
        assert!(in_order.is_sorted(), "{in_order:#?}");
    }

    #[test]
    fn a_row_is_moved_within_its_place() {
        for data in ["a", "tenant-0001 a", "waiting a"] {
            let moved = moved(data, "b");
            assert_eq!((time(&moved), moved.strip_suffix('b')), ("b", data.strip_suffix('a')));
        }
    }
}
