//! `GET /chat/{kind}/{chatId}/messages/{messageId}/readers`

use serde::Serialize;
use table::{AccessPattern, Position, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Page, Path, Problem, Query, Route, Sample, problem};

use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::{MEMBER_PREFIX, chat_partition};
use crate::messages::{MEMBERSHIP, MESSAGE, MessagePath, load, membership, table_of};
use crate::names::{MessageId, UserId};
use crate::people::PEOPLE;
use crate::people_of_page::{PeoplePage, PeopleQuery};

const READERS: &str = "/chat/{kind}/{chatId}/messages/{messageId}/readers";
const SAMPLE: &str =
    "/chat/privatechats/019b76da-a800-7000-8000-000000000031/messages/019b76da-a800-7000-8000-000000000041/readers";

/// The members of a chat with their positions.
const POSITIONS: AccessPattern = AccessPattern::new("positions", &[GROUP_CHATS.query(), PRIVATE_CHATS.query()]);

/// The most members that one query reads.
const MAX_ROWS: u32 = 1000;

/// A member who has read a message.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reader {
    user_id: UserId,
    last_read_id: MessageId,
}

pub fn route() -> Route {
    Route::get("listReaders", READERS, SIGNED_IN, list)
        .summary("List the members who have read up to a message or further, the sender among them")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &POSITIONS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn list(
    cx: Context,
    Path(path): Path<MessagePath>,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<Reader>>, Problem> {
    let chat = path.chat()?;
    membership(&cx, chat).await?;
    let (message, _) = load(&cx, chat, path.message_id).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let members = cx.access().table(&POSITIONS, table_of(chat)).query(chat_partition(chat));
    let members = members.begins_with(MEMBER_PREFIX).after(after);
    let (items, next) = readers(&members, message.id, query.limit.0).await?;
    let page = Page { items, next_cursor: cx.cursor_to(next)? };
    Ok(Json(PeoplePage::of(&cx, page, query.include, |reader| [reader.user_id]).await?))
}

/// Returns the first readers of a message among members, and the position after them if there are others.
async fn readers(
    members: &table::Query<'_>,
    message: MessageId,
    limit: u32,
) -> Result<(Vec<Reader>, Option<Position>), Problem> {
    let (mut found, mut last) = (Vec::new(), None);
    let (mut rest, mut rows) = (members.clone(), limit.saturating_add(1));
    loop {
        let page = rest.page(rows).await?;
        for stored in page.items {
            let Some(reader) = reader(&stored, message)? else { continue };
            if found.len() as u64 == u64::from(limit) {
                return Ok((found, last.as_ref().and_then(|last| members.position_of(last))));
            }
            found.push(reader);
            last = Some(stored);
        }
        if page.next.is_none() {
            return Ok((found, None));
        }
        // In a large chat few members may have read a new message.
        rows = rows.saturating_mul(2).min(MAX_ROWS);
        rest = rest.after(page.next);
    }
}

/// Returns a member who has read up to the message.
fn reader(stored: &Stored, message: MessageId) -> Result<Option<Reader>, Problem> {
    let user = stored.key.sk.as_deref().and_then(|sk| sk.strip_prefix(MEMBER_PREFIX));
    let user_id = user.and_then(|user| user.parse().ok());
    let user_id = user_id.ok_or_else(|| Problem::internal("a member has another key"))?;
    let position = stored.read::<ChatMember>()?.last_read_id.filter(|position| *position >= message);
    Ok(position.map(|last_read_id| Reader { user_id, last_read_id }))
}
