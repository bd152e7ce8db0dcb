//! The documents that search must contain, as the audit knows them. The tests have a reference of their own, so that a
//! mistake in the mirror's documents is not in both.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;
use serde_json::value::RawValue;
use table::Key;
use table::schema::Entity;

use super::content;
use crate::document::{Found, ShapeSource};
use crate::documents::{DetailLevel, Documents, Obstacle, Shape, ShapeStatus, ShapeUnavailable, Shapes, document_of};
use crate::item::Item;
use crate::ports::Fault;

/// The state in which search must have an item.
#[derive(Debug)]
pub(crate) enum Wanted {
    Document(WantedDocument),
    /// The item is hidden from search in its present state.
    Hidden,
    /// No document can be created. The item must be in quarantine.
    Unfit,
    /// S3 refuses a shape of the item, so its document is not known.
    Unknown,
}

/// A document that search must have.
#[derive(Debug)]
pub(crate) struct WantedDocument {
    /// JSON text.
    pub(crate) source: String,
    /// The value of each `<field>Status`, by the field.
    pub(crate) shapes: Vec<(String, String)>,
}

/// A detail level at which a shape may be indexed, by the shape's field. Other shapes are indexed in full.
pub(crate) type Levels = [(String, DetailLevel)];

/// A source of the documents that search must have.
pub(crate) trait Reference: Sync {
    /// Creates the document of an item with a valid revision, whose entity is searchable.
    fn wanted(
        &self,
        entity: &'static Entity,
        key: &Key,
        rev: u64,
        item: &Item,
        levels: &Levels,
    ) -> impl Future<Output = Result<Wanted, Fault>> + Send;
}

/// The system's own mapping of items.
#[derive(Debug)]
pub(crate) struct OfSystem<'d, D, S> {
    pub(crate) documents: &'d D,
    pub(crate) shapes: &'d S,
    /// The version of the mapping of the generation.
    pub(crate) mapping: u32,
}

/// The result of reading a shape.
enum ReadShape {
    Read(Shape),
    /// It cannot be read, which is poison.
    Unreadable,
    /// S3 refuses the object, which may pass.
    Refused,
}

impl<D: Documents, S: Shapes> Reference for OfSystem<'_, D, S> {
    async fn wanted(
        &self,
        entity: &'static Entity,
        key: &Key,
        rev: u64,
        item: &Item,
        levels: &Levels,
    ) -> Result<Wanted, Fault> {
        let found = catch_unwind(AssertUnwindSafe(|| {
            let image = item.image().ok()?;
            document_of(self.documents, self.mapping, entity, &image).ok()
        }));
        let document = match found {
            Ok(Some(Found::Document(document))) => document,
            Ok(Some(Found::Hidden)) => return Ok(Wanted::Hidden),
            Ok(None) | Err(_) => return Ok(Wanted::Unfit),
        };
        let mut source = format!(r#"{{"pk":{},"entity":{},"rev":{rev}"#, quoted(&key.pk), quoted(entity.name));
        if let Some(sk) = &key.sk {
            member(&mut source, "sk", &quoted(sk));
        }
        if !document.fields().is_empty() {
            source.push(',');
            source.push_str(document.fields());
        }
        let mut shapes = Vec::new();
        for (field, shape) in document.shapes() {
            let level = levels.iter().find(|(of, _)| of == field).map_or(DetailLevel::Full, |(_, level)| *level);
            let shape = match self.shape(shape, level).await? {
                ReadShape::Read(shape) => shape,
                ReadShape::Unreadable => return Ok(Wanted::Unfit),
                ReadShape::Refused => return Ok(Wanted::Unknown),
            };
            if let Some(json) = &shape.json {
                member(&mut source, field, json);
            }
            member(&mut source, &status_of(field), &quoted(shape.status.name()));
            if let Some(tolerance) = &shape.tolerance {
                member(&mut source, &format!("{field}Tolerance"), tolerance);
            }
            if let Some(outline) = &shape.outline {
                member(&mut source, &format!("{field}Outline"), &quoted(outline));
            }
            shapes.push(((*field).to_owned(), shape.status.name().to_owned()));
        }
        source.push('}');
        // A text that is no JSON is refused by OpenSearch, whatever it is to say.
        Ok(if serde_json::from_str::<&RawValue>(&source).is_ok() {
            Wanted::Document(WantedDocument { source, shapes })
        } else {
            Wanted::Unfit
        })
    }
}

impl<D: Documents, S: Shapes> OfSystem<'_, D, S> {
    async fn shape(&self, source: &ShapeSource, level: DetailLevel) -> Result<ReadShape, Fault> {
        if level == DetailLevel::None {
            return Ok(ReadShape::Read(Shape::NONE));
        }
        let Ok(read) = AssertUnwindSafe(self.shapes.shape(source, level)).catch_unwind().await else {
            return Ok(ReadShape::Unreadable);
        };
        match read {
            Ok(shape) => Ok(ReadShape::Read(shape)),
            Err(ShapeUnavailable { obstacle: Obstacle::Passing, reason }) => Err(Fault::passing("s3", reason)),
            Err(ShapeUnavailable { obstacle: Obstacle::Refused, .. }) => Ok(ReadShape::Refused),
            Err(ShapeUnavailable { obstacle: Obstacle::Lasting, .. }) => Ok(ReadShape::Unreadable),
        }
    }
}

impl WantedDocument {
    /// Whether the object of a shape does not exist.
    pub(super) fn lacks_an_object(&self) -> bool {
        self.shapes.iter().any(|(_, status)| status == ShapeStatus::Missing.name())
    }
}

/// Returns the coarser levels at which a document has its shapes, or `None` if it has all of them as wanted.
pub(crate) fn coarser(wanted: &WantedDocument, found: &content::Members<'_>) -> Option<Vec<(String, DetailLevel)>> {
    let mut levels = Vec::new();
    for (field, status) in &wanted.shapes {
        let present = content::text(found, &status_of(field));
        let present = present.as_deref().and_then(level);
        if let Some((present, wanted)) = present.zip(level(status))
            && present > wanted
        {
            levels.push((field.clone(), present));
        }
    }
    (!levels.is_empty()).then_some(levels)
}

/// Whether a document lacks a shape because its object did not exist.
pub(crate) fn lacks_a_shape(wanted: &WantedDocument, found: &content::Members<'_>) -> bool {
    let missing = Some(ShapeStatus::Missing.name());
    wanted.shapes.iter().any(|(field, _)| content::text(found, &status_of(field)).as_deref() == missing)
}

fn level(status: &str) -> Option<DetailLevel> {
    let levels = [DetailLevel::Full, DetailLevel::Fine, DetailLevel::Coarse, DetailLevel::Envelope, DetailLevel::None];
    levels.into_iter().find(|level| ShapeStatus::At(*level).name() == status)
}

fn status_of(field: &str) -> String {
    format!("{field}Status")
}

fn member(source: &mut String, name: &str, json: &str) {
    source.push(',');
    source.push_str(&quoted(name));
    source.push(':');
    source.push_str(json);
}

fn quoted(text: &str) -> String {
    // Writing a string as JSON cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}
