//! `POST /chat/communities`

use std::collections::BTreeSet;

use serde::Deserialize;
use table::{AccessPattern, Action};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{
    Community, CommunityMember, CommunityView, LIST, TOO_MANY_MEMBERSHIPS, count_membership, too_many_memberships,
};
use crate::access::{CALLER, COMMUNITIES, LIVE, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN, deleted};
use crate::keys::{CommunityKey, CommunityMemberKey};
use crate::locations::LocationView;
use crate::names::CommunityId;
use crate::places::{country_key, place_key};
use crate::rates::{self, COUNT, count};
use crate::texts::optional_text_fault;
use crate::users::not_deleted;
use crate::{retention, schema};

/// A new community with its founder as the first member.
const CREATE_COMMUNITY: AccessPattern = AccessPattern::new(
    "createCommunity",
    &[COMMUNITIES.put(), COMMUNITIES.update(), USERS.check(), LIVE.get(), LIVE.put()],
);

/// A new community.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCommunity {
    #[schema(min_length = 1, max_length = 80)]
    name: String,
    #[serde(default)]
    #[schema(max_length = 1000)]
    description: String,
    #[schema(min_length = 1, max_length = 40)]
    topic: String,
    #[serde(rename = "avatarURL")]
    #[schema(max_length = 2048, pattern = r"^https://[^\s/?#]+\S*$", nullable = false)]
    avatar_url: Option<String>,
    #[serde(rename = "coverPhotoURL")]
    #[schema(max_length = 2048, pattern = r"^https://[^\s/?#]+\S*$", nullable = false)]
    cover_photo_url: Option<String>,
    #[schema(nullable = false)]
    location: Option<LocationView>,
    /// The days after which messages are deleted.
    #[schema(minimum = 1, maximum = 3650, nullable = false)]
    retention_days: Option<u32>,
}

impl Rules for NewCommunity {
    fn faults(&self) -> Vec<Fault> {
        let names = [("/name", &self.name), ("/topic", &self.topic)];
        let names = names.into_iter().filter_map(|(pointer, name)| name_fault(pointer, name));
        let names = names.chain(optional_text_fault("/description", &self.description));
        names.chain(self.location.iter().flat_map(|location| location.faults("/location"))).collect()
    }
}

pub fn route() -> Route {
    Route::post("createCommunity", LIST, SIGNED_IN, create)
        .summary("Create a community; the caller is its founder and first member")
        .patterns(&[&CALLER, &COUNT, &CREATE_COMMUNITY])
        .problems(&[problem::FORBIDDEN, BANNED, TOO_MANY_MEMBERSHIPS, problem::CONFLICT, problem::TOO_MANY_REQUESTS])
        .sample(Sample::new(LIST).body(r#"{"name":"Moss friends","topic":"Plants","location":{"country":"Canada"}}"#))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewCommunity>>,
) -> Result<Created<CommunityView>, Problem> {
    let caller = Caller::load(&cx).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_COMMUNITY, &schema::LIVE).await? {
        return Ok(earlier);
    }
    count(&cx, &rates::COMMUNITIES, &[&caller.id.to_string()]).await?;
    let id = CommunityId::now(&cx.engines().clock);
    let created_at = id.time().to_string();
    let location = new.location.map(|location| location.stored());
    let community = Community {
        id,
        name: new.name,
        description: new.description,
        topic: new.topic,
        avatar_url: new.avatar_url,
        cover_photo_url: new.cover_photo_url,
        country_key: location.as_ref().map(|location| country_key(&location.country)),
        place_key: location.as_ref().map(|location| place_key(location.state.as_deref(), location.city.as_deref())),
        location,
        founder: caller.id,
        moderators: BTreeSet::new(),
        num_members: 1,
        num_group_chats: 0,
        retention_days: new.retention_days,
        created_at: created_at.clone(),
        deleting_at: None,
        deletion_job: None,
    };
    let member = CommunityMember::new(id, caller.id, created_at);
    let mut actions = vec![
        Action::create(&schema::COMMUNITIES, CommunityKey { community: id }, &community)?,
        Action::create(&schema::COMMUNITIES, CommunityMemberKey { community: id, user: caller.id }, &member)?,
        count_membership(caller.id),
    ];
    actions.push(not_deleted(caller.id));
    actions.extend(community.retention_days.map(|_| retention::list(id)));
    let (location, view) = (format!("{LIST}/{id}"), CommunityView::from(community));
    let created = once.create(&cx, &CREATE_COMMUNITY, &schema::LIVE, actions, location, &view).await;
    created.map_err(|error| match (error.failed(2), error.failed(3)) {
        (_, Some(_)) => deleted(),
        (Some(_), None) => too_many_memberships(),
        (None, None) => error.into(),
    })
}
