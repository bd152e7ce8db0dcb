//! Changing an issue as it was read, again and again until nobody was faster.

use table::{AccessPattern, Backoff, Rev};
use web::{Problem, Request};

use super::settle::{settle, settle_or_leave};
use super::write::{Refused, Write};
use super::{IssuePath, Known, check_size, cleaned};
use crate::items::{Issue, Stamps};
use crate::project::{Read, Schema};
use crate::projects;
use crate::tenants::changed_now;
use crate::tenants::one::tag;

/// An issue as an edit has left it.
#[derive(Debug)]
pub struct Edited {
    pub schema: Schema,
    pub issue: Issue,
    pub tag: web::EntityTag,
}

/// Makes of the issue what `edit` does, whatever others write meanwhile; with `If-Match` only of what the client has seen.
/// By `pattern` it is written, for the rows that it may change. What `edit` refuses for what is stored, it is asked again with the attributes as they are now.
pub async fn edit(
    request: &Request,
    path: IssuePath,
    pattern: &'static AccessPattern,
    edit: impl Fn(&Schema, &Issue) -> Result<Issue, Problem>,
) -> Result<Edited, Problem> {
    let IssuePath { tenant_id, project_id, issue_id } = path;
    let access = request.access();
    let (mut read, mut backoff) = (Read::Eventual, Backoff::new());
    loop {
        let schema = projects::read(request, tenant_id, project_id, read).await?;
        let known = Known::read(access, project_id, issue_id).await?.ok_or_else(Problem::not_found)?;
        request.if_match().check(tag(&known.stored))?;
        if known.issue.unsettled.is_some() {
            settle(access, issue_id).await?;
            if !request.if_match().is_absent() {
                return Err(Problem::stale());
            }
            continue;
        }
        let edited = match edit(&schema, &known.issue) {
            Err(problem) if problem.kind().status == 422 && read == Read::Eventual => {
                read = Read::Strong;
                continue;
            }
            edited => edited?,
        };
        if edited == known.issue {
            return Ok(Edited { tag: tag(&known.stored), issue: known.issue, schema });
        }
        let stamps = changed_now(request, &known.issue.stamps)?;
        match write(request, pattern, &schema, known, edited, stamps).await? {
            Some((issue, rev)) => return Ok(Edited { schema, issue, tag: rev }),
            None if backoff.wait().await => read = Read::Strong,
            None => return Err(Problem::conflict()),
        }
    }
}

/// None if others were faster.
async fn write(
    request: &Request,
    pattern: &'static AccessPattern,
    schema: &Schema,
    known: Known,
    edited: Issue,
    stamps: Stamps,
) -> Result<Option<(Issue, web::EntityTag)>, Problem> {
    let (access, id) = (request.access(), known.id);
    let after = cleaned(schema, Issue { stamps, ..edited });
    check_size(&after)?;
    let prepared = Write::of(schema, Some(known), id, Some(after.clone())).prepare(access)?;
    match access.transact(pattern, &prepared.actions).await {
        Ok(rev) => Ok(Some((after, complete(request, schema, id, prepared.settled, rev).await?))),
        Err(error) => match prepared.refused(&error) {
            Some(Refused::Issue) if !request.if_match().is_absent() => Err(Problem::stale()),
            Some(_) => Ok(None),
            None => Err(error.into()),
        },
    }
}

/// The tag of an issue that was written, once all its rows are.
pub async fn complete(
    request: &Request,
    schema: &Schema,
    id: crate::names::IssueId,
    settled: bool,
    rev: Rev,
) -> Result<web::EntityTag, Problem> {
    if settled {
        return Ok(rev.into());
    }
    settle_or_leave(request.access(), id).await;
    let known = Known::read(request.access(), schema.id, id).await?;
    Ok(known.map_or_else(|| rev.into(), |known| tag(&known.stored)))
}
