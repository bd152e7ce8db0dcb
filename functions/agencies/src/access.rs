//! The access patterns of agencies, with the numbers by which other places speak of them.

use table::access::{AccessPattern, Call, TableAction};

use crate::schema::{BY_PERSON, BY_TYPE};

const TABLE: &str = "agencies";

const fn on(action: TableAction) -> Call {
    Call::Table { table: TABLE, action }
}

const fn on_index(index: &'static str) -> Call {
    Call::Index { table: TABLE, index }
}

const fn pattern(name: &'static str, calls: &'static [Call]) -> AccessPattern {
    AccessPattern { name, calls }
}

/// 1: an agency and the caller's own membership.
pub const STANDING: AccessPattern = pattern("standing", &[on(TableAction::BatchGetItem)]);

/// 2: all agencies by creation.
pub const BY_CREATION: AccessPattern = pattern("byCreation", &[on_index(BY_TYPE)]);

/// 3: the members of an agency.
pub const MEMBERS: AccessPattern = pattern("members", &[on(TableAction::Query)]);

/// 4: the memberships of a person.
pub const MEMBERSHIPS: AccessPattern = pattern("memberships", &[on_index(BY_PERSON)]);

/// 5: the agencies of a person with their names.
pub const PERSON_AGENCIES: AccessPattern =
    pattern("personAgencies", &[on_index(BY_PERSON), on(TableAction::BatchGetItem)]);

/// 6: one member.
pub const MEMBER: AccessPattern = pattern("member", &[on(TableAction::GetItem)]);

/// 6: one invitation.
pub const INVITATION: AccessPattern = pattern("invitation", &[on(TableAction::GetItem)]);

/// 6: the counts of an agency's members.
pub const COUNTS: AccessPattern = pattern("counts", &[on(TableAction::GetItem)]);

/// 7: the invitations of an agency.
pub const INVITATIONS: AccessPattern = pattern("invitations", &[on(TableAction::Query)]);

/// 8: the invitations to an address, with the names of the agencies.
pub const ADDRESS_INVITATIONS: AccessPattern =
    pattern("addressInvitations", &[on_index(BY_PERSON), on(TableAction::BatchGetItem)]);

/// 9: the deletions that have not come to their end.
pub const UNFINISHED: AccessPattern = pattern("unfinished", &[on_index(BY_TYPE)]);

/// 10: what a deletion still has, taken away until nothing is left; the agency and its gate last.
pub const DELETION: AccessPattern =
    pattern("deletion", &[on(TableAction::Query), on(TableAction::BatchWriteItem), on(TableAction::DeleteItem)]);

/// 11: an agency with its gate and its first administrator.
pub const CREATE_AGENCY: AccessPattern = pattern("createAgency", &[on(TableAction::PutItem)]);

/// 12: an agency's name.
pub const RENAME: AccessPattern = pattern("rename", &[on(TableAction::UpdateItem)]);

/// 12: an agency's status, on the agency and on its gate.
pub const SET_STATUS: AccessPattern = pattern("setStatus", &[on(TableAction::UpdateItem)]);

/// 13: a member made, and counted by the gate.
pub const CREATE_MEMBER: AccessPattern =
    pattern("createMember", &[on(TableAction::UpdateItem), on(TableAction::PutItem), on(TableAction::GetItem)]);

/// 13: a member's name or role; a role is counted by the gate.
pub const CHANGE_MEMBER: AccessPattern = pattern("changeMember", &[on(TableAction::UpdateItem)]);

/// 13: a member deleted, and counted by the gate; the removal is noted.
pub const DELETE_MEMBER: AccessPattern =
    pattern("deleteMember", &[on(TableAction::UpdateItem), on(TableAction::DeleteItem)]);

/// 14: a deletion marked: the agency leaves the list, its gate closes.
pub const MARK_DELETION: AccessPattern = pattern("markDeletion", &[on(TableAction::UpdateItem)]);

/// Whose an address is, as far as it is known, and whether that person is a member.
pub const KNOWN_ADDRESS: AccessPattern = pattern("knownAddress", &[on(TableAction::GetItem)]);

/// An invitation made, or made anew where it has lapsed, while the gate is open.
pub const INVITE: AccessPattern = pattern(
    "invite",
    &[
        on(TableAction::ConditionCheckItem),
        on(TableAction::PutItem),
        on(TableAction::UpdateItem),
        on(TableAction::GetItem),
    ],
);

/// A pending invitation revoked or declined.
pub const SETTLE: AccessPattern = pattern("settle", &[on(TableAction::UpdateItem)]);

/// What decides on an acceptance: the agency, the caller's membership and last removal, the invitation.
pub const INVITED: AccessPattern = pattern("invited", &[on(TableAction::BatchGetItem)]);

/// An invitation accepted: its member made, and counted by the gate; the member was not removed since. Whose the address is
/// is known from then on.
pub const ACCEPT: AccessPattern =
    pattern("accept", &[on(TableAction::UpdateItem), on(TableAction::PutItem), on(TableAction::ConditionCheckItem)]);

/// The agencies or members that a search has found, as they are today.
pub const FOUND: AccessPattern = pattern("found", &[on(TableAction::BatchGetItem)]);

/// A search.
pub const SEARCH: AccessPattern = pattern("search", &[Call::Search { alias: "agencies" }]);
