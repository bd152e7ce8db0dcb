//! `GET /chat/groupchats/{chatId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::{GroupChatPath, GroupChatView, ONE, SAMPLE};
use crate::access::CALLER;
use crate::caller::{BANNED, SIGNED_IN};

pub fn route() -> Route {
    Route::get("getGroupChat", ONE, SIGNED_IN, get)
        .summary("Get a group chat, as a member of its community")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<GroupChatPath>) -> Result<Tagged<GroupChatView>, Problem> {
    let access = GroupChatAccess::load(&cx, path.chat_id).await?;
    Ok(Tagged::new(&access.chat.into(), access.stored.rev))
}
