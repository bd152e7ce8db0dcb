//! Operations on tenants, one file each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
mod search;
pub mod update;

use serde::Deserialize;
use table::{Cause, EntityKey, Error, Stored};
use utoipa::ToSchema;
use web::{Context, Problem};

use crate::access::TENANT;
use crate::items::Tenant;
use crate::keys::TenantKey;
use crate::names::TenantId;
use crate::schema::TRACKER;

const LIST: &str = "/tracker/tenants";
pub const ONE: &str = "/tracker/tenants/{tenantId}";

/// The tenant of the samples.
const SAMPLE: &str = "/tracker/tenants/tenant-0807";

/// The path of a tenant.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantPath {
    pub tenant_id: TenantId,
}

/// The query of a deletion.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteQuery {
    /// Also deletes everything in it.
    #[serde(default)]
    pub cascade: bool,
}

pub fn href(tenant: TenantId) -> String {
    format!("/tracker/tenants/{}", tenant.id())
}

/// Loads a tenant. 404 if it does not exist or is being deleted.
async fn load(cx: &Context, tenant: TenantId) -> Result<(Stored, Tenant), Problem> {
    let stored = cx.access().table(&TENANT, &TRACKER).get_consistent(TenantKey { tenant }.key()).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let tenant: Tenant = stored.read()?;
    if tenant.deleting.is_some() { Err(Problem::not_found()) } else { Ok((stored, tenant)) }
}

/// The problem of an update whose first action has failed: 412 for another revision, 404 for any other condition.
pub fn refusal(error: Error) -> Problem {
    match error.failed(0).map(|failed| failed.cause) {
        Some(Cause::Stale) => Problem::stale(),
        Some(_) => Problem::not_found(),
        None => error.into(),
    }
}
