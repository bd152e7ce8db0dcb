//! `DELETE /chat/me/requests/{requestId}`

use table::{AccessPattern, Error};
use web::{Context, NoContent, Path, Problem, Route, Sample, problem};

use super::load::{GET_REQUEST, request_of_user};
use super::{MY_REQUEST, REQUEST_SETTLED, RequestPath, RequestStatus, SAMPLE_MINE, settled, settling};
use crate::access::{CALLER, CHAT_REQUESTS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::names::Millisecond;

/// The withdrawal of both rows of a request, with its guard.
const WITHDRAW: AccessPattern =
    AccessPattern::new("withdrawRequest", &[CHAT_REQUESTS.update(), CHAT_REQUESTS.delete()]);

pub fn route() -> Route {
    Route::delete("withdrawRequest", MY_REQUEST, SIGNED_IN, withdraw)
        .summary("Withdraw a pending request to join a group chat")
        .patterns(&[&CALLER, &GET_REQUEST, &WITHDRAW])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, REQUEST_SETTLED, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_MINE))
}

async fn withdraw(cx: Context, Path(path): Path<RequestPath>) -> Result<NoContent, Problem> {
    let user = Caller::load(&cx).await?.id;
    cx.retry(|| async {
        let (request, _) = request_of_user(&cx, user, path.request_id).await?;
        if request.status != RequestStatus::Pending {
            return Err(settled(request.status));
        }
        let actions = settling::withdraw(request.chat_id, user, request.id, Millisecond::now(&cx.engines().clock));
        match cx.access().transact(&WITHDRAW, &actions).await {
            Ok(_) => Ok(NoContent),
            // A moderator has settled it meanwhile.
            Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
