//! The rehearsal of agencies.

use super::Step::{self, Names, Others, Request, Sample, Until};
use crate::records::OBJECT;

pub const STEPS: &[Step] = &[
    Names("createAgency", "/agencyId", OBJECT),
    Sample("activateAgency"),
    Sample("addMember"),
    Sample("createInvitation"),
    Others,
    Sample("updateMember"),
    Sample("removeMember"),
    Sample("declineInvitation"),
    Request("POST", INVITATIONS, INVITATION),
    Sample("revokeInvitation"),
    Request("POST", INVITATIONS, INVITATION),
    Sample("acceptInvitation"),
    Sample("listMyAgencies"),
    Sample("listPersonAgencies"),
    Until("search"),
    Sample("updateAgency"),
    Sample("deactivateAgency"),
    Sample("deleteAgency"),
    Request("POST", "/agencies", r#"{"name":"Coast Watch"}"#),
];

const INVITATIONS: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/invitations";

const INVITATION: &str = r#"{"address":"dee@example.org"}"#;
