//! `GET /chat/{kind}/{chatId}/messages/{messageId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{
    MEMBERSHIP, MESSAGE, MessagePath, MessageView, ONE, OWN_REACTIONS, SAMPLE, add_own_reactions, load, membership,
};
use crate::access::CALLER;
use crate::caller::{BANNED, SIGNED_IN};

pub fn route() -> Route {
    Route::get("getMessage", ONE, SIGNED_IN, get)
        .summary("Get a message with the caller's reactions")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &OWN_REACTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<MessagePath>) -> Result<Tagged<MessageView>, Problem> {
    let chat = path.chat()?;
    let reader = membership(&cx, chat).await?;
    let (message, stored) = load(&cx, chat, path.message_id).await?;
    let mut view = [MessageView::new(message, stored.rev)];
    add_own_reactions(cx.access(), chat, reader.caller.id, &mut view).await?;
    let [view] = view;
    Ok(Tagged::new(&view, stored.rev))
}
