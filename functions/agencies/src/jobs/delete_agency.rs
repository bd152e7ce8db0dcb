//! The deletion of an agency: its members, invitations, known addresses and removals first, in batches, then the agency
//! with its gate. The request that created the job has closed the gate, so no new item comes in between.

use jobs::{Counts, Step, Then, Worker};
use table::{Access, Action, Key};
use web::Problem;

use super::{AgencyJobs, Lease};
use crate::access::DELETION;
use crate::item::Gate;
use crate::keys::{AFTER_REMOVALS, INVITATION_PREFIX, agency_key, gate_key, partition};
use crate::schema::AGENCIES;

/// Items that one step deletes.
const BATCH: u32 = 100;

#[derive(Debug)]
pub struct DeleteAgency;

impl Worker<AgencyJobs> for DeleteAgency {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let agency = &lease.group;
        let agencies = access.table(&DELETION, &AGENCIES);
        let Counts { mut total, mut done, .. } = lease.job.counts;
        if total == 0
            && let Some(gate) = agencies.get_consistent(gate_key(agency)).await?
        {
            total = gate.read::<Gate>()?.members;
        }
        // A consistent read sees every acknowledged write, and the closed gate allows no later one.
        let rest = agencies.query(partition(agency)).between(INVITATION_PREFIX, AFTER_REMOVALS).consistent();
        let batch = rest.page(BATCH).await?;
        let keys: Vec<Key> = batch.items.into_iter().map(|stored| stored.key).collect();
        agencies.batch_delete(&keys).await?;
        done += keys.len() as u64;
        // The gate counts members only.
        total = total.max(done);
        if batch.next.is_some() {
            return Step::new(Vec::new(), &(), Counts::new(total, done), Then::Continue);
        }
        let last = [agency_key(agency), gate_key(agency)];
        let actions = last.into_iter().map(|key| Action::delete(&AGENCIES, key).or_absent()).collect();
        // A batch whose step was repeated is not in `done`.
        Step::new(actions, &(), Counts::new(total, total), Then::Succeed)
    }
}
