//! `GET /chat/groupchats/{chatId}/online`

use std::collections::BTreeSet;

use serde::Serialize;
use table::{AccessPattern, EntityKey};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::feed::Feed;
use crate::access::{CALLER, LIVE as ON_LIVE};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::GroupChatPath;
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::SubscriptionKey;
use crate::names::UserId;
use crate::schema::LIVE;

const PATH: &str = "/chat/groupchats/{chatId}/online";

/// The members of a group chat who follow it.
const LIST_ONLINE: AccessPattern = AccessPattern::new("listOnline", &[ON_LIVE.query()]);

/// The most members who are listed.
const MAX_LISTED: usize = 100;

/// The members of a group chat who follow it over the socket.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Online {
    count: u64,
    /// The first 100 of them, by id.
    user_ids: Vec<UserId>,
}

pub fn route() -> Route {
    Route::get("listOnline", PATH, SIGNED_IN, list)
        .summary("List the members of a group chat who are online")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &LIST_ONLINE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/groupchats/019b76da-a800-7000-8000-000000000021/online"))
}

async fn list(
    cx: Context,
    Path(GroupChatPath { chat_id: chat }): Path<GroupChatPath>,
) -> Result<Json<Online>, Problem> {
    GroupChatAccess::load(&cx, chat).await?.require_member()?;
    let followers = cx.access().table(&LIST_ONLINE, &LIVE).query(format!("SUB#{}", Feed::GroupChat(chat)));
    let followers = followers.all().await?;
    let users: BTreeSet<UserId> =
        followers.iter().filter_map(|stored| Some(SubscriptionKey::parse(&stored.key)?.user)).collect();
    let count = users.len() as u64;
    Ok(Json(Online { count, user_ids: users.into_iter().take(MAX_LISTED).collect() }))
}
