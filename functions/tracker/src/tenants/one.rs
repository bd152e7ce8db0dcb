//! Tenants: made, listed, read, renamed.

use serde::Deserialize;
use table::{Action, Changes, EntityKey, Error, Idpid, Position, Stored};
use utoipa::ToSchema;
use web::{Answer, Fault, Limit, Page, Problem, Request};

use super::find::find;
use super::{changed_now, made_now, name_fault};
use crate::access::{BY_NAME, CREATE_TENANT, MY_TENANTS, RENAME_TENANT, TENANT};
use crate::callers::{PLATFORM_ADMIN, at_least_or_platform, me};
use crate::items::{Directory, Member, Role, Tenant};
use crate::keys::{DirectoryKey, MemberKey, TenantKey};
use crate::listed;
use crate::names::TenantId;
use crate::schema::{DATA, INDEX, TRACKER};
use crate::views::{MyTenant, TenantEntry, TenantView};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantPath {
    pub tenant_id: TenantId,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTenant {
    #[schema(min_length = 1, max_length = 200, pattern = "\\S")]
    name: String,
    /// The `{idpid}` of its first administrator; the caller if absent.
    #[serde(default)]
    #[schema(value_type = Option<String>, nullable = false, min_length = 3, max_length = 200, pattern = "^[^:~%#/?\\\\]+:[^:%#/?\\\\]+(:[^:%#/?\\\\]+)*$")]
    admin: Option<Idpid>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantChange {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200, pattern = "\\S")]
    name: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ByName {
    #[serde(default)]
    pub limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
    pub cursor: Option<String>,
    #[serde(default)]
    pub order: web::Order,
    /// What the name begins with; case and accents do not count.
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub prefix: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantsQuery {
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
    cursor: Option<String>,
    /// By name; not with `q`, which has the best first.
    #[serde(default)]
    #[schema(nullable = false)]
    order: Option<web::Order>,
    /// What the name begins with; case and accents do not count. Not with `q`.
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    prefix: Option<String>,
    /// Words of the name, at most 20; typos are forgiven.
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    q: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Paged {
    #[serde(default)]
    pub limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
    pub cursor: Option<String>,
}

pub fn href(tenant: TenantId) -> String {
    format!("/tracker/tenants/{}", tenant.id())
}

pub async fn create(request: Request) -> Result<Answer, Problem> {
    let NewTenant { name, admin } = request.json()?;
    let faults: Vec<_> = name_fault("/name", &name).into_iter().collect();
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    if let Some(answer) = request.earlier(&CREATE_TENANT, &TRACKER).await? {
        return Ok(answer);
    }
    let (id, stamps) = (TenantId::new(), made_now(&request)?);
    let admin = match admin {
        Some(admin) => {
            request.check_issuer(&admin, "/admin")?;
            admin
        }
        None => me(&request)?,
    };
    let tenant = Tenant { name, projects: 0, admins: 1, deleting: None, stamps: stamps.clone() };
    let member = Member { data: stamps.created_at.clone(), role: Role::Admin, name: String::new(), stamps };
    let actions = vec![
        Action::create(&TRACKER, TenantKey { tenant: id }, &tenant)?,
        Action::create(&TRACKER, DirectoryKey { tenant: id }, &Directory { data: listed::entry(&tenant.name) })?,
        Action::create(&TRACKER, MemberKey { tenant: id, user: admin }, &member)?,
    ];
    Ok(request.create_once(&CREATE_TENANT, &TRACKER, actions, href(id), &TenantView::new(id, &tenant)).await?)
}

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let TenantsQuery { limit, cursor, order, prefix, q } = request.query()?;
    if let Some(q) = q {
        let beside = [("order", order.is_some()), ("prefix", prefix.is_some())].into_iter().filter(|(_, given)| *given);
        let faults: Vec<_> = beside.map(|(name, _)| Fault::parameter(name, "does not go with `q`")).collect();
        return if faults.is_empty() {
            find(&request, &q, limit.0, cursor.as_deref()).await
        } else {
            Err(Problem::faults(faults))
        };
    }
    let query = ByName { limit, cursor, order: order.unwrap_or_default(), prefix };
    let (stored, next_cursor) = by_name(&request, "directory".to_owned(), &query).await?;
    let entry = |stored: &Stored| {
        let DirectoryKey { tenant } = DirectoryKey::parse(&stored.key)?;
        Some(TenantEntry { id: tenant, name: listed::name(data(stored)?).to_owned() })
    };
    Ok(Answer::ok(&Page { items: stored.iter().filter_map(entry).collect(), next_cursor }))
}

/// Pattern 4: a page of what lies in a partition of the index by its name.
pub async fn by_name(
    request: &Request,
    partition: String,
    query: &ByName,
) -> Result<(Vec<Stored>, Option<String>), Problem> {
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let entries = request.access().table(&BY_NAME, &TRACKER).query(partition).index(INDEX);
    let prefix = query.prefix.as_deref().map(listed::key).filter(|prefix| !prefix.is_empty());
    let entries = match &prefix {
        Some(prefix) => entries.begins_with(listed::beginning(prefix)),
        None => entries,
    };
    let entries = if query.order == web::Order::Desc { entries.backward() } else { entries };
    let begins = |entry: &Stored| match &prefix {
        Some(prefix) => data(entry).is_some_and(|data| listed::key(listed::name(data)).starts_with(prefix.as_str())),
        None => true,
    };
    let keep = |page: Vec<Stored>| {
        let kept: Vec<_> = page.into_iter().map(|entry| begins(&entry).then_some(entry)).collect();
        async { Ok::<_, Problem>(kept) }
    };
    let (items, next) = entries.after(after).page_of(query.limit.0, keep).await?;
    let next = next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok((items, next))
}

/// What an entry of the index is sorted by.
pub fn data(stored: &Stored) -> Option<&str> {
    stored.item.get(DATA)?.as_s().ok().map(String::as_str)
}

pub async fn list_mine(request: Request) -> Result<Answer, Problem> {
    let query: Paged = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let me = me(&request)?;
    let mine = request.access().table(&MY_TENANTS, &TRACKER);
    let listed = mine.query(format!("user-{me}")).index(INDEX).after(after);
    let read = |entries: Vec<Stored>| {
        let me = me.clone();
        async move {
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
        }
    };
    let (items, next) = listed.page_of(query.limit.0, read).await?;
    let next_cursor = next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page { items, next_cursor }))
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least_or_platform(&request, tenant_id, Role::Viewer).await?;
    let (stored, tenant) = read(&request, tenant_id).await?;
    answer(tenant_id, &stored, &tenant)
}

