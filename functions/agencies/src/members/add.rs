//! `POST /agencies/{agencyId}/members`

use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::visible::optional_name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::{LIST, MemberView, SAMPLE_LIST, count, person, refusal};
use crate::access::{AUTHORIZATION, CREATE_MEMBER};
use crate::agencies::AgencyPath;
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::Member;
use crate::keys::member_key;
use crate::names::Role;
use crate::schema::AGENCIES;

/// A new member.
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
        let name = self.display_name.as_deref().and_then(|name| optional_name_fault("/displayName", name));
        person(&self.idpid, "/idpid").err().into_iter().chain(name).collect()
    }
}

pub fn route() -> Route {
    Route::post("addMember", LIST, SIGNED_IN, add)
        .summary("Add a member")
        .patterns(&[&AUTHORIZATION, &CREATE_MEMBER])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::EXISTS,
            AGENCY_INACTIVE,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE_LIST).body(r#"{"idpid":"local:bob","displayName":"Bob Hill"}"#))
}

async fn add(
    cx: Context,
    Path(path): Path<AgencyPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewMember>>,
) -> Result<Created<MemberView>, Problem> {
    let agency = path.agency_id;
    let access = AgencyAccess::load(&cx, &agency).await?;
    access.require_admin()?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_MEMBER, &AGENCIES).await? {
        return Ok(earlier);
    }
    access.require_active()?;
    let person = person(&new.idpid, "/idpid").map_err(|fault| Problem::faults(vec![fault]))?;
    cx.check_issuer(&person, "/idpid")?;
    let member = Member::new(agency.clone(), person.clone(), new.role, new.display_name, &Audit::now(&cx)?);
    let gate = count(&agency, 1, new.role.admins()).when_all(access.active_condition());
    let actions = vec![gate, Action::create(&AGENCIES, member_key(&agency, &person), &member)?];
    let location = format!("/agencies/{agency}/members/{person}");
    let created = once.create(&cx, &CREATE_MEMBER, &AGENCIES, actions, location, &MemberView::from(member)).await;
    created.map_err(|error| match (error.failed(0), error.failed(1)) {
        (Some(gate), _) => refusal(gate, access.required_statuses()),
        (None, Some(_)) => Problem::exists("This person is already a member."),
        (None, None) => error.into(),
    })
}
