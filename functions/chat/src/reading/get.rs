//! `GET /chat/{kind}/{chatId}/read`

use table::AccessPattern;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::{OtherReader, READ, ReadState, SAMPLE, UNREAD, unread_in};
use crate::access::{CALLER, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::member_key;
use crate::messages::{ChatPath, MEMBERSHIP, Membership, membership, table_of};

/// The position of the other member of a private chat.
pub const OTHER_POSITION: AccessPattern = AccessPattern::new("otherPosition", &[PRIVATE_CHATS.get()]);

pub fn route() -> Route {
    Route::get("getReadState", READ, SIGNED_IN, get)
        .summary("Get how far the caller has read a chat, and how much is unread")
        .patterns(&[&CALLER, &MEMBERSHIP, &UNREAD, &OTHER_POSITION])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<ChatPath>) -> Result<Json<ReadState>, Problem> {
    let reader = membership(&cx, path.chat()?).await?;
    let messages = cx.access().table(&UNREAD, table_of(reader.chat));
    let unread = unread_in(messages, reader.chat, &reader.member).await?.messages.len();
    Ok(Json(state(&cx, &reader, &reader.member, unread).await?))
}

/// Returns a member's state with that of the other member of a private chat, by the pattern [`OTHER_POSITION`].
pub async fn state(
    cx: &Context,
    reader: &Membership,
    member: &ChatMember,
    unread_count: usize,
) -> Result<ReadState, Problem> {
    let other = match reader.other() {
        Some(user_id) => {
            let members = cx.access().table(&OTHER_POSITION, table_of(reader.chat));
            let other = members.get(member_key(reader.chat, user_id)).await?;
            let other: Option<ChatMember> = other.map(|other| other.read()).transpose()?;
            Some(OtherReader { user_id, last_read_id: other.and_then(|other| other.last_read_id) })
        }
        None => None,
    };
    let (last_read_id, mentions_unread) = (member.last_read_id, member.mentions_unread);
    Ok(ReadState { last_read_id, unread_count, mentions_unread, other })
}
