//! The state machine of a rebuild: the next step towards a goal, and the config item after a step that changes phases.

use super::order::{Goal, Preview, Rebuild};
use crate::generation::{Generation, Generations, Phase};

/// The next step of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Creates an index and publishes it, so that it is written from now on.
    Begin,
    /// Waits until no invocation from before the publication lives.
    AwaitBatches,
    /// Fills the index, and audits it.
    Fill,
    /// Moves the readers' alias to the audited index.
    Swap,
    /// Prepares to fill and audit the kept index, which was rolled back, once more.
    RefillKept,
    /// Prepares to move the readers' alias back to the kept index.
    PrepareRollback,
    /// Stops writing the kept index.
    Release,
    /// Stops writing the index that does not serve.
    Abandon,
    /// Deletes an index that is not written any more.
    Drop,
}

/// The positions of the generations by phase. Generations are listed by age.
struct Phases {
    serving: Option<usize>,
    published: Option<usize>,
    filling: Option<usize>,
    audited: Option<usize>,
    kept: Option<usize>,
}

type Next = Result<Option<Step>, String>;

impl Generations {
    /// Whether an index was created that does not serve yet.
    pub fn is_rebuilding(&self) -> bool {
        let phases = self.phases();
        phases.published.is_some() || phases.filling.is_some() || phases.is_advancing()
    }

    /// Returns the index that is to be filled, is filled, or is about to serve.
    pub(super) fn unfinished(&self) -> Option<&Generation> {
        [Phase::Published, Phase::Filling, Phase::Audited].into_iter().find_map(|phase| self.of(phase))
    }

    /// Whether an index is written.
    pub(super) fn has(&self, index: &str) -> bool {
        self.written.iter().any(|generation| generation.index == index)
    }

    /// Whether no index but one is there, so that no reader can search two.
    pub(crate) fn has_one_index(&self) -> bool {
        self.written.len() == 1 && self.dropping.is_empty()
    }

    /// Whether the readers' alias moves to the older index.
    pub(super) fn is_rolling_back(&self) -> bool {
        self.phases().is_rolling_back()
    }

    fn phases(&self) -> Phases {
        let at = |phase| self.written.iter().position(|generation| generation.phase == phase);
        Phases {
            serving: at(Phase::Serving),
            published: at(Phase::Published),
            filling: at(Phase::Filling),
            audited: at(Phase::Audited),
            kept: at(Phase::Kept),
        }
    }

    /// Returns the next step towards a goal, or `None` if it is reached. The error says why it cannot be reached.
    pub(super) fn step(&self, order: Rebuild, begins: bool) -> Next {
        match order.goal {
            Goal::Serve => self.to_serve(begins, order.replaces),
            Goal::Finish => self.to_finish(),
            Goal::RollBack => self.to_roll_back(),
            Goal::Cancel => self.to_cancel(),
        }
    }

    fn to_serve(&self, begins: bool, replaces: bool) -> Next {
        let phases = self.phases();
        if self.rebuild_paused {
            return Err("the rebuild is paused: resume or cancel it".to_owned());
        }
        // Without an index that serves there is nothing left to replace.
        if replaces && !self.replaces && self.is_rebuilding() && phases.serving.is_some() {
            return Err(
                "this rebuild was begun without `--replace`: go on without it, or cancel the rebuild".to_owned()
            );
        }
        if self.written.is_empty() {
            return Ok(Some(Step::Begin));
        }
        if phases.is_advancing() {
            return Ok(Some(Step::Swap));
        }
        if phases.published.is_some() {
            return Ok(Some(Step::AwaitBatches));
        }
        if phases.filling.is_some() {
            return Ok(Some(Step::Fill));
        }
        // The other steps need an index that may be lost. A rebuild that replaces an index ends with its deletion.
        if begins && replaces && !self.replaces {
            return Ok(Some(Step::Begin));
        }
        if phases.is_rolling_back() {
            return Ok(Some(Step::Swap));
        }
        if !self.dropping.is_empty() {
            return Ok(Some(Step::Drop));
        }
        if phases.was_rolled_back() {
            return Ok(Some(Step::RefillKept));
        }
        match self.of(Phase::Kept) {
            Some(kept) if begins => Err(format!("{} is still kept: finish or roll back first", kept.index)),
            _ => Ok(begins.then_some(Step::Begin)),
        }
    }

    fn to_finish(&self) -> Next {
        let phases = self.phases();
        if self.is_rebuilding() || phases.was_rolled_back() || phases.is_rolling_back() {
            return Err("the new index does not serve: start the rebuild again, or cancel it".to_owned());
        }
        Ok(if phases.kept.is_some() { Some(Step::Release) } else { self.to_drop() })
    }

    fn to_roll_back(&self) -> Next {
        let phases = self.phases();
        if phases.is_rolling_back() {
            Ok(Some(Step::Swap))
        } else if self.is_rebuilding() {
            Err("the new index does not serve yet: cancel the rebuild".to_owned())
        } else if phases.was_rolled_back() {
            Ok(None)
        } else if phases.kept.is_some() {
            Ok(Some(Step::PrepareRollback))
        } else {
            Err("no old index is written any more that could serve again: rebuild with the former code".to_owned())
        }
    }

