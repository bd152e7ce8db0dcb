//! The address of a record: its ids in the runs of its post, and why it is not there any more.

use serde::{Deserialize, Serialize};
use table::{Changes, Error, Stored, item};

use crate::names::{PostId, RecordId, RunNumber, UserId};
use crate::record::{OPEN, Record};

/// The address of a record, as the table stores it under the permanent id. A record that was published once only and is
/// still there has none.
#[derive(Clone, Debug)]
pub struct Address {
    pub post: PostId,
    /// Whether an editor has taken the record down.
    is_taken_down: bool,
    /// The run that does not have the record.
    gone_in: Option<RunNumber>,
    /// The first day on which the public could have seen the record, or [`OPEN`], if it is gone and the day is known.
    /// Earlier versions did not write it.
    pub visible_from: Option<u32>,
    /// With one attribute for each later run that has the record: its id in that run.
    stored: Stored,
}

/// The attributes with the same name in every address.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attributes {
    post_id: PostId,
    taken_down: Option<TakenDown>,
    gone_in: Option<RunNumber>,
    visible_from: Option<u32>,
}

/// Who has taken a record down, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TakenDown {
    pub by: UserId,
    pub at: String,
}

/// Where the record of a permanent id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Under the permanent id itself.
    Own,
    /// Under this id.
    At(RecordId),
    Withdrawn(Withdrawal),
    /// No run that readers have seen has it.
    Unknown,
}

/// Why a record is not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    TakenDown,
    NotInFile,
}

impl Withdrawal {
    /// Returns the sentence that readers see.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::TakenDown => "An editor has taken the record down.",
            Self::NotInFile => "A later file of its post does not have the record any more.",
        }
    }
}

impl Address {
    pub fn read(stored: Stored) -> Result<Self, Error> {
        let Attributes { post_id, taken_down, gone_in, visible_from } = stored.read()?;
        Ok(Self { post: post_id, is_taken_down: taken_down.is_some(), gone_in, visible_from, stored })
    }

    /// Returns the id of the record in a later run than its first.
    fn in_run(&self, run: RunNumber) -> Option<RecordId> {
        self.stored.item.get(&run.attribute())?.as_s().ok()?.parse().ok()
    }
}

/// Returns where the record is in the published run, given the run that has written the record under the permanent id,
/// if there is one, and the address.
pub fn place(published: RunNumber, first: Option<RunNumber>, address: Option<&Address>) -> Place {
    if address.is_some_and(|address| address.is_taken_down) {
        return Place::Withdrawn(Withdrawal::TakenDown);
    }
    if first == Some(published) {
        return Place::Own;
    }
    if let Some(id) = address.and_then(|address| address.in_run(published)) {
        return Place::At(id);
    }
    let is_gone = address.is_some_and(|address| address.gone_in.is_some_and(|run| run <= published))
        || first.is_some_and(|first| first < published);
    if is_gone { Place::Withdrawn(Withdrawal::NotInFile) } else { Place::Unknown }
}

/// Makes the changes of an address say that this run does not have the record. The public learns it from the first day on
/// which it could have seen the record, or never if the day is not known.
pub fn gone(changes: Changes, post: PostId, run: RunNumber, visible_from: Option<u32>) -> Changes {
    let changes = changes.set("postId", item::text(post.to_string())).set("goneIn", item::number(run.0));
    match visible_from {
        Some(day) => changes.set("visibleFrom", item::number(day)),
        None => changes.remove("visibleFrom"),
    }
}

/// Returns the changes that make an address say that the record was taken down from its run. The attribute stays when a
/// later run has the row again, so the permanent id answers 410 for as long as the post exists.
pub fn taken_down(post: PostId, record: &Record, by: TakenDown) -> Result<Changes, Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Taken {
        #[serde(skip_serializing_if = "Option::is_none")]
        taken_down: Option<TakenDown>,
    }
    let changes = Changes::between(&Taken { taken_down: None }, &Taken { taken_down: Some(by) })?;
    let visible_from = Some(record.visible_from.unwrap_or(OPEN));
    Ok(gone(changes, post, record.run, visible_from).remove(&record.run.attribute()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use table::Key;
    use table::item::to_item;

    use super::*;

    fn address(attributes: Value) -> Address {
        let mut attributes = attributes;
        attributes["postId"] = "1000000003".into();
        let key = Key::new("1000000005", "record_address");
        Address::read(Stored { key, rev: None, item: to_item(&attributes).unwrap() }).unwrap()
    }

    fn check(published: u32, first: Option<u32>, attributes: Option<Value>, expected: Place) {
        let address = attributes.clone().map(address);
        let found = place(RunNumber(published), first.map(RunNumber), address.as_ref());
        assert_eq!(found, expected, "run {published}, first {first:?}, {attributes:?}");
    }

    #[test]
    fn record_of_its_first_run_needs_no_address() {
        check(1, Some(1), None, Place::Own);
        check(2, Some(2), None, Place::Own);
    }

    #[test]
    fn record_of_a_run_that_is_not_published_yet_is_unknown() {
        check(1, Some(2), None, Place::Unknown);
        check(1, None, Some(json!({ "run_2": "1000000009" })), Place::Unknown);
    }

    #[test]
    fn record_of_a_later_run_is_under_the_id_of_its_address() {
        let there = Place::At("1000000009".parse().unwrap());
        check(2, Some(1), Some(json!({ "run_2": "1000000009", "run_3": "1000000010" })), there);
        check(2, None, Some(json!({ "run_2": "1000000009" })), there);
        check(12, None, Some(json!({ "run_1": "1000000008", "run_12": "1000000009" })), there);
    }

    #[test]
    fn record_that_the_published_file_lacks_is_withdrawn() {
        let gone = Place::Withdrawn(Withdrawal::NotInFile);
        check(2, None, Some(json!({ "goneIn": 2 })), gone);
        check(3, None, Some(json!({ "goneIn": 2, "run_1": "1000000009" })), gone);
        // The old record is deleted before its address says so.
        check(2, Some(1), None, gone);
        // The coming run lacks it, the published one does not.
        check(1, Some(1), Some(json!({ "goneIn": 2 })), Place::Own);
    }

    #[test]
    fn record_that_was_taken_down_stays_withdrawn_in_later_runs() {
        let taken = Place::Withdrawn(Withdrawal::TakenDown);
        let by = json!({ "by": "1000000001", "at": "2026-11-25T17:43:00.000000Z" });
        check(1, None, Some(json!({ "goneIn": 1, "takenDown": by })), taken);
        check(2, None, Some(json!({ "takenDown": by, "run_2": "1000000009" })), taken);
    }
}
