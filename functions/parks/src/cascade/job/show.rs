//! Shows or hides an item with more relationships than fit into one transaction. When it is hidden its relationships are
//! updated first, when it is shown the item is.

use jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::super::{TransactionBuilder, relationships};
use super::{Checkpoint, load, max_actions};
use crate::jobs::{JobKind, Lease, ParksJobs};

#[derive(Debug)]
pub struct Showing;

impl Worker<ParksJobs> for Showing {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let shown = lease.job.kind == JobKind::Show;
        let checkpoint: Checkpoint = lease.job.checkpoint()?;
        let found = load(access, &checkpoint.root).await?;
        let item = found.as_ref().and_then(|root| root.item.reference());
        let Some((root, item)) = found.zip(item) else {
            return Ok(Step::fail(&lease.job, "its item does not exist any more"));
        };
        let related = relationships(access, &item).await?;
        let mut left: Vec<_> = related.all.into_iter().filter(|one| one.own(&item).shown != shown).collect();
        // The item and the counter take two more.
        let last = left.len() <= max_actions(access) - 2;
        left.truncate(max_actions(access) - 2);
        let mut transaction = TransactionBuilder::default();
        for relationship in &left {
            transaction.push(relationship.show(&item, shown));
        }
        let mut counts = lease.job.counts;
        counts.done += left.len() as u64;
        counts.total = counts.total.max(counts.done);
        if !last {
            return Step::new(transaction.into_actions(), &checkpoint, counts, Then::Continue);
        }
        let mut after = root.item.clone();
        (after.is_visible, after.busy) = (Some(shown), None);
        after.index();
        transaction.push(root.update_to(&after)?);
        transaction.assert_count(related.counter);
        Step::new(transaction.into_actions(), &checkpoint, counts, Then::Succeed)
    }
}
