//! `GET /chat/communities`

use serde::{Deserialize, Serialize};
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Context, Fault, Limit, Page, Problem, Query, Route, Sample, problem};

use super::LIST;
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::locations::Location;
use crate::locations::{LocationView, place_fault};
use crate::names::CommunityId;
use crate::places::{country_key, place_key, state_prefix};
use crate::schema::{self, COMMUNITY_LOCATION_INDEX};

/// The communities of a country, a state or a city.
const LIST_BY_PLACE: AccessPattern =
    AccessPattern::new("listCommunitiesByPlace", &[COMMUNITIES.query_index(COMMUNITY_LOCATION_INDEX)]);

/// A place whose communities are listed.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PlaceQuery {
    #[schema(min_length = 1, max_length = 60)]
    country: String,
    #[schema(min_length = 1, max_length = 60)]
    state: Option<String>,
    /// A city of the state.
    #[schema(min_length = 1, max_length = 60)]
    city: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

impl PlaceQuery {
    fn check(&self) -> Result<(), Problem> {
        let names = [("country", Some(&self.country)), ("state", self.state.as_ref()), ("city", self.city.as_ref())];
        let fault = |(name, text): (&str, Option<&String>)| {
            place_fault("", text?).map(|fault| Fault::parameter(name, fault.detail))
        };
        let mut faults: Vec<Fault> = names.into_iter().filter_map(fault).collect();
        if self.city.is_some() && self.state.is_none() {
            faults.push(Fault::parameter("city", "needs `state`; search finds a city in any state"));
        }
        if faults.is_empty() { Ok(()) } else { Err(Problem::faults(faults)) }
    }
}

/// A community in a list by place, with the attributes of the index.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityOfPlace {
    id: CommunityId,
    name: String,
    description: String,
    topic: String,
    #[serde(rename = "avatarURL", skip_serializing_if = "Option::is_none")]
    avatar_url: Option<String>,
    location: LocationView,
    created_at: String,
}

/// The attributes of a community in the index.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Projected {
    id: CommunityId,
    name: String,
    description: String,
    topic: String,
    #[serde(rename = "AvatarURL")]
    avatar_url: Option<String>,
    location: Location,
    created_at: String,
}

impl From<Projected> for CommunityOfPlace {
    fn from(community: Projected) -> Self {
        Self {
            id: community.id,
            name: community.name,
            description: community.description,
            topic: community.topic,
            avatar_url: community.avatar_url,
            location: community.location.into(),
            created_at: community.created_at,
        }
    }
}

pub fn route() -> Route {
    Route::get("listCommunitiesByPlace", LIST, SIGNED_IN, list)
        .summary("List the communities of a country, of a state or of a city in a state")
        .patterns(&[&CALLER, &LIST_BY_PLACE])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new("/chat/communities?country=Canada"))
}

async fn list(cx: Context, Query(query): Query<PlaceQuery>) -> Result<Page<CommunityOfPlace>, Problem> {
    query.check()?;
    Caller::load(&cx).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let communities = cx.access().table(&LIST_BY_PLACE, &schema::COMMUNITIES).query(country_key(&query.country));
    let communities = communities.index(COMMUNITY_LOCATION_INDEX).after(after);
    let communities = match (&query.state, &query.city) {
        (None, _) => communities,
        (Some(state), None) => communities.begins_with(state_prefix(state)),
        (Some(state), Some(city)) => {
            let place = place_key(Some(state), Some(city));
            communities.between(place.clone(), place)
        }
    };
    let page = communities.page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<Projected>()?.into()))
}
