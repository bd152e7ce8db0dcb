//! Members of a tenant. At least one of them is an administrator, however many leave at once.

use serde::Deserialize;
use table::{
    Access, AccessPattern, Action, Backoff, Cause, Changes, Condition, EntityKey, Error, Idpid, Position, Stored, item,
};
use utoipa::ToSchema;
use web::{Answer, Page, Problem, Request, problem};

use super::one::{Paged, TenantPath, href, tag};
use super::{changed_now, made_now};
use crate::access::{ADD_MEMBER, CHANGE_MEMBER, MEMBER, OF_TENANT, REMOVE_MEMBER};
use crate::callers::{at_least, at_least_or_platform, me};
use crate::items::{Member, Role};
use crate::keys::{MemberKey, TenantKey};
use crate::names::TenantId;
use crate::schema::TRACKER;
use crate::views::MemberView;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPath {
    pub tenant_id: TenantId,
    #[schema(value_type = String, min_length = 3, max_length = 200)]
    pub idpid: Idpid,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    #[schema(value_type = String, min_length = 3, max_length = 200, pattern = "^[^:~%#/?\\\\]+:[^:%#/?\\\\]+(:[^:%#/?\\\\]+)*$")]
    idpid: Idpid,
    role: Role,
    #[serde(default)]
    #[schema(max_length = 200)]
    name: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberChange {
    #[serde(default)]
    #[schema(nullable = false)]
    role: Option<Role>,
    #[serde(default)]
    #[schema(nullable = false, max_length = 200)]
    name: Option<String>,
}

pub async fn add(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least_or_platform(&request, tenant_id, Role::Admin).await?;
    let NewMember { idpid, role, name } = request.json()?;
    if let Some(answer) = request.earlier(&ADD_MEMBER, &TRACKER).await? {
        return Ok(answer);
    }
    request.check_issuer(&idpid, "/idpid")?;
    let stamps = made_now(&request)?;
    let member = Member { data: stamps.created_at.clone(), role, name, stamps };
    let key = MemberKey { tenant: tenant_id, user: idpid.clone() };
    let actions = vec![of_live(tenant_id, count(role)), Action::create(&TRACKER, key, &member)?];
    let location = format!("{}/members/{idpid}", href(tenant_id));
    let made = request.create_once(&ADD_MEMBER, &TRACKER, actions, location, &MemberView::new(idpid, &member)).await;
    made.map_err(|error| match (error.failed(0), error.failed(1)) {
        (Some(_), _) => Problem::not_found(),
        (None, Some(_)) => Problem::exists("This person is a member already; change what they are instead."),
        (None, None) => error.into(),
    })
}

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least_or_platform(&request, tenant_id, Role::Viewer).await?;
    let query: Paged = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let listed = request.access().table(&OF_TENANT, &TRACKER).query(tenant_id.id()).begins_with("user-");
    let page = listed.after(after).page(query.limit.0).await?;
    let view = |stored: &Stored| {
        let key = MemberKey::parse(&stored.key)?;
        Some(stored.read().map(|member| MemberView::new(key.user, &member)))
    };
    let items = page.items.iter().filter_map(view).collect::<Result<_, Error>>()?;
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page { items, next_cursor }))
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let MemberPath { tenant_id, idpid } = request.path()?;
    at_least_or_platform(&request, tenant_id, Role::Viewer).await?;
    let (stored, member) = read(request.access(), tenant_id, &idpid).await?;
    Ok(Answer::ok(&MemberView::new(idpid, &member)).etag(tag(&stored)))
}

