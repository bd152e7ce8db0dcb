//! `GET /chat/groupchats/{chatId}/requests/{requestId}` and `GET /chat/me/requests/{requestId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::load::{GET_REQUEST, request_of_chat, request_of_user};
use super::{ChatRequestPath, MY_REQUEST, ONE, RequestPath, RequestView, SAMPLE, SAMPLE_MINE};
use crate::access::CALLER;
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};

pub fn of_chat_route() -> Route {
    Route::get("getChatRequest", ONE, SIGNED_IN, get_of_chat)
        .summary("Get a request to join a group chat, as its moderator")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &GET_REQUEST])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

pub fn mine_route() -> Route {
    Route::get("getMyRequest", MY_REQUEST, SIGNED_IN, get_mine)
        .summary("Get a request of the caller")
        .patterns(&[&CALLER, &GET_REQUEST])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_MINE))
}

async fn get_of_chat(cx: Context, Path(path): Path<ChatRequestPath>) -> Result<Tagged<RequestView>, Problem> {
    let access = GroupChatAccess::load(&cx, path.chat_id).await?;
    access.require_moderator()?;
    let (request, rev) = request_of_chat(&cx, path.chat_id, path.request_id).await?;
    Ok(Tagged::new(&request.into(), rev))
}

async fn get_mine(cx: Context, Path(path): Path<RequestPath>) -> Result<Tagged<RequestView>, Problem> {
    let user = Caller::load(&cx).await?.id;
    let (request, rev) = request_of_user(&cx, user, path.request_id).await?;
    Ok(Tagged::new(&request.into(), rev))
}
