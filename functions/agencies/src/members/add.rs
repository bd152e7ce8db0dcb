//! `POST …/members`.

use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request, Rules};

use super::{MemberView, count, person, refusal};
use crate::access::CREATE_MEMBER;
use crate::agencies::AgencyPath;
use crate::item::Member;
use crate::keys::member_key;
use crate::names::Role;
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp};

/// Somebody to be a member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    /// `{issuer}:{escaped subject}`.
    #[schema(max_length = 200, pattern = "^[^:~%#/?\\\\]+:[^:%#/?\\\\]+(:[^:%#/?\\\\]+)*$")]
    idpid: String,
    #[serde(default)]
    role: Role,
    #[serde(default)]
    #[schema(max_length = 200, nullable = false)]
    display_name: Option<String>,
}

impl Rules for NewMember {
    fn faults(&self) -> Vec<Fault> {
        person(&self.idpid, "/idpid").err().into_iter().collect()
    }
}

pub async fn add(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let new: NewMember = request.json()?;
    let standing = Standing::of(&request, &agency).await?;
    standing.change()?;
    if let Some(answer) = request.earlier(&CREATE_MEMBER, &AGENCIES).await? {
        return Ok(answer);
    }
    let person = person(&new.idpid, "/idpid").map_err(|fault| Problem::faults(vec![fault]))?;
    request.check_issuer(&person, "/idpid")?;
    let member = Member::new(agency.clone(), person.clone(), new.role, new.display_name, &stamp(&request)?);
    let mut gate = count(&agency, 1, new.role.admins());
    if let Some(active) = standing.while_active() {
        gate = gate.when(active);
    }
    let actions = vec![gate, Action::create(&AGENCIES, member_key(&agency, &person), &member)?];
    let location = format!("/agencies/{agency}/members/{person}");
    let made = MemberView::from(member);
    request.create_once(&CREATE_MEMBER, &AGENCIES, actions, location, &made).await.map_err(|error| {
        match (error.failed(0), error.failed(1)) {
            (Some(gate), _) => refusal(gate, standing.allowed()),
            (None, Some(_)) => Problem::exists("This person is a member already."),
            (None, None) => error.into(),
        }
    })
}
