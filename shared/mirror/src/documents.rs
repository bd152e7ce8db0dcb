//! The interface that each system implements for the mirror: its tables, its documents and the source of its shapes.

use std::future::Future;

use table::schema::{Entity, System};

use crate::document::{Found, ShapeSource};
use crate::image::{Image, Unfit};

/// The search documents of a system.
pub trait Documents: Sync {
    /// Returns the system. The streams of all its tables are mirrored into one index.
    fn tables(&self) -> &'static System;

    fn mapping(&self) -> Mapping;

    /// Creates the document of an item. It must depend only on the item, not on other items or on a clock. The entity
    /// is searchable, and its key templates match the item's key.
    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit>;

    /// Returns the mapping with the version before. A release that raises the version keeps it, since it also writes
    /// the index of the release before until that is rebuilt.
    fn previous_mapping(&self) -> Option<Mapping> {
        None
    }

    /// Creates the document of an item as the version of [`Documents::previous_mapping`] has it.
    fn previous_document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        self.document(entity, image)
    }
}

/// Whether the code writes indexes with this version of the mapping.
pub(crate) fn writes(documents: &impl Documents, version: u32) -> bool {
    version == documents.mapping().version
        || documents.previous_mapping().is_some_and(|previous| previous.version == version)
}

/// Creates the document of an item with this version of the mapping, which is one that the code writes.
pub(crate) fn document_of(
    documents: &impl Documents,
    version: u32,
    entity: &'static Entity,
    image: &Image<'_>,
) -> Result<Found, Unfit> {
    if version == documents.mapping().version {
        documents.document(entity, image)
    } else {
        documents.previous_document(entity, image)
    }
}

/// The mapping of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The version, raised with every change of the mapping or of the documents.
    pub version: u32,
    /// JSON text `{"settings":{...},"mappings":{"properties":{...}}}`. The mirror makes it strict, and adds the
    /// fields that it writes into every document: `pk`, `sk`, `entity`, `rev`, `deleted`, `deletedAt`.
    pub body: &'static str,
}

/// How finely a shape is indexed, from full detail to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailLevel {
    Full,
    Fine,
    Coarse,
    Envelope,
    None,
}

/// A shape as it is written into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub status: ShapeStatus,
    /// GeoJSON text. `None` if the shape is not indexed.
    pub json: Option<String>,
    /// The maximum distance from the original in metres, as decimal text.
    pub tolerance: Option<String>,
    /// An outline with few positions, for maps, as GeoJSON text. It is the string `<field>Outline`, which is stored and
    /// not indexed.
    pub outline: Option<String>,
}

/// The status of a shape, in `<field>Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeStatus {
    At(DetailLevel),
    /// The object does not exist. The document contains the shape's envelope.
    Missing,
}

/// The reason why a shape could not be read. Its detail level is not lowered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a shape could not be read: {reason}")]
pub struct ShapeUnavailable {
    pub reason: String,
    pub obstacle: Obstacle,
}

/// Whether a retry may help to read a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// S3 is slow or refuses every object. The record is reported until S3 has recovered.
    Passing,
    /// S3 refuses only this object (403). This may be temporary, as after a change of a policy. The record is reported
    /// for 15 minutes, then its item goes to quarantine.
    Refused,
    /// A retry does not help. The item goes to quarantine.
    Lasting,
}

/// The source of shapes.
pub trait Shapes: Sync {
    /// Reads the shape at this level, or at the next coarser one that it has. A shape with too many positions has no
    /// [`DetailLevel::Full`]. The result must depend only on the source and the level. The level is never
    /// [`DetailLevel::None`].
    fn shape(
        &self,
        source: &ShapeSource,
        level: DetailLevel,
    ) -> impl Future<Output = Result<Shape, ShapeUnavailable>> + Send;
}

/// The source of shapes of a system that has none.
#[derive(Clone, Copy, Debug)]
pub struct NoShapes;

impl Shapes for NoShapes {
    async fn shape(&self, _: &ShapeSource, _: DetailLevel) -> Result<Shape, ShapeUnavailable> {
        Ok(Shape::NONE)
    }
}

impl Shape {
    /// A shape that is not indexed.
    pub const NONE: Self =
        Self { status: ShapeStatus::At(DetailLevel::None), json: None, tolerance: None, outline: None };
}

impl ShapeUnavailable {
    pub fn new(obstacle: Obstacle, reason: impl ToString) -> Self {
        Self { reason: reason.to_string(), obstacle }
    }
}

impl DetailLevel {
    /// Returns the next coarser level.
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
    /// Returns the value of `<field>Status`.
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
