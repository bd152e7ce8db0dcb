//! `PATCH /chat/privatechats/{chatId}`, by either member.

use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::{Context, IfMatch, MergePatch, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, PRIVATE_CHAT, PrivateChat, PrivateChatPath, PrivateChatView, SAMPLE, load};
use crate::access::{CALLER, PRIVATE_CHATS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::schema;

/// The name and the description of a private chat.
const UPDATE_PRIVATE_CHAT: AccessPattern = AccessPattern::new("updatePrivateChat", &[PRIVATE_CHATS.update()]);

/// The fields of a private chat that can be updated.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateChatPatch {
    #[schema(max_length = 80, nullable = false)]
    name: Option<String>,
    #[schema(max_length = 1000, nullable = false)]
    description: Option<String>,
}

pub fn route() -> Route {
    Route::patch("updatePrivateChat", ONE, SIGNED_IN, update)
        .summary("Update the name or the description of a private chat, for both members")
        .patterns(&[&CALLER, &PRIVATE_CHAT, &UPDATE_PRIVATE_CHAT])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Weekend"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<PrivateChatPath>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<PrivateChatPatch>,
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
        let rev = cx.access().write(&UPDATE_PRIVATE_CHAT, update.if_unchanged(&stored)).await?;
        Ok(Tagged::new(&after.into(), rev))
    })
    .await
}
