//! `DELETE /chat/privatechats/{chatId}/block`

use table::{Changes, Condition};
use web::{Context, NoContent, Path, Problem, Route, Sample, problem};

use super::block::{SET_BLOCK, set};
use super::{BLOCK, PrivateChatPath, SAMPLE_BLOCK};
use crate::access::CALLER;
use crate::caller::{BANNED, Caller, SIGNED_IN};

pub fn route() -> Route {
    Route::delete("unblock", BLOCK, SIGNED_IN, unblock)
        .summary("Remove the block of the other member of a private chat")
        .patterns(&[&CALLER, &SET_BLOCK])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BLOCK))
}

async fn unblock(cx: Context, Path(path): Path<PrivateChatPath>) -> Result<NoContent, Problem> {
    let caller = Caller::load(&cx).await?;
    set(&cx, path.chat_id, caller.id, Changes::new().remove("BlockedAt"), Condition::Present("BlockedAt")).await
}
