//! The boundary of an item as what extents are compared with: as search has it.

use geometry::{Envelope, Shape};
use serde_json::json;
use web::{Problem, Request, problem};

use super::area::{Area, Compared};
use super::form::Relation;
use super::hits::SearchResponse;
use super::question::Source;
use super::{ALIAS, SEARCH};
use crate::access::{BY_GLOBAL_ID, READ_SHAPE};
use crate::item::{Item, ShapeRef, StoredShape, Tolerances};
use crate::names::ShapeName;
use crate::schema::BUCKET;
use crate::shapes::{self, GEOMETRY_UNAVAILABLE, PREFIX};
use crate::view::View;
use crate::{items, keys};

/// A boundary that extents are compared with, and how much of the original it is.
#[derive(Debug)]
pub struct Boundary {
    pub compared: Compared,
    pub status: String,
    /// How far it may be from the original, in metres; unknown of an envelope.
    pub tolerance: Option<f64>,
}

/// How a boundary that search has is given to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// By reference to its document, where it is large and search has it.
    Reference,
    Positions,
}

/// The boundary of the item with this global id, if this view shows it. The table says who may see it, so that an item is
/// of no use from the moment on at which it is hidden; one that is hidden and one that does not exist are told alike.
pub async fn boundary_of(
    request: &Request,
    id: &str,
    relation: Relation,
    view: View,
    source: Source,
    sending: Sending,
) -> Result<Boundary, Problem> {
    let none = || source.misfit("shapeOf", "must be the global id of an item that you can see and that has a boundary");
    let key = keys::by_global_id(request.access(), id).await?;
    let read = items::read(request, &BY_GLOBAL_ID, key, view).await;
    let item = read.map_err(|refused| if refused.kind() == problem::NOT_FOUND { none() } else { refused })?.item;
    let stored = item.shape(ShapeName::Boundary).ok_or_else(none)?;
    let indexed = indexed(request, &item).await?;
    let by_reference = indexed.is_some() && sending == Sending::Reference;
    let (status, derived) = indexed.unwrap_or_else(|| first_form(&stored));
    let tolerance = match status.as_str() {
        "full" => Some(0.0),
        "fine" | "coarse" => derived,
        _ => None,
    };
    let compared = match (relation, &stored) {
        // Up to a megabyte, which search has already.
        (Relation::Intersects, StoredShape::Object(_)) if by_reference => {
            let index = request.engines().config.search_name(ALIAS);
            Compared::Document { index, id: item.key().document_id() }
        }
        _ => {
            let shape = shape(request, &stored, &status).await?.ok_or_else(none)?;
            Compared::Area(Area::of(&shape).map_err(|_| none())?)
        }
    };
    Ok(Boundary { compared, status, tolerance })
}

/// The form in which search would hold the shape at first.
fn first_form(stored: &StoredShape) -> (String, Option<f64>) {
    let (status, tolerance) = match stored {
        StoredShape::Object(ShapeRef { tolerances: Tolerances { fine: Some(fine), .. }, .. }) => ("fine", Some(*fine)),
        StoredShape::Object(_) | StoredShape::Inline(_) => ("full", None),
    };
    (status.to_owned(), tolerance)
}

/// How much of the boundary its document holds, and its tolerance. None where search does not have the item yet, or
/// cannot take it.
async fn indexed(request: &Request, item: &Item) -> Result<Option<(String, Option<f64>)>, Problem> {
    let asked = json!({
        "query": { "bool": {
            "filter": [{ "term": { "pk": item.pk } }, { "term": { "sk": item.sk } }, { "exists": { "field": "boundary" } }],
            "must_not": [{ "term": { "deleted": true } }],
        } },
        "size": 1,
        "_source": false,
        "track_total_hits": true,
        "docvalue_fields": ["boundaryStatus", "boundaryTolerance"],
    });
    let response: SearchResponse = request.access().search(&SEARCH, ALIAS, &asked).await?;
    let hit = response.hits().into_iter().next();
    Ok(hit.and_then(|hit| Some((hit.fields.boundary_status.get()?, hit.fields.boundary_tolerance.get()))))
}

/// The form of the shape that a document of this status holds.
async fn shape(request: &Request, stored: &StoredShape, status: &str) -> Result<Option<Shape>, Problem> {
    let text = match (stored, status) {
        (StoredShape::Object(reference), "fine") => derived(request, &shapes::fine_object(&reference.sha256)).await?,
        (StoredShape::Object(reference), "coarse") => {
            derived(request, &shapes::coarse_object(&reference.sha256)).await?
        }
        (StoredShape::Object(reference), "envelope" | "missing") => {
            return Ok(Some(Envelope::from(reference.envelope).to_shape()));
        }
        (stored, _) => shapes::text(request.access(), stored).await?,
    };
    let shape = tokio::task::spawn_blocking(move || Shape::parse_canonical(&text).ok());
    shape.await.map_err(Problem::internal)
}

async fn derived(request: &Request, name: &str) -> Result<String, Problem> {
    let body = request.access().objects(&READ_SHAPE, BUCKET, PREFIX).get(name).await.map_err(unavailable)?;
    String::from_utf8(body.into()).map_err(unavailable)
}

fn unavailable(why: impl ToString) -> Problem {
    GEOMETRY_UNAVAILABLE.because("Try again shortly.").retry_after(1).caused_by(why.to_string())
}
