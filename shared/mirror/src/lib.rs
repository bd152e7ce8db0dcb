//! The stream function and library that keep OpenSearch equal to DynamoDB: documents, versions, bulk requests,
//! tombstones, generations and quarantine.

mod document;
mod documents;
mod image;
mod json;

pub use document::{Document, Found, KEYWORD_BYTES, ShapeSource, StoredShape};
pub use documents::{Documents, Mapping, NoShapes, Rung, Shape, ShapeStatus, ShapeUnavailable, Shapes};
pub use image::{Image, NotAnItem, Number, Unfit};
