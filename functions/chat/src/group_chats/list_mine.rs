//! `GET /chat/me/groupchats`

use futures::future::try_join_all;
use serde::Serialize;
use table::{AccessPattern, EntityKey, Key, Stored};
use utoipa::ToSchema;
use web::{Context, Page, Problem, Query, Route, Sample, problem};

use super::{ChatMember, GroupChat, GroupChatRole, GroupChatView};
use crate::access::{CALLER, GROUP_CHATS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::chat_badges::{Badges, ChatsQuery, badges};
use crate::keys::{GroupChatKey, GroupChatMemberKey, user_partition};
use crate::names::{ChatId, UserId};
use crate::schema::{self, GROUP_CHAT_MEMBERS_INDEX};

const MINE: &str = "/chat/me/groupchats";

/// The group chats of a user with the user's memberships, and their last and unread messages.
const LIST_MINE: AccessPattern = AccessPattern::new(
    "listMyGroupChats",
    &[GROUP_CHATS.query_index(GROUP_CHAT_MEMBERS_INDEX), GROUP_CHATS.batch_get(), GROUP_CHATS.query()],
);

/// A group chat of the caller.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyGroupChat {
    #[serde(flatten)]
    chat: GroupChatView,
    role: GroupChatRole,
    #[serde(flatten)]
    badges: Badges,
}

pub fn route() -> Route {
    Route::get("listMyGroupChats", MINE, SIGNED_IN, list)
        .summary("List the caller's group chats without the hidden ones, the newest first")
        .patterns(&[&CALLER, &LIST_MINE])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(MINE))
}

async fn list(cx: Context, Query(query): Query<ChatsQuery>) -> Result<Page<MyGroupChat>, Problem> {
    let user = Caller::load(&cx).await?.id;
    let after = cx.cursor(query.cursor.as_deref())?;
    let chats = cx.access().table(&LIST_MINE, &schema::GROUP_CHATS);
    let mine = chats.query(user_partition(user)).index(GROUP_CHAT_MEMBERS_INDEX).backward().after(after);
    let of_rows = |rows: Vec<Stored>| async move {
        let rows = rows.iter().map(|row| GroupChatMemberKey::parse(&row.key));
        let rows: Vec<Option<GroupChatMemberKey>> = rows.collect();
        let members: Vec<Key> = rows.iter().flatten().map(EntityKey::key).collect();
        let items: Vec<Key> = rows.iter().flatten().map(|row| GroupChatKey { chat: row.chat }.key()).collect();
        let found = chats.batch_get(&[members, items].concat()).await?;
        let (members, items) = found.split_at(found.len() / 2);
        members.iter().zip(items).map(|(member, chat)| listed(member.as_ref(), chat.as_ref())).collect()
    };
    let (listed, next) = mine.page_of::<_, Problem, _, _>(query.limit, of_rows).await?;
    let views = listed.into_iter().map(|(chat, member)| view(&cx, user, chat, member, query.counts));
    Ok(Page { items: try_join_all(views).await?, next_cursor: cx.cursor_to(next)? })
}

/// Returns none for a chat that is hidden, being deleted or left meanwhile.
fn listed(member: Option<&Stored>, chat: Option<&Stored>) -> Result<Option<(GroupChat, ChatMember)>, Problem> {
    let (Some(member), Some(chat)) = (member, chat) else { return Ok(None) };
    let (member, chat): (ChatMember, GroupChat) = (member.read()?, chat.read()?);
    let is_listed = !member.hidden && chat.deleting_at.is_none();
    Ok(is_listed.then_some((chat, member)))
}

async fn view(
    cx: &Context,
    user: UserId,
    chat: GroupChat,
    member: ChatMember,
    counts: bool,
) -> Result<MyGroupChat, Problem> {
    let messages = cx.access().table(&LIST_MINE, &schema::GROUP_CHATS);
    let badges = badges(messages, ChatId::Group(chat.id), &member, &cx.engines().clock, counts).await?;
    let role = chat.role_of(user);
    Ok(MyGroupChat { chat: chat.into(), role, badges })
}
