//! The driver of a batch: it carries out the tasks of its groups, by bulk requests and by single requests, until each
//! group is handled in every generation. What follows from a result, the group decides (`machine.rs`).

use std::fmt::Display;
use std::time::Duration;

use futures::future::join;
use futures::stream::{self, StreamExt};

use crate::build::{Built, Bulk, MAX_BYTES, build};
use crate::classify::{Answer, Class, answers, failure};
use crate::context::Context;
use crate::documents::{Documents, Obstacle, Rung};
use crate::generation::TargetId;
use crate::group::{Group, GroupId, Groups};
use crate::ports::{Fault, Ports, Reply, Time};
use crate::quarantine::Code;
use crate::requests::{
    CONCURRENCY, Given, clear_markers, give_revision, keep_and_mark, open_markers, read_item, read_versions, send,
};
use crate::rules::Rules;
use crate::task::{Blame, Compare, Event, Refused, Settle, Task, Tasks, Write};

/// The state of a batch. Whatever is not handled when its time is up is reported.
pub(crate) struct Batch<'c, 'a, P, D> {
    pub(crate) context: Context<'c, P, D>,
    pub(crate) groups: Groups<'a>,
    pub(crate) tally: Tally,
    tasks: Tasks<'a>,
    /// The most bytes of the next bulk request.
    size: usize,
    /// Whether a task of this round has to be tried again.
    retry: bool,
}

/// What a batch cost, for its metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) bytes: usize,
    pub(crate) retried: usize,
    /// Shapes that OpenSearch refused and that were written more coarsely.
    pub(crate) degraded: usize,
    /// Shapes whose object does not exist.
    pub(crate) missing: usize,
    /// Whether S3 refuses a shape that it may give later.
    pub(crate) refused: bool,
    pub(crate) first_error: Option<String>,
}

/// The size of a first request, in bytes; it grows from here.
const FIRST_BYTES: usize = 1_000_000;

/// How many documents' versions are read by one request, and how many items are held at once.
const PAGE: usize = 500;

impl<'c, 'a, P: Ports, D: Documents> Batch<'c, 'a, P, D> {
    /// A batch that brings every generation to what its groups say.
    pub(crate) fn new<R: Rules>(context: Context<'c, P, D>, groups: Groups<'a>) -> Self {
        Self::start(context, groups, Group::start::<R>)
    }

    /// A batch that repairs the documents of its groups in every generation.
    pub(crate) fn repair<R: Rules>(context: Context<'c, P, D>, groups: Groups<'a>) -> Self {
        Self::start(context, groups, Group::start_repair::<R>)
    }

    fn start(
        context: Context<'c, P, D>,
        mut groups: Groups<'a>,
        start: impl Fn(&mut Group<'a>, TargetId) -> Vec<Task<'a>>,
    ) -> Self {
        let mut tasks = Tasks::default();
        for target in context.targets.ids() {
            groups.iter_mut().flat_map(|group| start(group, target)).for_each(|task| tasks.push(task));
        }
        Self { context, groups, tasks, tally: Tally::default(), size: FIRST_BYTES, retry: false }
    }

    /// Works until no task is left. The caller ends it when the time is up.
    pub(crate) async fn run<R: Rules>(&mut self) {
        let mut retries = 0_u32;
        while !self.tasks.is_empty() {
            self.write::<R>().await;
            self.settle::<R>().await;
            self.stamp::<R>().await;
            self.find_markers::<R>().await;
            self.quarantine::<R>().await;
            self.clear::<R>().await;
            retries = if std::mem::take(&mut self.retry) { retries + 1 } else { 0 };
            if retries > 0 {
                let longest = Duration::from_millis(50 << retries.min(6));
                self.context.ports.time().pause(longest).await;
            }
        }
    }

    /// Sends every write once, each request while the next is built.
    async fn write<R: Rules>(&mut self) {
        let mut again = Vec::new();
        let mut built = self.build::<R>().await;
        while let Some(next) = built {
            let bulk = self.take_built::<R>(next);
            if bulk.writes.is_empty() {
                built = self.build::<R>().await;
                continue;
            }
            let (reply, next) = join(
                send(&self.context, &bulk),
                build::<R, _, _>(self.context.materials(), &self.groups, &mut self.tasks.writes, self.size),
            )
            .await;
            built = next;
            self.tally.bytes += bulk.lines.len();
            if let Err(bulk) = self.take_reply::<R>(bulk, reply, &mut again) {
                // The engine takes no requests now: the one that is already built waits with the rest.
                again.extend(bulk.writes);
                again.extend(built.into_iter().flat_map(|built| self.take_built::<R>(built).writes));
                break;
            }
        }
        self.tally.retried += again.len();
        self.retry |= !again.is_empty();
        self.tasks.writes.extend(again);
    }

    async fn build<R: Rules>(&mut self) -> Option<Built<'a>> {
        build::<R, _, _>(self.context.materials(), &self.groups, &mut self.tasks.writes, self.size).await
    }

