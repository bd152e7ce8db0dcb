//! `GET /chat/communities/{communityId}`

use table::AccessPattern;
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{Community, CommunityPath, CommunityView, ONE, SAMPLE};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::CommunityKey;
use crate::schema;

const GET_COMMUNITY: AccessPattern = AccessPattern::new("getCommunity", &[COMMUNITIES.get()]);

pub fn route() -> Route {
    Route::get("getCommunity", ONE, SIGNED_IN, get)
        .summary("Get a community")
        .patterns(&[&CALLER, &GET_COMMUNITY])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<CommunityPath>) -> Result<Tagged<CommunityView>, Problem> {
    Caller::load(&cx).await?;
    let key = CommunityKey { community: path.community_id };
    let stored = cx.access().table(&GET_COMMUNITY, &schema::COMMUNITIES).get_consistent(key).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let community: Community = stored.read()?;
    if community.deleting_at.is_some() {
        return Err(Problem::not_found());
    }
    Ok(Tagged::new(&community.into(), stored.rev))
}
