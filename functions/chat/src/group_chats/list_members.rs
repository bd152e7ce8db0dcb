//! `GET /chat/groupchats/{chatId}/members`

use table::{AccessPattern, EntityKey};
use web::{Context, Json, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::{ChatMember, GroupChatMemberView, GroupChatPath, MEMBERS, SAMPLE_MEMBERS};
use crate::access::{CALLER, GROUP_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{GroupChatKey, GroupChatMemberKey, MEMBER_PREFIX};
use crate::people::PEOPLE;
use crate::people_of_page::{PeoplePage, PeopleQuery};
use crate::schema;

const LIST_MEMBERS: AccessPattern = AccessPattern::new("listGroupChatMembers", &[GROUP_CHATS.query()]);

pub fn route() -> Route {
    Route::get("listGroupChatMembers", MEMBERS, SIGNED_IN, list)
        .summary("List the members of a group chat")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &LIST_MEMBERS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_MEMBERS))
}

async fn list(
    cx: Context,
    Path(path): Path<GroupChatPath>,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<GroupChatMemberView>>, Problem> {
    let access = GroupChatAccess::load(&cx, path.chat_id).await?;
    access.require_member()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let partition = GroupChatKey { chat: path.chat_id }.key().pk;
    let members = cx.access().table(&LIST_MEMBERS, &schema::GROUP_CHATS).query(partition);
    let page = members.begins_with(MEMBER_PREFIX).after(after).page(query.limit.0).await?;
    let page = cx.page(page, |stored| {
        let key = GroupChatMemberKey::parse(&stored.key).ok_or_else(|| Problem::internal("a member without a user"))?;
        Ok(access.chat.member_view(key.user, stored.read::<ChatMember>()?))
    })?;
    let users = |member: &GroupChatMemberView| [Some(member.user_id), member.added_by].into_iter().flatten();
    Ok(Json(PeoplePage::of(&cx, page, query.include, users).await?))
}
