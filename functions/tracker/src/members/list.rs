//! `GET /tracker/tenants/{tenantId}/members`

use table::EntityKey;
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{LIST, SAMPLE_LIST};
use crate::access::{MEMBERSHIP, OF_TENANT, TENANT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::keys::MemberKey;
use crate::schema::TRACKER;
use crate::tenants::TenantPath;
use crate::views::MemberView;

pub fn route() -> Route {
    Route::get("listMembers", LIST, SIGNED_IN, list)
        .summary("List the members of a tenant")
        .patterns(&[&MEMBERSHIP, &TENANT, &OF_TENANT])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_LIST))
}

async fn list(
    cx: Context,
    Path(path): Path<TenantPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<MemberView>, Problem> {
    TenantAccess::load_also_platform(&cx, path.tenant_id).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let members = cx.access().table(&OF_TENANT, &TRACKER).query(path.tenant_id.id()).begins_with("user-");
    let mut page = members.after(after).page(query.limit.0).await?;
    // An item that was written outside the platform under another key is no member.
    page.items.retain(|stored| MemberKey::parse(&stored.key).is_some());
    cx.page(page, |stored| {
        let key = MemberKey::parse(&stored.key).ok_or_else(|| Problem::internal("a member without a member's key"))?;
        Ok(MemberView::new(key.user, &stored.read()?))
    })
}
