//! Shapes in requests.

use geometry::{Checked, InvalidShape, Kind, Limits, MAX_FAULTS, Shape};
use serde_json::Value;
use table::Access;
use web::{Fault, Problem};

use crate::item::{Item, StoredShape};
use crate::names::ShapeName;

/// The checked shapes of a new item, not yet stored.
#[derive(Debug)]
pub struct NewShapes(Vec<(ShapeName, Checked)>);

/// The faults of a request with shapes.
#[derive(Debug, Default)]
pub struct ShapeFaults {
    pub listed: Vec<Fault>,
    /// The number of further faults.
    unlisted: usize,
}

impl ShapeFaults {
    /// Adds the faults of a shape at this pointer. 413 if it exceeds a limit.
    pub fn add(&mut self, pointer: &str, refused: InvalidShape) -> Result<(), Problem> {
        if refused.too_large {
            let detail = refused.faults.last().map_or("the shape is too large", |fault| fault.detail.as_str());
            return Err(Problem::too_large(match pointer {
                "" => detail.to_owned(),
                pointer => format!("`{pointer}`: {detail}"),
            }));
        }
        self.unlisted += refused.count.saturating_sub(refused.faults.len());
        let placed = |fault: geometry::Fault| Fault::pointer(format!("{pointer}{}", fault.pointer), fault.detail);
        self.listed.extend(refused.faults.into_iter().map(placed));
        Ok(())
    }

    /// 400 with the faults and, if not all are listed, their number.
    pub fn problem(mut self) -> Problem {
        if self.unlisted == 0 {
            return Problem::faults(self.listed);
        }
        let count = self.listed.len() + self.unlisted;
        // The number of a longer list would replace the count.
        self.listed.truncate(MAX_FAULTS);
        Problem::faults(self.listed).with("errorCount", count)
    }
}

impl NewShapes {
    /// Checks shapes. A fault points into the body.
    pub async fn check(sent: Vec<(ShapeName, Value)>) -> Result<(Self, ShapeFaults), Problem> {
        let (mut passed, mut faults) = (Vec::new(), ShapeFaults::default());
        for (name, document) in sent {
            let text = document.to_string();
            match check(text.into_bytes(), kind(name), Limits::BODY).await? {
                Ok(checked) => passed.push((name, checked)),
                Err(refused) => faults.add(&format!("/{name}"), refused)?,
            }
        }
        Ok((Self(passed), faults))
    }

    /// Sets the location of an item that needs one and has none to a point in or on its first shape.
    pub fn locate(&self, item: &mut Item) {
        if let (None, true, Some((_, checked))) = (&item.location, item.needs_location(), self.0.first()) {
            item.location = Some(location_in(&checked.shape));
        }
    }

    /// Stores the shapes, in S3 those that are too large for the item.
    pub async fn store(self, access: &Access) -> Result<Vec<(ShapeName, StoredShape)>, Problem> {
        let mut stored = Vec::new();
        for (name, checked) in self.0 {
            stored.push((name, super::store(access, checked.shape).await?));
        }
        Ok(stored)
    }
}

/// Returns a position in or on a shape. It is not `[0, 0]`, which no location may be.
pub fn location_in(shape: &Shape) -> Vec<f64> {
    shape.points().find(|point| *point != [0.0, 0.0]).unwrap_or_default().to_vec()
}

/// The types of shapes that an attribute takes.
pub fn kind(name: ShapeName) -> Kind {
    match name {
        ShapeName::Boundary => Kind::Boundary,
        ShapeName::Path => Kind::Path,
    }
}

/// Checks a document on a thread for blocking work: a large one takes a while.
pub async fn check(document: Vec<u8>, kind: Kind, limits: Limits) -> Result<Result<Checked, InvalidShape>, Problem> {
    tokio::task::spawn_blocking(move || geometry::check(&document, kind, &limits)).await.map_err(Problem::internal)
}
