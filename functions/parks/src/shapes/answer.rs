//! Shapes of an item as it is answered: links, or the shapes themselves.

use geometry::Shape;
use table::Access;
use web::Problem;

use super::store;
use crate::access;
use crate::item::{Item, StoredShape};
use crate::items::read::AskedGeometry;
use crate::names::ShapeName;
use crate::schema::BUCKET;
use crate::view::{ItemView, ShapeView};

/// The most bytes of a shape that an item's answer embeds.
const EMBEDDED: u64 = 1024 * 1024;

/// Adds the shapes to an item's view as asked; says whether a link that dies is among them.
pub async fn embed(access: &Access, item: &Item, view: &mut ItemView, asked: AskedGeometry) -> Result<bool, Problem> {
    let mut dies = false;
    for name in ShapeName::ALL {
        let Some(stored) = item.shape(*name).filter(|_| asked != AskedGeometry::None) else { continue };
        // Only a write past the platform can have left a text that is no shape: the rest of the item is still right.
        let Some(mut shape) = describe(&stored) else { continue };
        if asked == AskedGeometry::Full && shape.bytes <= EMBEDDED {
            let text = text(access, &stored).await?;
            shape.geometry = Some(serde_json::from_str(&text).map_err(Problem::internal)?);
        } else {
            dies |= matches!(stored, StoredShape::Object(_));
            shape.link = Some(link(access, item, *name, &stored).await?);
        }
        match name {
            ShapeName::Boundary => view.boundary = Some(shape),
            ShapeName::Path => view.path = Some(shape),
        }
    }
    Ok(dies)
}

/// Where the shape can be had: one object in S3 for five minutes, or its own route.
pub async fn link(access: &Access, item: &Item, name: ShapeName, stored: &StoredShape) -> Result<String, Problem> {
    match stored {
        StoredShape::Inline(_) => Ok(format!("{}/geometry/{name}", item.href())),
        StoredShape::Object(reference) => {
            let objects = access.objects(&access::READ_SHAPE, BUCKET, store::PREFIX);
            Ok(objects.get_link(&store::object(&reference.sha256)).await?.url)
        }
    }
}

/// The canonical text of a shape, wherever it is.
pub async fn text(access: &Access, stored: &StoredShape) -> Result<String, Problem> {
    match stored {
        StoredShape::Inline(text) => Ok(text.clone()),
        StoredShape::Object(reference) => store::fetch(access, reference).await,
    }
}

/// A shape without its positions: what a client decides by.
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
