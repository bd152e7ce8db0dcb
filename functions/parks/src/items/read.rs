//! `GET` of one item, by its path or by its global id.

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Answer, EntityTag, Problem, Request};

use super::{Read, read};
use crate::access;
use crate::entity::{Entity, ItemPath};
use crate::geojson::{self, Feature};
use crate::keys;
use crate::shapes;
use crate::view::{AskedView, ItemView, View};

#[derive(Debug, Deserialize, ToSchema)]
pub struct ItemQuery {
    /// `public` shows an administrator what visitors see.
    #[serde(default)]
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
    #[serde(default)]
    #[schema(nullable = false)]
    pub geometry: Option<AskedGeometry>,
}

/// How shapes are answered: as links unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskedGeometry {
    #[default]
    Link,
    /// Embedded up to 1 MiB; a larger one keeps its link.
    Full,
    None,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GlobalIdPath {
    #[schema(format = "uuid")]
    pub global_id: String,
}

pub async fn get<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    let query: ItemQuery = request.query()?;
    let view = View::of(&request, query.view);
    let read = read(&request, &access::ITEM, E::key(&path.parts).map(|key| key.key()), view).await?;
    answer(&request, read, query, view).await
}

/// The index has keys only: the item itself is read, so that a lagging index shows nobody a hidden item.
pub async fn get_by_global_id(request: Request) -> Result<Answer, Problem> {
    let path: GlobalIdPath = request.path()?;
    let query: ItemQuery = request.query()?;
    let view = View::of(&request, query.view);
    let found = keys::by_global_id(request.access(), &path.global_id).await?;
    let read = read(&request, &access::BY_GLOBAL_ID, found, view).await?;
    answer(&request, read, query, view).await
}

async fn answer(request: &Request, read: Read, query: ItemQuery, view: View) -> Result<Answer, Problem> {
    let mut item = ItemView::new(&read.item, view);
    let geometry = query.geometry.unwrap_or_default();
    let links = shapes::embed(request.access(), &read.item, &mut item, geometry).await?;
    let as_feature = request.content_type() == geojson::CONTENT_TYPE;
    let tag = tag(&read, view, geometry, as_feature);
    // A link dies, so an answer with one is never still right.
    if !links && request.if_none_match().has(tag.clone()) {
        return Ok(view.cached(Answer::not_modified(tag)));
    }
    let answer = if as_feature {
        Answer::ok(&Feature::of_item(item)).content_type(geojson::CONTENT_TYPE)
    } else {
        Answer::ok(&item)
    };
    Ok(view.cached(answer.etag(tag)))
}

/// Each representation has a tag of its own, or a browser that signs in would be told that what it has is still right.
fn tag(read: &Read, view: View, geometry: AskedGeometry, as_feature: bool) -> EntityTag {
    let tag = view.tag(read.tag());
    let tag = match geometry {
        AskedGeometry::Link => tag,
        AskedGeometry::Full => tag.of_representation("full"),
        AskedGeometry::None => tag.of_representation("none"),
    };
    if as_feature { tag.of_representation("geojson") } else { tag }
}
