//! The driver of a batch. It carries out the tasks of its groups, by bulk requests and by single requests, until each
//! group is handled in every generation. The group decides which tasks follow from a result (`machine.rs`). Bulk
//! requests are in `batch/writes.rs`.

mod writes;

use std::fmt::Display;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use table::never;

use crate::build::MAX_BYTES;
use crate::context::Context;
use crate::documents::Documents;
use crate::generation::{TargetId, Targets};
use crate::group::{Group, GroupId, Groups};
use crate::ports::{Fault, Ports, Time};
use crate::quarantine::Code;
use crate::requests::{
    CONCURRENCY, StampResult, clear_markers, examine_item, keep_and_mark, open_markers, read_item, read_versions,
    stamp_item,
};
use crate::task::{Blame, Compare, Event, Settle, Task, Tasks, Write};

/// The state of a batch. Groups that are not handled when its time is up are reported.
pub(crate) struct Batch<'c, 'a, P, D> {
    pub(crate) context: Context<'c, P, D>,
    pub(crate) groups: Groups<'a>,
    pub(crate) tally: Tally,
    tasks: Tasks<'a>,
    /// The maximum size of the next bulk request, in bytes.
    size: usize,
    /// The size above which no request of several writes is sent, in bytes.
    max_size: usize,
    /// Whether a task of this round must be retried.
    retry: bool,
    /// The number of rounds in a row in which tasks failed and none had a result.
    retries: u32,
    /// The number of results of tasks.
    results: usize,
    /// The number of retries after which the rest is left.
    max_retries: u32,
    /// The time after which no round begins, in microseconds since 1970-01-01T00:00:00Z.
    until: i64,
}

/// The counts of a batch, for its metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) bytes: usize,
    pub(crate) retried: usize,
    /// The number of shapes that OpenSearch refused and that were indexed at a coarser detail level.
    pub(crate) degraded: usize,
    /// The number of shapes whose object does not exist.
    pub(crate) missing: usize,
    /// Whether S3 refuses a shape and a retry may help.
    pub(crate) refused: bool,
    pub(crate) first_error: Option<String>,
}

impl Tally {
    /// Returns the reason why a batch has groups that are not handled.
    pub(crate) fn into_reason(self) -> String {
        self.first_error.unwrap_or_else(|| {
            never!("a group of a batch without errors is not handled");
            "a group was not handled".to_owned()
        })
    }
}

/// The size of a batch's first bulk request, in bytes. It grows with each success.
const FIRST_BYTES: usize = 1_000_000;

/// The number of versions that a round reads, and of items that are in memory at a time.
const PAGE: usize = 500;

/// The number of items that a round stamps, and that it puts into quarantine. Each takes requests of its own, and counts
/// only when the round has ended.
const SINGLE: usize = 100;

/// The number of groups that are written to every generation before the next groups are written to any.
const CHUNK: usize = 100;

/// How long a round builds and sends bulk requests. It is much shorter than an invocation: what a round has written is
/// handled at its end, so a batch that takes long is handled from its first record on, and the rest is reported.
const ROUND_TIME: Duration = Duration::from_secs(5);

impl<'c, 'a, P: Ports, D: Documents> Batch<'c, 'a, P, D> {
    /// Creates a batch that applies its groups to every generation.
    pub(crate) fn new(context: Context<'c, P, D>, groups: Groups<'a>) -> Self {
        Self::start(context, groups, Group::start)
    }

    /// Creates a batch that repairs the documents of its groups in every generation.
    pub(crate) fn repair(context: Context<'c, P, D>, groups: Groups<'a>) -> Self {
        Self::start(context, groups, |group, target, _| group.start_repair(target))
    }

