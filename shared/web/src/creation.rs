//! Idempotent creation: a request with an `Idempotency-Key` has its effect once, however often it is sent.

use http::StatusCode;
use serde::Serialize;
use table::schema::Table;
use table::{AccessPattern, Action, Error, FirstAnswer, Rev};

use crate::{Accepted, Answer, Context, Created, IdempotencyKey, Problem};

impl IdempotencyKey {
    /// Returns the response to the first of the same requests, if there was one. A handler that checks mutable state
    /// calls it right after authorization.
    pub async fn earlier<R: Replay>(
        &self,
        cx: &Context,
        pattern: &'static AccessPattern,
        table: &'static Table,
    ) -> Result<Option<R>, Problem> {
        let Some(idempotency) = &self.0 else { return Ok(None) };
        let earlier = idempotency.earlier(cx.access(), pattern, table).await?;
        Ok(earlier.map(|(rev, first)| R::replay(stored(rev, first))))
    }

    /// Creates a resource by these actions and responds with 201 and the resource; with the header, only once.
    pub async fn create<T: Serialize>(
        &self,
        cx: &Context,
        pattern: &'static AccessPattern,
        table: &'static Table,
        actions: Vec<Action>,
        location: String,
        created: &T,
    ) -> Result<Created<T>, Error> {
        let first = first(StatusCode::CREATED, location, created)?;
        let (rev, first) = cx.access().transact_once(pattern, table, self.0.as_ref(), actions, first).await?;
        Ok(Created::replay(stored(rev, first)))
    }

    /// Creates a job by these actions and responds with 202 and the job; with the header, only once.
    pub async fn accept<T: Serialize>(
        &self,
        cx: &Context,
        pattern: &'static AccessPattern,
        table: &'static Table,
        actions: Vec<Action>,
        location: String,
        job: &T,
    ) -> Result<Accepted<T>, Error> {
        let first = first(StatusCode::ACCEPTED, location, job)?;
        let (rev, first) = cx.access().transact_once(pattern, table, self.0.as_ref(), actions, first).await?;
        Ok(Accepted::replay(stored(rev, first)))
    }
}

fn first(status: StatusCode, location: String, body: &impl Serialize) -> Result<FirstAnswer, Error> {
    let body = serde_json::to_string(body).map_err(|error| Error::Misfit(error.to_string()))?;
    Ok(FirstAnswer { status: status.as_u16(), location: Some(location), body })
}

/// A response that can be sent again as it was stored.
pub trait Replay {
    fn replay(answer: Answer) -> Self;
}

impl<T> Replay for Created<T> {
    fn replay(answer: Answer) -> Self {
        Self::from_answer(answer)
    }
}

impl<T> Replay for Accepted<T> {
    fn replay(answer: Answer) -> Self {
        Self::from_answer(answer)
    }
}

/// Returns the response to the first of the same requests.
fn stored(rev: Rev, first: FirstAnswer) -> Answer {
    let status = StatusCode::from_u16(first.status).unwrap_or_else(|_| {
        table::never!("a stored response of status {}", first.status);
        StatusCode::INTERNAL_SERVER_ERROR
    });
    let answer = Answer::bytes(status, "application/json", first.body);
    // An accepted job has no state yet that a client could refer to.
    let answer = if status == StatusCode::CREATED { answer.etag(rev) } else { answer };
    match first.location {
        Some(location) => answer.location(location),
        None => answer,
    }
}
