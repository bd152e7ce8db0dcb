//! `DELETE /chat/me/sessions/{sessionId}`

use serde::Deserialize;
use table::part::NotAPart;
use table::{AccessPattern, Action, Error};
use utoipa::ToSchema;
use web::{Context, NoContent, Path, Problem, Route, Sample, problem};

use super::ONE;
use crate::access::{CALLER, LIVE};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::SessionKey;
use crate::live::end::{CLOSE_CONNECTIONS, close_connections};
use crate::names::SessionId;
use crate::schema;

/// The end of one session.
const END_SESSION: AccessPattern = AccessPattern::new("endSession", &[LIVE.delete()]);

/// The path of a session: its id, or `current` for the one of the request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionPath {
    #[schema(value_type = String, example = "current")]
    session_id: Chosen,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
enum Chosen {
    Current,
    Session(SessionId),
}

impl TryFrom<String> for Chosen {
    type Error = NotAPart;

    fn try_from(text: String) -> Result<Self, NotAPart> {
        if text == "current" { Ok(Self::Current) } else { text.parse().map(Self::Session) }
    }
}

pub fn route() -> Route {
    Route::delete("logOut", ONE, SIGNED_IN, log_out)
        .summary("End a session of the caller, or the current one")
        .patterns(&[&CALLER, &END_SESSION, &CLOSE_CONNECTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/me/sessions/current"))
}

async fn log_out(cx: Context, Path(SessionPath { session_id }): Path<SessionPath>) -> Result<NoContent, Problem> {
    let caller = Caller::load(&cx).await?;
    let session = match session_id {
        Chosen::Current => caller.session.ok_or_else(Problem::not_found)?,
        Chosen::Session(session) => session,
    };
    let end = Action::delete(&schema::LIVE, SessionKey { user: caller.id, session });
    match cx.access().write(&END_SESSION, end).await {
        Ok(_) => {}
        Err(Error::NotFound) => return Err(Problem::not_found()),
        Err(error) => return Err(error.into()),
    }
    close_connections(cx.access(), caller.id, Some(session)).await?;
    Ok(NoContent)
}
