//! `GET /chat/communities/{communityId}/groupchats`

use table::{AccessPattern, EntityKey, Key, Stored};
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{GroupChat, GroupChatView, OF_COMMUNITY, SAMPLE_OF_COMMUNITY};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::CommunityPath;
use crate::communities::authorization::{CommunityAccess, LOAD_COMMUNITY};
use crate::keys::{CommunityKey, GROUP_CHAT_PREFIX, GroupChatKey, GroupChatRowKey};
use crate::schema;

const LIST_GROUP_CHATS: AccessPattern =
    AccessPattern::new("listGroupChats", &[COMMUNITIES.query(), GROUP_CHATS.batch_get()]);

pub fn route() -> Route {
    Route::get("listGroupChats", OF_COMMUNITY, SIGNED_IN, list)
        .summary("List the group chats of a community, also the private ones")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &LIST_GROUP_CHATS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_OF_COMMUNITY))
}

async fn list(
    cx: Context,
    Path(path): Path<CommunityPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<GroupChatView>, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    access.require_member()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let partition = CommunityKey { community: path.community_id }.key().pk;
    let rows = cx.access().table(&LIST_GROUP_CHATS, &schema::COMMUNITIES).query(partition);
    let rows = rows.begins_with(GROUP_CHAT_PREFIX).after(after);
    let chats = cx.access().table(&LIST_GROUP_CHATS, &schema::GROUP_CHATS);
    let of_rows = |rows: Vec<Stored>| async move {
        let chat = |row: &Stored| GroupChatRowKey::parse(&row.key).map(|key| key.chat);
        let keys: Vec<Key> = rows.iter().filter_map(chat).map(|chat| GroupChatKey { chat }.key()).collect();
        let found = chats.batch_get(&keys).await?;
        found.into_iter().map(view).collect::<Result<Vec<_>, Problem>>()
    };
    let (items, next) = rows.page_of(query.limit.0, of_rows).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// Returns none for a chat that is being deleted.
fn view(stored: Option<Stored>) -> Result<Option<GroupChatView>, Problem> {
    let chat = stored.map(|stored| stored.read::<GroupChat>()).transpose()?;
    Ok(chat.filter(|chat| chat.deleting_at.is_none()).map(GroupChatView::from))
}
