//! Shapes of an item in responses: links or embedded shapes.

use geometry::Shape;
use table::Access;
use web::Problem;

use super::store;
use crate::access;
use crate::item::{Item, StoredShape};
use crate::names::ShapeName;
use crate::schema::BUCKET;
use crate::view::{GeometryParameter, ItemView, ShapeView};

/// The limit of an embedded shape, in bytes.
const MAX_EMBEDDED: u64 = 1024 * 1024;

/// Adds the shapes to the view of an item. Returns whether one of the links is signed, and so expires.
pub async fn embed(
    access: &Access,
    item: &Item,
    view: &mut ItemView,
    parameter: GeometryParameter,
) -> Result<bool, Problem> {
    let mut has_signed_link = false;
    // Only a write outside the platform can have stored an item whose key is of no kind. It is shown without its shapes,
    // which have no path.
    if item.item_key().is_none() {
        return Ok(has_signed_link);
    }
    for name in ShapeName::ALL {
        let Some(stored) = item.shape(*name).filter(|_| parameter != GeometryParameter::None) else { continue };
        // Only a write outside the platform can have stored a text that is no shape. The rest of the item is shown.
        let Some(mut shape) = describe(&stored) else { continue };
        if parameter == GeometryParameter::Full && shape.bytes <= MAX_EMBEDDED {
            let text = text(access, &stored).await?;
            shape.geometry = Some(serde_json::from_str(&text).map_err(Problem::internal)?);
        } else {
            has_signed_link |= matches!(stored, StoredShape::Object(_));
            shape.link = Some(link(access, item, *name, &stored).await?);
        }
        match name {
            ShapeName::Boundary => view.boundary = Some(shape),
            ShapeName::Path => view.path = Some(shape),
        }
    }
    Ok(has_signed_link)
}

/// A link to the shape: its own route, or an object in S3 that is signed for five minutes.
pub async fn link(access: &Access, item: &Item, name: ShapeName, stored: &StoredShape) -> Result<String, Problem> {
    match stored {
        StoredShape::Inline(_) => {
            let key = item.item_key().ok_or_else(|| Problem::internal("the key of an item is of no kind"))?;
            Ok(format!("{}/geometry/{name}", key.href()))
        }
        StoredShape::Object(reference) => {
            let objects = access.objects(&access::READ_SHAPE, BUCKET, store::PREFIX);
            Ok(objects.get_link(&store::object(&reference.sha256)).await?.url)
        }
    }
}

/// Loads the canonical text of a shape.
pub async fn text(access: &Access, stored: &StoredShape) -> Result<String, Problem> {
    match stored {
        StoredShape::Inline(text) => Ok(text.clone()),
        StoredShape::Object(reference) => store::fetch(access, reference).await,
    }
}

/// A shape without its positions.
pub fn describe(stored: &StoredShape) -> Option<ShapeView> {
    Some(match stored {
        StoredShape::Inline(text) => {
            let shape = Shape::parse_canonical(text).ok()?;
            ShapeView {
                shape_type: shape.shape_type().to_string(),
                bytes: text.len() as u64,
                positions: shape.positions() as u64,
                parts: shape.parts() as u64,
                sha256: geometry::sha256(text.as_bytes()),
                link: None,
                geometry: None,
            }
        }
        StoredShape::Object(reference) => ShapeView {
            shape_type: reference.shape_type.clone(),
            bytes: reference.bytes,
            positions: reference.positions,
            parts: reference.parts,
            sha256: reference.sha256.clone(),
            link: None,
            geometry: None,
        },
    })
}
