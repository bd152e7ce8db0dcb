//! The bulk requests of a batch, and the handling of their responses.

use std::fmt::Display;

use futures::future::join;

use super::{Batch, brief};
use crate::build::{Built, Bulk, MAX_BYTES, build};
use crate::classify::{Answer, Class, answers, failure};
use crate::documents::{DetailLevel, Documents, Obstacle};
use crate::ports::{Fault, Ports, Reply, Time};
use crate::quarantine::Code;
use crate::requests::send;
use crate::rules::Rules;
use crate::task::{Blame, Event, Refused, Tasks, Write};

impl<'a, P: Ports, D: Documents> Batch<'_, 'a, P, D> {
    /// Sends every write once. Each request is sent while the next is built.
    pub(super) async fn write<R: Rules>(&mut self) {
        let mut again = Vec::new();
        let mut built = self.build::<R>().await;
        while let Some(next) = built {
            let bulk = self.handle_built::<R>(next);
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
            if let Err(bulk) = self.handle_reply::<R>(bulk, reply, &mut again) {
                // The engine accepts no requests now, so the request that is already built is retried with the rest.
                again.extend(bulk.writes);
                again.extend(built.into_iter().flat_map(|built| self.handle_built::<R>(built).writes));
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

    /// Ends the writes that could not be built. Returns the request with the others.
    fn handle_built<R: Rules>(&mut self, built: Built<'a>) -> Bulk<'a> {
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

    /// Handles a response. Returns the request as an error if all of it is to be retried.
    fn handle_reply<R: Rules>(
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
                        self.handle_answer::<R>(write, &answer, again);
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

    fn handle_answer<R: Rules>(&mut self, mut write: Write<'a>, answer: &Answer<'_>, again: &mut Vec<Write<'a>>) {
        match R::classify(answer) {
            Class::Done => self.end::<R>(write.group, Event::Written(write)),
            Class::Conflict => self.end::<R>(write.group, Event::Conflict(write)),
            Class::Retry => {
                self.note_error(&format_args!("{}: {}", answer.status, failure(answer.error).reason()));
                again.push(write);
            }
            Class::Report => {
                let reason = format_args!("{}: {}", answer.status, failure(answer.error).reason());
                self.fail::<R>(write.group, &reason);
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
                    self.reject::<R>(write, Code::Refused, &failure.reason(), Blame::Content);
                }
            }
        }
    }

    fn fail_all<R: Rules>(&mut self, bulk: &Bulk<'a>, why: &dyn Display) {
        bulk.writes.iter().for_each(|write| self.fail::<R>(write.group, why));
    }
}

fn answered(status: u16, reply: &Reply) -> String {
    format!("answered {status}: {}", String::from_utf8_lossy(&reply.body))
}
