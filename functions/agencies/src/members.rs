//! What is done with the members of an agency: one file for each thing.

pub mod add;
pub mod change;
pub mod list;
pub mod read;
pub mod remove;

use serde::{Deserialize, Serialize};
use table::{Action, Changes, Condition, Failed, Idpid, item};
use utoipa::ToSchema;
use web::{Fault, Problem, problem};

use crate::item::Member;
use crate::keys::{ADDRESS, gate_key};
use crate::names::{AgencyId, Role, Status};
use crate::schema::AGENCIES;
use crate::standing::inactive;

/// The path of a member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPath {
    #[schema(example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    agency_id: String,
    /// `{issuer}:{escaped subject}`.
    #[schema(example = "local:ann")]
    idpid: String,
}

impl MemberPath {
    /// None where the texts name nobody: that is as good as absent.
    pub fn ids(&self) -> (Option<AgencyId>, Option<Idpid>) {
        (self.agency_id.parse().ok(), person(&self.idpid, "").ok())
    }
}

/// A member as it is answered.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Member)]
pub struct MemberView {
    #[schema(value_type = String)]
    pub agency_id: AgencyId,
    /// `{issuer}:{escaped subject}`.
    #[schema(value_type = String)]
    pub idpid: Idpid,
    pub role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub display_name: Option<String>,
    pub created: String,
    pub created_by: String,
    pub modified: String,
    pub modified_by: String,
}

impl From<Member> for MemberView {
    fn from(member: Member) -> Self {
        Self {
            agency_id: member.agency_id,
            idpid: member.idpid,
            role: member.role,
            display_name: member.display_name,
            created: member.created,
            created_by: member.created_by,
            modified: member.modified,
            modified_by: member.modified_by,
        }
    }
}

/// Somebody who can be a member. What is named by `address` is an invitation.
pub fn person(text: &str, pointer: &str) -> Result<Idpid, Fault> {
    let parsed = text.parse::<Idpid>().ok().filter(|person| person.issuer() != ADDRESS);
    parsed.ok_or_else(|| Fault::pointer(pointer, format!("must be {}", Idpid::EXPECTED)))
}

/// Counts so many more members and administrators, unless the agency is being deleted.
pub fn count(agency: &AgencyId, members: i64, admins: i64) -> Action {
    let mut counted = Changes::new();
    for (name, more) in [("members", members), ("admins", admins)] {
        if more != 0 {
            counted = counted.add(name, more);
        }
    }
    Action::update(&AGENCIES, gate_key(agency), counted).when(Condition::Absent("closed"))
}

/// One administrator stays.
pub fn another_admin() -> Condition {
    Condition::Above("admins", item::number(1))
}

/// Why the gate did not let a change pass, which only agencies in these statuses allow, or all do.
pub fn refusal(gate: &Failed, allowed: Option<&[Status]>) -> Problem {
    let Some(item) = &gate.item else { return Problem::not_found() };
    let is = |status: &Status| Condition::Equals("status", item::text(status.as_str())).holds(item);
    if !Condition::Absent("closed").holds(item) {
        Problem::not_found()
    } else if allowed.is_some_and(|allowed| !allowed.iter().any(is)) {
        inactive()
    } else {
        last_admin()
    }
}

pub fn last_admin() -> Problem {
    problem::LAST_ADMIN.because("Make another member an administrator first.")
}
