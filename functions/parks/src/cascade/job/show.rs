//! Shows or hides an item with more relationships than fit into one transaction. When it is hidden its relationships are
//! updated first, when it is shown the item is. Each step updates the relationships of one page.

use jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::super::{RelationshipPages, TransactionBuilder, counters};
use super::{Checkpoint, LAG, load, max_actions};
use crate::access;
use crate::jobs::{JobKind, Lease, ParksJobs};

#[derive(Debug)]
pub struct Showing;

impl Worker<ParksJobs> for Showing {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let shown = lease.job.kind == JobKind::Show;
        let mut checkpoint: Checkpoint = lease.job.checkpoint()?;
        let found = load(access, &checkpoint.root).await?;
        let item = found.as_ref().and_then(|root| root.item.reference());
        let Some((root, item)) = found.zip(item) else {
            return Ok(Step::fail(&lease.job, "its item does not exist any more"));
        };
        let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(&item)).await?;
        let from_start = checkpoint.next_page.is_none();
        // The item and the counter take two more actions.
        let mut pages = RelationshipPages::new(access, &item, max_actions(access) - 2, checkpoint.next_page.take());
        let (mut left, mut seen) = (Vec::new(), 0);
        while left.is_empty()
            && let Some(page) = pages.next_page().await?
        {
            seen += page.len();
            left.extend(page.into_iter().filter(|one| one.own(&item).shown != shown));
        }
        let mut transaction = TransactionBuilder::default();
        for relationship in &left {
            transaction.push(relationship.show(&item, shown));
        }
        let mut counts = lease.job.counts;
        counts.done += left.len() as u64;
        counts.total = counts.total.max(counts.done);
        // A relationship moves when its other item is retyped, also from after the checkpoint to before it. So only a
        // step that has seen all of them is the last.
        let is_last = from_start && pages.next.is_none() && seen == counter.count;
        if !is_last {
            if from_start && left.is_empty() {
                // The index lags behind the counter.
                tokio::time::sleep(LAG).await;
            }
            checkpoint.next_page = pages.next;
            return Step::new(transaction.into_actions(), &checkpoint, counts, Then::Continue);
        }
        let mut after = root.item.clone();
        (after.is_visible, after.busy) = (Some(shown), None);
        after.index();
        transaction.push(root.update_to(&after)?);
        transaction.assert_count(counter);
        Step::new(transaction.into_actions(), &checkpoint, counts, Then::Succeed)
    }
}
