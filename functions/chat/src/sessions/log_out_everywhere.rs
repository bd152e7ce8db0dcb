//! `DELETE /chat/me/sessions`

use web::{Context, NoContent, Problem, Route, Sample, problem};

use super::MINE;
use super::end::{END_SESSIONS, end_all};
use crate::access::CALLER;
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::live::end::CLOSE_CONNECTIONS;

pub fn route() -> Route {
    Route::delete("logOutEverywhere", MINE, SIGNED_IN, log_out_everywhere)
        .summary("End all sessions of the caller")
        .patterns(&[&CALLER, &END_SESSIONS, &CLOSE_CONNECTIONS])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(MINE))
}

async fn log_out_everywhere(cx: Context) -> Result<NoContent, Problem> {
    let caller = Caller::load(&cx).await?;
    end_all(cx.access(), caller.id).await?;
    Ok(NoContent)
}
