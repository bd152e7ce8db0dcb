//! `PATCH` of a member: role and name.

use serde::Deserialize;
use table::{Action, Backoff, Cause, Changes, Condition, Error, item};
use utoipa::ToSchema;
use web::{Answer, Patch, Problem, Request};

use super::{MemberPath, MemberView, another_admin, count, refusal};
use crate::access::{CHANGE_MEMBER, MEMBER};
use crate::item::Member;
use crate::keys::member_key;
use crate::names::Role;
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp, tag};

/// What is to be changed of a member.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberChange {
    #[schema(nullable = false)]
    role: Option<Role>,
    /// `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    display_name: Patch<String>,
}

pub async fn change(request: Request) -> Result<Answer, Problem> {
    let (agency, person) = request.path::<MemberPath>()?.ids();
    let agency = agency.ok_or_else(Problem::not_found)?;
    let change: MemberChange = request.json()?;
    let mut backoff = Backoff::new();
    loop {
        let standing = Standing::of(&request, &agency).await?;
        standing.change()?;
        let person = person.as_ref().ok_or_else(Problem::not_found)?;
        let members = request.access().table(&MEMBER, &AGENCIES);
        let stored = members.get_consistent(member_key(&agency, person)).await?.ok_or_else(Problem::not_found)?;
        request.if_match().check(tag(&stored))?;
        let before: Member = stored.read()?;
        let role = change.role.unwrap_or(before.role);
        let display_name = change.display_name.clone().apply(before.display_name.clone());
        let after = Member { role, display_name: display_name.filter(|name| !name.is_empty()), ..before.clone() };
        if after == before {
            return Ok(Answer::ok(&MemberView::from(before)).etag(tag(&stored)));
        }
        let after = after.stamped(&stamp(&request)?);
        let mut changed = Action::update(&AGENCIES, stored.key.clone(), Changes::between(&before, &after)?)
            .when(Condition::Equals("role", item::text(before.role.as_str())));
        if !request.if_match().is_absent() {
            changed = changed.if_unchanged(&stored);
        }
        let mut actions = vec![changed];
        if role != before.role {
            let mut gate = count(&agency, 0, role.admins() - before.role.admins());
            if let Some(active) = standing.while_active() {
                gate = gate.when(active);
            }
            if before.role == Role::Admin && !standing.is_platform_admin {
                gate = gate.when(another_admin());
            }
            actions.push(gate);
        }
        match request.access().transact(&CHANGE_MEMBER, &actions).await {
            Ok(rev) => return Ok(Answer::ok(&MemberView::from(after)).etag(rev)),
            Err(error) => match error.failed(0).map(|failed| failed.cause) {
                Some(Cause::Missing) => return Err(Problem::not_found()),
                Some(Cause::Stale) => return Err(Problem::stale()),
                // Its role has changed since it was read, and perhaps the caller's own: both are looked at again.
                Some(_) if backoff.wait().await => {}
                Some(_) => return Err(Problem::conflict()),
                None => return Err(refused(error, &standing)),
            },
        }
    }
}

fn refused(error: Error, standing: &Standing) -> Problem {
    match error.failed(1) {
        Some(gate) => refusal(gate, standing.allowed()),
        None => error.into(),
    }
}
