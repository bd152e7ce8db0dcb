//! `GET` of an item, by its path or by its global id

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Answer, Context, EntityTag, IfNoneMatch, Path, Problem, Query, Route, Sample, problem};

use super::{LoadedItem, by_global_id};
use crate::access::{BY_GLOBAL_ID, ITEM, READ_SHAPE};
use crate::entity::{Entity, ItemPath};
use crate::geojson::{self, Feature};
use crate::shapes::{self, GEOMETRY_UNAVAILABLE};
use crate::view::{EVERYONE, GeometryParameter, ItemView, View, ViewParameter};

#[derive(Debug, Deserialize, ToSchema)]
pub struct ItemQuery {
    /// `public` shows an administrator the visitors' view.
    view: Option<ViewParameter>,
    geometry: Option<GeometryParameter>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GlobalIdPath {
    #[schema(format = "uuid")]
    global_id: String,
}

pub fn route<E: Entity>(name: &'static str, summary: &'static str) -> Route {
    let route = representations(Route::get(name, E::ITEM, EVERYONE, get::<E>)).summary(summary).sample(E::SAMPLES.item);
    if E::KIND.is_on_map() {
        route.patterns(&[&ITEM, &READ_SHAPE]).problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
    } else {
        route.patterns(&[&ITEM]).problems(&[problem::NOT_FOUND])
    }
}

pub fn route_by_global_id() -> Route {
    representations(Route::get("getItem", "/parks/items/{globalId}", EVERYONE, get_by_global_id))
        .summary("Get an item by its global id")
        .patterns(&[&BY_GLOBAL_ID, &READ_SHAPE])
        .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
        .sample(Sample::new("/parks/items/01890a5d-ac96-774b-bcce-b302099a8057").expects(404))
}

fn representations(route: Route) -> Route {
    route.answers::<ItemView>(200).answers_as::<Feature>(200, geojson::CONTENT_TYPE).answers_empty(304)
}

async fn get<E: Entity>(
    cx: Context,
    Path(path): Path<ItemPath<E>>,
    Query(query): Query<ItemQuery>,
    tag: IfNoneMatch,
) -> Result<Answer, Problem> {
    let view = View::of(&cx, query.view);
    let loaded = LoadedItem::load(&cx, &ITEM, path.key(), view).await?;
    respond(&cx, &loaded, &query, view, &tag).await
}

/// The index has only keys: the item is read from the table, so that a lagging index cannot reveal a hidden item.
async fn get_by_global_id(
    cx: Context,
    Path(path): Path<GlobalIdPath>,
    Query(query): Query<ItemQuery>,
    tag: IfNoneMatch,
) -> Result<Answer, Problem> {
    let view = View::of(&cx, query.view);
    let key = by_global_id(cx.access(), &BY_GLOBAL_ID, &path.global_id).await?.ok_or_else(Problem::not_found)?;
    let loaded = LoadedItem::load(&cx, &BY_GLOBAL_ID, key, view).await?;
    respond(&cx, &loaded, &query, view, &tag).await
}

async fn respond(
    cx: &Context,
    loaded: &LoadedItem,
    query: &ItemQuery,
    view: View,
    if_none_match: &IfNoneMatch,
) -> Result<Answer, Problem> {
    let mut item = ItemView::new(&loaded.item, view);
    let geometry = query.geometry.unwrap_or_default();
    let has_signed_link = shapes::embed(cx.access(), &loaded.item, &mut item, geometry).await?;
    let is_feature = cx.content_type() == geojson::CONTENT_TYPE;
    let tag = tag(loaded, view, geometry, is_feature);
    // A signed link expires, so a stored response with one may be outdated.
    if !has_signed_link && if_none_match.has(tag.clone()) {
        return Ok(view.cached(Answer::not_modified(tag)));
    }
    let answer = if is_feature {
        Answer::ok(&Feature::of_item(item)).content_type(geojson::CONTENT_TYPE)
    } else {
        Answer::ok(&item)
    };
    Ok(view.cached(answer.etag(tag)))
}

/// The tag of a representation. Each has its own, so that a browser whose user signs in does not keep the visitors' view.
fn tag(loaded: &LoadedItem, view: View, geometry: GeometryParameter, is_feature: bool) -> EntityTag {
    let tag = view.tag(loaded.tag());
    let tag = match geometry {
        GeometryParameter::Link => tag,
        GeometryParameter::Full => tag.of_representation("full"),
        GeometryParameter::None => tag.of_representation("none"),
    };
    if is_feature { tag.of_representation("geojson") } else { tag }
}