    fn to_cancel(&self) -> Next {
        let phases = self.phases();
        if phases.is_rolling_back() {
            Ok(Some(Step::Swap))
        } else if self.is_rebuilding() || phases.was_rolled_back() {
            Ok(Some(Step::Abandon))
        } else if phases.kept.is_some() {
            Err("the new index serves: roll back first, or finish the rebuild".to_owned())
        } else {
            Ok(self.to_drop())
        }
    }

    /// Returns what the steps of an order end. The error says why its goal cannot be reached.
    pub(super) fn preview(&self, order: Rebuild) -> Result<Preview, String> {
        let (mut config, mut preview) = (self.clone(), Preview::default());
        // An index that is created ends none.
        while let Some(step) = config.step(order, false)?.filter(|step| *step != Step::Begin) {
            let mut next = config.after(step);
            if step == Step::Drop {
                preview.deleted.extend(next.dropping.pop());
            }
            let released = config.written.into_iter().filter(|generation| !next.has(&generation.index));
            preview.released.extend(released.map(|generation| generation.index));
            config = next;
        }
        Ok(preview)
    }

    /// Returns the config item after a step that changes phases.
    pub(super) fn after(&self, step: Step) -> Self {
        let mut next = self.next();
        for generation in &mut next.written {
            generation.phase = match (step, generation.phase) {
                (Step::AwaitBatches, Phase::Published) => Phase::Filling,
                (Step::Fill, Phase::Filling) | (Step::PrepareRollback, Phase::Kept) => Phase::Audited,
                (Step::Swap, Phase::Audited) => Phase::Serving,
                (Step::Swap, Phase::Serving) => Phase::Kept,
                (Step::RefillKept, Phase::Kept) => Phase::Filling,
                (_, phase) => phase,
            };
        }
        if matches!(step, Step::Release | Step::Abandon) {
            let (serving, others) = next.written.into_iter().partition(|generation| generation.phase == Phase::Serving);
            next.written = serving;
            let others: Vec<Generation> = others;
            next.dropping.extend(others.into_iter().map(|generation| generation.index));
            next.rebuild_paused = false;
            next.replaces = false;
        }
        next
    }

    /// Without an index that serves, none is deleted, since readers may still search it.
    fn to_drop(&self) -> Option<Step> {
        (!self.dropping.is_empty() && self.phases().serving.is_some()).then_some(Step::Drop)
    }
}

impl Phases {
    /// Whether the readers' alias moves to a newer index, or to the first.
    fn is_advancing(&self) -> bool {
        self.audited.is_some() && self.audited > self.serving
    }

    /// Whether the readers' alias moves to the older index.
    fn is_rolling_back(&self) -> bool {
        self.audited.is_some() && self.audited < self.serving
    }

    /// Whether the older index serves again.
    fn was_rolled_back(&self) -> bool {
        self.kept > self.serving
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a config item with indexes that are numbered from 1, of which this one is to be deleted.
    fn config(phases: &[Phase], dropping: Option<&str>) -> Generations {
        let generation =
            |(phase, number): (&Phase, u32)| Generation { index: number.to_string(), mapping: 1, phase: *phase };
        let dropping = dropping.map(str::to_owned).into_iter().collect();
        Generations { written: phases.iter().zip(1..).map(generation).collect(), dropping, ..Generations::none("toy") }
    }

    #[test]
    fn preview_has_the_indexes_that_an_order_ends() {
        use Phase::{Audited, Filling, Kept, Published, Serving};
        for (goal, phases, dropping, released, deleted) in [
            (Goal::Finish, &[Kept, Serving][..], None, &["1"][..], &["1"][..]),
            (Goal::Finish, &[Kept, Serving], Some("0"), &["1"], &["1", "0"]),
            (Goal::Finish, &[Serving], Some("0"), &[], &["0"]),
            (Goal::Finish, &[Serving], None, &[], &[]),
            (Goal::Cancel, &[Serving, Published], None, &["2"], &["2"]),
            (Goal::Cancel, &[Serving, Filling], None, &["2"], &["2"]),
            // It was rolled back, or is about to be.
            (Goal::Cancel, &[Serving, Kept], None, &["2"], &["2"]),
            (Goal::Cancel, &[Audited, Serving], None, &["2"], &["2"]),
            // No index serves, so none is deleted.
            (Goal::Cancel, &[Filling], Some("0"), &["1"], &[]),
            (Goal::RollBack, &[Kept, Serving], None, &[], &[]),
            (Goal::Serve, &[], None, &[], &[]),
        ] {
            let preview = config(phases, dropping).preview(Rebuild { goal, ..Rebuild::WITHOUT_WAIT }).unwrap();
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let expected = Preview { released: texts(released), deleted: texts(deleted) };
            assert_eq!(preview, expected, "{goal:?} {phases:?}");
        }
        let refused =
            config(&[Serving, Filling], None).preview(Rebuild { goal: Goal::Finish, ..Rebuild::WITHOUT_WAIT });
        assert!(refused.unwrap_err().contains("the new index does not serve"));
    }
}
