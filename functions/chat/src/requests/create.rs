//! `POST /chat/groupchats/{chatId}/requests`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, Error, item};
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::{
    ChatRequest, MEMBER, NOT_PRIVATE, OF_CHAT, REQUEST_PENDING, RequestGuard, RequestStatus, RequestView,
    SAMPLE_OF_CHAT, TOO_SOON,
};
use crate::access::{CALLER, CHAT_REQUESTS, COMMUNITIES, GROUP_CHATS, LIVE};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::check_member;
use crate::group_chats::GroupChatPath;
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::{GroupChatKey, GroupChatMemberKey, RequestGuardKey, RequestOfChatKey, RequestOfUserKey};
use crate::names::{Millisecond, RequestId};
use crate::rates::{self, COUNT, count};
use crate::schema;
use crate::texts::text_fault;

/// A new request in its two partitions, with its guard.
const CREATE_REQUEST: AccessPattern = AccessPattern::new(
    "createRequest",
    &[CHAT_REQUESTS.put(), CHAT_REQUESTS.update(), GROUP_CHATS.check(), COMMUNITIES.check(), LIVE.get(), LIVE.put()],
);

/// A new request.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewRequest {
    /// For the moderators.
    #[schema(min_length = 1, max_length = 300, nullable = false)]
    note: Option<String>,
}

impl Rules for NewRequest {
    fn faults(&self) -> Vec<Fault> {
        self.note.iter().filter_map(|note| text_fault("/note", note)).collect()
    }
}

pub fn route() -> Route {
    Route::post("createRequest", OF_CHAT, SIGNED_IN, create)
        .summary("Ask to join a private group chat")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &COUNT, &CREATE_REQUEST])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            MEMBER,
            REQUEST_PENDING,
            TOO_SOON,
            NOT_PRIVATE,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new(SAMPLE_OF_CHAT).body(r#"{"note":"I keep a bog garden."}"#))
}

async fn create(
    cx: Context,
    Path(path): Path<GroupChatPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewRequest>>,
) -> Result<Created<RequestView>, Problem> {
    let access = GroupChatAccess::load(&cx, path.chat_id).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_REQUEST, &schema::LIVE).await? {
        return Ok(earlier);
    }
    let (chat, user) = (access.chat.id, access.me());
    count(&cx, &rates::REQUESTS, &[&user.to_string()]).await?;
    let request = RequestId::now(&cx.engines().clock);
    let time = request.time();
    let item = ChatRequest {
        id: request,
        user_id: user,
        chat_id: chat,
        status: RequestStatus::Pending,
        pending_id: Some(request),
        seen: false,
        note: new.note,
        created_at: time.to_string(),
        settled_at: None,
        settled_by: None,
    };
    let guarded = Changes::new().set("RequestId", item::text(request.to_string())).remove("NotBefore");
    let now = Millisecond::now(&cx.engines().clock);
    let actions = vec![
        // The guard of a denied request gives way once its time has passed.
        Action::update(&schema::CHAT_REQUESTS, RequestGuardKey { chat, user }, guarded)
            .when(Condition::AtMost("NotBefore", item::text(now.to_string())))
            .or_absent(),
        Action::check(&schema::GROUP_CHATS, GroupChatKey { chat })
            .when(Condition::Absent("DeletingAt"))
            .when(Condition::Equals("Private", item::flag(true))),
        // Every member has this attribute.
        Action::check(&schema::GROUP_CHATS, GroupChatMemberKey { chat, user })
            .when(Condition::Absent("JoinedAt"))
            .or_absent(),
        check_member(access.chat.community_id, user),
        Action::create(&schema::CHAT_REQUESTS, RequestOfUserKey { user, time, request }, &item)?,
        Action::create(&schema::CHAT_REQUESTS, RequestOfChatKey { chat, time, request }, &item)?,
    ];
    let location = format!("/chat/me/requests/{request}");
    let created = once.create(&cx, &CREATE_REQUEST, &schema::LIVE, actions, location, &item.into()).await;
    created.map_err(refusal)
}

fn refusal(error: Error) -> Problem {
    if error.failed(3).is_some() {
        return Problem::not_found();
    }
    if error.failed(2).is_some() {
        return MEMBER.because("You are a member of this group chat already.");
    }
    if let Some(chat) = error.failed(1) {
        let is_deleted = |chat: &table::Item| chat.contains_key("DeletingAt");
        return if chat.item.as_ref().is_none_or(is_deleted) {
            Problem::not_found()
        } else {
            NOT_PRIVATE.because("Everybody in the community can join this group chat without a request.")
        };
    }
    let Some(guard) = error.failed(0).and_then(|guard| guard.item.clone()) else { return error.into() };
    match item::from_item::<RequestGuard>(guard) {
        Ok(RequestGuard { not_before: Some(retry_at), .. }) => TOO_SOON
            .because(format!("Your last request was denied. Ask again after {retry_at}."))
            .with("retryAt", retry_at),
        Ok(RequestGuard { not_before: None, .. }) => {
            REQUEST_PENDING.because("You have a pending request at this group chat.")
        }
        Err(error) => error.into(),
    }
}
