//! Requests that create, carried out once however often they come with one `Idempotency-Key`.

use http::StatusCode;
use serde::Serialize;
use table::schema::Table;
use table::{AccessPattern, Action, Error, FirstAnswer, Rev};

use crate::{Answer, Problem, Request};

impl Request {
    /// The answer that the same request was given before, under its `Idempotency-Key`. For handlers that check what has
    /// changed since: right after the caller's own right is checked.
    pub async fn earlier(
        &self,
        pattern: &'static AccessPattern,
        table: &'static Table,
    ) -> Result<Option<Answer>, Problem> {
        let Some(idempotency) = self.idempotency() else { return Ok(None) };
        let earlier = idempotency.earlier(self.access(), pattern, table).await?;
        Ok(earlier.map(|(rev, first)| again(rev, first)))
    }

    /// Carries out a creation and answers 201 with what was made; under an `Idempotency-Key`, once.
    pub async fn create_once(
        &self,
        pattern: &'static AccessPattern,
        table: &'static Table,
        actions: Vec<Action>,
        location: String,
        made: &impl Serialize,
    ) -> Result<Answer, Error> {
        self.once(StatusCode::CREATED, pattern, table, actions, location, made).await
    }

    /// The same for what is only begun, and goes on after the answer: 202.
    pub async fn accept_once(
        &self,
        pattern: &'static AccessPattern,
        table: &'static Table,
        actions: Vec<Action>,
        location: String,
        begun: &impl Serialize,
    ) -> Result<Answer, Error> {
        self.once(StatusCode::ACCEPTED, pattern, table, actions, location, begun).await
    }

    async fn once(
        &self,
        status: StatusCode,
        pattern: &'static AccessPattern,
        table: &'static Table,
        actions: Vec<Action>,
        location: String,
        made: &impl Serialize,
    ) -> Result<Answer, Error> {
        let body = serde_json::to_string(made).map_err(|error| Error::Misfit(error.to_string()))?;
        let first = FirstAnswer { status: status.as_u16(), location: Some(location), body };
        let idempotency = self.idempotency();
        let (rev, first) = self.access().transact_once(pattern, table, idempotency.as_ref(), actions, first).await?;
        Ok(again(rev, first))
    }
}

fn again(rev: Rev, first: FirstAnswer) -> Answer {
    let status = StatusCode::from_u16(first.status).unwrap_or(StatusCode::CREATED);
    let answer = Answer::bytes(status, "application/json", first.body);
    // What is only begun has no state yet that a client could mean.
    let answer = if status == StatusCode::CREATED { answer.etag(rev) } else { answer };
    match first.location {
        Some(location) => answer.location(location),
        None => answer,
    }
}
