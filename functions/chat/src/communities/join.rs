//! `PUT /chat/communities/{communityId}/members/{userId}`, by the user.

use table::{AccessPattern, Action, Changes, Condition};
use web::{Context, Created, Either, Path, Problem, Route, Sample, Tagged, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{
    BANNED_HERE, CommunityMember, CommunityMemberView, CommunityUserPath, MEMBER, TOO_MANY_MEMBERSHIPS,
    count_membership, too_many_memberships,
};
use crate::access::{CALLER, COMMUNITIES, USERS};
use crate::caller::{BANNED, SIGNED_IN, deleted};
use crate::keys::{BanKey, CommunityKey, CommunityMemberKey};
use crate::names::Millisecond;
use crate::schema;
use crate::users::not_deleted;

/// A new member of a community.
const JOIN_COMMUNITY: AccessPattern =
    AccessPattern::new("joinCommunity", &[COMMUNITIES.put(), COMMUNITIES.update(), COMMUNITIES.check(), USERS.check()]);

pub fn route() -> Route {
    Route::put("joinCommunity", MEMBER, SIGNED_IN, join)
        .summary("Join a community; 200 for a member")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &JOIN_COMMUNITY])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            BANNED_HERE,
            problem::NOT_FOUND,
            TOO_MANY_MEMBERSHIPS,
            problem::CONFLICT,
        ])
        .sample(Sample::new("/chat/communities/019b76da-a800-7000-8000-000000000011/members/me").expects(200))
}

type Joined = Either<Created<CommunityMemberView>, Tagged<CommunityMemberView>>;

async fn join(cx: Context, Path(path): Path<CommunityUserPath>) -> Result<Joined, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    let (community, me) = (access.community.id, access.me());
    if path.user_id.id_for(me) != me {
        return Err(Problem::forbidden("People join a community themselves. Use `me`."));
    }
    let member = CommunityMember::new(community, me, Millisecond::now(&cx.engines().clock).to_string());
    let counted = Changes::new().add("NumMembers", 1);
    let actions = [
        Action::update(&schema::COMMUNITIES, CommunityKey { community }, counted).when(Condition::Absent("DeletingAt")),
        Action::create(&schema::COMMUNITIES, CommunityMemberKey { community, user: me }, &member)?,
        // Every ban has this attribute.
        Action::check(&schema::COMMUNITIES, BanKey { community, user: me }).when(Condition::Absent("By")).or_absent(),
        count_membership(me),
        not_deleted(me),
    ];
    let error = match cx.access().transact(&JOIN_COMMUNITY, &actions).await {
        Ok(rev) => {
            let location = format!("/chat/communities/{community}/members/{me}");
            let view = access.community.member_view(me, member);
            return Ok(Either::First(Created::new(location, rev, &view)));
        }
        Err(error) => error,
    };
    if error.failed(4).is_some() {
        return Err(deleted());
    }
    if error.failed(0).is_some() {
        return Err(Problem::not_found());
    }
    if let Some(item) = error.failed(1).and_then(|failed| failed.item.clone()) {
        let rev = table::item::rev(&item);
        let member: CommunityMember = table::item::from_item(item)?;
        return if member.leaving_at.is_none() {
            Ok(Either::Second(Tagged::new(&access.community.member_view(me, member), rev)))
        } else {
            Err(problem::CONFLICT.because("You are leaving this community. Join it when that is done.").retry_after(1))
        };
    }
    Err(match (error.failed(2), error.failed(3)) {
        (Some(_), _) => BANNED_HERE.because("A moderator has banned you from this community."),
        (None, Some(_)) => too_many_memberships(),
        (None, None) => error.into(),
    })
}
