//! `GET /chat/{kind}/{chatId}/messages/{messageId}/readers`

use serde::Serialize;
use table::{AccessPattern, Stored};
use utoipa::ToSchema;
use web::{Context, Page, Path, Problem, Query, Route, Sample, problem};

use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::MEMBER_PREFIX;
use crate::messages::{MEMBERSHIP, MESSAGE, MessagePath, load, membership, partition_of, table_of};
use crate::names::{MessageId, UserId};
use crate::people::{PEOPLE, PersonName};
use crate::people_of_page::{PeopleQuery, people};

const READERS: &str = "/chat/{kind}/{chatId}/messages/{messageId}/readers";
const SAMPLE: &str =
    "/chat/privatechats/019b76da-a800-7000-8000-000000000031/messages/019b76da-a800-7000-8000-000000000041/readers";

/// The members of a chat with their positions.
const POSITIONS: AccessPattern = AccessPattern::new("positions", &[GROUP_CHATS.query(), PRIVATE_CHATS.query()]);

/// A member who has read a message.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reader {
    user_id: UserId,
    /// With `include=people`.
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<PersonName>,
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
) -> Result<Page<Reader>, Problem> {
    let chat = path.chat()?;
    membership(&cx, chat).await?;
    let (message, _) = load(&cx, chat, path.message_id).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let members = cx.access().table(&POSITIONS, table_of(chat)).query(partition_of(chat));
    let members = members.begins_with(MEMBER_PREFIX).after(after);
    let readers = |page: Vec<Stored>| async move {
        page.iter().map(|member| reader(member, message.id)).collect::<Result<Vec<_>, Problem>>()
    };
    let (mut items, next) = members.page_of(query.limit.0, readers).await?;
    let mut people = people(&cx, query.include, items.iter().map(|item: &Reader| item.user_id)).await?;
    for item in &mut items {
        item.person = people.remove(&item.user_id);
    }
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// Returns a member who has read up to the message.
fn reader(stored: &Stored, message: MessageId) -> Result<Option<Reader>, Problem> {
    let user = stored.key.sk.as_deref().and_then(|sk| sk.strip_prefix(MEMBER_PREFIX));
    let user_id = user.and_then(|user| user.parse().ok());
    let user_id = user_id.ok_or_else(|| Problem::internal("a member has another key"))?;
    let position = stored.read::<ChatMember>()?.last_read_id.filter(|position| *position >= message);
    Ok(position.map(|last_read_id| Reader { user_id, person: None, last_read_id }))
}
