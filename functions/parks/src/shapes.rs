//! Shapes of items: checked, stored inline or in S3, counted by their uses, and embedded in responses.

mod embed;
mod new;
mod store;
mod sweep;
mod uses;

pub use embed::{describe, embed, link, text};
pub use new::{NewShapes, ShapeFaults, check, kind, location_in};
pub use store::{
    GEOMETRY_UNAVAILABLE, Geometry, GeometryStatus, PREFIX, coarse_object, fine_object, key, object, store,
    store_object,
};
pub use sweep::{finish as finish_removals, sweep_geometries};
pub use uses::Uses;

use geometry::{Envelope, Shape};

use crate::item::{Item, StoredShape};
use crate::names::ShapeName;

/// The limit of a body with shapes: 4 MiB.
pub const MAX_BODY: usize = 4 * 1024 * 1024;

/// The envelope of both of an item's shapes: `[west, south, east, north]`.
pub fn envelope(item: &Item) -> Option<[f64; 4]> {
    let envelopes = ShapeName::ALL.iter().filter_map(|name| match item.shape(*name)? {
        StoredShape::Inline(text) => Shape::parse_canonical(&text).ok().map(|shape| shape.envelope()),
        StoredShape::Object(reference) => Some(Envelope::from(reference.envelope)),
    });
    envelopes.reduce(|one, other| one.union(&other)).map(<[f64; 4]>::from)
}
