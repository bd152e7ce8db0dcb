//! `GET /chat/communities/{communityId}/members`

use table::{AccessPattern, EntityKey};
use web::{Context, Json, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{CommunityMember, CommunityMemberView, CommunityPath, MEMBERS, SAMPLE_MEMBERS};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{CommunityKey, CommunityMemberKey, MEMBER_PREFIX};
use crate::people::PEOPLE;
use crate::people_of_page::{PeoplePage, PeopleQuery};
use crate::schema;

const LIST_MEMBERS: AccessPattern = AccessPattern::new("listCommunityMembers", &[COMMUNITIES.query()]);

pub fn route() -> Route {
    Route::get("listCommunityMembers", MEMBERS, SIGNED_IN, list)
        .summary("List the members of a community")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &LIST_MEMBERS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_MEMBERS))
}

async fn list(
    cx: Context,
    Path(path): Path<CommunityPath>,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<CommunityMemberView>>, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    access.require_member()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let partition = CommunityKey { community: path.community_id }.key().pk;
    let members = cx.access().table(&LIST_MEMBERS, &schema::COMMUNITIES).query(partition);
    let page = members.begins_with(MEMBER_PREFIX).after(after).page(query.limit.0).await?;
    let page = cx.page(page, |stored| {
        let key = CommunityMemberKey::parse(&stored.key).ok_or_else(|| Problem::internal("a member without a user"))?;
        Ok(access.community.member_view(key.user, stored.read::<CommunityMember>()?))
    })?;
    Ok(Json(PeoplePage::of(&cx, page, query.include, |member| [member.user_id]).await?))
}
