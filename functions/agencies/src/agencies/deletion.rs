//! The work of a deletion after its mark. It may stop anywhere, and any later run comes to the same end: what it reads is
//! what is left, the closed gate lets nothing new in, and two at once do no harm.

use table::{Access, Action, Condition, Error, Key, item};
use tokio::time::Instant;

use crate::access::{DELETION, UNFINISHED};
use crate::item::{Agency, DELETING};
use crate::keys::{AFTER_MEMBERS, INVITATIONS, agency_key, gate_key, partition};
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_TYPE};

/// How many items are read and deleted at once.
const BATCH: u32 = 100;

/// How many deletions one run goes on with.
const AT_ONCE: u32 = 10;

/// Deletes what is left of an agency whose deletion is marked, until this time; whether nothing is left.
pub async fn finish(access: &Access, agency: &AgencyId, until: Instant) -> Result<bool, Error> {
    let rest = access.table(&DELETION, &AGENCIES).query(partition(agency)).between(INVITATIONS, AFTER_MEMBERS);
    loop {
        // With every write that was answered: the gate is closed, so what is not seen now never comes.
        let batch = rest.clone().consistent().page(BATCH).await?;
        if batch.items.is_empty() {
            break;
        }
        if Instant::now() >= until || access.engines().is_winding_down() {
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

/// Goes on with the deletions that have not come to their end, the oldest first.
pub async fn go_on(access: &Access, until: Instant) -> Result<(), Error> {
    let marked = access.table(&UNFINISHED, &AGENCIES).query(DELETING).index(BY_TYPE).page(AT_ONCE).await?;
    for stored in marked.items {
        let agency: Agency = stored.read()?;
        if !finish(access, &agency.agency_id, until).await? {
            break;
        }
    }
    Ok(())
}
