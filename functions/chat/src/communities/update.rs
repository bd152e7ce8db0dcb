//! `PATCH /chat/communities/{communityId}`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{
    Context, Fault, IfMatch, MergePatch, Patch, Path, Problem, Query, Route, Rules, Sample, Tagged, Valid, problem,
};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{Community, CommunityPath, CommunityView, ONE, SAMPLE, check_member, touch_membership};
use crate::access::{CALLER, COMMUNITIES, USERS};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::locations::{self, LocationPatch};
use crate::names::UserId;
use crate::pictures::{REMOVE_PICTURES, remove_dropped};
use crate::places::{country_key, place_key};
use crate::texts::optional_text_fault;
use crate::users::not_deleted;
use crate::{retention, schema};

/// The changes of a community, with the check of a new founder and the entry in the audit log.
const UPDATE_COMMUNITY: AccessPattern = AccessPattern::new(
    "updateCommunity",
    &[COMMUNITIES.update(), COMMUNITIES.check(), COMMUNITIES.put(), USERS.check()],
);

/// The fields of a community that its founder can update.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityPatch {
    #[schema(min_length = 1, max_length = 80, nullable = false)]
    name: Option<String>,
    #[schema(max_length = 1000, nullable = false)]
    description: Option<String>,
    #[schema(min_length = 1, max_length = 40, nullable = false)]
    topic: Option<String>,
    #[serde(default, rename = "avatarURL")]
    #[schema(value_type = Option<String>, max_length = 2048, pattern = r"^https://[^\s/?#]+\S*$")]
    avatar_url: Patch<String>,
    #[serde(default, rename = "coverPhotoURL")]
    #[schema(value_type = Option<String>, max_length = 2048, pattern = r"^https://[^\s/?#]+\S*$")]
    cover_photo_url: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<LocationPatch>)]
    location: Patch<LocationPatch>,
    /// The days after which messages are deleted; `null` keeps them.
    #[serde(default)]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 3650)]
    retention_days: Patch<u32>,
    /// Another member, to whom the founder hands the community over.
    #[schema(nullable = false)]
    founder_id: Option<UserId>,
}

impl Rules for CommunityPatch {
    fn faults(&self) -> Vec<Fault> {
        let names = [("/name", self.name.as_ref()), ("/topic", self.topic.as_ref())];
        let names = names.into_iter().filter_map(|(pointer, name)| name_fault(pointer, name?));
        let location = match &self.location {
            Patch::Set(location) => location.faults("/location"),
            Patch::Absent | Patch::Remove => Vec::new(),
        };
        let description = self.description.iter().filter_map(|text| optional_text_fault("/description", text));
        names.chain(description).chain(location).collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateCommunity", ONE, SIGNED_IN, update)
        .summary("Update a community, or hand it over to another member")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &UPDATE_COMMUNITY, &REMOVE_PICTURES])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"topic":"Bryophytes","retentionDays":365}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<CommunityPath>,
    Query(query): Query<ReasonQuery>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<CommunityPatch>>,
) -> Result<Tagged<CommunityView>, Problem> {
    cx.retry_stale(&tag, || async {
        let access = CommunityAccess::load(&cx, path.community_id).await?;
        access.require_founder()?;
        tag.check(access.stored.rev)?;
        let (before, me) = (&access.community, access.me());
        let after = patched(before, patch.clone())?;
        let changes = Changes::between(before, &after)?;
        if changes.is_empty() {
            return Ok(Tagged::new(&after.into(), access.stored.rev));
        }
        // Members who join or leave change the revision, too. Without `If-Match` they do not refuse the update.
        let mut update = Action::update(&schema::COMMUNITIES, access.stored.key.clone(), changes)
            .when(Condition::Absent("DeletingAt"))
            .when(Condition::Equals("Founder", item::text(me.to_string())));
        if before.location != after.location || before.founder != after.founder {
            update = update.if_unchanged(&access.stored);
        }
        for unchanged in unchanged_pictures(before, &after) {
            update = update.when(unchanged);
        }
        let mut actions = vec![tag.guard(update, &access.stored)];
        if before.founder != after.founder {
            let (log, founder) = (Log::Community(before.id), after.founder);
            actions.push(check_member(before.id, founder));
            actions.push(not_deleted(founder));
            actions.push(touch_membership(founder));
            actions.push(entry(&cx.engines().clock, log, me, AuditedAction::HandOver, founder, query.text())?);
        }
        if before.retention_days != after.retention_days {
            actions.push(retention::list(before.id));
        }
        match cx.access().transact(&UPDATE_COMMUNITY, &actions).await {
            Ok(rev) => {
                let had = [&before.avatar_url, &before.cover_photo_url];
                remove_dropped(cx.access(), had, &[&after.avatar_url, &after.cover_photo_url]).await?;
                Ok(Tagged::new(&after.into(), rev))
            }
            Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
            Err(error) if error.failed(1).or(error.failed(2)).is_some() => {
                Err(Problem::unprocessable(vec![Fault::pointer("/founderId", "is not a member of the community")]))
            }
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// Returns the conditions that the pictures that an update drops are those that were read. Otherwise the files of one that
/// is uploaded meanwhile would stay.
fn unchanged_pictures(before: &Community, after: &Community) -> impl Iterator<Item = Condition> {
    let pictures = [
        ("AvatarURL", &before.avatar_url, &after.avatar_url),
        ("CoverPhotoURL", &before.cover_photo_url, &after.cover_photo_url),
    ];
    pictures.into_iter().filter(|(_, had, has)| had != has).map(|(name, had, _)| match had {
        Some(url) => Condition::Equals(name, item::text(url)),
        None => Condition::Absent(name),
    })
}

fn patched(before: &Community, patch: CommunityPatch) -> Result<Community, Problem> {
    let location = locations::patched(patch.location, before.location.as_ref())?;
    let mut after = before.clone();
    after.name = patch.name.unwrap_or(after.name);
    after.description = patch.description.unwrap_or(after.description);
    after.topic = patch.topic.unwrap_or(after.topic);
    after.avatar_url = patch.avatar_url.apply(after.avatar_url);
    after.cover_photo_url = patch.cover_photo_url.apply(after.cover_photo_url);
    after.retention_days = patch.retention_days.apply(after.retention_days);
    after.founder = patch.founder_id.unwrap_or(after.founder);
    // The founder moderates anyway.
    after.moderators.remove(&after.founder);
    after.country_key = location.as_ref().map(|location| country_key(&location.country));
    after.place_key = location.as_ref().map(|location| place_key(location.state.as_deref(), location.city.as_deref()));
    after.location = location;
    Ok(after)
}
