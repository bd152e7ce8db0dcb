//! `DELETE /chat/communities/{communityId}/moderators/{userId}`

use table::{AccessPattern, Action, Condition, item};
use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{CommunityUserPath, MODERATOR, OWNER_MUST_TRANSFER, SAMPLE_MODERATOR};
use crate::access::{CALLER, COMMUNITIES};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::moderators::{unchanged, without};
use crate::schema;

const UNSET_MODERATOR: AccessPattern =
    AccessPattern::new("unsetCommunityModerator", &[COMMUNITIES.update(), COMMUNITIES.put()]);

pub fn route() -> Route {
    Route::delete("unsetCommunityModerator", MODERATOR, SIGNED_IN, unset)
        .summary("Remove a moderator from a community; the user stays a member")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &UNSET_MODERATOR])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWNER_MUST_TRANSFER, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_MODERATOR))
}

async fn unset(
    cx: Context,
    Path(path): Path<CommunityUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    cx.retry(|| async {
        let access = CommunityAccess::load(&cx, path.community_id).await?;
        access.require_founder()?;
        let (community, me, user) = (&access.community, access.me(), path.user_id.id_for(access.me()));
        if community.founder == user {
            return Err(OWNER_MUST_TRANSFER.because("The founder moderates until the community is handed over."));
        }
        if !community.moderators.contains(&user) {
            return Err(Problem::not_found());
        }
        let log = Log::Community(community.id);
        let actions = [
            Action::update(&schema::COMMUNITIES, access.stored.key.clone(), without(&community.moderators, user)?)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Founder", item::text(me.to_string())))
                .when(unchanged(&community.moderators)?),
            entry(&cx.engines().clock, log, me, AuditedAction::UnsetModerator, user, query.text())?,
        ];
        match cx.access().transact(&UNSET_MODERATOR, &actions).await {
            Ok(_) => Ok(NoContent),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
