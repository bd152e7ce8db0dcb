//! `PUT /chat/communities/{communityId}/moderators/{userId}`

use table::{AccessPattern, Action, Condition, item};
use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{CommunityUserPath, MODERATOR, SAMPLE_MODERATOR, check_member};
use crate::access::{CALLER, COMMUNITIES};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::moderators::{TOO_MANY_MODERATORS, unchanged, with};
use crate::schema;

const SET_MODERATOR: AccessPattern =
    AccessPattern::new("setCommunityModerator", &[COMMUNITIES.update(), COMMUNITIES.check(), COMMUNITIES.put()]);

pub fn route() -> Route {
    Route::put("setCommunityModerator", MODERATOR, SIGNED_IN, set)
        .summary("Add a moderator to a community")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &SET_MODERATOR])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, TOO_MANY_MODERATORS, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_MODERATOR))
}

async fn set(
    cx: Context,
    Path(path): Path<CommunityUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    cx.retry(|| async {
        let access = CommunityAccess::load(&cx, path.community_id).await?;
        access.require_founder()?;
        let (community, me, user) = (&access.community, access.me(), path.user_id.id_for(access.me()));
        if community.is_moderated_by(user) {
            return Ok(NoContent);
        }
        let (log, changes) = (Log::Community(community.id), with(&community.moderators, user)?);
        let actions = [
            Action::update(&schema::COMMUNITIES, access.stored.key.clone(), changes)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Founder", item::text(me.to_string())))
                .when(unchanged(&community.moderators)?),
            check_member(community.id, user),
            entry(&cx.engines().clock, log, me, AuditedAction::SetModerator, user, query.text())?,
        ];
        match cx.access().transact(&SET_MODERATOR, &actions).await {
            Ok(_) => Ok(NoContent),
            // The user is not a member.
            Err(error) if error.failed(1).is_some() => Err(Problem::not_found()),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
