//! The sets of moderators of communities and group chats.

use std::collections::BTreeSet;

use serde::Serialize;
use table::{Changes, Condition, Error, item};
use web::{Kind, Problem};

use crate::names::UserId;

/// The most moderators of a community or of a group chat, without the founder or the owner.
const MAX_MODERATORS: usize = 20;

pub const TOO_MANY_MODERATORS: Kind = Kind::new(409, "too-many-moderators", "Too many moderators");

/// The attribute that communities and group chats have alike.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    #[serde(with = "serde_dynamo::string_set", skip_serializing_if = "BTreeSet::is_empty")]
    moderators: BTreeSet<UserId>,
}

impl Attribute {
    fn of(moderators: &BTreeSet<UserId>) -> Self {
        Self { moderators: moderators.clone() }
    }
}

/// Returns the condition that the moderators are those that were read. It does not fail for a member who joins or leaves
/// at the same time, as the condition on the revision would.
pub fn unchanged(moderators: &BTreeSet<UserId>) -> Result<Condition, Error> {
    let mut item = item::to_item(&Attribute::of(moderators))?;
    Ok(match item.remove("Moderators") {
        Some(read) => Condition::Equals("Moderators", read),
        None => Condition::Absent("Moderators"),
    })
}

/// Returns the changes that remove a user from the moderators. They are empty for a user who is none.
pub fn without(moderators: &BTreeSet<UserId>, user: UserId) -> Result<Changes, Error> {
    let mut rest = moderators.clone();
    rest.remove(&user);
    Changes::between(&Attribute::of(moderators), &Attribute::of(&rest))
}

/// Returns the changes that add a user to the moderators; 409 above the limit.
pub fn with(moderators: &BTreeSet<UserId>, user: UserId) -> Result<Changes, Problem> {
    let mut all = moderators.clone();
    all.insert(user);
    if all.len() > MAX_MODERATORS {
        return Err(TOO_MANY_MODERATORS.because(format!("There are {MAX_MODERATORS} moderators. Remove one first.")));
    }
    Ok(Changes::between(&Attribute::of(moderators), &Attribute::of(&all))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_moderator_is_removed_with_the_attribute() {
        let user = UserId::at(1);
        let one = BTreeSet::from([user]);
        assert_eq!(without(&one, user).unwrap(), Changes::new().remove("Moderators"));
        assert_eq!(without(&one, UserId::at(1)).unwrap(), Changes::new());
        assert_eq!(unchanged(&BTreeSet::new()).unwrap(), Condition::Absent("Moderators"));
    }

    #[test]
    fn twenty_first_moderator_is_refused() {
        let most: BTreeSet<UserId> = (0..20).map(|_| UserId::at(1)).collect();
        let refused = with(&most, UserId::at(1)).unwrap_err();
        assert_eq!(refused.kind(), TOO_MANY_MODERATORS);
        assert_eq!(with(&most, *most.first().unwrap()).unwrap(), Changes::new());
    }
}
