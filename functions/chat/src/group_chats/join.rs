//! `PUT /chat/groupchats/{chatId}/members/{userId}`, by the user or a moderator.

use table::{AccessPattern, item};
use web::{Context, Created, Either, Path, Problem, Route, Sample, Tagged, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::joining::{self, Way};
use super::{CHAT_FULL, ChatMember, GroupChatMemberView, GroupChatUserPath, MEMBER, NOT_IN_COMMUNITY, REQUEST_NEEDED};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::TOO_MANY_MEMBERSHIPS;
use crate::keys::chat_partition;
use crate::names::Millisecond;

/// A new member of a group chat.
const JOIN_GROUP_CHAT: AccessPattern =
    AccessPattern::new("joinGroupChat", &[GROUP_CHATS.update(), GROUP_CHATS.put(), COMMUNITIES.check()]);

pub fn route() -> Route {
    Route::put("joinGroupChat", MEMBER, SIGNED_IN, join)
        .summary("Join a group chat that is not private, or add a member of its community; 200 for a member")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &JOIN_GROUP_CHAT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            REQUEST_NEEDED,
            problem::NOT_FOUND,
            CHAT_FULL,
            TOO_MANY_MEMBERSHIPS,
            NOT_IN_COMMUNITY,
            problem::CONFLICT,
        ])
        .sample(Sample::new("/chat/groupchats/019b76da-a800-7000-8000-000000000021/members/me").expects(200))
}

type Joined = Either<Created<GroupChatMemberView>, Tagged<GroupChatMemberView>>;

async fn join(cx: Context, Path(path): Path<GroupChatUserPath>) -> Result<Joined, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        let (chat, me) = (&access.chat, access.me());
        let user = path.user_id.id_for(me);
        let way = if user == me { Way::Joins } else { Way::Added };
        if way == Way::Added {
            access.require_moderator()?;
        } else if chat.private && access.member.is_none() {
            return Err(joining::request_needed());
        }
        let joined_at = Millisecond::now(&cx.engines().clock).to_string();
        let added_by = (way == Way::Added).then_some(me);
        let member = ChatMember { added_by, ..ChatMember::new(chat_partition(chat.id.into()), user, joined_at) };
        let actions = joining::actions(chat, user, &member, way)?;
        let error = match cx.access().transact(&JOIN_GROUP_CHAT, &actions).await {
            Ok(rev) => {
                let location = format!("/chat/groupchats/{}/members/{user}", chat.id);
                return Ok(Either::First(Created::new(location, rev, &chat.member_view(user, member))));
            }
            Err(error) => error,
        };
        if let Some(found) = error.failed(1).and_then(|failed| failed.item.clone()) {
            let rev = item::rev(&found);
            let member = item::from_item(found)?;
            return Ok(Either::Second(Tagged::new(&chat.member_view(user, member), rev)));
        }
        Err(joining::problem(error, 0, chat, way))
    })
    .await
}
