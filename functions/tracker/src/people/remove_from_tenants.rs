//! `DELETE /tracker/people/{idpid}/tenants`: removes a person from all tenants, for instance after a resignation.

use std::time::Duration;

use serde::Serialize;
use table::{EntityKey, Position};
use tokio::time::Instant;
use utoipa::ToSchema;
use web::route::MAX_TIMEOUT;
use web::{Context, IfMatch, Json, Path, Problem, Route, Sample, problem};

use super::{PersonPath, SAMPLE, TENANTS, memberships};
use crate::access::{MEMBER, MEMBERSHIPS, OF_TENANT, REMOVE_MEMBER, TENANT};
use crate::authorization::PLATFORM_ADMINS;
use crate::keys::MemberKey;
use crate::members;
use crate::names::TenantId;
use crate::schema::{INDEX, TRACKER};

/// The number of memberships of a page.
const PAGE: u32 = 100;

/// The time after which no further removal starts.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The result of removing a person from all tenants.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedPerson {
    /// The tenants from which the person was removed.
    pub removed: Vec<TenantId>,
    /// The tenants in which the person stays, as the last administrator or the last one who can sign in. Make another
    /// member an administrator, and send the request again.
    pub last_admin_of: Vec<TenantId>,
    /// Whether all memberships were processed. If not, send the request again.
    pub complete: bool,
}

pub fn route() -> Route {
    Route::delete("removePersonFromTenants", TENANTS, PLATFORM_ADMINS, remove)
        .summary("Remove a person from all tenants, except where the person is the last administrator")
        .patterns(&[&MEMBERSHIPS, &TENANT, &MEMBER, &OF_TENANT, &REMOVE_MEMBER])
        .timeout(MAX_TIMEOUT)
        .problems(&[problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn remove(cx: Context, Path(path): Path<PersonPath>) -> Result<Json<RemovedPerson>, Problem> {
    let stop = Instant::now() + TIME_LIMIT;
    let mut outcome = RemovedPerson::default();
    let mut after: Option<Position> = None;
    loop {
        let entries = cx.access().table(&MEMBERSHIPS, &TRACKER).query(memberships(&path.idpid)).index(INDEX);
        let page = entries.after(after).page(PAGE).await?;
        for entry in page.items {
            if Instant::now() >= stop {
                return Ok(Json(outcome));
            }
            let Some(MemberKey { tenant, user }) = MemberKey::parse(&entry.key) else { continue };
            let Err(refused) = members::remove::remove_member(&cx, tenant, &user, &IfMatch::default()).await else {
                outcome.removed.push(tenant);
                continue;
            };
            match refused.kind() {
                problem::LAST_ADMIN => outcome.last_admin_of.push(tenant),
                // The membership has ended since, or its tenant is being deleted.
                problem::NOT_FOUND => {}
                _ => return Err(refused),
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(Json(RemovedPerson { complete: true, ..outcome }));
        }
    }
}
