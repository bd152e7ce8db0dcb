//! `POST /chat/groupchats/{chatId}/requests/{requestId}/deny`

use jiff::Timestamp;
use table::{AccessPattern, Action, Changes, Condition, Error, item};
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::load::{GET_REQUEST, request_of_chat};
use super::settling::rows;
use super::{ChatRequestPath, REQUEST_SETTLED, RequestStatus, RequestView, Settlement, settled};
use crate::access::{CALLER, CHAT_REQUESTS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::RequestGuardKey;
use crate::names::Millisecond;
use crate::schema;

/// The denial of both rows of a request, and the time in its guard.
const DENY: AccessPattern = AccessPattern::new("denyRequest", &[CHAT_REQUESTS.update()]);

/// How long a denied user waits before asking again, in milliseconds.
const WAIT: i64 = 24 * 60 * 60 * 1000;

pub fn route() -> Route {
    Route::post("denyRequest", "/chat/groupchats/{chatId}/requests/{requestId}/deny", SIGNED_IN, deny)
        .summary("Deny a request; its user may ask again after 24 hours")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &GET_REQUEST, &DENY])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, REQUEST_SETTLED, problem::CONFLICT])
        .sample(Sample::new(
            "/chat/groupchats/019b76da-a800-7000-8000-000000000021/requests/019b76da-a800-7000-8000-000000000052/deny",
        ))
}

async fn deny(cx: Context, Path(path): Path<ChatRequestPath>) -> Result<Tagged<RequestView>, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        access.require_moderator()?;
        let (request, _) = request_of_chat(&cx, path.chat_id, path.request_id).await?;
        if request.status != RequestStatus::Pending {
            return Err(settled(request.status));
        }
        let (chat, user, now) = (path.chat_id, request.user_id, Millisecond::now(&cx.engines().clock));
        let settlement = Settlement { status: RequestStatus::Denied, by: access.me(), at: now };
        let [of_user, of_chat] = rows((chat, user, request.id), settlement);
        let not_before = Timestamp::from_millisecond(now.millis() + WAIT).map_err(Problem::internal)?;
        let waiting = Changes::new().set("NotBefore", item::text(format!("{not_before:.3}")));
        let guard = Action::update(&schema::CHAT_REQUESTS, RequestGuardKey { chat, user }, waiting)
            .when(Condition::Equals("RequestId", item::text(request.id.to_string())));
        match cx.access().transact(&DENY, &[of_user, of_chat, guard]).await {
            Ok(rev) => Ok(Tagged::new(&request.settled(settlement).into(), rev)),
            // Another request has settled this one meanwhile.
            Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
