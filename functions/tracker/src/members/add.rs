//! `POST /tracker/tenants/{tenantId}/members`

use serde::Deserialize;
use table::{Action, Idpid};
use utoipa::ToSchema;
use web::{Context, Created, IdempotencyKey, Json, Path, Problem, Route, Sample, problem};

use super::{LIST, SAMPLE_LIST, admins, count};
use crate::access::{ADD_MEMBER, MEMBERSHIP, TENANT};
use crate::audit::Audit;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Member, Role};
use crate::keys::MemberKey;
use crate::schema::TRACKER;
use crate::tenants::{TenantPath, href};
use crate::views::MemberView;

/// A new member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    #[schema(value_type = String, min_length = 3, max_length = 200, pattern = "^[^:~%#/?\\\\]+:[^:%#/?\\\\]+(:[^:%#/?\\\\]+)*$")]
    idpid: Idpid,
    role: Role,
    #[serde(default)]
    #[schema(max_length = 200)]
    name: String,
}

pub fn route() -> Route {
    Route::post("addMember", LIST, SIGNED_IN, add)
        .summary("Add a member")
        .patterns(&[&MEMBERSHIP, &TENANT, &ADD_MEMBER])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::EXISTS, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_LIST).body(r#"{"idpid":"local:ann","role":"viewer","name":"Ann"}"#))
}

async fn add(
    cx: Context,
    Path(TenantPath { tenant_id: tenant }): Path<TenantPath>,
    once: IdempotencyKey,
    Json(new): Json<NewMember>,
) -> Result<Created<MemberView>, Problem> {
    TenantAccess::load_also_platform(&cx, tenant).await?.require_admin()?;
    if let Some(earlier) = once.earlier(&cx, &ADD_MEMBER, &TRACKER).await? {
        return Ok(earlier);
    }
    let NewMember { idpid, role, name } = new;
    cx.check_issuer(&idpid, "/idpid")?;
    let audit = Audit::now(&cx)?;
    let member = Member { data: audit.created_at.clone(), role, name, audit };
    let key = MemberKey { tenant, user: idpid.clone() };
    let actions = vec![count(tenant, admins(role)), Action::create(&TRACKER, key, &member)?];
    let location = format!("{}/members/{idpid}", href(tenant));
    let view = MemberView::new(idpid, &member);
    let created = once.create(&cx, &ADD_MEMBER, &TRACKER, actions, location, &view).await;
    created.map_err(|error| match (error.failed(0), error.failed(1)) {
        (Some(_), _) => Problem::not_found(),
        (None, Some(_)) => Problem::exists("This person is already a member. Update the membership instead."),
        (None, None) => error.into(),
    })
}