pub async fn rename(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least_or_platform(&request, tenant_id, Role::Admin).await?;
    let change: TenantChange = request.json()?;
    let (stored, before) = read(&request, tenant_id).await?;
    request.if_match().check(tag(&stored))?;
    let Some(name) = change.name.filter(|name| *name != before.name) else {
        return answer(tenant_id, &stored, &before);
    };
    let faults: Vec<_> = name_fault("/name", &name).into_iter().collect();
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    let after = Tenant { name, stamps: changed_now(&request, &before.stamps)?, ..before.clone() };
    let directory = Changes::new().set(DATA, table::item::text(listed::entry(&after.name)));
    // What counts its projects and administrators changes it, too, and is no reason to refuse a new name.
    let change = Action::update(&TRACKER, TenantKey { tenant: tenant_id }, Changes::between(&before, &after)?)
        .when(table::Condition::Absent("Deleting"));
    let change = match request.if_match().rev()? {
        Some(rev) => change.if_rev(rev),
        None => change,
    };
    let directory = Action::update(&TRACKER, DirectoryKey { tenant: tenant_id }, directory);
    let rev = request.access().transact(&RENAME_TENANT, &[change, directory]).await.map_err(refused)?;
    Ok(Answer::ok(&TenantView::new(tenant_id, &after)).etag(rev))
}

/// A tenant that is there and not being deleted.
pub async fn read(request: &Request, tenant: TenantId) -> Result<(Stored, Tenant), Problem> {
    let stored = request.access().table(&TENANT, &TRACKER).get_consistent(TenantKey { tenant }.key()).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let tenant: Tenant = stored.read()?;
    if tenant.deleting.is_some() { Err(Problem::not_found()) } else { Ok((stored, tenant)) }
}

/// Whether the caller may see that a tenant is there at all.
pub fn is_platform_admin(request: &Request) -> bool {
    request.principal().has_role(PLATFORM_ADMIN)
}

fn answer(id: TenantId, stored: &Stored, tenant: &Tenant) -> Result<Answer, Problem> {
    Ok(Answer::ok(&TenantView::new(id, tenant)).etag(tag(stored)))
}

/// An item's entity tag; one from before revisions has a tag all the same.
pub fn tag(stored: &Stored) -> web::EntityTag {
    stored.rev.into()
}

/// What a change of a single item that failed means to the client.
pub fn refused(error: Error) -> Problem {
    match error.failed(0).map(|failed| failed.cause) {
        Some(table::Cause::Stale) => Problem::stale(),
        Some(_) => Problem::not_found(),
        None => error.into(),
    }
}
