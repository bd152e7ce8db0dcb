//! The geometry types that a document may have, and the limits of its size.

use crate::ShapeType;

/// The use of a shape, which determines its geometry types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Polygon or MultiPolygon.
    Boundary,
    /// LineString or MultiLineString.
    Path,
    /// Point.
    Location,
    /// A boundary or a path: an upload, whose use is not known yet.
    Any,
}

impl Kind {
    /// Returns whether a shape of this kind may have this type.
    pub fn allows(self, shape_type: ShapeType) -> bool {
        match shape_type {
            ShapeType::Polygon | ShapeType::MultiPolygon => matches!(self, Self::Boundary | Self::Any),
            ShapeType::LineString | ShapeType::MultiLineString => matches!(self, Self::Path | Self::Any),
            ShapeType::Point => self == Self::Location,
        }
    }

    /// Returns the types that it allows, for messages.
    pub fn types(self) -> &'static str {
        match self {
            Self::Boundary => "Polygon or MultiPolygon",
            Self::Path => "LineString or MultiLineString",
            Self::Location => "Point",
            Self::Any => "Polygon, MultiPolygon, LineString or MultiLineString",
        }
    }
}

/// Limits of a document. They hold for the document as it is read, and for the checked shape, which may be larger. So a
/// stored shape can always be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The size of the document, and of the canonical form.
    pub bytes: usize,
    pub positions: usize,
    pub parts: usize,
    pub rings: usize,
    /// The depth of JSON arrays and objects. A MultiPolygon in a FeatureCollection needs 8.
    pub depth: usize,
}

impl Limits {
    /// The limits of a presigned upload: 32 MiB.
    pub const UPLOAD: Self =
        Self { bytes: 32 * 1024 * 1024, positions: 1_000_000, parts: 50_000, rings: 100_000, depth: 8 };

    /// The limits of a document in the body of a request: 4 MiB.
    pub const BODY: Self = Self { bytes: 4 * 1024 * 1024, ..Self::UPLOAD };
}
