//! `DELETE /chat/communities/{communityId}/bans/{userId}`

use table::{AccessPattern, Action};
use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{BAN, CommunityUserPath, SAMPLE_BAN};
use crate::access::{CALLER, COMMUNITIES};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::BanKey;
use crate::schema;

const UNBAN: AccessPattern = AccessPattern::new("unbanFromCommunity", &[COMMUNITIES.delete(), COMMUNITIES.put()]);

pub fn route() -> Route {
    Route::delete("unbanFromCommunity", BAN, SIGNED_IN, unban)
        .summary("Remove the ban of a user from a community")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &UNBAN])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BAN))
}

async fn unban(
    cx: Context,
    Path(path): Path<CommunityUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    access.require_moderator()?;
    let (community, me, user) = (access.community.id, access.me(), path.user_id.id_for(access.me()));
    let log = Log::Community(community);
    let actions = [
        Action::delete(&schema::COMMUNITIES, BanKey { community, user }),
        entry(&cx.engines().clock, log, me, AuditedAction::UnbanMember, user, query.text())?,
    ];
    match cx.access().transact(&UNBAN, &actions).await {
        Ok(_) => Ok(NoContent),
        Err(error) if error.failed(0).is_some() => Err(Problem::not_found()),
        Err(error) => Err(error.into()),
    }
}
