//! `GET /tracker/tenants/{tenantId}/members/{idpid}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{MemberPath, ONE, SAMPLE, load};
use crate::access::{MEMBER, MEMBERSHIP, TENANT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::views::MemberView;

pub fn route() -> Route {
    Route::get("getMember", ONE, SIGNED_IN, get)
        .summary("Get a member")
        .patterns(&[&MEMBERSHIP, &TENANT, &MEMBER])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<MemberPath>) -> Result<Tagged<MemberView>, Problem> {
    TenantAccess::load_also_platform(&cx, path.tenant_id).await?;
    let (stored, member) = load(cx.access(), path.tenant_id, &path.idpid).await?;
    Ok(Tagged::new(&MemberView::new(path.idpid, &member), stored.rev))
}
