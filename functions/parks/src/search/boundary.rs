//! The boundary of an item as the shape of a search, at the detail level that search has indexed.

use geometry::{Envelope, Shape};
use serde_json::json;
use web::{Context, Problem, problem};

use super::area::{Area, Compared, Relation};
use super::hits::SearchResponse;
use super::parsed_query::Source;
use crate::access::{BY_GLOBAL_ID, READ_SHAPE, SEARCH};
use crate::item::{Item, ShapeRef, StoredShape, Tolerances};
use crate::items::{LoadedItem, by_global_id};
use crate::names::ShapeName;
use crate::schema::{ALIAS, BUCKET};
use crate::shapes::{self, GEOMETRY_UNAVAILABLE, PREFIX};
use crate::view::View;

/// A boundary with its detail level.
#[derive(Debug)]
pub struct Boundary {
    pub compared: Compared,
    pub status: String,
    /// The tolerance in metres. None for an envelope.
    pub tolerance: Option<f64>,
}

/// The way in which a boundary is sent to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// By reference to its document, if it is large and search has it.
    Reference,
    Positions,
}

/// Loads the boundary of an item. The item is read from the table, so that a hidden item is refused as soon as it is
/// hidden. A hidden item has the same fault as an item that does not exist.
pub async fn load_boundary(
    cx: &Context,
    id: &str,
    relation: Relation,
    view: View,
    source: Source,
    sending: Sending,
) -> Result<Boundary, Problem> {
    let none =
        || source.mismatch("shapeOf", "must be the global id of an item that you can see and that has a boundary");
    let key = by_global_id(cx.access(), &BY_GLOBAL_ID, id).await?.ok_or_else(none)?;
    let loaded = LoadedItem::load(cx, &BY_GLOBAL_ID, key, view).await;
    let item = loaded.map_err(|problem| if problem.kind() == problem::NOT_FOUND { none() } else { problem })?.item;
    let stored = item.shape(ShapeName::Boundary).ok_or_else(none)?;
    let indexed = indexed(cx, &item).await?;
    let by_reference = indexed.is_some() && sending == Sending::Reference;
    let (status, tolerance) = indexed.unwrap_or_else(|| first_level(&stored));
    let tolerance = match status.as_str() {
        "full" => Some(0.0),
        "fine" | "coarse" => tolerance,
        _ => None,
    };
    let compared = match (relation, &stored) {
        // The positions would be up to a megabyte, and search has them already.
        (Relation::Intersects, StoredShape::Object(_)) if by_reference => {
            let index = cx.engines().config.search_name(ALIAS);
            Compared::Document { index, id: item.key().document_id() }
        }
        _ => {
            let shape = load_shape(cx, &stored, &status).await?.ok_or_else(none)?;
            Compared::Area(Area::of(&shape).map_err(|_| none())?)
        }
    };
    Ok(Boundary { compared, status, tolerance })
}

/// The detail level and the tolerance at which search first indexes the shape.
fn first_level(stored: &StoredShape) -> (String, Option<f64>) {
    let (status, tolerance) = match stored {
        StoredShape::Object(ShapeRef { tolerances: Tolerances { fine: Some(fine), .. }, .. }) => ("fine", Some(*fine)),
        StoredShape::Object(_) | StoredShape::Inline(_) => ("full", None),
    };
    (status.to_owned(), tolerance)
}

/// The detail level and the tolerance of the boundary in its document. None if there is no document.
async fn indexed(cx: &Context, item: &Item) -> Result<Option<(String, Option<f64>)>, Problem> {
    let request = json!({
        "query": { "bool": {
            "filter": [{ "term": { "pk": item.pk } }, { "term": { "sk": item.sk } }, { "exists": { "field": "boundary" } }],
            "must_not": [{ "term": { "deleted": true } }],
        } },
        "size": 1,
        "_source": false,
        "track_total_hits": true,
        "docvalue_fields": ["boundaryStatus", "boundaryTolerance"],
    });
    let response: SearchResponse = cx.access().search(&SEARCH, ALIAS, &request).await?;
    let hit = response.hits().into_iter().next();
    Ok(hit.and_then(|hit| Some((hit.fields.boundary_status.get()?, hit.fields.boundary_tolerance.get()))))
}

/// Loads the shape at this detail level. None if its text is not a canonical shape.
async fn load_shape(cx: &Context, stored: &StoredShape, status: &str) -> Result<Option<Shape>, Problem> {
    let text = match (stored, status) {
        (StoredShape::Object(reference), "fine") => load_object(cx, &shapes::fine_object(&reference.sha256)).await?,
        (StoredShape::Object(reference), "coarse") => {
            load_object(cx, &shapes::coarse_object(&reference.sha256)).await?
        }
        (StoredShape::Object(reference), "envelope" | "missing") => {
            return Ok(Some(Envelope::from(reference.envelope).to_shape()));
        }
        (stored, _) => shapes::text(cx.access(), stored).await?,
    };
    let shape = tokio::task::spawn_blocking(move || Shape::parse_canonical(&text).ok());
    shape.await.map_err(Problem::internal)
}

async fn load_object(cx: &Context, name: &str) -> Result<String, Problem> {
    let body = cx.access().objects(&READ_SHAPE, BUCKET, PREFIX).get(name).await.map_err(unavailable)?;
    String::from_utf8(body.into()).map_err(unavailable)
}

fn unavailable(why: impl ToString) -> Problem {
    GEOMETRY_UNAVAILABLE
        .because("The stored shape could not be read; try again.")
        .retry_after(1)
        .caused_by(why.to_string())
}
