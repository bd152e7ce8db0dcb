//! The access patterns of agencies.

use table::access::{AccessPattern, Call, OnTable};

use crate::schema::{BY_PERSON, BY_TYPE};

const TABLE: OnTable = OnTable("agencies");

/// An agency and the caller's membership in it.
pub const AUTHORIZATION: AccessPattern = AccessPattern::new("authorization", &[TABLE.batch_get()]);

/// All agencies by creation.
pub const BY_CREATION: AccessPattern = AccessPattern::new("byCreation", &[TABLE.query_index(BY_TYPE)]);

/// The members of an agency.
pub const MEMBERS: AccessPattern = AccessPattern::new("members", &[TABLE.query()]);

/// The memberships of a person.
pub const MEMBERSHIPS: AccessPattern = AccessPattern::new("memberships", &[TABLE.query_index(BY_PERSON)]);

/// The agencies of a person with their names.
pub const PERSON_AGENCIES: AccessPattern =
    AccessPattern::new("personAgencies", &[TABLE.query_index(BY_PERSON), TABLE.batch_get()]);

/// A member.
pub const MEMBER: AccessPattern = AccessPattern::new("member", &[TABLE.get()]);

/// An invitation.
pub const INVITATION: AccessPattern = AccessPattern::new("invitation", &[TABLE.get()]);

/// The counts of an agency's members.
pub const COUNTS: AccessPattern = AccessPattern::new("counts", &[TABLE.get()]);

/// The invitations of an agency.
pub const INVITATIONS: AccessPattern = AccessPattern::new("invitations", &[TABLE.query()]);

/// The invitations to an address with the names of the agencies.
pub const ADDRESS_INVITATIONS: AccessPattern =
    AccessPattern::new("addressInvitations", &[TABLE.query_index(BY_PERSON), TABLE.batch_get()]);

/// A job.
pub const JOB: AccessPattern = AccessPattern::new("job", &[TABLE.get()]);

/// The jobs that have not ended, by their due rows.
pub const OPEN_JOBS: AccessPattern = AccessPattern::new("openJobs", &[TABLE.query_index(BY_TYPE), TABLE.batch_get()]);

/// The jobs that are due.
pub const DUE: AccessPattern = AccessPattern::new("due", &[TABLE.query_index(BY_TYPE)]);

/// The lease of a job.
pub const LEASE: AccessPattern = AccessPattern::new("lease", &[TABLE.get(), TABLE.update()]);

/// A step of an agency's deletion with its checkpoint. The last one deletes the agency and its gate.
pub const DELETION: AccessPattern =
    AccessPattern::new("deletion", &[TABLE.get(), TABLE.query(), TABLE.batch_delete(), TABLE.update(), TABLE.delete()]);

/// An agency with its gate and its first administrator.
pub const CREATE_AGENCY: AccessPattern = AccessPattern::new("createAgency", &[TABLE.put()]);

/// An agency's name.
pub const UPDATE_AGENCY: AccessPattern = AccessPattern::new("updateAgency", &[TABLE.update()]);

/// An agency's status, on the agency and on its gate.
pub const SET_STATUS: AccessPattern = AccessPattern::new("setStatus", &[TABLE.update()]);

/// A new member, counted by the gate.
pub const CREATE_MEMBER: AccessPattern =
    AccessPattern::new("createMember", &[TABLE.update(), TABLE.put(), TABLE.get()]);

/// A member's name, role or status, while the gate is open. The gate counts the active administrators, and another one
/// stays.
pub const UPDATE_MEMBER: AccessPattern = AccessPattern::new("updateMember", &[TABLE.update(), TABLE.check()]);

/// The deletion of a member, counted by the gate, and of the member's known address, with the removal. Another active
/// administrator stays.
pub const DELETE_MEMBER: AccessPattern =
    AccessPattern::new("deleteMember", &[TABLE.get(), TABLE.put(), TABLE.update(), TABLE.delete(), TABLE.check()]);

/// The mark of an agency's deletion, which also closes its gate, with its job.
pub const MARK_DELETION: AccessPattern = AccessPattern::new("markDeletion", &[TABLE.put(), TABLE.update()]);

/// The member with an address, as far as it is known.
pub const KNOWN_ADDRESS: AccessPattern = AccessPattern::new("knownAddress", &[TABLE.get()]);

/// A new invitation, or one in the place of an expired one, while the gate is open.
pub const CREATE_INVITATION: AccessPattern =
    AccessPattern::new("createInvitation", &[TABLE.check(), TABLE.put(), TABLE.update(), TABLE.get()]);

/// The end of a pending invitation that is revoked, while the gate is open.
pub const REVOKE_INVITATION: AccessPattern = AccessPattern::new("revokeInvitation", &[TABLE.check(), TABLE.update()]);

/// The end of a pending invitation that is declined.
pub const DECLINE_INVITATION: AccessPattern = AccessPattern::new("declineInvitation", &[TABLE.update()]);

/// The agency, the caller's membership, the last removal and the invitation.
pub const LOAD_INVITATION: AccessPattern = AccessPattern::new("loadInvitation", &[TABLE.batch_get()]);

/// An accepted invitation with its member, counted by the gate and not removed since, and the member's address in place
/// of a former one.
pub const ACCEPT_INVITATION: AccessPattern =
    AccessPattern::new("acceptInvitation", &[TABLE.get(), TABLE.update(), TABLE.put(), TABLE.check(), TABLE.delete()]);

/// The present items of a search's hits.
pub const SEARCH_HITS: AccessPattern = AccessPattern::new("searchHits", &[TABLE.batch_get()]);

/// A search.
pub const SEARCH: AccessPattern = AccessPattern::new("search", &[Call::Search { alias: "agencies" }]);

/// Whether search answers, and how far it is behind.
pub const HEALTH: AccessPattern =
    AccessPattern::new("health", &[OnTable("agencies-mirror").query(), Call::Search { alias: "agencies" }]);
