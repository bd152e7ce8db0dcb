//! Reactions to messages, and the operations on them.

mod count;
pub mod kind;
pub mod list;
pub mod react;
pub mod unreact;

use serde::Deserialize;
use table::{AccessPattern, Stored};
use utoipa::ToSchema;
use web::{Context, Problem};

use crate::access::{GROUP_CHATS, PRIVATE_CHATS};
use crate::keys::reaction_key;
use crate::messages::{ChatKind, Reaction, chat_id, table_of};
use crate::names::{ChatId, MessageId, UserId};
use kind::ReactionKind;

const LIST: &str = "/chat/{kind}/{chatId}/messages/{messageId}/reactions";
const ONE: &str = "/chat/{kind}/{chatId}/messages/{messageId}/reactions/{reaction}";

/// The reactions and the reaction of the samples.
const SAMPLE_LIST: &str =
    "/chat/privatechats/019b76da-a800-7000-8000-000000000031/messages/019b76da-a800-7000-8000-000000000041/reactions";
const SAMPLE: &str = "/chat/privatechats/019b76da-a800-7000-8000-000000000031/messages/019b76da-a800-7000-8000-000000000041/reactions/:wave:";

/// The most kinds of reactions to a message.
const MAX_KINDS: usize = 20;

/// The reactions of a user to a message.
const REACTION: AccessPattern = AccessPattern::new("reaction", &[GROUP_CHATS.get(), PRIVATE_CHATS.get()]);

/// The path of a reaction.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReactionPath {
    kind: ChatKind,
    #[schema(example = "019b76da-a800-7000-8000-000000000031")]
    chat_id: String,
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000041")]
    message_id: MessageId,
    /// One emoji, or a name such as `:wave:`.
    #[schema(example = ":wave:")]
    reaction: String,
}

impl ReactionPath {
    fn chat(&self) -> Result<ChatId, Problem> {
        chat_id(self.kind, &self.chat_id)
    }

    fn reaction(&self) -> Result<ReactionKind, Problem> {
        self.reaction.parse().map_err(|fault| Problem::faults(vec![fault]))
    }
}

/// Reads the reactions of a user to a message by the pattern [`REACTION`].
async fn own(
    cx: &Context,
    chat: ChatId,
    message: MessageId,
    user: UserId,
) -> Result<Option<(Reaction, Stored)>, Problem> {
    let reactions = cx.access().table(&REACTION, table_of(chat));
    let stored = reactions.get_consistent(reaction_key(chat, message, user)).await?;
    stored.map(|stored| Ok((stored.read()?, stored))).transpose()
}
