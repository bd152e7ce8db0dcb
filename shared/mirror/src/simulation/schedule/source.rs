//! The event source: batches of any cut, zombies, lost responses, and records that are given up.

use serde_json::json;

use super::{Schedule, time};
use crate::generation::Phase;
use crate::simulation::choices::Random;
use crate::simulation::executor::{FUNCTION, Invocation};
use crate::simulation::world::sequence;
use crate::work::ProcessedBatch;

/// The number of deliveries of one batch after which a minute has passed, so that search has forgotten its deletes.
const DELIVERIES_OF_A_MINUTE: usize = 20;

/// The number of deliveries after which S3 has refused a shape for long enough.
const MANY_DELIVERIES: usize = 40;

/// The highest number of records of a batch.
const MAX_RECORDS: usize = 4;

impl Schedule {
    /// Starts a batch, or creates the first index, if there is a reason to. Returns whether it did.
    pub(super) fn begin(&mut self) -> Result<bool, String> {
        let (end, needs_index) = {
            let world = self.shared.world();
            let needs_index = world.generations.as_ref().is_none_or(|all| {
                let is_rebuilding = !all.dropping.is_empty() || all.rebuild_paused;
                all.of(Phase::Serving).is_none() && !is_rebuilding
            });
            (world.stream.len(), needs_index)
        };
        let number = if self.operator.is_none() && needs_index {
            let number = self.start(Invocation::first_index(&self.shared))?;
            self.operator = Some(number);
            self.note(|_| format!("invocation {number} creates the first index"));
            number
        } else if self.current.is_none() && self.checkpoint < end {
            if self.left.give_ups > 0 && self.choices.one_in(4) {
                return Ok(self.give_up());
            }
            if self.reported >= MANY_DELIVERIES {
                self.wait_for_engines()?;
            }
            let records = self.cut(end);
            self.shared.world().count_folds(records.clone());
            let number = self.start(Invocation::batch(&self.shared, records.clone()))?;
            self.current = Some(number);
            self.note(|world| format!("invocation {number} receives {}", world.brief(records)));
            number
        } else {
            return Ok(false);
        };
        self.poll(number).map(|()| true)
    }

    /// Returns the records of the next batch. After a failure they are cut or bisected in any other way.
    fn cut(&mut self, end: usize) -> std::ops::Range<usize> {
        self.checkpoint..end.min(self.checkpoint + self.choices.between(1, MAX_RECORDS))
    }

    /// Lets time pass for a batch that was reported many times, and at last deploys what can index its records.
    fn wait_for_engines(&mut self) -> Result<(), String> {
        self.reported = 1;
        self.failed += 1;
        if self.failed > 3 && self.shared.world().has_lasting_faults {
            self.cure();
        }
        self.pass(time::TWENTY_MINUTES)
    }

    pub(super) fn batch_ended(
        &mut self,
        number: usize,
        records: std::ops::Range<usize>,
        processed: &ProcessedBatch,
    ) -> Result<(), String> {
        self.note(|_| format!("invocation {number} answers {} {:?}", processed.answer, processed.tally));
        let ledger = processed.ledger;
        let failed = records.clone().find(|at| processed.answer.contains(&format!("\"{}\"", sequence(*at))));
        if !ledger.adds_up() || ledger.reported != records.end - failed.unwrap_or(records.end) {
            return Err(format!("report: {ledger:?} of records {records:?}, of which {failed:?} is reported"));
        }
        self.reported = if failed.is_some() { self.reported + 1 } else { 0 };
        if self.reported.is_multiple_of(DELIVERIES_OF_A_MINUTE) && failed.is_some() {
            self.note(|_| "a minute passes".to_owned());
            self.shared.world().search.forget();
        }
        if self.current == Some(number) {
            self.current = None;
            if self.left.lost_answers > 0 && self.choices.one_in(4) {
                self.left.lost_answers -= 1;
                self.shared.world().reached.count("event", "answer of a batch lost");
                self.note(|_| "the answer is lost".to_owned());
            } else {
                self.checkpoint = failed.unwrap_or(records.end);
            }
        } else {
            // Nothing tries again what a zombie reports.
            self.shared.world().cut_short |= failed.is_some();
        }
        Ok(())
    }

    /// Lets the event source stop waiting for its invocation, which continues as a zombie.
    pub(super) fn time_out(&mut self) {
        self.left.zombies -= 1;
        let zombie = self.current.take();
        self.late.extend(zombie);
        self.shared.world().reached.count("event", "zombie");
        self.note(|_| format!("invocation {zombie:?} is a zombie"));
    }

    /// Gives the next records up, as if they were too old. Returns false if there are none, or a batch is under way.
    pub(super) fn give_up(&mut self) -> bool {
        let end = self.shared.world().stream.len();
        if self.current.is_some() || self.checkpoint == end {
            return false;
        }
        self.left.give_ups -= 1;
        let records = self.cut(end);
        self.checkpoint = records.end;
        self.note(|world| format!("records are given up: {}", world.brief(records.clone())));
        let mut world = self.shared.world();
        let function = format!("arn:aws:lambda:ca-central-1:000000000000:function:{FUNCTION}");
        let payload = world.event(records.start, records.end);
        let object = json!({ "requestContext": { "functionArn": function }, "payload": payload });
        let (name, since) = (format!("{:04}", records.start), world.now);
        world.failures.insert(name, (since, object.to_string()));
        world.reached.count("event", "given up");
        true
    }
}

impl crate::simulation::world::World {
    fn count_folds(&mut self, records: std::ops::Range<usize>) {
        let Self { stream, reached, .. } = self;
        reached.count_folds(&stream[records]);
    }
}
