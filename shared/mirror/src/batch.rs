//! Working through groups until each is handled in every generation: writing bulk requests and reading their
//! answers. What follows from an answer is done in `follow`.

use std::time::Duration;

use futures::future::join;

use crate::build::{Built, Bulk, Content, LARGEST, Write, build};
use crate::classify::{Answer, Class, answers, failure};
use crate::context::Context;
use crate::documents::{Documents, Obstacle, Rung};
use crate::group::Group;
use crate::ports::{Fault, Index, Ports, Reply, Time};
use crate::quarantine::{Code, Poison};
use crate::report::Outcome;
use crate::rules::Rules;
use crate::tasks::{Finished, Poisoned, Settle, Tasks, ask};

/// The state of a batch. What is not done when its time is up is reported.
pub(crate) struct Batch<'c, 'a, P, D> {
    pub(crate) context: Context<'c, P, D>,
    pub(crate) groups: Vec<Group<'a>>,
    pub(crate) tasks: Tasks<'a>,
    pub(crate) tally: Tally,
    /// How large the next request may be, in bytes.
    size: usize,
    /// Whether anything of this round has to be tried again.
    in_vain: bool,
}

/// What a batch cost, for its metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) bytes: usize,
    pub(crate) retried: usize,
    /// Shapes that OpenSearch refused and that were given more coarsely.
    pub(crate) degraded: usize,
    /// Shapes whose object is really gone.
    pub(crate) missing: usize,
    /// Whether S3 refuses a shape that it may give later.
    pub(crate) refused: bool,
    /// What first went wrong.
    pub(crate) trouble: Option<String>,
}

/// The size of a first request, in bytes; it grows from here.
const SMALLEST: usize = 1_000_000;

impl<'c, 'a, P: Ports, D: Documents> Batch<'c, 'a, P, D> {
    /// A batch with the tasks that its groups ask for.
    pub(crate) fn new<R: Rules>(context: Context<'c, P, D>, mut groups: Vec<Group<'a>>) -> Self {
        let mut tasks = Tasks::default();
        for target in 0..context.targets.len() {
            for (at, group) in groups.iter_mut().enumerate() {
                group.open += ask::<R>(&mut tasks, group, at, target);
            }
        }
        Self { context, groups, tasks, tally: Tally::default(), size: SMALLEST, in_vain: false }
    }

    /// Works until nothing is left to do. To be ended from outside when time is up.
    pub(crate) async fn run<R: Rules>(&mut self) {
        let mut vain_rounds = 0_u32;
        while !self.tasks.is_empty() {
            self.write::<R>().await;
            self.settle::<R>().await;
            self.stamp().await;
            self.weigh_refusals().await;
            self.quarantine::<R>().await;
            self.clear().await;
            vain_rounds = if std::mem::take(&mut self.in_vain) { vain_rounds + 1 } else { 0 };
            if vain_rounds > 0 {
                let longest = Duration::from_millis(50 << vain_rounds.min(6));
                self.context.ports.time().pause(longest).await;
            }
        }
    }

