//! The shapes of documents: read by their hash and rounded, each detail level coarser than the one before.

use bytes::Bytes;
use geometry::{Envelope, MAX_COARSE_POSITIONS, MAX_FULL_POSITIONS, Shape};
use mirror::{DetailLevel, Obstacle, ShapeSource, ShapeStatus, ShapeUnavailable, Shapes, StoredShape};
use table::access::{AccessPattern, Call, ObjectAction};
use table::{Access, Error};

use crate::schema::BUCKET;
use crate::shapes::{PREFIX, coarse_object, fine_object, object};

/// A shape from S3 for its document: the object, or a simplified form if the object itself exists.
pub const SHAPE: AccessPattern = AccessPattern {
    name: "shape",
    calls: &[
        Call::Objects { bucket: BUCKET, prefix: PREFIX, action: ObjectAction::GetObject },
        Call::Objects { bucket: BUCKET, prefix: PREFIX, action: ObjectAction::HeadObject },
        Call::Objects { bucket: BUCKET, prefix: PREFIX, action: ObjectAction::ListBucket },
    ],
};

/// The limit of positions of an outline, which maps draw from a search response.
const OUTLINE_POSITIONS: usize = 64;

/// A name that no object has: objects are named by hashes.
const NO_OBJECT: &str = "none";

/// The shapes in the system's bucket.
#[derive(Clone, Debug)]
pub struct BucketShapes(Access);

impl BucketShapes {
    /// Reads shapes by the access pattern [`SHAPE`], which must be granted.
    pub fn new(access: Access) -> Self {
        Self(access)
    }

    /// The text of the object. None if the object is missing or its hash differs from its name.
    async fn original(&self, stored: &StoredShape) -> Result<Option<String>, ShapeUnavailable> {
        let body = self.present(self.0.objects(&SHAPE, BUCKET, PREFIX).get(&object(&stored.sha256)).await).await?;
        Ok(body.filter(|body| geometry::sha256(body) == stored.sha256).and_then(text))
    }

    /// The text of a simplified form. None if the form or the object itself is missing.
    async fn simplified(&self, stored: &StoredShape, form: &str) -> Result<Option<String>, ShapeUnavailable> {
        let objects = self.0.objects(&SHAPE, BUCKET, PREFIX);
        if self.present(objects.head(&object(&stored.sha256)).await).await?.is_none() {
            return Ok(None);
        }
        Ok(self.present(objects.get(form).await).await?.and_then(text))
    }

    /// None for a missing object. Any other error of S3 may be temporary.
    async fn present<T>(&self, read: Result<T, Error>) -> Result<Option<T>, ShapeUnavailable> {
        let error = match read {
            Ok(found) => return Ok(Some(found)),
            Err(Error::NotFound) => return Ok(None),
            Err(error) => error,
        };
        // A missing object is 404 only for a role that may list the bucket, and 403 otherwise. If a name that no object
        // has is 404, the role may list, so S3 refuses only this object.
        let only_this_object = error.is_refusal()
            && matches!(self.0.objects(&SHAPE, BUCKET, PREFIX).head(NO_OBJECT).await, Err(Error::NotFound));
        Err(ShapeUnavailable::new(if only_this_object { Obstacle::Refused } else { Obstacle::Passing }, error))
    }
}

impl Shapes for BucketShapes {
    async fn shape(&self, source: &ShapeSource, level: DetailLevel) -> Result<mirror::Shape, ShapeUnavailable> {
        let stored = match source {
            ShapeSource::Inline(text) => return Ok(inline(text, level)),
            ShapeSource::Object(stored) => stored,
        };
        let (level, text, tolerance) = match (level.max(first_level(stored)), &stored.fine_tolerance) {
            (DetailLevel::Full, _) => (DetailLevel::Full, self.original(stored).await?, None),
            (DetailLevel::Fine, Some(tolerance)) => {
                let text = self.simplified(stored, &fine_object(&stored.sha256)).await?;
                (DetailLevel::Fine, text, Some(tolerance.clone()))
            }
            // A shape that is indexed in full, or that was stored before fine forms were introduced, has none.
            (DetailLevel::Fine, None) | (DetailLevel::Coarse, _) => {
                let text = self.simplified(stored, &coarse_object(&stored.sha256)).await?;
                (DetailLevel::Coarse, text, Some(stored.coarse_tolerance.clone()))
            }
            (DetailLevel::Envelope | DetailLevel::None, _) => {
                return Ok(envelope_of(stored, ShapeStatus::At(DetailLevel::Envelope)));
            }
        };
        let missing = || envelope_of(stored, ShapeStatus::Missing);
        let Some(text) = text else { return Ok(missing()) };
        // Large shapes take a while, and other records wait on this thread.
        let read = tokio::task::spawn_blocking(move || read(&text, level));
        // The task fails only by a panic, which the next attempt would have again.
        let read = read.await.map_err(|panic| ShapeUnavailable::new(Obstacle::Lasting, panic))?;
        Ok(read.map_or_else(missing, |shape| mirror::Shape { tolerance, ..shape }))
    }
}

