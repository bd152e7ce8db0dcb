//! `DELETE /chat/communities/{communityId}/members/{userId}`, by the user or a moderator.

use jobs::DoneOrAccepted;
use web::{Context, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::departure::{BEGIN_DEPARTURE, Cause, LOAD_DEPARTURE, depart};
use super::{CommunityUserPath, MEMBER, OWNER_MUST_TRANSFER, SAMPLE_BOB};
use crate::access::{CALLER, LEASE, LEAVE_COMMUNITY};
use crate::audit::ReasonQuery;
use crate::caller::{BANNED, SIGNED_IN};
use crate::jobs::ChatJobs;
use crate::live::end::END_SUBSCRIPTIONS;

pub fn route() -> Route {
    Route::delete("leaveCommunity", MEMBER, SIGNED_IN, leave)
        .summary("Leave a community with all its group chats, or remove a member")
        .patterns(&[
            &CALLER,
            &LOAD_COMMUNITY,
            &LOAD_DEPARTURE,
            &BEGIN_DEPARTURE,
            &LEASE,
            &LEAVE_COMMUNITY,
            &END_SUBSCRIPTIONS,
        ])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWNER_MUST_TRANSFER, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BOB))
}

async fn leave(
    cx: Context,
    Path(path): Path<CommunityUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<DoneOrAccepted<ChatJobs>, Problem> {
    cx.retry(|| async {
        let access = CommunityAccess::load(&cx, path.community_id).await?;
        let (me, user) = (access.me(), path.user_id.id_for(access.me()));
        let cause = if user == me {
            Cause::Left
        } else {
            access.require_moderator()?;
            Cause::Removed { by: me, reason: query.text().to_owned() }
        };
        depart(&cx, &access.community, user, cause).await
    })
    .await
}
