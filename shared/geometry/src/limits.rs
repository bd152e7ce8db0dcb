//! What a document may be, and how much of it: large shapes in bounded memory.

use crate::ShapeType;

/// Which shapes a document may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Polygon or MultiPolygon.
    Boundary,
    /// LineString or MultiLineString.
    Path,
    /// Point.
    Location,
    /// An upload, whose use is not known yet: a boundary or a path.
    Any,
}

impl Kind {
    /// Whether a document of this kind may be of this type.
    pub fn takes(self, of: ShapeType) -> bool {
        match of {
            ShapeType::Polygon | ShapeType::MultiPolygon => matches!(self, Self::Boundary | Self::Any),
            ShapeType::LineString | ShapeType::MultiLineString => matches!(self, Self::Path | Self::Any),
            ShapeType::Point => self == Self::Location,
        }
    }

    /// The types it takes, as a message names them.
    pub fn types(self) -> &'static str {
        match self {
            Self::Boundary => "Polygon or MultiPolygon",
            Self::Path => "LineString or MultiLineString",
            Self::Location => "Point",
            Self::Any => "Polygon, MultiPolygon, LineString or MultiLineString",
        }
    }
}

/// Held while reading, and again by what a cut makes of the shape, so that what was stored can always be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of the document, and of the canonical form.
    pub bytes: usize,
    pub positions: usize,
    pub parts: usize,
    pub rings: usize,
    /// How deep JSON arrays and objects may nest. A MultiPolygon in a FeatureCollection needs 8.
    pub depth: usize,
}

impl Limits {
    /// A document that came by presigned upload: 32 MiB.
    pub const UPLOAD: Self =
        Self { bytes: 32 * 1024 * 1024, positions: 1_000_000, parts: 50_000, rings: 100_000, depth: 8 };

    /// A document in the body of a request: 4 MiB.
    pub const BODY: Self = Self { bytes: 4 * 1024 * 1024, ..Self::UPLOAD };
}
