//! What each access pattern consumes, as a test measures it over HTTP: agencies and members have 0.34 KB, invitations
//! 0.44 KB, gates 0.2 KB, removals 0.2 KB.

use table::AccessPattern;
use table::access::Cost;

use crate::access;

/// Use by use, the patterns of each by name.
pub const COSTS: &[Cost] = &[
    cost("create an agency with its first administrator", &access::CREATE_AGENCY, 0.0, 9.0),
    cost("an agency, to a member", &access::AUTHORIZATION, 2.0, 0.0),
    cost("an agency, to an administrator", &access::COUNTS, 0.5, 0.0),
    cost("an agency, to an administrator", &access::AUTHORIZATION, 2.0, 0.0),
    cost("rename", &access::UPDATE_AGENCY, 0.0, 2.0),
    cost("rename", &access::AUTHORIZATION, 2.0, 0.0),
    cost("set the status", &access::SET_STATUS, 0.0, 5.0),
    cost("set the status", &access::AUTHORIZATION, 2.0, 0.0),
    cost("add a member", &access::CREATE_MEMBER, 0.0, 6.0),
    cost("add a member", &access::AUTHORIZATION, 2.0, 0.0),
    cost("one member", &access::MEMBER, 0.5, 0.0),
    cost("one member", &access::AUTHORIZATION, 2.0, 0.0),
    cost("change a member's name", &access::UPDATE_MEMBER, 0.0, 3.0),
    cost("change a member's name", &access::MEMBER, 1.0, 0.0),
    cost("change a member's name", &access::AUTHORIZATION, 2.0, 0.0),
    cost("change a member's role", &access::UPDATE_MEMBER, 0.0, 6.0),
    cost("change a member's role", &access::MEMBER, 1.0, 0.0),
    cost("change a member's role", &access::AUTHORIZATION, 2.0, 0.0),
    cost("remove a member", &access::DELETE_MEMBER, 0.0, 8.0),
    cost("remove a member", &access::MEMBER, 1.0, 0.0),
    cost("remove a member", &access::AUTHORIZATION, 2.0, 0.0),
    cost("invite", &access::INVITATION, 1.0, 0.0),
    cost("invite", &access::CREATE_INVITATION, 0.0, 5.0),
    cost("invite", &access::KNOWN_ADDRESS, 1.0, 0.0),
    cost("invite", &access::AUTHORIZATION, 2.0, 0.0),
    cost("one invitation", &access::INVITATION, 0.5, 0.0),
    cost("one invitation", &access::AUTHORIZATION, 2.0, 0.0),
    cost("revoke an invitation", &access::INVITATION, 1.0, 0.0),
    cost("revoke an invitation", &access::SETTLE_INVITATION, 0.0, 2.0),
    cost("revoke an invitation", &access::AUTHORIZATION, 2.0, 0.0),
    cost("invite again", &access::INVITATION, 1.0, 0.0),
    cost("invite again", &access::CREATE_INVITATION, 0.0, 5.0),
    cost("invite again", &access::KNOWN_ADDRESS, 1.0, 0.0),
    cost("invite again", &access::AUTHORIZATION, 2.0, 0.0),
    cost("decline an invitation", &access::LOAD_INVITATION, 4.0, 0.0),
    cost("decline an invitation", &access::SETTLE_INVITATION, 0.0, 2.0),
    cost("invitations to an address", &access::ADDRESS_INVITATIONS, 1.5, 0.0),
    cost("accept an invitation", &access::ACCEPT_INVITATION, 0.0, 13.0),
    cost("accept an invitation", &access::LOAD_INVITATION, 4.0, 0.0),
    cost("25 agencies by creation", &access::BY_CREATION, 1.0, 0.0),
    cost("25 members", &access::MEMBERS, 1.0, 0.0),
    cost("25 members", &access::AUTHORIZATION, 2.0, 0.0),
    cost("25 invitations", &access::INVITATIONS, 1.5, 0.0),
    cost("25 invitations", &access::AUTHORIZATION, 2.0, 0.0),
    cost("25 agencies of a person", &access::PERSON_AGENCIES, 14.0, 0.0),
    cost("search, among 26 agencies", &access::SEARCH_HITS, 12.5, 0.0),
    cost("search, among 26 agencies", &access::MEMBERSHIPS, 1.0, 0.0),
    cost("search among the members of an agency", &access::SEARCH_HITS, 12.5, 0.0),
    cost("search among the members of an agency", &access::AUTHORIZATION, 2.0, 0.0),
    cost("begin to delete an agency with 25 members", &access::DELETION, 2.0, 0.0),
    cost("begin to delete an agency with 25 members", &access::MARK_DELETION, 0.0, 6.0),
    cost("begin to delete an agency with 25 members", &access::AUTHORIZATION, 2.0, 0.0),
    cost("go on with its deletion", &access::DELETION, 3.0, 80.0),
    cost("go on with its deletion", &access::UNFINISHED_DELETIONS, 0.5, 0.0),
    cost("look for deletions, none there", &access::UNFINISHED_DELETIONS, 0.5, 0.0),
];

const fn cost(of: &'static str, pattern: &'static AccessPattern, read_units: f64, write_units: f64) -> Cost {
    Cost { of, pattern, read_units, write_units }
}
