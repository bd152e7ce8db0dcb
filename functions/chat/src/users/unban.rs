//! `DELETE /chat/users/{userId}/ban`

use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::ban::{BAN, BAN_USER, SAMPLE_BAN, set};
use super::path::UserPath;
use crate::access::CALLER;
use crate::audit::{AuditedAction, ReasonQuery};
use crate::caller::{BANNED, Caller, SIGNED_IN};

pub fn route() -> Route {
    Route::delete("unbanUser", BAN, SIGNED_IN, unban)
        .summary("Remove the ban of a user from the platform")
        .patterns(&[&CALLER, &BAN_USER])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BAN))
}

async fn unban(
    cx: Context,
    Path(UserPath { user_id }): Path<UserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    let caller = Caller::admin(&cx).await?;
    let user = user_id.id(&cx).await?;
    set(&cx, &caller, user, None, AuditedAction::UnbanUser, query.text()).await?;
    Ok(NoContent)
}
