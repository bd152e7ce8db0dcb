//! The count of a kind of reactions, in place on its message.

use serde::Serialize;
use table::{Action, Changes, Condition, item};
use web::Problem;

use super::MAX_KINDS;
use super::kind::ReactionKind;
use crate::keys::message_key;
use crate::messages::{LastReaction, Membership, table_of};
use crate::names::MessageId;

/// How a reaction changes the count of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first reaction of a kind.
    Insert,
    Increment,
    Decrement,
    /// The end of the only reaction of a kind.
    Remove,
}

const REACTIONS: &str = "Reactions";

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Last {
    last_reaction: LastReaction,
}

/// Returns the update of the message, under the condition that the change fits its present count. Increments and
/// decrements of concurrent requests do not exclude each other.
pub fn count(member: &Membership, message: MessageId, kind: &ReactionKind, change: Change) -> Result<Action, Problem> {
    let (one, kind) = (item::number(1), kind.to_string());
    let on = matches!(change, Change::Insert | Change::Increment);
    let last = Last { last_reaction: LastReaction { by: member.caller.id, kind: kind.clone(), on } };
    let changes = item::to_item(&last)?.into_iter();
    let changes = changes.fold(Changes::new(), |changes, (name, value)| changes.set(&name, value));
    let changes = match change {
        Change::Insert | Change::Increment => changes.add_entry(REACTIONS, &kind, 1),
        Change::Decrement => changes.add_entry(REACTIONS, &kind, -1),
        Change::Remove => changes.remove_entry(REACTIONS, &kind),
    };
    let update = Action::update(table_of(member.chat), message_key(member.chat, message), changes)
        .when(Condition::Absent("DeletedAt"));
    Ok(match change {
        Change::Insert => {
            update.when(Condition::EntryAbsent(REACTIONS, kind)).when(Condition::FewerEntries(REACTIONS, MAX_KINDS))
        }
        Change::Increment => update.when(Condition::EntryAbove(REACTIONS, kind, item::number(0))),
        Change::Decrement => update.when(Condition::EntryAbove(REACTIONS, kind, one)),
        Change::Remove => update.when(Condition::EntryAtMost(REACTIONS, kind, one)),
    })
}
