//! `POST` of an issue: the next number of its project, then the issue with all its rows.

use std::collections::BTreeMap;

use serde::Deserialize;
use table::{Backoff, Error};
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::input::{Inputs, in_values, read};
use super::settle::settle_or_leave;
use super::write::{Refused, Write};
use super::{check_size, cleaned};
use crate::access::{CREATE_ISSUE, NEXT_NUMBER};
use crate::callers::at_least;
use crate::items::{Issue, Role, Stamps, State};
use crate::names::{AttributeId, IssueId, TenantId};
use crate::project::{Read, Schema};
use crate::projects::{self, ProjectPath, counter, href};
use crate::schema::TRACKER;
use crate::tenants::{made_now, name_fault};
use crate::values::{Input, distinct, number_key};
use crate::views::IssueView;

/// The greatest number of an issue.
pub const LAST_NUMBER: u64 = 1_000_000_000_000;

/// How far above the last number of a project a client may choose the next: no request uses up a project's numbers.
pub const MAX_JUMP: u64 = 1_000_000;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewIssue {
    #[schema(min_length = 1, max_length = 255, pattern = "\\S")]
    name: String,
    #[serde(default = "open")]
    #[schema(default = "open")]
    state: State,
    /// By the ids of attributes.
    #[serde(default, deserialize_with = "distinct")]
    #[schema(value_type = BTreeMap<AttributeId, Input>)]
    values: BTreeMap<AttributeId, Input>,
}

fn open() -> State {
    State::Open
}

pub async fn create(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Editor).await?;
    let new: NewIssue = request.json()?;
    if let Some(fault) = name_fault("/name", &new.name) {
        return Err(Problem::faults(vec![fault]));
    }
    if let Some(answer) = request.earlier(&CREATE_ISSUE, &TRACKER).await? {
        return Ok(answer);
    }
    let inputs: Inputs = new.values.iter().map(|(id, input)| (*id, Some(input.clone()))).collect();
    let (id, stamps) = (IssueId::new(), made_now(&request)?);
    let (mut fresh, mut taken, mut backoff) = (Read::Eventual, None::<Taken<'_>>, Backoff::new());
    loop {
        let schema = projects::read(&request, tenant_id, project_id, fresh).await?;
        let mut issue = first(tenant_id, &new, stamps.clone());
        match read(&schema, &inputs, in_values) {
            // What a read of some moments ago lacks may be there.
            Err(_) if fresh == Read::Eventual => {
                fresh = Read::Strong;
                continue;
            }
            values => values?.into_iter().for_each(|(id, value)| issue.set(id, value)),
        }
        check_size(&issue)?;
        // A number that was taken serves for every attempt, until it may be given to others.
        let num = match &taken {
            Some(taken) if taken.is_under(&schema) => taken.number,
            _ => taken.insert(next_number(&request, &schema).await?).number,
        };
        (issue.num, issue.data) = (num, number_key(num));
        let issue = cleaned(&schema, issue);
        let prepared = Write::of(&schema, None, id, Some(issue.clone())).prepare(request.access())?;
        let location = format!("{}/issues/{}", href(tenant_id, project_id), id.id());
        let view = IssueView::new(id, &schema, &issue);
        let actions = prepared.actions.clone();
        match request.create_once(&CREATE_ISSUE, &TRACKER, actions, location.clone(), &view).await {
            Ok(answer) => {
                // It may be the answer to the same request, which has made another.
                if answer.is_at(&location)
                    && let Some(taken) = taken.take()
                {
                    taken.serves();
                }
                if !prepared.settled {
                    settle_or_leave(request.access(), id).await;
                }
                return Ok(answer);
            }
            Err(error) => match prepared.refused(&error) {
                Some(Refused::Gate(_)) if backoff.wait().await => fresh = Read::Strong,
                _ => return Err(error.into()),
            },
        }
    }
}

fn first(tenant: TenantId, new: &NewIssue, stamps: Stamps) -> Issue {
    Issue {
        data: String::new(),
        name: new.name.clone(),
        state: new.state,
        num: 0,
        tenant,
        values: BTreeMap::new(),
        import: None,
        unsettled: None,
        stamps,
    }
}

/// A number that was taken for an issue. Who finds it missing finds why in the log.
pub struct Taken<'a> {
    request: &'a Request,
    pub number: u64,
    schema_rev: i64,
    serves: bool,
}

impl Taken<'_> {
    /// Whether the project has the schema revision under which the number was taken. Since another, its counter may have
    /// been set back.
    pub fn is_under(&self, schema: &Schema) -> bool {
        self.schema_rev == schema.project.schema_rev
    }

    pub fn serves(mut self) {
        self.serves = true;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.serves {
            let (request, number) = (self.request.id(), self.number);
            tracing::warn!(request.id = request, number, "a number was taken, and its issue was not made");
        }
    }
}

/// Pattern 12. A project whose counter is gone is being deleted.
pub async fn next_number<'a>(request: &'a Request, schema: &Schema) -> Result<Taken<'a>, Problem> {
    let taken = request.access().table(&NEXT_NUMBER, &TRACKER).next_numbers(counter(schema.id), 1).await;
    match taken {
        Ok(numbers) if *numbers.end() <= LAST_NUMBER => {
            Ok(Taken { request, number: *numbers.end(), schema_rev: schema.project.schema_rev, serves: false })
        }
        Ok(_) => Err(web::problem::TAKEN.because(format!("The project has no number left up to {LAST_NUMBER}."))),
        Err(Error::NotFound) => Err(Problem::not_found()),
        Err(error) => Err(error.into()),
    }
}