    /// Ends the writes that could not be built, and returns the request of the others.
    fn take_built<R: Rules>(&mut self, built: Built<'a>) -> Bulk<'a> {
        self.tally.missing += built.missing;
        for group in built.hidden {
            if let Some(repaired) = &mut self.groups[group].repaired {
                repaired.hide();
            }
        }
        for (write, reason) in built.unfit {
            self.reject::<R>(write, Code::Unfit, &reason, Blame::Content);
        }
        for (write, fault) in built.unavailable {
            match fault.obstacle {
                Obstacle::Refused => {
                    let (now, reason) = (self.context.ports.time().micros(), brief(&fault.to_string()).to_owned());
                    self.end::<R>(write.group, Event::ShapeRefused { refused: Refused { write, reason }, now });
                }
                Obstacle::Passing | Obstacle::Lasting => self.fail::<R>(write.group, &fault),
            }
        }
        built.bulk
    }

    /// Takes an answer. Returns the request if the engine took nothing of it just now.
    fn take_reply<R: Rules>(
        &mut self,
        bulk: Bulk<'a>,
        reply: Result<Reply, Fault>,
        again: &mut Vec<Write<'a>>,
    ) -> Result<(), Bulk<'a>> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(fault) if fault.passing => {
                self.note_error(&fault);
                return Err(bulk);
            }
            Err(fault) => {
                self.fail_all::<R>(&bulk, &fault);
                return Ok(());
            }
        };
        match reply.status {
            200 => match answers(&reply.body) {
                Some(answers) if answers.len() == bulk.writes.len() => {
                    self.size = self.size.saturating_mul(2).min(MAX_BYTES);
                    for (write, answer) in bulk.writes.into_iter().zip(answers) {
                        self.take_answer::<R>(write, &answer, again);
                    }
                }
                // No answer can be matched with its operation.
                _ => {
                    self.tasks = Tasks::default();
                    let reason = "an answer without one item per operation";
                    self.note_error(&reason);
                    self.groups.fail_all(reason);
                }
            },
            429 | 500..=599 => {
                self.note_error(&format_args!("a bulk request was answered {}", reply.status));
                return Err(bulk);
            }
            // Too much for one request, or one operation that spoils it: halved until the culprit is alone.
            status @ (413 | 400) => self.halve::<R>(bulk, status, &reply),
            status => self.fail_all::<R>(&bulk, &format_args!("a bulk request was {}", answered(status, &reply))),
        }
        Ok(())
    }

    fn halve<R: Rules>(&mut self, mut bulk: Bulk<'a>, status: u16, reply: &Reply) {
        self.size = bulk.lines.len() / 2;
        match (bulk.writes.pop(), bulk.writes.is_empty()) {
            (Some(alone), true) => {
                let code = if status == 413 { Code::TooLarge } else { Code::Refused };
                self.reject::<R>(alone, code, &answered(status, reply), Blame::Request);
            }
            (last, _) => {
                bulk.writes.into_iter().chain(last).rev().for_each(|write| self.tasks.writes.push_front(write));
            }
        }
    }

    fn take_answer<R: Rules>(&mut self, mut write: Write<'a>, answer: &Answer<'_>, again: &mut Vec<Write<'a>>) {
        match R::classify(answer) {
            Class::Done => self.end::<R>(write.group, Event::Written(write)),
            Class::Conflict => self.end::<R>(write.group, Event::Conflict(write)),
            Class::Retry => again.push(write),
            Class::Report => {
                let reason = format_args!("{}: {}", answer.status, failure(answer.error).reason());
                self.fail::<R>(write.group, &reason);
            }
            Class::Quarantine => {
                let failure = failure(answer.error);
                let refused =
                    write.rungs.iter_mut().filter(|(field, rung)| *rung != Rung::None && failure.names(field));
                let degraded = refused.map(|(_, rung)| *rung = rung.below()).count();
                if degraded > 0 {
                    self.tally.degraded += degraded;
                    self.tasks.writes.push_front(write);
                } else {
                    self.reject::<R>(write, Code::Refused, &failure.reason(), Blame::Content);
                }
            }
        }
    }

    /// Reads the documents' versions, then the items: never the other way round.
    async fn settle<R: Rules>(&mut self) {
        let mut settles = std::mem::take(&mut self.tasks.settles);
        settles.sort_by_key(|settle| settle.target);
        for of_target in settles.chunk_by(|one, other| one.target == other.target) {
            for page in of_target.chunks(PAGE) {
                self.read_versions::<R>(page).await;
                self.compare::<R>().await;
            }
        }
    }

    /// All of them in one generation.
    async fn read_versions<R: Rules>(&mut self, settles: &[Settle]) {
        match read_versions(&self.context, &self.groups, settles).await {
            Ok(versions) => {
                for (settle, version) in settles.iter().zip(versions) {
                    self.end::<R>(settle.group, Event::Version(*settle, version));
                }
            }
            Err(fault) if self.again(&fault) => self.tasks.settles.extend(settles),
            Err(fault) => settles.iter().for_each(|settle| self.fail::<R>(settle.group, &fault)),
        }
    }

    async fn compare<R: Rules>(&mut self) {
        let compares = std::mem::take(&mut self.tasks.compares);
        let (context, groups) = (&self.context, &self.groups);
        let reads: Vec<_> = compares.iter().map(|compare| read_item(context, &groups[compare.settle.group])).collect();
        let items: Vec<_> = stream::iter(reads).buffered(CONCURRENCY).collect().await;
        for (compare, item) in compares.into_iter().zip(items) {
            let Compare { settle, .. } = compare;
            match item {
                Ok(item) => self.end::<R>(settle.group, Event::Item(compare, item)),
                // Begins with the version again.
                Err(fault) if self.again(&fault) => self.tasks.settles.push(settle),
                Err(fault) => self.fail::<R>(settle.group, &fault),
            }
        }
    }

    async fn stamp<R: Rules>(&mut self) {
        let stamps = std::mem::take(&mut self.tasks.stamps);
        let (context, groups) = (&self.context, &self.groups);
        let given: Vec<_> = stamps.iter().map(|stamp| give_revision(context, &groups[stamp.group], stamp)).collect();
        let given: Vec<_> = stream::iter(given).buffered(CONCURRENCY).collect().await;
        for (stamp, given) in stamps.into_iter().zip(given) {
            match given {
                Ok(Given::Sent { written }) => self.end::<R>(stamp.group, Event::Stamped { stamp, written }),
                Ok(Given::Impossible { rev, code, reason }) => {
                    self.end::<R>(stamp.group, Event::Unstampable { rev, code, reason: brief(&reason).to_owned() });
                }
                Err(fault) if self.again(&fault) => self.tasks.stamps.push(stamp),
                Err(fault) => self.fail::<R>(stamp.group, &fault),
            }
        }
    }

    /// Finds out which items with a refused shape are in quarantine already.
    async fn find_markers<R: Rules>(&mut self) {
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
                        self.end::<R>(refused.write.group, Event::Marker { refused, is_open });
                    }
                }
                Err(fault) if self.again(&fault) => self.tasks.refused.extend(of_target),
                Err(fault) => of_target.iter().for_each(|refused| self.fail::<R>(refused.write.group, &fault)),
            }
        }
    }

    async fn quarantine<R: Rules>(&mut self) {
        let quarantines = std::mem::take(&mut self.tasks.quarantines);
        let (context, groups) = (&self.context, &self.groups);
        let kept: Vec<_> = quarantines.iter().map(|task| keep_and_mark(context, &groups[task.group], task)).collect();
        let kept: Vec<_> = stream::iter(kept).buffered(CONCURRENCY).collect().await;
        for (task, kept) in quarantines.into_iter().zip(kept) {
            match kept {
                Ok(()) => self.end::<R>(task.group, Event::Quarantined(task)),
                Err(fault) if self.again(&fault) => self.tasks.quarantines.push(task),
                Err(fault) => self.fail::<R>(task.group, &fault),
            }
        }
    }

    async fn clear<R: Rules>(&mut self) {
        let mut clears = std::mem::take(&mut self.tasks.clears);
        clears.sort_by_key(|clear| clear.target);
        for of_target in clears.chunk_by(|one, other| one.target == other.target) {
            match clear_markers(&self.context, &self.groups, of_target).await {
                Ok(()) => of_target.iter().for_each(|clear| self.end::<R>(clear.group, Event::Cleared)),
                Err(fault) if self.again(&fault) => self.tasks.clears.extend(of_target),
                Err(fault) => of_target.iter().for_each(|clear| self.fail::<R>(clear.group, &fault)),
            }
        }
    }

    /// Ends a task of the group, and queues the tasks that follow.
    fn end<R: Rules>(&mut self, group: GroupId, event: Event<'a>) {
        let group = &mut self.groups[group];
        group.on::<R>(event, &self.context.targets).into_iter().for_each(|task| self.tasks.push(task));
        if let Some(reason) = &group.failed {
            self.tally.first_error.get_or_insert_with(|| reason.clone());
        }
    }

    fn reject<R: Rules>(&mut self, write: Write<'a>, code: Code, reason: &str, blame: Blame) {
        self.end::<R>(write.group, Event::Rejected { write, code, reason: brief(reason).to_owned(), blame });
    }

    /// Ends a task without a result. The group is not handled, and its records come again.
    fn fail<R: Rules>(&mut self, group: GroupId, why: &dyn Display) {
        self.end::<R>(group, Event::Failed(brief(&why.to_string()).to_owned()));
    }

    fn fail_all<R: Rules>(&mut self, bulk: &Bulk<'a>, why: &dyn Display) {
        bulk.writes.iter().for_each(|write| self.fail::<R>(write.group, why));
    }

    /// Whether it is worth asking the engine again.
    fn again(&mut self, fault: &Fault) -> bool {
        self.note_error(fault);
        self.retry |= fault.passing;
        fault.passing
    }

    fn note_error(&mut self, why: &dyn Display) {
        self.tally.first_error.get_or_insert_with(|| brief(&why.to_string()).to_owned());
    }
}

fn answered(status: u16, reply: &Reply) -> String {
    format!("answered {status}: {}", String::from_utf8_lossy(&reply.body))
}

/// An engine's answer may be of any length.
fn brief(text: &str) -> &str {
    text.get(..text.floor_char_boundary(1000)).unwrap_or(text)
}
