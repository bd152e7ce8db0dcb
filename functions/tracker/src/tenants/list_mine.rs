//! `GET /tracker/me/tenants`

use table::{EntityKey, Position, Stored};
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample};

use crate::access::MY_TENANTS;
use crate::authorization::{SIGNED_IN, me};
use crate::items::{Member, Tenant};
use crate::keys::{MemberKey, TenantKey};
use crate::names::TenantId;
use crate::schema::{INDEX, TRACKER};
use crate::views::MyTenant;

const MINE: &str = "/tracker/me/tenants";

pub fn route() -> Route {
    Route::get("listMyTenants", MINE, SIGNED_IN, list)
        .summary("List the caller's tenants, oldest membership first")
        .patterns(&[&MY_TENANTS])
        .sample(Sample::new(MINE))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<MyTenant>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let me = &me(&cx)?;
    let mine = &cx.access().table(&MY_TENANTS, &TRACKER);
    let load = |entries: Vec<Stored>| async move {
        let ids: Vec<TenantId> =
            entries.iter().filter_map(|entry| Some(MemberKey::parse(&entry.key)?.tenant)).collect();
        let keys = ids
            .iter()
            .flat_map(|id| [TenantKey { tenant: *id }.key(), MemberKey { tenant: *id, user: me.clone() }.key()]);
        let found = mine.batch_get(&keys.collect::<Vec<_>>()).await?;
        let view = |(id, pair): (&TenantId, &[Option<Stored>])| -> Result<Option<MyTenant>, Problem> {
            let [Some(tenant), Some(member)] = pair else { return Ok(None) };
            let (tenant, member): (Tenant, Member) = (tenant.read()?, member.read()?);
            Ok(tenant.deleting.is_none().then_some(MyTenant { id: *id, name: tenant.name, role: member.role }))
        };
        ids.iter().zip(found.chunks(2)).map(view).collect::<Result<Vec<_>, Problem>>()
    };
    let memberships = mine.query(format!("user-{me}")).index(INDEX).after(after);
    let (items, next) = memberships.page_of(query.limit.0, load).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}