/// The highest detail level whose limits allow the shape.
fn first_level(stored: &StoredShape) -> DetailLevel {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let is_full = geometry::is_indexed_in_full(size(stored.positions), size(stored.bytes));
    if is_full { DetailLevel::Full } else { DetailLevel::Fine }
}

/// A shape that is stored on the item. It is small, so its coarse form is the whole shape, and it has no fine form.
fn inline(text: &str, level: DetailLevel) -> mirror::Shape {
    match level {
        DetailLevel::Full => read(text, level),
        DetailLevel::Fine | DetailLevel::Coarse => read(text, DetailLevel::Coarse),
        DetailLevel::Envelope => Shape::parse_canonical(text).ok().map(|shape| at(level, &rounded(shape.envelope()))),
        DetailLevel::None => None,
    }
    .unwrap_or_else(nothing)
}

/// A canonical text in the form that search indexes, or its envelope if rounding leaves nothing of it. None for other
/// texts, which only a write outside the platform can have stored.
fn read(text: &str, level: DetailLevel) -> Option<mirror::Shape> {
    let shape = Shape::parse_canonical(text).ok()?;
    let max_positions = if level == DetailLevel::Coarse { MAX_COARSE_POSITIONS } else { MAX_FULL_POSITIONS };
    if shape.positions() > max_positions {
        return None;
    }
    Some(match shape.search_form() {
        Some(json) => mirror::Shape {
            status: ShapeStatus::At(level),
            json: Some(json),
            tolerance: None,
            outline: shape.outline(OUTLINE_POSITIONS).search_form(),
        },
        None => at(DetailLevel::Envelope, &rounded(shape.envelope())),
    })
}

/// The envelope of a stored shape, with this status.
fn envelope_of(stored: &StoredShape, status: ShapeStatus) -> mirror::Shape {
    let degrees: Result<Vec<f64>, _> = stored.envelope.iter().map(|degrees| degrees.parse()).collect();
    let envelope = degrees.ok().and_then(|degrees| <[f64; 4]>::try_from(degrees).ok());
    envelope.map_or_else(nothing, |envelope| mirror::Shape {
        status,
        ..at(DetailLevel::Envelope, &rounded(envelope.into()))
    })
}

/// The envelope with positions rounded as search indexes them. If rounding leaves it without area, it becomes a line or
/// a point.
fn rounded(envelope: Envelope) -> Shape {
    let degrees = envelope.to_array().map(|degrees| (degrees * 1e7).round() / 1e7);
    Envelope::from(degrees).to_shape()
}

fn at(level: DetailLevel, shape: &Shape) -> mirror::Shape {
    mirror::Shape { status: ShapeStatus::At(level), json: shape.search_form(), tolerance: None, outline: None }
}

fn nothing() -> mirror::Shape {
    mirror::Shape { status: ShapeStatus::At(DetailLevel::None), json: None, tolerance: None, outline: None }
}

fn text(body: Bytes) -> Option<String> {
    String::from_utf8(body.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: &str = r#"{"type":"Polygon","coordinates":[[[1,2],[3,2],[3,4],[1,4],[1,2]]]}"#;

    fn stored(positions: u64, envelope: [&str; 4]) -> StoredShape {
        StoredShape {
            sha256: "ab".to_owned(),
            bytes: 9000,
            positions,
            envelope: envelope.map(str::to_owned),
            fine_tolerance: None,
            coarse_tolerance: "0.5".to_owned(),
        }
    }

    #[test]
    fn inline_shape_has_each_detail_level_down_to_none() {
        for (level, status) in [
            (DetailLevel::Full, "full"),
            (DetailLevel::Fine, "coarse"),
            (DetailLevel::Coarse, "coarse"),
            (DetailLevel::Envelope, "envelope"),
        ] {
            let shape = inline(BOX, level);
            assert_eq!((shape.status.name(), shape.json.as_deref()), (status, Some(BOX)));
        }
        assert_eq!(inline(BOX, DetailLevel::None), nothing());
        assert_eq!(inline("no shape", DetailLevel::Full), nothing());
    }

    #[test]
    fn shape_above_the_limit_of_positions_starts_fine() {
        let envelope = ["1", "2", "3", "4"];
        assert_eq!(first_level(&stored(50_000, envelope)), DetailLevel::Full);
        assert_eq!(first_level(&stored(50_001, envelope)), DetailLevel::Fine);
    }

    #[test]
    fn missing_shape_becomes_its_envelope_also_across_180() {
        let missing = envelope_of(&stored(5, ["179.5", "-17", "-179.8", "-16.5"]), ShapeStatus::Missing);
        assert_eq!(missing.status.name(), "missing");
        assert!(missing.json.is_some_and(|json| json.contains("MultiPolygon")));
        let invalid = envelope_of(&stored(5, ["1", "2", "3", "north"]), ShapeStatus::Missing);
        assert_eq!(invalid, nothing());
    }

    #[test]
    fn envelope_without_area_is_a_line_or_a_point() {
        for (east, north, of) in
            [(1.0, 4.0, "LineString"), (1.000_000_01, 2.000_000_01, "Point"), (3.0, 4.0, "Polygon")]
        {
            let shape = rounded(Envelope { west: 1.0, south: 2.0, east, north });
            assert_eq!(shape.shape_type().as_str(), of);
        }
    }
}
