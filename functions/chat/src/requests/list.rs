//! `GET /chat/groupchats/{chatId}/requests` and `GET /chat/me/requests`

use serde::Deserialize;
use table::{AccessPattern, EntityKey};
use utoipa::ToSchema;
use web::{Context, Json, Limit, Page, Path, Problem, Query, Route, Sample, problem};

use super::{ChatRequest, OF_CHAT, OF_ME, RequestView, SAMPLE_OF_CHAT};
use crate::access::{CALLER, CHAT_REQUESTS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::group_chats::GroupChatPath;
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::{GroupChatKey, REQUEST_PREFIX, user_partition};
use crate::people::{Include, PEOPLE};
use crate::people_of_page::PeoplePage;
use crate::schema::{self, PENDING_INDEX};

/// The pending or all requests of a chat or of a user.
const LIST_REQUESTS: AccessPattern =
    AccessPattern::new("listRequests", &[CHAT_REQUESTS.query(), CHAT_REQUESTS.query_index(PENDING_INDEX)]);

/// Which requests are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum Listed {
    #[default]
    Pending,
    All,
}

/// The query of a list of requests.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RequestsQuery {
    #[serde(default)]
    #[schema(inline)]
    status: Listed,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// The query of a list of a chat's requests.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ChatRequestsQuery {
    #[serde(default)]
    #[schema(inline)]
    status: Listed,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// `people` adds the names of the users whom the items name.
    #[schema(nullable = false)]
    include: Option<Include>,
}

pub fn of_chat_route() -> Route {
    Route::get("listChatRequests", OF_CHAT, SIGNED_IN, list_of_chat)
        .summary("List the requests to join a group chat, the newest first")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &LIST_REQUESTS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_OF_CHAT))
}

pub fn mine_route() -> Route {
    Route::get("listMyRequests", OF_ME, SIGNED_IN, list_mine)
        .summary("List the caller's requests to join group chats, the newest first")
        .patterns(&[&CALLER, &LIST_REQUESTS])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(OF_ME))
}

async fn list_of_chat(
    cx: Context,
    Path(path): Path<GroupChatPath>,
    Query(query): Query<ChatRequestsQuery>,
) -> Result<Json<PeoplePage<RequestView>>, Problem> {
    let access = GroupChatAccess::load(&cx, path.chat_id).await?;
    access.require_moderator()?;
    let ChatRequestsQuery { status, limit, cursor, include } = query;
    let partition = GroupChatKey { chat: path.chat_id }.key().pk;
    let page = list(&cx, partition, RequestsQuery { status, limit, cursor }).await?;
    let users = |request: &RequestView| [Some(request.user_id), request.settled_by].into_iter().flatten();
    Ok(Json(PeoplePage::of(&cx, page, include, users).await?))
}

async fn list_mine(cx: Context, Query(query): Query<RequestsQuery>) -> Result<Page<RequestView>, Problem> {
    let user = Caller::load(&cx).await?.id;
    list(&cx, user_partition(user), query).await
}

async fn list(cx: &Context, partition: String, query: RequestsQuery) -> Result<Page<RequestView>, Problem> {
    let after = cx.cursor(query.cursor.as_deref())?;
    let requests = cx.access().table(&LIST_REQUESTS, &schema::CHAT_REQUESTS).query(partition).backward().after(after);
    let requests = match query.status {
        Listed::Pending => requests.index(PENDING_INDEX),
        Listed::All => requests.begins_with(REQUEST_PREFIX),
    };
    let page = requests.page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<ChatRequest>()?.into()))
}
