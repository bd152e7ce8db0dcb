//! Deletes the items of an agency whose deletion is marked. A run may stop at any step, and the next run resumes: it
//! reads what is left, the closed gate refuses new members, and two runs at once do not harm each other.

use std::time::Duration;

use table::{Access, Action, Condition, Error, Key, item};
use tokio::time::Instant;
use web::RunSummary;

use crate::access::{DELETION, UNFINISHED_DELETIONS};
use crate::item::{Agency, DELETING};
use crate::keys::{AFTER_REMOVALS, INVITATION_PREFIX, agency_key, gate_key, partition};
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_TYPE};

/// Items that are read and deleted at once.
const BATCH: u32 = 100;

/// Deletions that are listed at once.
const DELETIONS: u32 = 10;

/// The remaining time that a run needs to start another batch.
const TIME_FOR_A_BATCH: Duration = Duration::from_secs(2);

/// Deletes the items of an agency that is marked for deletion, until this time. Returns whether none is left.
pub async fn finish(access: &Access, agency: &AgencyId, until: Instant) -> Result<bool, Error> {
    let rest = access.table(&DELETION, &AGENCIES).query(partition(agency)).between(INVITATION_PREFIX, AFTER_REMOVALS);
    loop {
        // A consistent read sees every acknowledged write, and the closed gate allows no later one.
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
        // Another run has finished it.
        Err(Error::ConditionFailed(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Resumes the unfinished deletions, oldest first. A failed one does not block the others.
pub async fn resume_all(access: &Access, until: Instant) -> Result<RunSummary, Error> {
    let mut summary = RunSummary::default();
    let mut marked = access.table(&UNFINISHED_DELETIONS, &AGENCIES).query(DELETING).index(BY_TYPE);
    loop {
        let page = marked.page(DELETIONS).await?;
        for stored in page.items {
            if is_over(access, until) {
                return Ok(summary);
            }
            let outcome = match stored.read::<Agency>() {
                Ok(agency) => finish(access, &agency.agency_id, until).await.map(|_| ()),
                Err(error) => Err(error),
            };
            summary.count(outcome.is_err());
            if let Err(error) = outcome {
                tracing::error!(agency.key = ?stored.key, %error, "deletion failed; the next run will resume it");
            }
        }
        if page.next.is_none() {
            return Ok(summary);
        }
        marked = marked.after(page.next);
    }
}

fn is_over(access: &Access, until: Instant) -> bool {
    until.saturating_duration_since(Instant::now()) < TIME_FOR_A_BATCH || access.engines().is_winding_down()
}
