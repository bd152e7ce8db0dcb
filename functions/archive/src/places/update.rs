//! `PATCH /archive/places/{placeId}`

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, MergePatch, Patch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::item::{Misplaced, Place, PlaceType, Source};
use super::uses::{IN_USE, require_no_record};
use super::view::name_faults;
use super::word_changes::word_changes;
use super::{
    MAX_BODY, MAX_CHANGED_NAMES, ONE, PlacePath, PlaceView, SAMPLE, UPDATE_PLACE, count_children, find_consistent,
    misplaced, of_transaction, too_many_names, unknown_parent,
};
use crate::access::{CALLER, SEARCH};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::names::{PlaceId, Role};
use crate::schema::ARCHIVE;
use crate::word_search::TIMEOUT;

/// The fields of a place that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacePatch {
    /// With a letter or a digit.
    #[schema(min_length = 1, max_length = 120, nullable = false)]
    name: Option<String>,
    #[schema(schema_with = super::view::alternatives)]
    alt_names: Option<Vec<String>>,
    #[serde(rename = "type")]
    #[schema(nullable = false)]
    kind: Option<PlaceType>,
    /// `null` makes it a place without a place around it.
    #[serde(default)]
    #[schema(value_type = Option<PlaceId>)]
    parent_id: Patch<PlaceId>,
    /// Only of a place without `parentId`.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[A-Z]{2}$")]
    country: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<f64>, minimum = -90, maximum = 90)]
    lat: Patch<f64>,
    #[serde(default)]
    #[schema(value_type = Option<f64>, minimum = -180, maximum = 180)]
    lon: Patch<f64>,
    #[schema(maximum = 100_000_000_000_u64, nullable = false)]
    weight: Option<u64>,
}

impl Rules for PlacePatch {
    fn faults(&self) -> Vec<Fault> {
        name_faults(self.name.as_ref(), self.alt_names.as_ref())
    }
}

pub fn route() -> Route {
    Route::patch("updatePlace", ONE, SIGNED_IN, update)
        .summary("Update a place. One with places inside is not renamed or moved, one with records not moved")
        .patterns(&[&CALLER, &UPDATE_PLACE, &SEARCH])
        .timeout(TIMEOUT)
        .body_limit(MAX_BODY)
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::HAS_DEPENDENTS,
            IN_USE,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"altNames":["Llanuwchlyn","Llanywllyn"]}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<PlacePath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<PlacePatch>>,
) -> Result<Tagged<PlaceView>, Problem> {
    Caller::with_role(&cx, Role::Administrator).await?;
    cx.retry_stale(&tag, || async {
        let found = find_consistent(cx.access(), &UPDATE_PLACE, path.place_id).await?;
        let (stored, before) = found.filter(|(_, place)| place.replaced_by.is_none()).ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let moved = Moved::load(&cx, &patch, &before).await?;
        let after = patch.applied(&before, &moved)?;
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let is_moved = before.path != after.path;
        if is_moved || before.full_name != after.full_name || before.country != after.country {
            require_childless(&before)?;
        }
        if is_moved {
            require_no_record(cx.access(), before.id).await?;
        }
        let source = if before.source == Source::Geonames { Source::GeonamesEdited } else { before.source };
        let after = Place { source, updated_at: now(&cx), ..after };
        let (lost, gained) = (before.words(), after.words());
        let changed = lost.symmetric_difference(&gained).count();
        if changed > MAX_CHANGED_NAMES + usize::from(before.name != after.name) * 2 {
            return Err(too_many_names(changed));
        }
        let key = after.key().ok_or_else(|| misplaced(Misplaced::Nameless))?;
        let mut actions = if key == stored.key {
            vec![Action::update(&ARCHIVE, key, Changes::between(&before, &after)?).if_unchanged(&stored)]
        } else {
            let delete = Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored);
            vec![delete, Action::create(&ARCHIVE, key, &after)?]
        };
        actions.extend(moved.counts()?);
        actions.extend(word_changes(cx.access(), &UPDATE_PLACE, &after, [&lost, &gained]).await?);
        match cx.access().transact(&UPDATE_PLACE, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
            Err(error) => Err(of_transaction(error)),
        }
    })
    .await
}

/// 409 while places are inside, whose full names contain its name, and which have its country.
pub fn require_childless(place: &Place) -> Result<(), Problem> {
    if place.child_count > 0 { Err(Problem::has_dependents(&[("places", place.child_count)])) } else { Ok(()) }
}

/// The parents of a place before and after an update, as far as they are needed.
#[derive(Debug, Default)]
struct Moved {
    parent: Option<Place>,
    /// The former parent, if it is another.
    former: Option<Place>,
    is_moved: bool,
}

impl Moved {
    async fn load(cx: &Context, patch: &PlacePatch, before: &Place) -> Result<Self, Problem> {
        let parent_id = patch.parent_id.apply(before.parent_id);
        let is_moved = parent_id != before.parent_id;
        if !is_moved && patch.name.is_none() {
            return Ok(Self::default());
        }
        let load = async |id: Option<PlaceId>| match id {
            None => Ok(None),
            Some(id) => {
                Ok::<_, Problem>(find_consistent(cx.access(), &UPDATE_PLACE, id).await?.map(|(_, place)| place))
            }
        };
        let parent = load(parent_id).await?.filter(|parent| parent.replaced_by.is_none());
        match (parent_id, &parent) {
            (Some(id), None) => return Err(unknown_parent(id)),
            (_, Some(parent)) if parent.path.contains(&before.id) => {
                let fault = Fault::pointer("/parentId", "names the place itself or one inside it");
                return Err(Problem::unprocessable(vec![fault]));
            }
            _ => {}
        }
        let former = if is_moved { load(before.parent_id).await? } else { None };
        Ok(Self { parent, former, is_moved })
    }

    /// Returns the actions that count the children of the two parents.
    fn counts(&self) -> Result<Vec<Action>, table::Error> {
        if !self.is_moved {
            return Ok(Vec::new());
        }
        let counts = [(&self.former, -1), (&self.parent, 1)];
        counts.into_iter().filter_map(|(parent, by)| Some(count_children(parent.as_ref()?, by))).collect()
    }
}

impl PlacePatch {
    /// Returns the place after the patch.
    fn applied(&self, before: &Place, moved: &Moved) -> Result<Place, Problem> {
        let degrees =
            |patch: Patch<f64>, before: &Option<String>| patch.map(|degrees| degrees.to_string()).apply(before.clone());
        let mut after = Place {
            alt_names: self.alt_names.clone().unwrap_or_else(|| before.alt_names.clone()),
            kind: self.kind.unwrap_or(before.kind),
            lat: degrees(self.lat, &before.lat),
            lon: degrees(self.lon, &before.lon),
            weight: self.weight.unwrap_or(before.weight),
            ..before.clone()
        };
        if after.lat.is_some() != after.lon.is_some() {
            let detail = "must leave the place with both `lat` and `lon`, or with neither";
            return Err(Problem::unprocessable(vec![Fault::pointer("", detail)]));
        }
        if !self.country.is_absent() {
            if self.parent_id.apply(before.parent_id).is_some() {
                return Err(Problem::unprocessable(vec![Fault::pointer("/country", "is that of its parent")]));
            }
            after.country = self.country.as_ref().map(Clone::clone).apply(after.country);
        }
        if moved.is_moved || self.name.is_some() {
            let name = self.name.clone().unwrap_or_else(|| before.name.clone());
            after = after.named(&name, moved.parent.as_ref()).map_err(misplaced)?;
        }
        Ok(after)
    }
}
