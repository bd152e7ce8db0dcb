//! The bulk requests of a batch, and the handling of their responses.

use std::fmt::Display;

use futures::future::join;

use super::{Batch, CHUNK, ROUND_TIME, brief};
use crate::build::{Built, Bulk, build};
use crate::classify::{Answer, Class, answers, classify, failure};
use crate::documents::{DetailLevel, Documents, Obstacle};
use crate::group::after;
use crate::ports::{Fault, Ports, Reply, Time};
use crate::quarantine::Code;
use crate::requests::send;
use crate::task::{Blame, Event, Refused, Task, Tasks, Write};

impl<'a, P: Ports, D: Documents> Batch<'_, 'a, P, D> {
    /// Sends writes, from the first on, until each was sent once or the time of the round is up. Each request is sent
    /// while the next is built. What is built when the time is up is sent in the next round, since a request may take long,
    /// and what was written before it is to be handled first.
    pub(super) async fn write(&mut self) {
        let until = after(self.context.ports.time().micros(), ROUND_TIME);
        self.queue_first_writes();
        let mut built = self.build(until).await;
        while let Some(next) = built {
            let bulk = self.handle_built(next);
            if bulk.writes.is_empty() {
                built = self.build(until).await;
                continue;
            }
            let (context, writes) = (&self.context, &mut self.tasks.writes);
            let build = build(context.materials(), &self.groups, writes, self.size, || context.is_past(until));
            let (reply, next) = join(send(context, &bulk), build).await;
            built = next;
            self.tally.bytes += bulk.lines.len();
            if let Err(bulk) = self.handle_reply(bulk, reply) {
                // The engine accepts no requests now, so the request that is already built is retried with the rest.
                let unsent = self.unsent(built);
                self.retry_request(bulk.writes, unsent);
                break;
            }
            if self.context.is_past(until) {
                let unsent = self.unsent(built.take());
                self.tasks.first_writes.extend(unsent);
            }
        }
    }

    /// Returns the writes of a request that is not sent. They are built again.
    fn unsent(&mut self, built: Option<Built<'a>>) -> Vec<Write<'a>> {
        let Some(built) = built else { return Vec::new() };
        self.handle_built(Built { missing: 0, ..built }).writes
    }

    /// Puts the writes that come first before the others, in the order of the groups.
    fn queue_first_writes(&mut self) {
        let mut first = std::mem::take(&mut self.tasks.first_writes);
        first.sort_by_key(|write| (write.group.chunk(CHUNK), write.target, write.group));
        first.into_iter().rev().for_each(|write| self.tasks.writes.push_front(write));
    }

    /// Queues the writes of a request that failed as a whole. If it fails again and again, others come before it.
    fn retry_request(&mut self, writes: Vec<Write<'a>>, unsent: Vec<Write<'a>>) {
        self.tally.retried += writes.len() + unsent.len();
        self.retry = true;
        self.tasks.first_writes.extend(unsent);
        if self.retries == 0 {
            self.tasks.first_writes.extend(writes);
        } else {
            self.tasks.writes.extend(writes);
        }
    }

    async fn build(&mut self, until: i64) -> Option<Built<'a>> {
        let context = &self.context;
        build(context.materials(), &self.groups, &mut self.tasks.writes, self.size, || context.is_past(until)).await
    }

    /// Ends the writes that could not be built. Returns the request with the others.
    fn handle_built(&mut self, built: Built<'a>) -> Bulk<'a> {
        self.tally.missing += built.missing;
        for group in built.hidden {
            if let Some(repaired) = &mut self.groups[group].repaired {
                repaired.hide();
            }
        }
        for (write, reason) in built.unfit {
            self.reject(write, Code::Unfit, &reason, Blame::Content);
        }
        for (write, fault) in built.unavailable {
            match fault.obstacle {
                Obstacle::Refused => {
                    let (now, reason) = (self.context.ports.time().micros(), brief(&fault.to_string()).to_owned());
                    self.end(write.group, Event::ShapeRefused { refused: Refused { write, reason }, now });
                }
                Obstacle::Passing | Obstacle::Lasting => self.fail(write.group, &fault),
            }
        }
        built.bulk
    }

    /// Handles a response. Returns the request as an error if all of it is to be retried.
    fn handle_reply(&mut self, bulk: Bulk<'a>, reply: Result<Reply, Fault>) -> Result<(), Bulk<'a>> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(fault) if fault.passing => {
                self.note_error(&fault);
                return Err(bulk);
            }
            Err(fault) => {
                self.fail_all(&bulk, &fault);
                return Ok(());
            }
        };
        match reply.status {
            200 => match answers(&reply.body) {
                Some(answers) if answers.len() == bulk.writes.len() => {
                    self.size = self.size.saturating_mul(2).min(self.max_size);
                    for (write, answer) in bulk.writes.into_iter().zip(answers) {
                        self.handle_answer(write, &answer);
                    }
                }
                // The results cannot be matched with the operations.
                _ => {
                    self.tasks = Tasks::default();
                    let reason = "the response to a bulk request does not have one item per operation";
                    self.note_error(&reason);
                    self.groups.fail_all(reason);
                }
            },
            429 | 500..=599 => {
                self.note_error(&format_args!("a bulk request was answered {}", reply.status));
                return Err(bulk);
            }
            // The request is too large, or one operation makes all of it invalid. It is halved until that operation is
            // alone.
            status @ (413 | 400) => self.halve(bulk, status, &reply),
            status => self.fail_all(&bulk, &format_args!("a bulk request was {}", answered(status, &reply))),
        }
        Ok(())
    }

    fn halve(&mut self, mut bulk: Bulk<'a>, status: u16, reply: &Reply) {
        // Requests grow again after a success, but no more to a size that was too large.
        if status == 413 && bulk.writes.len() > 1 {
            self.max_size = self.max_size.min(bulk.lines.len() - 1);
        }
        self.size = (bulk.lines.len() / 2).min(self.max_size);
        match (bulk.writes.pop(), bulk.writes.is_empty()) {
            (Some(alone), true) => {
                let code = if status == 413 { Code::TooLarge } else { Code::Refused };
                self.reject(alone, code, &answered(status, reply), Blame::Request);
            }
            (last, _) => {
                bulk.writes.into_iter().chain(last).rev().for_each(|write| self.tasks.writes.push_front(write));
            }
        }
    }

    fn handle_answer(&mut self, mut write: Write<'a>, answer: &Answer<'_>) {
        match classify(answer) {
            Class::Done => self.end(write.group, Event::Written(write)),
            Class::Conflict => self.end(write.group, Event::Conflict(write)),
            Class::Retry => {
                self.note_error(&format_args!("{}: {}", answer.status, failure(answer.error).reason()));
                self.tally.retried += 1;
                self.retry = true;
                self.tasks.push(Task::Write(write));
            }
            Class::Report => {
                let reason = format_args!("{}: {}", answer.status, failure(answer.error).reason());
                self.fail(write.group, &reason);
            }
            Class::Quarantine => {
                let failure = failure(answer.error);
                let refused = write
                    .levels
                    .iter_mut()
                    .filter(|(field, level)| *level != DetailLevel::None && failure.names(field));
                let degraded = refused.map(|(_, level)| *level = level.below()).count();
                if degraded > 0 {
                    self.tally.degraded += degraded;
                    self.tasks.writes.push_front(write);
                } else {
                    self.reject(write, Code::Refused, &failure.reason(), Blame::Content);
                }
            }
        }
    }

    fn fail_all(&mut self, bulk: &Bulk<'a>, why: &dyn Display) {
        bulk.writes.iter().for_each(|write| self.fail(write.group, why));
    }
}

fn answered(status: u16, reply: &Reply) -> String {
    format!("answered {status}: {}", String::from_utf8_lossy(&reply.body))
}
