//! `PATCH /chat/groupchats/{chatId}`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Query, Route, Rules, Sample, Tagged, Valid, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::{BELOW_MEMBERS, GroupChat, GroupChatPath, GroupChatView, ONE, SAMPLE, touch_membership};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS, USERS};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::check_member;
use crate::keys::GroupChatMemberKey;
use crate::names::UserId;
use crate::schema;
use crate::texts::optional_text_fault;
use crate::users::not_deleted;

/// The changes of a group chat, with the checks of a new owner and the entry in the audit log.
const UPDATE_GROUP_CHAT: AccessPattern = AccessPattern::new(
    "updateGroupChat",
    &[GROUP_CHATS.update(), GROUP_CHATS.check(), COMMUNITIES.check(), COMMUNITIES.put(), USERS.check()],
);

/// The fields of a group chat that can be updated.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupChatPatch {
    #[schema(min_length = 1, max_length = 80, nullable = false)]
    name: Option<String>,
    #[schema(max_length = 1000, nullable = false)]
    description: Option<String>,
    /// Not below the number of members.
    #[schema(minimum = 2, maximum = 10000, nullable = false)]
    capacity: Option<u64>,
    /// Only the owner, or the founder of the community, updates it.
    #[schema(nullable = false)]
    private: Option<bool>,
    /// Another member, to whom the owner, or the founder of the community, hands the chat over.
    #[schema(nullable = false)]
    owner_id: Option<UserId>,
}

impl Rules for GroupChatPatch {
    fn faults(&self) -> Vec<Fault> {
        let name = self.name.iter().filter_map(|name| name_fault("/name", name));
        name.chain(self.description.iter().filter_map(|text| optional_text_fault("/description", text))).collect()
    }
}

impl GroupChatPatch {
    /// Checks that the caller may make these changes.
    fn authorize(&self, access: &GroupChatAccess) -> Result<(), Problem> {
        let of_owner = self.private.is_some() || self.owner_id.is_some();
        let of_moderator = self.name.is_some() || self.description.is_some() || self.capacity.is_some();
        if of_moderator || !of_owner {
            access.require_moderator()?;
        }
        if of_owner && access.community.founder != access.me() {
            access.require_owner()?;
        }
        Ok(())
    }

    fn apply(self, before: &GroupChat) -> GroupChat {
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.description = self.description.unwrap_or(after.description);
        after.capacity = self.capacity.unwrap_or(after.capacity);
        after.private = self.private.unwrap_or(after.private);
        after.owner = self.owner_id.unwrap_or(after.owner);
        // The owner moderates anyway.
        after.moderators.remove(&after.owner);
        after
    }
}

pub fn route() -> Route {
    Route::patch("updateGroupChat", ONE, SIGNED_IN, update)
        .summary("Update a group chat, or hand it over to another member")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &UPDATE_GROUP_CHAT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            BELOW_MEMBERS,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Mosses and liverworts"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<GroupChatPath>,
    Query(query): Query<ReasonQuery>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<GroupChatPatch>>,
) -> Result<Tagged<GroupChatView>, Problem> {
    cx.retry_stale(&tag, || async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        patch.authorize(&access)?;
        tag.check(access.stored.rev)?;
        let (before, me) = (&access.chat, access.me());
        let after = patch.clone().apply(before);
        let changes = Changes::between(before, &after)?;
        if changes.is_empty() {
            return Ok(Tagged::new(&after.into(), access.stored.rev));
        }
        // Members who join or leave change the revision, too. Without `If-Match` they do not refuse the update.
        let mut update = Action::update(&schema::GROUP_CHATS, access.stored.key.clone(), changes)
            .when(Condition::Absent("DeletingAt"))
            .when(Condition::Equals("Owner", item::text(before.owner.to_string())));
        let fits = Condition::AtMost("NumMembers", item::number(after.capacity));
        // Also for a raised capacity: another update may have raised it further, and more members have joined.
        if after.capacity != before.capacity {
            update = update.when(fits.clone());
        }
        let hands_over = before.owner != after.owner;
        if hands_over {
            update = update.if_unchanged(&access.stored);
        }
        let mut actions = vec![tag.guard(update, &access.stored)];
        if hands_over {
            let (chat, user) = (before.id, after.owner);
            actions.push(Action::check(&schema::GROUP_CHATS, GroupChatMemberKey { chat, user }));
            actions.push(check_member(before.community_id, user));
            actions.push(not_deleted(user));
            actions.push(touch_membership(user));
            let log = Log::Community(before.community_id);
            actions.push(entry(&cx.engines().clock, log, me, AuditedAction::HandOver, user, query.text())?);
        }
        let error = match cx.access().transact(&UPDATE_GROUP_CHAT, &actions).await {
            Ok(rev) => return Ok(Tagged::new(&after.into(), rev)),
            Err(error) => error,
        };
        if (1..=3).any(|index| error.failed(index).is_some()) {
            let fault = Fault::pointer("/ownerId", "is not a member of the group chat");
            return Err(Problem::unprocessable(vec![fault]));
        }
        let found = error.failed(0).and_then(|failed| failed.item.as_ref());
        Err(match found {
            Some(found) if after.capacity != before.capacity && !fits.holds(found) => {
                BELOW_MEMBERS.because("The group chat has more members than that. Remove some first.")
            }
            _ if error.failed(0).is_some() => Problem::stale(),
            _ => error.into(),
        })
    })
    .await
}
