//! Operations on the members of an agency, one file each.

pub mod add;
pub mod get;
pub mod list;
pub mod remove;
pub mod update;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use table::{Action, Changes, Condition, Failed, Idpid, item};
use utoipa::ToSchema;
use web::{Context, Fault, Problem, problem};

use crate::access::{COUNTS, MEMBERS};
use crate::authorization::inactive;
use crate::item::{Gate, Member};
use crate::keys::{ADDRESS, MEMBER_PREFIX, gate_key, partition};
use crate::names::{AgencyId, MemberStatus, Role, Status};
use crate::schema::AGENCIES;

const LIST: &str = "/agencies/{agencyId}/members";
const ONE: &str = "/agencies/{agencyId}/members/{idpid}";

/// The members and the member of the samples.
const SAMPLE_LIST: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members";
const SAMPLE: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members/local:bob";

/// The path of a member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPath {
    #[schema(value_type = String, example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    agency_id: AgencyId,
    /// `{issuer}:{escaped subject}`.
    #[serde(deserialize_with = "person_in_path")]
    #[schema(value_type = String, example = "local:ann")]
    idpid: Idpid,
}

/// A member in responses.
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
    pub status: MemberStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
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
            status: member.status,
            display_name: member.display_name,
            created: member.created,
            created_by: member.created_by,
            modified: member.modified,
            modified_by: member.modified_by,
        }
    }
}

/// A person who can be a member. The issuer `address` stands for invitations.
pub fn person(text: &str, pointer: &str) -> Result<Idpid, Fault> {
    let parsed = text.parse::<Idpid>().ok().filter(|person| person.issuer() != ADDRESS);
    parsed.ok_or_else(|| Fault::pointer(pointer, format!("must be {}", Idpid::EXPECTED)))
}

/// [`person`] for a path.
pub fn person_in_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Idpid, D::Error> {
    person(&String::deserialize(deserializer)?, "").map_err(|fault| D::Error::custom(fault.detail))
}

/// Adds to the counts of members and active administrators. The condition fails while the agency is being deleted.
pub fn count(agency: &AgencyId, members: i64, admins: i64) -> Action {
    let mut counted = Changes::new();
    for (name, more) in [("members", members), ("admins", admins)] {
        if more != 0 {
            counted = counted.add(name, more);
        }
    }
    Action::update(&AGENCIES, gate_key(agency), counted).when(Condition::Absent("closed"))
}

/// Returns the action that checks that the agency is not being deleted.
pub fn check_gate(agency: &AgencyId) -> Action {
    Action::check(&AGENCIES, gate_key(agency)).when(Condition::Absent("closed"))
}

/// The condition that the gate counts another active administrator.
fn another_is_counted() -> Condition {
    Condition::Above("admins", item::number(1))
}

/// Members that are read at once.
const PAGE: u32 = 100;

/// The action that checks that another active administrator stays one. 409 if no other one can sign in: those whose
/// issuers were removed from the configuration do not count. 404 if the agency is being deleted, whose members are
/// removed first.
async fn other_admin_stays(cx: &Context, agency: &AgencyId, person: &Idpid) -> Result<Option<Action>, Problem> {
    let gate = cx.access().table(&COUNTS, &AGENCIES).get_consistent(gate_key(agency)).await?;
    let gate: Gate = gate.ok_or_else(Problem::not_found)?.read()?;
    if gate.closed.is_some() {
        return Err(Problem::not_found());
    }
    let refused = || last_admin(gate.status == Status::Active);
    // The transaction refuses or, if the person was changed meanwhile, is attempted again. An agency may have tens of
    // thousands of members, which are not read in vain.
    if gate.admins <= 1 {
        return Ok(None);
    }
    let members = cx.access().table(&MEMBERS, &AGENCIES).query(partition(agency));
    let members = members.begins_with(MEMBER_PREFIX).consistent();
    let mut after = None;
    loop {
        let page = members.clone().after(after).page(PAGE).await?;
        for stored in page.items {
            let other: Member = stored.read()?;
            if other.admins() > 0 && other.idpid != *person && cx.can_sign_in(&other.idpid) {
                let check = Action::check(&AGENCIES, stored.key);
                let is_admin = Condition::Equals("role", item::text(Role::Admin.as_str()));
                return Ok(Some(check.when(is_admin).when(Condition::Absent("status"))));
            }
        }
        after = page.next;
        if after.is_none() {
            return Err(refused());
        }
    }
}

/// The problem of a failed condition on the gate. `required` are the statuses in which the change is allowed; None means
/// all.
pub fn refusal(gate: &Failed, required: Option<&[Status]>) -> Problem {
    let Some(item) = &gate.item else { return Problem::not_found() };
    let is = |status: &Status| Condition::Equals("status", item::text(status.as_str())).holds(item);
    if !Condition::Absent("closed").holds(item) {
        Problem::not_found()
    } else if required.is_some_and(|required| !required.iter().any(is)) {
        inactive()
    } else {
        last_admin(is(&Status::Active))
    }
}

/// Only platform administrators change roles in an agency that is not active.
fn last_admin(is_active: bool) -> Problem {
    problem::LAST_ADMIN.because(if is_active {
        "Make another active member an administrator first."
    } else {
        "The agency is not active, so only a platform administrator can make another member an administrator."
    })
}
