//! `DELETE` of a member, by an administrator or by itself.

use table::{Action, Backoff, Cause, Changes, Condition, item};
use web::{Answer, Problem, Request};

use super::{MemberPath, another_admin, count, refusal};
use crate::access::{DELETE_MEMBER, MEMBER};
use crate::item::Member;
use crate::keys::{member_key, removal_key};
use crate::names::Role;
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp, tag};

pub async fn remove(request: Request) -> Result<Answer, Problem> {
    let (agency, person) = request.path::<MemberPath>()?.ids();
    let agency = agency.ok_or_else(Problem::not_found)?;
    let mut backoff = Backoff::new();
    loop {
        let standing = Standing::of(&request, &agency).await?;
        let leaves = person.as_ref() == Some(&standing.me);
        if !leaves {
            standing.change()?;
        }
        let person = person.as_ref().ok_or_else(Problem::not_found)?;
        let members = request.access().table(&MEMBER, &AGENCIES);
        let stored = members.get_consistent(member_key(&agency, person)).await?.ok_or_else(Problem::not_found)?;
        request.if_match().check(tag(&stored))?;
        let member: Member = stored.read()?;
        let mut gone = Action::delete(&AGENCIES, stored.key.clone())
            .when(Condition::Equals("role", item::text(member.role.as_str())));
        if !request.if_match().is_absent() {
            gone = gone.if_unchanged(&stored);
        }
        let mut gate = count(&agency, -1, -member.role.admins());
        if let Some(active) = standing.while_active().filter(|_| !leaves) {
            gate = gate.when(active);
        }
        if member.role == Role::Admin && !standing.is_platform_admin {
            gate = gate.when(another_admin());
        }
        // An acceptance checks it in its own transaction, so an older invitation never brings the person back.
        let stamp = stamp(&request)?;
        let removed = Changes::new().set("removed", item::text(stamp.at)).set("removedBy", item::text(stamp.by));
        let removal = Action::update(&AGENCIES, removal_key(&agency, person), removed).or_absent();
        let Err(error) = request.access().transact(&DELETE_MEMBER, &[gone, gate, removal]).await else {
            return Ok(Answer::no_content());
        };
        match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
            (Some(Cause::Missing), _) => return Err(Problem::not_found()),
            (Some(Cause::Stale), _) => return Err(Problem::stale()),
            (Some(_), _) if backoff.wait().await => {}
            (Some(_), _) => return Err(Problem::conflict()),
            (None, Some(gate)) => return Err(refusal(gate, standing.allowed().filter(|_| !leaves))),
            (None, None) => return Err(error.into()),
        }
    }
}
