//! `GET /tracker/people/{idpid}/tenants` and `GET /tracker/me/tenants`

use table::{EntityKey, Idpid, Position, Stored};
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{PersonPath, SAMPLE, TENANTS, memberships};
use crate::access::PERSON_TENANTS;
use crate::authorization::{PLATFORM_ADMINS, SIGNED_IN, me};
use crate::items::{Member, Tenant};
use crate::keys::{MemberKey, TenantKey};
use crate::names::TenantId;
use crate::schema::{INDEX, TRACKER};
use crate::views::TenantOfPerson;

const MINE: &str = "/tracker/me/tenants";

pub fn mine_route() -> Route {
    Route::get("listMyTenants", MINE, SIGNED_IN, list_mine)
        .summary("List the caller's tenants, oldest membership first")
        .patterns(&[&PERSON_TENANTS])
        .sample(Sample::new(MINE))
}

pub fn of_person_route() -> Route {
    Route::get("listPersonTenants", TENANTS, PLATFORM_ADMINS, list_of_person)
        .summary("List a person's tenants with the person's roles, oldest membership first")
        .patterns(&[&PERSON_TENANTS])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn list_mine(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<TenantOfPerson>, Problem> {
    list(&cx, &me(&cx)?, query).await
}

async fn list_of_person(
    cx: Context,
    Path(path): Path<PersonPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<TenantOfPerson>, Problem> {
    list(&cx, &path.idpid, query).await
}

async fn list(cx: &Context, person: &Idpid, query: PageQuery) -> Result<Page<TenantOfPerson>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let table = &cx.access().table(&PERSON_TENANTS, &TRACKER);
    let load = |entries: Vec<Stored>| async move {
        let ids: Vec<TenantId> =
            entries.iter().filter_map(|entry| Some(MemberKey::parse(&entry.key)?.tenant)).collect();
        let keys = ids
            .iter()
            .flat_map(|id| [TenantKey { tenant: *id }.key(), MemberKey { tenant: *id, user: person.clone() }.key()]);
        let found = table.batch_get(&keys.collect::<Vec<_>>()).await?;
        let view = |(id, pair): (&TenantId, &[Option<Stored>])| -> Result<Option<TenantOfPerson>, Problem> {
            let [Some(tenant), Some(member)] = pair else { return Ok(None) };
            let (tenant, member): (Tenant, Member) = (tenant.read()?, member.read()?);
            Ok(tenant.deleting.is_none().then_some(TenantOfPerson { id: *id, name: tenant.name, role: member.role }))
        };
        ids.iter().zip(found.chunks(2)).map(view).collect::<Result<Vec<_>, Problem>>()
    };
    let memberships = table.query(memberships(person)).index(INDEX).after(after);
    let (items, next) = memberships.page_of(query.limit.0, load).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}
