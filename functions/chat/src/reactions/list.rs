//! `GET /chat/{kind}/{chatId}/messages/{messageId}/reactions`

use std::collections::BTreeSet;

use serde::Serialize;
use table::{AccessPattern, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Page, Path, Problem, Query, Route, Sample, problem};

use super::{LIST, SAMPLE_LIST};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::chat_partition;
use crate::messages::{MEMBERSHIP, MESSAGE, MessagePath, Reaction, load, membership, table_of};
use crate::names::{MessageId, UserId};
use crate::people::PEOPLE;
use crate::people_of_page::{PeoplePage, PeopleQuery};

/// The reactions to a message.
const REACTIONS: AccessPattern = AccessPattern::new("reactions", &[GROUP_CHATS.query(), PRIVATE_CHATS.query()]);

/// The reactions of a person to a message.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonReactions {
    user_id: UserId,
    kinds: BTreeSet<String>,
}

pub fn route() -> Route {
    Route::get("listReactions", LIST, SIGNED_IN, list)
        .summary("List who reacted to a message")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &REACTIONS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_LIST))
}

async fn list(
    cx: Context,
    Path(path): Path<MessagePath>,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<PersonReactions>>, Problem> {
    let chat = path.chat()?;
    membership(&cx, chat).await?;
    let (message, _) = load(&cx, chat, path.message_id).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let page = if message.deleted_at.is_some() {
        // The reactions to a deleted message are deleted after it.
        Page { items: Vec::new(), next_cursor: None }
    } else {
        let reactions = cx.access().table(&REACTIONS, table_of(chat)).query(chat_partition(chat));
        let reactions = reactions.begins_with(format!("REACTION#{}#", message.id)).after(after);
        cx.page(reactions.page(query.limit.0).await?, |stored| view(&stored, message.id))?
    };
    Ok(Json(PeoplePage::of(&cx, page, query.include, |reactions| [reactions.user_id]).await?))
}

fn view(stored: &Stored, message: MessageId) -> Result<PersonReactions, Problem> {
    let user = stored.key.sk.as_deref().and_then(|sk| sk.strip_prefix(&format!("REACTION#{message}#")));
    let user_id = user.and_then(|user| user.parse().ok());
    let user_id = user_id.ok_or_else(|| Problem::internal("a reaction has another key"))?;
    Ok(PersonReactions { user_id, kinds: stored.read::<Reaction>()?.kinds })
}
