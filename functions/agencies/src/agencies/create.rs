//! `POST /agencies`: an agency with its gate and, if one is named, its first administrator.

use serde::Deserialize;
use table::{Action, Idpid};
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request, Rules};

use super::AgencyView;
use crate::access::CREATE_AGENCY;
use crate::item::{Agency, Gate, Member};
use crate::keys::{agency_key, gate_key, member_key};
use crate::members::person;
use crate::names::Role;
use crate::schema::AGENCIES;
use crate::standing::stamp;

/// An agency to be made. It is pending until a platform administrator activates it.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewAgency {
    /// Not blank.
    #[schema(min_length = 1, max_length = 200, pattern = "\\S")]
    name: String,
    #[serde(default)]
    #[schema(nullable = false)]
    admin: Option<FirstAdmin>,
}

/// The agency's first administrator.
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
    fn admin_person(&self) -> Option<Result<Idpid, Fault>> {
        self.admin.as_ref().map(|admin| person(&admin.idpid, "/admin/idpid"))
    }
}

impl Rules for NewAgency {
    fn faults(&self) -> Vec<Fault> {
        let blank = blank(&self.name).map(|detail| Fault::pointer("/name", detail));
        blank.into_iter().chain(self.admin_person().and_then(Result::err)).collect()
    }
}

/// What is wrong with a name that has nothing to read in it.
pub fn blank(name: &str) -> Option<&'static str> {
    (!web::visible::is_readable(name) || name.chars().any(char::is_control))
        .then_some("must have something to read in it, and no control characters")
}

pub async fn create(request: Request) -> Result<Answer, Problem> {
    let new: NewAgency = request.json()?;
    let faults = new.faults();
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    let stamp = stamp(&request)?;
    let admin = new.admin_person().transpose().map_err(|fault| Problem::faults(vec![fault]))?;
    if let Some(person) = &admin {
        request.check_issuer(person, "/admin/idpid")?;
    }
    let agency = Agency::new(new.name, &stamp);
    let count = u64::from(admin.is_some());
    let gate = Gate { status: agency.status, members: count, admins: count, closed: None };
    let id = agency.agency_id.clone();
    let mut actions =
        vec![Action::create(&AGENCIES, agency_key(&id), &agency)?, Action::create(&AGENCIES, gate_key(&id), &gate)?];
    if let Some(person) = admin {
        let name = new.admin.and_then(|admin| admin.display_name);
        let member = Member::new(id.clone(), person.clone(), Role::Admin, name, &stamp);
        actions.push(Action::create(&AGENCIES, member_key(&id, &person), &member)?);
    }
    let view = AgencyView { members: Some(count), admins: Some(count), ..agency.into() };
    Ok(request.create_once(&CREATE_AGENCY, &AGENCIES, actions, format!("/agencies/{id}"), &view).await?)
}