    /// Sends every write once, each request while the next is built.
    async fn write<R: Rules>(&mut self) {
        let mut again = Vec::new();
        let mut built = self.build::<R>().await;
        while let Some(bulk) = built.map(|built| self.set_aside(built)) {
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
                // The engine is not taking requests: what is already built waits with the rest.
                again.extend(bulk.writes);
                again.extend(built.into_iter().flat_map(|built| self.set_aside(built).writes));
                break;
            }
        }
        self.tally.retried += again.len();
        self.in_vain |= !again.is_empty();
        self.tasks.writes.extend(again);
    }

    async fn build<R: Rules>(&mut self) -> Option<Built<'a>> {
        build::<R, _, _>(self.context.materials(), &self.groups, &mut self.tasks.writes, self.size).await
    }

    /// Takes out of a request what could not be built.
    fn set_aside(&mut self, built: Built<'a>) -> Bulk<'a> {
        self.tally.missing += built.missing;
        for group in built.hidden {
            if let Some(Group { repaired: Some(repaired), .. }) = self.groups.get_mut(group) {
                repaired.hide();
            }
        }
        for (write, reason) in built.unfit {
            self.poison(&write, Code::Unfit, &reason, true);
        }
        for (write, fault) in built.unavailable {
            match fault.obstacle {
                Obstacle::Refused => self.tasks.refused.push((write, fault.to_string())),
                Obstacle::Passing | Obstacle::Lasting => self.fail(write.group, &fault),
            }
        }
        built.bulk
    }

    /// Sorts out an answer; gives the request back if the engine took nothing of it just now.
    fn take_reply<R: Rules>(
        &mut self,
        bulk: Bulk<'a>,
        reply: Result<Reply, Fault>,
        again: &mut Vec<Write<'a>>,
    ) -> Result<(), Bulk<'a>> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(fault) if fault.passing => {
                self.trouble(&fault);
                return Err(bulk);
            }
            Err(fault) => {
                self.fail_all(bulk, &fault);
                return Ok(());
            }
        };
        match reply.status {
            200 => match answers(&reply.body) {
                Some(answers) if answers.len() == bulk.writes.len() => {
                    self.size = self.size.saturating_mul(2).min(LARGEST);
                    for (write, answer) in bulk.writes.into_iter().zip(answers) {
                        self.take_answer::<R>(write, &answer, again);
                    }
                }
                // Which answer is whose, nobody knows.
                _ => {
                    self.tasks = Tasks::default();
                    (0..self.groups.len())
                        .for_each(|group| self.fail(group, &"an answer without one item per operation"));
                }
            },
            429 | 500..=599 => {
                self.trouble(&format_args!("a bulk request was answered {}", reply.status));
                return Err(bulk);
            }
            // Too much for one request, or one operation that spoils it: halved until the culprit is alone.
            status @ (413 | 400) => self.halve(bulk, status, &reply),
            status => self.fail_all(bulk, &format_args!("a bulk request was {}", answered(status, &reply))),
        }
        Ok(())
    }

    fn halve(&mut self, bulk: Bulk<'a>, status: u16, reply: &Reply) {
        self.size = bulk.lines.len() / 2;
        let code = if status == 413 { Code::TooLarge } else { Code::Refused };
        let reason = answered(status, reply);
        match bulk.writes.as_slice() {
            // Whether the document is at fault, its stream record finds out; a repair changes nothing then.
            [alone] if self.groups.get(alone.group).is_some_and(|group| group.repaired.is_some()) => {
                self.fail(alone.group, &format_args!("the bulk request was {reason}"));
            }
            [alone] => self.poison(alone, code, &reason, false),
            _ => bulk.writes.into_iter().rev().for_each(|write| self.tasks.writes.push_front(write)),
        }
    }

    fn take_answer<R: Rules>(&mut self, mut write: Write<'a>, answer: &Answer<'_>, again: &mut Vec<Write<'a>>) {
        let Write { group, target, version, hides, .. } = write;
        match R::classify(answer) {
            // Its marker is at the poison's revision, and stays.
            Class::Done if hides.is_some() => self.close(group),
            Class::Done => self.tasks.finished.push(Finished { group, target, version }),
            Class::Conflict => {
                self.note(group, Outcome::Superseded);
                self.tasks.settles.push(Settle { group, target, own: Some(version), repair: false, hides });
            }
            Class::Retry => again.push(write),
            Class::Report => self.fail(group, &format_args!("{}: {}", answer.status, failure(answer.error).reason())),
            Class::Quarantine => {
                let failure = failure(answer.error);
                let refused =
                    write.rungs.iter_mut().filter(|(field, rung)| *rung != Rung::None && failure.names(field));
                let degraded = refused.map(|(_, rung)| *rung = rung.below()).count();
                if degraded > 0 {
                    self.tally.degraded += degraded;
                    self.tasks.writes.push_front(write);
                } else {
                    self.poison(&write, Code::Refused, &failure.reason(), true);
                }
            }
        }
    }

    /// Sends a write to quarantine: its document cannot be indexed. A tombstone can; if not, that is no document's
    /// fault.
    pub(crate) fn poison(&mut self, write: &Write<'a>, code: Code, reason: &str, of_content: bool) {
        let Content::Item(item, _) = &write.content else {
            return self.fail(write.group, &format_args!("a tombstone was refused: {reason}"));
        };
        let Some(group) = self.groups.get(write.group) else { return };
        let evidence = match item {
            std::borrow::Cow::Borrowed(_) => group.evidence.clone().into_owned(),
            std::borrow::Cow::Owned(item) => item.clone(),
        };
        let reason = brief(reason).to_owned();
        let poison = Poison { rev: write.version, code, reason, evidence, of_content };
        self.tasks.poisoned.push(Poisoned { group: write.group, target: write.target, poison });
    }

    /// The group is not handled, and its records come again.
    pub(crate) fn fail(&mut self, group: usize, why: &dyn std::fmt::Display) {
        self.trouble(why);
        if let Some(group) = self.groups.get_mut(group) {
            group.failed = true;
        }
    }

    fn fail_all(&mut self, bulk: Bulk<'a>, why: &dyn std::fmt::Display) {
        bulk.writes.iter().for_each(|write| self.fail(write.group, why));
    }

    /// A task of the group is done.
    pub(crate) fn close(&mut self, group: usize) {
        if let Some(group) = self.groups.get_mut(group) {
            group.open = group.open.saturating_sub(1);
        }
    }

    pub(crate) fn note(&mut self, group: usize, outcome: Outcome) {
        if let Some(group) = self.groups.get_mut(group) {
            group.outcome = group.outcome.max(outcome);
        }
    }

    /// An engine's trouble: whether it is worth asking again.
    pub(crate) fn again(&mut self, fault: &Fault) -> bool {
        self.trouble(fault);
        self.in_vain |= fault.passing;
        fault.passing
    }

    fn trouble(&mut self, why: &dyn std::fmt::Display) {
        self.tally.trouble.get_or_insert_with(|| brief(&why.to_string()).to_owned());
    }
}

fn answered(status: u16, reply: &Reply) -> String {
    format!("answered {status}: {}", String::from_utf8_lossy(&reply.body))
}

/// An engine's answer may be of any length.
pub(crate) fn brief(text: &str) -> &str {
    text.get(..text.floor_char_boundary(1000)).unwrap_or(text)
}

async fn send<P: Ports, D: Documents>(context: &Context<'_, P, D>, bulk: &Bulk<'_>) -> Result<Reply, Fault> {
    context.fresh()?;
    let target = context.targets.get(bulk.target).ok_or_else(|| Fault::lasting("mirror", "no such generation"))?;
    context.ports.index().bulk(&target.alias, &bulk.lines).await
}
