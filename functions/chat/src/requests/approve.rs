//! `POST /chat/groupchats/{chatId}/requests/{requestId}/approve`

use table::{AccessPattern, Action};
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::load::{GET_REQUEST, request_of_chat};
use super::settling::{free_guard, rows};
use super::{ChatRequestPath, REQUEST_SETTLED, RequestStatus, RequestView, Settlement, settled};
use crate::access::{CALLER, CHAT_REQUESTS, COMMUNITIES, GROUP_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::TOO_MANY_MEMBERSHIPS;
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::group_chats::joining::{self, Way};
use crate::group_chats::{CHAT_FULL, ChatMember, NOT_IN_COMMUNITY};
use crate::keys::{GroupChatMemberKey, chat_partition};
use crate::names::Millisecond;
use crate::schema;

/// The approval of both rows of a request, the end of its guard, and the new member.
const APPROVE: AccessPattern = AccessPattern::new(
    "approveRequest",
    &[
        CHAT_REQUESTS.update(),
        CHAT_REQUESTS.delete(),
        GROUP_CHATS.get(),
        GROUP_CHATS.update(),
        GROUP_CHATS.put(),
        GROUP_CHATS.check(),
        COMMUNITIES.check(),
    ],
);

pub fn route() -> Route {
    Route::post("approveRequest", "/chat/groupchats/{chatId}/requests/{requestId}/approve", SIGNED_IN, approve)
        .summary("Approve a request: its user becomes a member of the group chat")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &GET_REQUEST, &APPROVE])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            REQUEST_SETTLED,
            CHAT_FULL,
            NOT_IN_COMMUNITY,
            TOO_MANY_MEMBERSHIPS,
            problem::CONFLICT,
        ])
        .sample(Sample::new(concat!(
            "/chat/groupchats/019b76da-a800-7000-8000-000000000021",
            "/requests/019b76da-a800-7000-8000-000000000051/approve",
        )))
}

async fn approve(cx: Context, Path(path): Path<ChatRequestPath>) -> Result<Tagged<RequestView>, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        access.require_moderator()?;
        let (request, _) = request_of_chat(&cx, path.chat_id, path.request_id).await?;
        if request.status != RequestStatus::Pending {
            return Err(settled(request.status));
        }
        let (chat, user, now) = (&access.chat, request.user_id, Millisecond::now(&cx.engines().clock));
        let member = GroupChatMemberKey { chat: chat.id, user };
        let is_member = cx.access().table(&APPROVE, &schema::GROUP_CHATS).get_consistent(&member).await?.is_some();
        let settlement = Settlement { status: RequestStatus::Approved, by: access.me(), at: now };
        let mut actions = rows((chat.id, user, request.id), settlement).to_vec();
        actions.push(free_guard(chat.id, user, request.id));
        if is_member {
            actions.push(Action::check(&schema::GROUP_CHATS, member));
        } else {
            let member = ChatMember::new(chat_partition(chat.id.into()), user, now.to_string());
            actions.extend(joining::actions(chat, user, &member, Way::Added)?);
        }
        let error = match cx.access().transact(&APPROVE, &actions).await {
            Ok(rev) => return Ok(Tagged::new(&request.settled(settlement).into(), rev)),
            Err(error) => error,
        };
        // Another request has settled this one, or the user has joined or left, since they were read.
        let changed = if is_member { vec![0, 1, 2, 3] } else { vec![0, 1, 2, 4] };
        if changed.into_iter().any(|index| error.failed(index).is_some()) {
            Err(Problem::lost_race())
        } else {
            Err(joining::problem(error, 3, chat, Way::Added))
        }
    })
    .await
}
