//! The boundary of an item as the shape to compare with.

use geometry::{COARSE_POSITIONS, Shape};
use web::{Problem, Request, problem};

use super::area::{Area, POSITIONS};
use super::question::Source;
use crate::access::{BY_GLOBAL_ID, READ_SHAPE};
use crate::item::StoredShape;
use crate::names::ShapeName;
use crate::schema::BUCKET;
use crate::shapes::{self, GEOMETRY_UNAVAILABLE, PREFIX};
use crate::view::View;
use crate::{items, keys};

/// A boundary in at most as many positions as search is asked about.
#[derive(Debug)]
pub struct Boundary {
    pub area: Area,
    /// How far it may be from the original, in metres.
    pub tolerance: f64,
}

/// The boundary of the item with this global id, if this view shows it. An item that is hidden and one that does not
/// exist are told alike.
pub async fn boundary_of(request: &Request, id: &str, view: View, source: Source) -> Result<Boundary, Problem> {
    let none = || source.misfit("shapeOf", "must be the global id of an item that you can see and that has a boundary");
    let key = keys::by_global_id(request.access(), id).await?;
    let read = items::read(request, &BY_GLOBAL_ID, key, view).await;
    let item = read.map_err(|refused| if refused.kind() == problem::NOT_FOUND { none() } else { refused })?.item;
    let stored = item.shape(ShapeName::Boundary).ok_or_else(none)?;
    let (text, derived) = text(request, &stored).await?;
    let simplified = tokio::task::spawn_blocking(move || {
        Shape::parse_canonical(&text).ok().map(|shape| shape.simplify_to(POSITIONS))
    });
    let simplified = simplified.await.map_err(Problem::internal)?.ok_or_else(none)?;
    let area = Area::of(&simplified.shape).map_err(|_| none())?;
    Ok(Boundary { area, tolerance: derived + simplified.tolerance })
}

/// The shape's text and the tolerance that it has already: a huge one is not read whole to make a thousand positions.
async fn text(request: &Request, stored: &StoredShape) -> Result<(String, f64), Problem> {
    match stored {
        StoredShape::Object(reference) if reference.positions > COARSE_POSITIONS as u64 => {
            let objects = request.access().objects(&READ_SHAPE, BUCKET, PREFIX);
            let body = objects.get(&shapes::coarse_object(&reference.sha256)).await;
            let unavailable = |why: &dyn ToString| {
                GEOMETRY_UNAVAILABLE.because("Try again shortly.").retry_after(1).caused_by(why.to_string())
            };
            let body = body.map_err(|error| unavailable(&error))?;
            let text = String::from_utf8(body.into()).map_err(|error| unavailable(&error))?;
            Ok((text, reference.tolerances.coarse))
        }
        stored => Ok((shapes::text(request.access(), stored).await?, 0.0)),
    }
}
