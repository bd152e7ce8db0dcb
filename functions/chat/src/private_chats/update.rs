//! `PATCH /chat/privatechats/{chatId}`, by either member.

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{ONE, PRIVATE_CHAT, PrivateChat, PrivateChatPath, PrivateChatView, SAMPLE, load};
use crate::access::{CALLER, PRIVATE_CHATS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::PrivateChatMemberKey;
use crate::messages::{BLOCKED, blocked};
use crate::schema;
use crate::texts::optional_text_fault;

/// The name and the description of a private chat in which the other member has not blocked the caller.
const UPDATE_PRIVATE_CHAT: AccessPattern =
    AccessPattern::new("updatePrivateChat", &[PRIVATE_CHATS.update(), PRIVATE_CHATS.check()]);

/// The fields of a private chat that can be updated.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateChatPatch {
    #[schema(max_length = 80, nullable = false)]
    name: Option<String>,
    #[schema(max_length = 1000, nullable = false)]
    description: Option<String>,
}

impl Rules for PrivateChatPatch {
    fn faults(&self) -> Vec<Fault> {
        // An empty name removes it.
        let name = self.name.iter().filter(|name| !name.is_empty()).filter_map(|name| name_fault("/name", name));
        name.chain(self.description.iter().filter_map(|text| optional_text_fault("/description", text))).collect()
    }
}

pub fn route() -> Route {
    Route::patch("updatePrivateChat", ONE, SIGNED_IN, update)
        .summary("Update the name or the description of a private chat, for both members")
        .patterns(&[&CALLER, &PRIVATE_CHAT, &UPDATE_PRIVATE_CHAT])
        .problems(&[problem::FORBIDDEN, BANNED, BLOCKED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Weekend"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<PrivateChatPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<PrivateChatPatch>>,
) -> Result<Tagged<PrivateChatView>, Problem> {
    let caller = Caller::load(&cx).await?;
    cx.retry_stale(&tag, || async {
        let (before, stored) = load(&cx, path.chat_id).await?;
        if !before.member_ids.contains(&caller.id) {
            return Err(Problem::not_found());
        }
        tag.check(stored.rev)?;
        let after = PrivateChat {
            name: patch.name.clone().unwrap_or_else(|| before.name.clone()),
            description: patch.description.clone().unwrap_or_else(|| before.description.clone()),
            ..before.clone()
        };
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let update = Action::update(&schema::PRIVATE_CHATS, stored.key.clone(), Changes::between(&before, &after)?);
        // The other member sees the name and the description, so a block also stops these.
        let others = before.member_ids.iter().filter(|member| **member != caller.id);
        let others = others.map(|user| PrivateChatMemberKey { chat: path.chat_id, user: *user });
        let others = others.map(|other| Action::check(&schema::PRIVATE_CHATS, other));
        let mut actions = vec![update.if_unchanged(&stored)];
        actions.extend(others.map(|other| other.when(Condition::Absent("BlockedAt"))));
        match cx.access().transact(&UPDATE_PRIVATE_CHAT, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) if error.failed(1).is_some() => Err(blocked()),
            // The other member has updated the chat meanwhile.
            Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
