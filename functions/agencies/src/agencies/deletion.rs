//! The work of a deletion after its mark. It may stop anywhere, and any later run comes to the same end: what it reads is
//! what is left, the closed gate lets nothing new in, and two at once do no harm.

use std::time::Duration;

use table::{Access, Action, Condition, Error, Key, item};
use tokio::time::Instant;
use web::Due;

use crate::access::{DELETION, UNFINISHED};
use crate::item::{Agency, DELETING};
use crate::keys::{AFTER_REMOVALS, INVITATIONS, agency_key, gate_key, partition};
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_TYPE};

/// How many items are read and deleted at once.
const BATCH: u32 = 100;

/// How many deletions are looked up at once.
const AT_ONCE: u32 = 10;

/// What must be left of a run's time for one more batch.
const FOR_A_BATCH: Duration = Duration::from_secs(2);

/// Deletes what is left of an agency whose deletion is marked, until this time; whether nothing is left.
pub async fn finish(access: &Access, agency: &AgencyId, until: Instant) -> Result<bool, Error> {
    let rest = access.table(&DELETION, &AGENCIES).query(partition(agency)).between(INVITATIONS, AFTER_REMOVALS);
    loop {
        // With every write that was answered: the gate is closed, so what is not seen now never comes.
        let batch = rest.clone().consistent().page(BATCH).await?;
        if batch.items.is_empty() {
            break;
        }
        if is_over(access, until) {
            return Ok(false);
        }
        let keys: Vec<Key> = batch.items.into_iter().map(|stored| stored.key).collect();
        access.table(&DELETION, &AGENCIES).batch_delete(&keys).await?;
    }
    let being_deleted = Condition::Equals("type", item::text(DELETING));
    let actions = [
        Action::delete(&AGENCIES, agency_key(agency)).when(being_deleted),
        Action::delete(&AGENCIES, gate_key(agency)),
    ];
    match access.transact(&DELETION, &actions).await {
        Ok(_) => Ok(true),
        // Another run was faster.
        Err(Error::ConditionFailed(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Goes on with the deletions that have not come to their end, the oldest first. One that fails stops no other.
pub async fn go_on(access: &Access, until: Instant) -> Result<Due, Error> {
    let mut due = Due::default();
    let mut marked = access.table(&UNFINISHED, &AGENCIES).query(DELETING).index(BY_TYPE);
    loop {
        let page = marked.page(AT_ONCE).await?;
        for stored in page.items {
            if is_over(access, until) {
                return Ok(due);
            }
            let went = match stored.read::<Agency>() {
                Ok(agency) => finish(access, &agency.agency_id, until).await.map(|_| ()),
                Err(error) => Err(error),
            };
            due.count(went.is_err());
            if let Err(error) = went {
                tracing::error!(agency.key = ?stored.key, %error, "a deletion was left where it is; the next run goes on");
            }
        }
        if page.next.is_none() {
            return Ok(due);
        }
        marked = marked.after(page.next);
    }
}

fn is_over(access: &Access, until: Instant) -> bool {
    until.saturating_duration_since(Instant::now()) < FOR_A_BATCH || access.engines().is_winding_down()
}