    fn start(
        context: Context<'c, P, D>,
        mut groups: Groups<'a>,
        start: impl Fn(&mut Group<'a>, TargetId, &Targets) -> Vec<Task<'a>>,
    ) -> Self {
        let mut tasks = Tasks::default();
        for chunk in groups.chunks_mut(CHUNK) {
            for target in context.targets.ids() {
                let started = chunk.iter_mut().flat_map(|group| start(group, target, &context.targets));
                started.for_each(|task| tasks.start(task));
            }
        }
        Self {
            context,
            groups,
            tasks,
            tally: Tally::default(),
            size: FIRST_BYTES,
            max_size: MAX_BYTES,
            retry: false,
            retries: 0,
            results: 0,
            max_retries: u32::MAX,
            until: i64::MAX,
        }
    }

    /// Leaves the rest after more rounds in a row in which tasks failed and none had a result.
    pub(crate) fn with_max_retries(self, max_retries: u32) -> Self {
        Self { max_retries, ..self }
    }

    /// Leaves what is not handled by this time, in microseconds since 1970-01-01T00:00:00Z.
    pub(crate) fn with_until(self, until: i64) -> Self {
        Self { until, ..self }
    }

    /// Carries out tasks until none is left. The caller may stop it at any time.
    pub(crate) async fn run(&mut self) {
        while !self.tasks.is_empty() && !self.context.is_past(self.until) {
            let before = self.results;
            self.write().await;
            self.settle().await;
            self.stamp().await;
            self.find_markers().await;
            self.examine().await;
            self.quarantine().await;
            self.clear().await;
            self.retries = match (std::mem::take(&mut self.retry), self.results == before) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => self.retries + 1,
            };
            if self.retries > self.max_retries {
                return;
            }
            if self.retries > 0 {
                let longest = Duration::from_millis(50 << self.retries.min(6));
                self.context.ports.time().pause(longest).await;
            }
        }
    }

    /// Reads the versions of one page of documents, then their items, never in the opposite order. Items that were read
    /// and are neither written nor in quarantine yet count for the page, so that no more than a page is in memory while
    /// search or S3 refuses writes.
    async fn settle(&mut self) {
        let room = PAGE.saturating_sub(self.tasks.items_read(&self.groups));
        let mut settles = take_first(&mut self.tasks.settles, room);
        settles.sort_by_key(|settle| settle.target);
        for of_target in settles.chunk_by(|one, other| one.target == other.target) {
            self.read_versions(of_target).await;
            self.compare().await;
        }
    }

    /// Reads the versions of documents of one generation.
    async fn read_versions(&mut self, settles: &[Settle]) {
        match read_versions(&self.context, &self.groups, settles).await {
            Ok(versions) => {
                for (settle, version) in settles.iter().zip(versions) {
                    self.end(settle.group, Event::Version(*settle, version));
                }
            }
            Err(fault) => settles.iter().for_each(|settle| self.repeat(Task::Settle(*settle), &fault)),
        }
    }

    async fn compare(&mut self) {
        let compares = std::mem::take(&mut self.tasks.compares);
        let (context, groups) = (&self.context, &self.groups);
        let reads: Vec<_> = compares.iter().map(|compare| read_item(context, &groups[compare.settle.group])).collect();
        let items: Vec<_> = stream::iter(reads).buffered(CONCURRENCY).collect().await;
        for (compare, item) in compares.into_iter().zip(items) {
            let Compare { settle, .. } = compare;
            match item {
                Ok(item) => self.end(settle.group, Event::Item(compare, item)),
                // The version must be read again before the item.
                Err(fault) => self.repeat(Task::Settle(settle), &fault),
            }
        }
    }

    async fn stamp(&mut self) {
        let stamps = take_first(&mut self.tasks.stamps, SINGLE);
        let (context, groups) = (&self.context, &self.groups);
        let given: Vec<_> = stamps.iter().map(|stamp| stamp_item(context, &groups[stamp.group], stamp)).collect();
        let given: Vec<_> = stream::iter(given).buffered(CONCURRENCY).collect().await;
        for (stamp, given) in stamps.into_iter().zip(given) {
            match given {
                Ok(StampResult::Sent { written }) => self.end(stamp.group, Event::Stamped { stamp, written }),
                Ok(StampResult::Impossible { rev, code, reason }) => {
                    self.end(stamp.group, Event::Unstampable { rev, code, reason: brief(&reason).to_owned() });
                }
                Err(fault) => self.repeat(Task::Stamp(stamp), &fault),
            }
        }
    }

