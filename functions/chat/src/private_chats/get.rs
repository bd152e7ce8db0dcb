//! `GET /chat/privatechats/{chatId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, PRIVATE_CHAT, PrivateChatPath, PrivateChatView, SAMPLE, load};
use crate::access::CALLER;
use crate::caller::{BANNED, Caller, SIGNED_IN};

pub fn route() -> Route {
    Route::get("getPrivateChat", ONE, SIGNED_IN, get)
        .summary("Get a private chat of the caller")
        .patterns(&[&CALLER, &PRIVATE_CHAT])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<PrivateChatPath>) -> Result<Tagged<PrivateChatView>, Problem> {
    let caller = Caller::load(&cx).await?;
    let (chat, stored) = load(&cx, path.chat_id).await?;
    if !chat.member_ids.contains(&caller.id) {
        return Err(Problem::not_found());
    }
    Ok(Tagged::new(&chat.into(), stored.rev))
}
