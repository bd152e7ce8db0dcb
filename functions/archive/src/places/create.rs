//! `POST /archive/places`

use std::collections::BTreeSet;

use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::item::{Misplaced, Place, PlaceType, Source};
use super::view::name_faults;
use super::word_changes::word_changes;
use super::{
    CREATE_PLACE, LIST, MAX_BODY, MAX_CHANGED_NAMES, PlaceView, count_children, find_consistent, misplaced,
    of_transaction, too_many_names, unknown_parent,
};
use crate::access::{CALLER, CREATE_USER, NEXT_IDS};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::names::{PlaceId, Role};
use crate::schema::ARCHIVE;
use crate::sequence::next_id;

/// A new place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPlace {
    /// With a letter or a digit.
    #[schema(min_length = 1, max_length = 120)]
    name: String,
    /// Other names, in any language and script.
    #[serde(default)]
    #[schema(schema_with = super::view::alternatives)]
    alt_names: Vec<String>,
    #[serde(default, rename = "type")]
    kind: PlaceType,
    /// The place around it. A country has none.
    #[serde(default)]
    #[schema(nullable = false)]
    parent_id: Option<PlaceId>,
    /// The country's code in ISO 3166-1, of a place without `parentId`. Other places have that of their parent.
    #[serde(default)]
    #[schema(pattern = "^[A-Z]{2}$", nullable = false)]
    country: Option<String>,
    #[serde(default)]
    #[schema(minimum = -90, maximum = 90, nullable = false)]
    lat: Option<f64>,
    #[serde(default)]
    #[schema(minimum = -180, maximum = 180, nullable = false)]
    lon: Option<f64>,
    /// The number of inhabitants. Of places with the same name, the one with the most comes first.
    #[serde(default)]
    #[schema(maximum = 100_000_000_000_u64)]
    weight: u64,
}

impl Rules for NewPlace {
    fn faults(&self) -> Vec<Fault> {
        let mut faults = name_faults(Some(&self.name), Some(&self.alt_names));
        if self.lat.is_some() != self.lon.is_some() {
            faults.push(Fault::pointer("", "must have both `lat` and `lon`, or neither"));
        }
        if self.parent_id.is_some() && self.country.is_some() {
            faults.push(Fault::pointer("/country", "is allowed only without `parentId`"));
        }
        faults
    }
}

pub fn route() -> Route {
    Route::post("createPlace", LIST, SIGNED_IN, create)
        .summary("Create a place")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &CREATE_PLACE])
        .body_limit(MAX_BODY)
        .problems(&[problem::FORBIDDEN, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(LIST).body(r#"{"name":"Llanuwchllyn","altNames":["Llanuwchlyn"],"type":"parish"}"#))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewPlace>>,
) -> Result<Created<PlaceView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Administrator).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_PLACE, &ARCHIVE).await? {
        return Ok(earlier);
    }
    let user = caller.into_user(&cx).await?;
    let id = next_id(&cx, PlaceId::new).await?;
    let degrees = |degrees: Option<f64>| degrees.map(|degrees| degrees.to_string());
    let unnamed = Place {
        alt_names: new.alt_names,
        country: new.country,
        lat: degrees(new.lat),
        lon: degrees(new.lon),
        weight: new.weight,
        created_by: Some(user.id),
        ..Place::new(id, new.kind, Source::Archive, &now(&cx))
    };
    cx.retry(|| async {
        let parent = match new.parent_id {
            None => None,
            Some(id) => match find_consistent(cx.access(), &CREATE_PLACE, id).await? {
                Some((_, parent)) if parent.replaced_by.is_none() => Some(parent),
                _ => return Err(unknown_parent(id)),
            },
        };
        let place = unnamed.clone().named(&new.name, parent.as_ref()).map_err(misplaced)?;
        let gained = place.words();
        if gained.len() > MAX_CHANGED_NAMES + 1 {
            return Err(too_many_names(gained.len()));
        }
        let key = place.key().ok_or_else(|| misplaced(Misplaced::Nameless))?;
        let mut actions = vec![Action::create(&ARCHIVE, key, &place)?];
        if let Some(parent) = &parent {
            actions.push(count_children(parent, 1)?);
        }
        actions.extend(word_changes(cx.access(), &CREATE_PLACE, &place, [&BTreeSet::new(), &gained]).await?);
        let location = format!("{LIST}/{id}");
        let created = once.create(&cx, &CREATE_PLACE, &ARCHIVE, actions, location, &place.into()).await;
        created.map_err(of_transaction)
    })
    .await
}
