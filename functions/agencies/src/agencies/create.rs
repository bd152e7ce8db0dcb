//! `POST /agencies`

use serde::Deserialize;
use table::{Action, Idpid};
use utoipa::ToSchema;
use web::visible::{name_fault, optional_name_fault};
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{AgencyView, LIST};
use crate::access::CREATE_AGENCY;
use crate::audit::Audit;
use crate::authorization::PLATFORM_ADMINS;
use crate::item::{Agency, Gate, Member};
use crate::keys::{agency_key, gate_key, member_key};
use crate::members::person;
use crate::names::Role;
use crate::schema::AGENCIES;

/// A new agency. It is pending until a platform administrator activates it.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewAgency {
    /// Not blank.
    #[schema(min_length = 1, max_length = 200, pattern = "\\S")]
    name: String,
    #[serde(default)]
    #[schema(nullable = false)]
    admin: Option<FirstAdmin>,
}

/// The first administrator of an agency.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstAdmin {
    /// `{issuer}:{escaped subject}`.
    #[schema(max_length = 200, pattern = "^[^:~%#/?\\\\]+:[^:%#/?\\\\]+(:[^:%#/?\\\\]+)*$")]
    idpid: String,
    #[serde(default)]
    #[schema(max_length = 200, nullable = false)]
    display_name: Option<String>,
}

impl NewAgency {
    fn admin_person(&self) -> Result<Option<Idpid>, Fault> {
        self.admin.as_ref().map(|admin| person(&admin.idpid, "/admin/idpid")).transpose()
    }
}

impl Rules for NewAgency {
    fn faults(&self) -> Vec<Fault> {
        let admin_name = self.admin.as_ref().and_then(|admin| admin.display_name.as_deref());
        let admin_name = admin_name.and_then(|name| optional_name_fault("/admin/displayName", name));
        name_fault("/name", &self.name).into_iter().chain(self.admin_person().err()).chain(admin_name).collect()
    }
}

pub fn route() -> Route {
    Route::post("createAgency", LIST, PLATFORM_ADMINS, create)
        .summary("Create a pending agency, optionally with its first administrator")
        .patterns(&[&CREATE_AGENCY])
        .problems(&[problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(
            Sample::new(LIST)
                .body(r#"{"name":"North Rescue","admin":{"idpid":"local:ann","displayName":"Ann Field"}}"#),
        )
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewAgency>>,
) -> Result<Created<AgencyView>, Problem> {
    let audit = Audit::now(&cx)?;
    let admin = new.admin_person().map_err(|fault| Problem::faults(vec![fault]))?;
    if let Some(person) = &admin {
        cx.check_issuer(person, "/admin/idpid")?;
    }
    let agency = Agency::new(new.name, &audit);
    let count = u64::from(admin.is_some());
    let gate = Gate { status: agency.status, members: count, admins: count, closed: None };
    let id = agency.agency_id.clone();
    let role = (admin.as_ref() == Some(cx.principal().signed_in()?.idpid())).then_some(Role::Admin);
    let mut actions =
        vec![Action::create(&AGENCIES, agency_key(&id), &agency)?, Action::create(&AGENCIES, gate_key(&id), &gate)?];
    if let Some(person) = admin {
        let name = new.admin.and_then(|admin| admin.display_name);
        let member = Member::new(id.clone(), person.clone(), Role::Admin, name, &audit);
        actions.push(Action::create(&AGENCIES, member_key(&id, &person), &member)?);
    }
    let view = AgencyView { role, members: Some(count), admins: Some(count), ..agency.into() };
    Ok(once.create(&cx, &CREATE_AGENCY, &AGENCIES, actions, format!("/agencies/{id}"), &view).await?)
}
