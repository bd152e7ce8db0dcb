//! `PUT /chat/communities/{communityId}/bans/{user}`

use jobs::DoneOrAccepted;
use serde::Deserialize;
use table::{AccessPattern, Action, Condition};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::departure::{BEGIN_DEPARTURE, Cause, LOAD_DEPARTURE, depart};
use super::{BAN, Ban, Community, CommunityMember, CommunityUserPath, OWNER_MUST_TRANSFER, SAMPLE_BAN};
use crate::access::{CALLER, COMMUNITIES, LEASE, LEAVE_COMMUNITY, USERS};
use crate::audit::{AuditedAction, Log, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::jobs::ChatJobs;
use crate::keys::{BanKey, CommunityKey, CommunityMemberKey, UserKey};
use crate::live::end::END_SUBSCRIPTIONS;
use crate::names::UserId;
use crate::schema;

/// The ban of a user who is not a member.
pub const BAN_STRANGER: AccessPattern =
    AccessPattern::new("banStranger", &[COMMUNITIES.put(), COMMUNITIES.check(), USERS.check()]);

/// A new ban.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewBan {
    #[serde(default)]
    #[schema(max_length = 200)]
    reason: String,
}

pub fn route() -> Route {
    Route::put("banFromCommunity", BAN, SIGNED_IN, ban)
        .summary("Ban a user from a community; a member is removed")
        .patterns(&[
            &CALLER,
            &LOAD_COMMUNITY,
            &LOAD_DEPARTURE,
            &BEGIN_DEPARTURE,
            &BAN_STRANGER,
            &LEASE,
            &LEAVE_COMMUNITY,
            &END_SUBSCRIPTIONS,
        ])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWNER_MUST_TRANSFER, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BAN).body(r#"{"reason":"Advertises in every chat"}"#))
}

async fn ban(
    cx: Context,
    Path(path): Path<CommunityUserPath>,
    Json(new): Json<NewBan>,
) -> Result<DoneOrAccepted<ChatJobs>, Problem> {
    cx.retry(|| async {
        let access = CommunityAccess::load(&cx, path.community_id).await?;
        access.require_moderator()?;
        let user = path.user_id.id_for(access.me());
        ban_user(&cx, &access.community, user, access.me(), &new.reason).await
    })
    .await
}

/// Bans a user from a community. A member is removed.
pub async fn ban_user(
    cx: &Context,
    community: &Community,
    user: UserId,
    by: UserId,
    reason: &str,
) -> Result<DoneOrAccepted<ChatJobs>, Problem> {
    let id = community.id;
    let key = CommunityMemberKey { community: id, user };
    let member = cx.access().table(&LOAD_DEPARTURE, &schema::COMMUNITIES).get_consistent(&key).await?;
    let member = member.map(|stored| stored.read::<CommunityMember>()).transpose()?;
    if member.is_some_and(|member| member.leaving_at.is_none()) {
        return depart(cx, community, user, Cause::Banned { by, reason: reason.to_owned() }).await;
    }
    let clock = &cx.engines().clock;
    let actions = [
        Action::create(&schema::COMMUNITIES, BanKey { community: id, user }, &Ban::new(clock, by, reason.to_owned()))?,
        Action::check(&schema::USERS, UserKey { user }),
        // The user does not become a member meanwhile. A member who is leaving leaves.
        Action::check(&schema::COMMUNITIES, key).when(Condition::Present("LeavingAt")).or_absent(),
        Action::check(&schema::COMMUNITIES, CommunityKey { community: id }).when(Condition::Absent("DeletingAt")),
        entry(clock, Log::Community(id), by, AuditedAction::BanMember, user, reason)?,
    ];
    match cx.access().transact(&BAN_STRANGER, &actions).await {
        Ok(_) => {}
        // There is no such user, or the community was deleted meanwhile, with its bans.
        Err(error) if error.failed(1).or(error.failed(3)).is_some() => return Err(Problem::not_found()),
        Err(error) if error.failed(2).is_some() => return Err(Problem::lost_race()),
        // The user is banned already.
        Err(error) if error.failed(0).is_some() => {}
        Err(error) => return Err(error.into()),
    }
    depart(cx, community, user, Cause::Left).await
}
