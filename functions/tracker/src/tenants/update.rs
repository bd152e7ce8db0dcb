//! `PATCH /tracker/tenants/{tenantId}`

use serde::Deserialize;
use table::{Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{ONE, SAMPLE, TenantPath, load, refusal};
use crate::access::{MEMBERSHIP, TENANT, UPDATE_TENANT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::Tenant;
use crate::keys::{DirectoryKey, TenantKey};
use crate::listed;
use crate::schema::{DATA, TRACKER};
use crate::views::TenantView;

/// The fields of a tenant that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantPatch {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200, pattern = "\\S")]
    name: Option<String>,
}

impl Rules for TenantPatch {
    fn faults(&self) -> Vec<Fault> {
        self.name.as_deref().and_then(|name| name_fault("/name", name)).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateTenant", ONE, SIGNED_IN, update)
        .summary("Update a tenant's name")
        .patterns(&[&MEMBERSHIP, &TENANT, &UPDATE_TENANT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"ACME"}"#))
}

async fn update(
    cx: Context,
    Path(TenantPath { tenant_id: tenant }): Path<TenantPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<TenantPatch>>,
) -> Result<Tagged<TenantView>, Problem> {
    TenantAccess::load_also_platform(&cx, tenant).await?.require_admin()?;
    let (stored, before) = load(&cx, tenant).await?;
    tag.check(stored.rev)?;
    let Some(name) = patch.name.filter(|name| *name != before.name) else {
        return Ok(Tagged::new(&TenantView::new(tenant, &before), stored.rev));
    };
    let after = Tenant { name, audit: before.audit.updated(&cx)?, ..before.clone() };
    // The counts of projects and administrators are updated independently, so another revision alone is no conflict.
    let update = Action::update(&TRACKER, TenantKey { tenant }, Changes::between(&before, &after)?)
        .when(Condition::Absent("Deleting"));
    let update = tag.guard(update, &stored);
    let entry = Changes::new().set(DATA, item::text(listed::entry(&after.name)));
    let directory = Action::update(&TRACKER, DirectoryKey { tenant }, entry);
    let rev = cx.access().transact(&UPDATE_TENANT, &[update, directory]).await.map_err(refusal)?;
    Ok(Tagged::new(&TenantView::new(tenant, &after), rev))
}