    /// Looks up which items with a refused shape are in quarantine already.
    async fn find_markers(&mut self) {
        let mut refused = std::mem::take(&mut self.tasks.refused);
        refused.sort_by_key(|refused| refused.write.target);
        while let Some(target) = refused.first().map(|refused| refused.write.target) {
            let rest = refused.split_off(refused.partition_point(|refused| refused.write.target == target));
            let of_target = std::mem::replace(&mut refused, rest);
            let names: Vec<_> =
                of_target.iter().map(|refused| self.groups[refused.write.group].subject().name()).collect();
            match open_markers(&self.context, target, &names).await {
                Ok(open) => {
                    for (refused, name) in of_target.into_iter().zip(names) {
                        let is_open = open.contains_key(&name);
                        self.tally.refused |= !is_open;
                        self.end(refused.write.group, Event::Marker { refused, is_open });
                    }
                }
                Err(fault) => {
                    of_target.into_iter().for_each(|refused| self.repeat(Task::FindMarker(refused), &fault));
                }
            }
        }
    }

    /// Reads the items of keys that can have no document.
    async fn examine(&mut self) {
        let examines = take_first(&mut self.tasks.examines, SINGLE);
        let (context, groups) = (&self.context, &self.groups);
        let reads: Vec<_> = examines.iter().map(|task| examine_item(context, &groups[task.group])).collect();
        let items: Vec<_> = stream::iter(reads).buffered(CONCURRENCY).collect().await;
        for (task, item) in examines.into_iter().zip(items) {
            match item {
                Ok(item) => self.end(task.group, Event::Examined(task, item)),
                Err(fault) => self.repeat(Task::Examine(task), &fault),
            }
        }
    }

    async fn quarantine(&mut self) {
        let quarantines = take_first(&mut self.tasks.quarantines, SINGLE);
        let (context, groups) = (&self.context, &self.groups);
        let kept: Vec<_> = quarantines.iter().map(|task| keep_and_mark(context, &groups[task.group], task)).collect();
        let kept: Vec<_> = stream::iter(kept).buffered(CONCURRENCY).collect().await;
        for (task, kept) in quarantines.into_iter().zip(kept) {
            match kept {
                Ok(()) => self.end(task.group, Event::Quarantined(task)),
                Err(fault) => self.repeat(Task::Quarantine(task), &fault),
            }
        }
    }

    async fn clear(&mut self) {
        let mut clears = std::mem::take(&mut self.tasks.clears);
        clears.sort_by_key(|clear| clear.target);
        for of_target in clears.chunk_by(|one, other| one.target == other.target) {
            match clear_markers(&self.context, &self.groups, of_target).await {
                Ok(()) => of_target.iter().for_each(|clear| self.end(clear.group, Event::Cleared)),
                Err(fault) => of_target.iter().for_each(|clear| self.repeat(Task::Clear(*clear), &fault)),
            }
        }
    }

    /// Ends a task of the group, and queues the tasks that follow.
    fn end(&mut self, group: GroupId, event: Event<'a>) {
        self.results += 1;
        let group = &mut self.groups[group];
        group.on(event, &self.context.targets).into_iter().for_each(|task| self.tasks.push(task));
        if let Some(reason) = &group.failed {
            self.tally.first_error.get_or_insert_with(|| reason.clone());
        }
    }

    fn reject(&mut self, write: Write<'a>, code: Code, reason: &str, blame: Blame) {
        self.end(write.group, Event::Rejected { write, code, reason: brief(reason).to_owned(), blame });
    }

    /// Ends a task without a result. The group is not handled, and its records are reported.
    fn fail(&mut self, group: GroupId, why: &dyn Display) {
        self.end(group, Event::Failed(brief(&why.to_string()).to_owned()));
    }

    /// Queues a task again after a fault, or ends it if no retry can help.
    fn repeat(&mut self, task: Task<'a>, fault: &Fault) {
        self.note_error(fault);
        if fault.passing {
            self.retry = true;
            self.tasks.push(task);
        } else {
            self.fail(task.group(), fault);
        }
    }

    fn note_error(&mut self, why: &dyn Display) {
        self.tally.first_error.get_or_insert_with(|| brief(&why.to_string()).to_owned());
    }
}

/// Takes the first tasks of a list.
fn take_first<T>(tasks: &mut Vec<T>, count: usize) -> Vec<T> {
    let rest = tasks.split_off(count.min(tasks.len()));
    std::mem::replace(tasks, rest)
}

/// Truncates an engine's message, which may have any length.
fn brief(text: &str) -> &str {
    text.get(..text.floor_char_boundary(1000)).unwrap_or(text)
}
