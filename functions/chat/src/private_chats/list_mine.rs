//! `GET /chat/me/privatechats`

use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use table::{AccessPattern, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Page, Problem, Query, Route, Sample, problem};

use super::{PrivateChat, PrivateChatView};
use crate::access::{CALLER, PRIVATE_CHATS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::chat_badges::{Badges, badges, default_limit};
use crate::group_chats::ChatMember;
use crate::keys::{PrivateChatKey, user_partition};
use crate::names::{ChatId, UserId};
use crate::people::{Include, PEOPLE};
use crate::people_of_page::PeoplePage;
use crate::schema::{self, PRIVATE_CHAT_MEMBERS_INDEX};

const MINE: &str = "/chat/me/privatechats";

/// The private chats of a user with the user's member items, and their last and unread messages.
const PRIVATE_CHATS_OF_USER: AccessPattern = AccessPattern::new(
    "privateChatsOfUser",
    &[PRIVATE_CHATS.query_index(PRIVATE_CHAT_MEMBERS_INDEX), PRIVATE_CHATS.batch_get(), PRIVATE_CHATS.query()],
);

/// The query of the list of the caller's private chats.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct PrivateChatsQuery {
    #[serde(default = "default_limit")]
    #[schema(minimum = 1, maximum = 25, default = 25)]
    pub limit: u32,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
    /// Adds `unreadCount` to each chat.
    #[serde(default)]
    pub counts: bool,
    /// `people` adds the names of the other members.
    #[schema(nullable = false)]
    pub include: Option<Include>,
}

/// A private chat in the caller's list.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyPrivateChat {
    #[serde(flatten)]
    chat: PrivateChatView,
    /// The other member.
    user_id: UserId,
    #[serde(flatten)]
    badges: Badges,
    /// Whether the caller has blocked the other member.
    blocked: bool,
}

pub fn route() -> Route {
    Route::get("listMyPrivateChats", MINE, SIGNED_IN, list)
        .summary("List the caller's private chats with what is unread, the newest chat first")
        .patterns(&[&CALLER, &PRIVATE_CHATS_OF_USER, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(MINE))
}

async fn list(cx: Context, Query(query): Query<PrivateChatsQuery>) -> Result<Json<PeoplePage<MyPrivateChat>>, Problem> {
    let caller = Caller::load(&cx).await?.id;
    let after = cx.cursor(query.cursor.as_deref())?;
    let chats = cx.access().table(&PRIVATE_CHATS_OF_USER, &schema::PRIVATE_CHATS);
    let rows = chats.query(user_partition(caller)).index(PRIVATE_CHAT_MEMBERS_INDEX).backward().after(after);
    let shown = |rows: Vec<Stored>| async move {
        let keys: Vec<_> = rows.into_iter().map(|row| row.key).collect();
        let members = chats.batch_get(&keys).await?.into_iter();
        let members = members.map(|member| member.map(|member| member.read::<ChatMember>()).transpose());
        let members: Vec<Option<ChatMember>> = members.collect::<Result<_, _>>()?;
        Ok::<_, Problem>(members.into_iter().map(|member| member.filter(|member| !member.hidden)).collect())
    };
    let (members, next) = rows.page_of(query.limit, shown).await?;
    let ids =
        members.iter().map(|member: &ChatMember| member.member_chat_key.strip_prefix("PRIVATECHAT#")?.parse().ok());
    let ids: Vec<_> = ids.collect::<Option<_>>().ok_or_else(|| Problem::internal("a member has another chat key"))?;
    let keys: Vec<_> = ids.iter().map(|chat| PrivateChatKey { chat: *chat }.into()).collect();
    let found = if keys.is_empty() { Vec::new() } else { chats.batch_get(&keys).await? };
    let clock = &cx.engines().clock;
    let rows = ids.iter().zip(&members);
    let all = rows.map(|(chat, member)| badges(chats, ChatId::Private(*chat), member, clock, query.counts));
    let all = try_join_all(all).await?;
    let mut items = Vec::new();
    for ((chat, member), badges) in found.into_iter().zip(members).zip(all) {
        let Some(chat) = chat else { continue };
        let chat: PrivateChat = chat.read()?;
        let user_id = chat.member_ids.iter().copied().find(|id| *id != caller).unwrap_or(caller);
        let blocked = member.blocked_at.is_some();
        items.push(MyPrivateChat { chat: chat.into(), user_id, badges, blocked });
    }
    let page = Page { items, next_cursor: cx.cursor_to(next)? };
    Ok(Json(PeoplePage::of(&cx, page, query.include, |chat| [chat.user_id]).await?))
}
