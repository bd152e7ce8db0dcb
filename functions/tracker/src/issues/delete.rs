//! `DELETE` of an issue, with all its rows.

use table::Backoff;
use web::{Answer, Problem, Request};

use super::settle::{forget, settle};
use super::write::{Refused, Write};
use super::{IssuePath, Known};
use crate::access::DELETE_ISSUE;
use crate::callers::at_least;
use crate::items::Role;
use crate::project::Read;
use crate::projects;
use crate::tenants::one::tag;

pub async fn delete(request: Request) -> Result<Answer, Problem> {
    let IssuePath { tenant_id, project_id, issue_id } = request.path()?;
    at_least(&request, tenant_id, Role::Editor).await?;
    let (access, mut backoff) = (request.access(), Backoff::new());
    loop {
        let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
        let known = Known::read(access, project_id, issue_id).await?.ok_or_else(Problem::not_found)?;
        request.if_match().check(tag(&known.stored))?;
        if known.issue.unsettled.is_some() {
            settle(access, issue_id).await?;
            continue;
        }
        let prepared = Write::of(&schema, Some(known), issue_id, None).prepare(access)?;
        match access.transact(&DELETE_ISSUE, &prepared.actions).await {
            Ok(_) => {
                if !prepared.settled
                    && let Err(problem) = forget(access, issue_id).await
                {
                    tracing::warn!(issue = issue_id.id(), %problem, "the rest of an issue is left to the next run");
                }
                return Ok(Answer::no_content());
            }
            Err(error) => match prepared.refused(&error) {
                Some(Refused::Issue) if !request.if_match().is_absent() => return Err(Problem::stale()),
                Some(_) if backoff.wait().await => {}
                _ => return Err(error.into()),
            },
        }
    }
}
