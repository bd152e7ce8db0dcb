//! `PATCH` of a member: role and name.

use serde::Deserialize;
use table::{Action, Backoff, Cause, Changes};
use utoipa::ToSchema;
use web::{Answer, Patch, Problem, Request};

use super::{MemberPath, MemberView, another_admin, count, refusal};
use crate::access::{CHANGE_MEMBER, MEMBER};
use crate::item::Member;
use crate::keys::member_key;
use crate::names::Role;
use crate::schema::AGENCIES;
use crate::standing::{Standing, again, stamp, tag};

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
        let changed = Action::update(&AGENCIES, stored.key.clone(), Changes::between(&before, &after)?);
        let mut actions = vec![changed.if_unchanged(&stored)];
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
        let error = match request.access().transact(&CHANGE_MEMBER, &actions).await {
            Ok(rev) => return Ok(Answer::ok(&MemberView::from(after)).etag(rev)),
            Err(error) => error,
        };
        match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
            // Perhaps the caller's own role has changed, too: both are looked at again.
            (Some(Cause::Stale), _) => again(&request, &mut backoff).await?,
            (Some(_), _) => return Err(Problem::not_found()),
            (None, Some(gate)) => return Err(refusal(gate, standing.allowed())),
            (None, None) => return Err(error.into()),
        }
    }
}