pub async fn change(request: Request) -> Result<Answer, Problem> {
    let MemberPath { tenant_id, idpid } = request.path()?;
    at_least_or_platform(&request, tenant_id, Role::Admin).await?;
    let change: MemberChange = request.json()?;
    let mut backoff = Backoff::new();
    loop {
        let (stored, before) = read(request.access(), tenant_id, &idpid).await?;
        request.if_match().check(tag(&stored))?;
        let after = Member {
            role: change.role.unwrap_or(before.role),
            name: change.name.clone().unwrap_or_else(|| before.name.clone()),
            ..before.clone()
        };
        if after == before {
            return Ok(Answer::ok(&MemberView::new(idpid, &before)).etag(tag(&stored)));
        }
        let after = Member { stamps: changed_now(&request, &before.stamps)?, ..after };
        let write = Action::update(&TRACKER, stored.key.clone(), Changes::between(&before, &after)?);
        let admins = count(after.role) - count(before.role);
        match carry_out(&request, &CHANGE_MEMBER, tenant_id, write.if_unchanged(&stored), admins).await {
            Ok(rev) => return Ok(Answer::ok(&MemberView::new(idpid, &after)).etag(rev)),
            Err(error) => again(&request, error, &mut backoff).await?,
        }
    }
}

pub async fn remove(request: Request) -> Result<Answer, Problem> {
    let MemberPath { tenant_id, idpid } = request.path()?;
    if me(&request)? == idpid && !super::one::is_platform_admin(&request) {
        at_least(&request, tenant_id, Role::Viewer).await?;
    } else {
        at_least_or_platform(&request, tenant_id, Role::Admin).await?;
    }
    let mut backoff = Backoff::new();
    loop {
        let (stored, member) = read(request.access(), tenant_id, &idpid).await?;
        request.if_match().check(tag(&stored))?;
        let write = Action::delete(&TRACKER, stored.key.clone()).if_unchanged(&stored);
        match carry_out(&request, &REMOVE_MEMBER, tenant_id, write, -count(member.role)).await {
            Ok(_) => return Ok(Answer::no_content()),
            Err(error) => again(&request, error, &mut backoff).await?,
        }
    }
}

/// The write of a member, with the count of administrators that it changes: one of them stays.
async fn carry_out(
    request: &Request,
    pattern: &'static AccessPattern,
    tenant: TenantId,
    write: Action,
    admins: i64,
) -> Result<table::Rev, Error> {
    let tenant = of_live(tenant, admins);
    let tenant = if admins < 0 { tenant.when(Condition::Above("Admins", item::number(1))) } else { tenant };
    request.access().transact(pattern, &[tenant, write]).await
}

/// The tenant, counted or only checked, if it is not being deleted.
fn of_live(tenant: TenantId, admins: i64) -> Action {
    let key = TenantKey { tenant };
    let action = match admins {
        0 => Action::check(&TRACKER, key),
        admins => Action::update(&TRACKER, key, Changes::new().add("Admins", admins)),
    };
    action.when(Condition::Absent("Deleting"))
}

/// What became of a change that failed: done again on what is now there, unless the client decides anew.
async fn again(request: &Request, error: Error, backoff: &mut Backoff) -> Result<(), Problem> {
    if let Some(tenant) = error.failed(0) {
        let going = tenant.item.as_ref().is_none_or(|tenant| tenant.contains_key("Deleting"));
        return Err(if going {
            Problem::not_found()
        } else {
            problem::LAST_ADMIN.because("Make another member an administrator first.")
        });
    }
    match error.failed(1).map(|failed| failed.cause) {
        Some(Cause::Stale) if !request.if_match().is_absent() => Err(Problem::stale()),
        Some(Cause::Stale | Cause::Missing) if backoff.wait().await => Ok(()),
        _ => Err(error.into()),
    }
}

fn count(role: Role) -> i64 {
    i64::from(role == Role::Admin)
}

async fn read(access: &Access, tenant: TenantId, user: &Idpid) -> Result<(Stored, Member), Problem> {
    let key = MemberKey { tenant, user: user.clone() };
    let stored = access.table(&MEMBER, &TRACKER).get_consistent(key.key()).await?.ok_or_else(Problem::not_found)?;
    let member = stored.read()?;
    Ok((stored, member))
}
