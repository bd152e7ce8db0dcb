//! The system's side of the mirror: which tables it reads, what its documents look like, where its shapes come from.

use std::future::Future;

use table::schema::{Entity, System};

use crate::document::{Found, ShapeSource};
use crate::image::{Image, Unfit};

/// One place in each system that says what its items look like in search.
pub trait Documents: Sync {
    /// The system whose tables' streams are mirrored, all into one index.
    fn tables(&self) -> &'static System;

    fn mapping(&self) -> Mapping;

    /// The document of an item, made from nothing but the item: no other item, no clock. The entity is the one whose
    /// key templates the item's key fits, and is searchable.
    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit>;
}

/// How the index holds the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Grows whenever the mapping or what is written into it changes.
    pub version: u32,
    /// JSON text `{"settings":{...},"mappings":{"properties":{...}}}`. The mirror makes it strict, and adds the
    /// fields that it writes into every document: `pk`, `sk`, `entity`, `rev`, `deleted`, `deletedAt`.
    pub body: &'static str,
}

/// How much of a shape a document holds, from best to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailLevel {
    Full,
    Fine,
    Coarse,
    Envelope,
    None,
}

/// A shape as it goes into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub status: ShapeStatus,
    /// GeoJSON text; absent where nothing is left of the shape.
    pub json: Option<String>,
    /// How far it may be from the original, in metres, as decimal text.
    pub tolerance: Option<String>,
    /// A form of few positions that maps can draw at once, as GeoJSON text: a string in `<field>Outline`, stored and
    /// not indexed.
    pub outline: Option<String>,
}

/// What a document says of its shape, in `<field>Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeStatus {
    At(DetailLevel),
    /// The object is really gone; the shape is its envelope.
    Missing,
}

/// A shape could not be read. Its document is not degraded for that.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a shape could not be read: {reason}")]
pub struct ShapeUnavailable {
    pub reason: String,
    pub obstacle: Obstacle,
}

/// Whether asking for a shape again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// S3 is slow, or refuses every object: the record is reported until that has passed.
    Passing,
    /// S3 refuses this object and no other (403). That may pass, too, as after a change of policy: the record is reported
    /// for 15 minutes, then its item goes to quarantine.
    Refused,
    /// Asking again does not help: the item goes to quarantine.
    Lasting,
}

/// Where shapes come from.
pub trait Shapes: Sync {
    /// The shape at this level, or at a lower one where it has none that high (too many positions for
    /// [`DetailLevel::Full`]). Deterministic in the source and the level. [`DetailLevel::None`] is never asked for.
    fn shape(
        &self,
        source: &ShapeSource,
        level: DetailLevel,
    ) -> impl Future<Output = Result<Shape, ShapeUnavailable>> + Send;
}

/// For a system without shapes.
#[derive(Clone, Copy, Debug)]
pub struct NoShapes;

impl Shapes for NoShapes {
    async fn shape(&self, _: &ShapeSource, _: DetailLevel) -> Result<Shape, ShapeUnavailable> {
        Ok(Shape::NONE)
    }
}

impl Shape {
    /// Nothing of the shape.
    pub const NONE: Self =
        Self { status: ShapeStatus::At(DetailLevel::None), json: None, tolerance: None, outline: None };
}

impl ShapeUnavailable {
    pub fn new(obstacle: Obstacle, reason: impl ToString) -> Self {
        Self { reason: reason.to_string(), obstacle }
    }
}

impl DetailLevel {
    /// The next one down the ladder.
    pub const fn below(self) -> Self {
        match self {
            Self::Full => Self::Fine,
            Self::Fine => Self::Coarse,
            Self::Coarse => Self::Envelope,
            Self::Envelope | Self::None => Self::None,
        }
    }
}

impl ShapeStatus {
    /// The value of `<field>Status`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::At(DetailLevel::Full) => "full",
            Self::At(DetailLevel::Fine) => "fine",
            Self::At(DetailLevel::Coarse) => "coarse",
            Self::At(DetailLevel::Envelope) => "envelope",
            Self::At(DetailLevel::None) => "none",
            Self::Missing => "missing",
        }
    }
}
