//! `POST /tracker/tenants`

use serde::Deserialize;
use table::{Action, Idpid};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{LIST, href};
use crate::access::CREATE_TENANT;
use crate::audit::Audit;
use crate::authorization::{PLATFORM_ADMINS, me};
use crate::items::{Directory, Member, Role, Tenant};
use crate::keys::{DirectoryKey, MemberKey, TenantKey};
use crate::listed;
use crate::names::TenantId;
use crate::schema::TRACKER;
use crate::views::TenantView;

/// A new tenant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTenant {
    #[schema(min_length = 1, max_length = 200, pattern = "\\S")]
    name: String,
    /// The `{idpid}` of its first administrator; the caller if absent.
    #[serde(default)]
    #[schema(value_type = Option<String>, nullable = false, min_length = 3, max_length = 200, pattern = "^[^:~%#/?\\\\]+:[^:%#/?\\\\]+(:[^:%#/?\\\\]+)*$")]
    admin: Option<Idpid>,
}

impl Rules for NewTenant {
    fn faults(&self) -> Vec<Fault> {
        name_fault("/name", &self.name).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::post("createTenant", LIST, PLATFORM_ADMINS, create)
        .summary("Create a tenant with its first administrator")
        .patterns(&[&CREATE_TENANT])
        .problems(&[problem::CONFLICT])
        .sample(Sample::new(LIST).body(r#"{"name":"ACME Engineering"}"#))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewTenant>>,
) -> Result<Created<TenantView>, Problem> {
    if let Some(earlier) = once.earlier(&cx, &CREATE_TENANT, &TRACKER).await? {
        return Ok(earlier);
    }
    let (id, audit) = (TenantId::new(), Audit::now(&cx)?);
    let admin = match new.admin {
        Some(admin) => {
            cx.check_issuer(&admin, "/admin")?;
            admin
        }
        None => me(&cx)?,
    };
    let tenant = Tenant { name: new.name, projects: 0, admins: 1, deleting: None, audit: audit.clone() };
    let member = Member { data: audit.created_at.clone(), role: Role::Admin, name: String::new(), audit };
    let actions = vec![
        Action::create(&TRACKER, TenantKey { tenant: id }, &tenant)?,
        Action::create(&TRACKER, DirectoryKey { tenant: id }, &Directory { data: listed::entry(&tenant.name) })?,
        Action::create(&TRACKER, MemberKey { tenant: id, user: admin }, &member)?,
    ];
    Ok(once.create(&cx, &CREATE_TENANT, &TRACKER, actions, href(id), &TenantView::new(id, &tenant)).await?)
}
