//! The shapes of a page of hits, simplified for maps at a zoom. They come from the stored shapes, since the forms of search
//! may be coarser.

use std::collections::HashMap;

use futures::stream::{self, StreamExt};
use geometry::{Shape, zoom_tolerance};
use table::Key;
use web::{Context, Problem};

use super::parsed_query::Source;
use super::response::{Found, FoundItem};
use crate::access::{READ_SHAPE, SHOWN_ITEMS};
use crate::item::{Item, StoredShape};
use crate::names::ShapeName;
use crate::schema::{BUCKET, PARKS};
use crate::shapes::{PREFIX, coarse_object, describe, text};
use crate::view::View;

/// Shapes that are read and simplified at once.
const CONCURRENCY: usize = 4;

/// The limits of a page: the positions that are read, and the bytes of the simplified shapes.
const MAX_POSITIONS: u64 = 1_000_000;
const MAX_BYTES: usize = 5 * 1024 * 1024;

/// Sets the outline of each hit to its boundary or path, simplified for this zoom. A hit that the view does not show any
/// more has none.
pub async fn simplify(cx: &Context, found: &mut Found, zoom: u8, view: View, source: Source) -> Result<(), Problem> {
    let has_shape = |item: &&FoundItem| item.boundary_status.is_some() || item.path_status.is_some();
    let keys: Vec<Key> = found.items.iter().filter(has_shape).map(key).collect();
    let stored = cx.access().table(&SHOWN_ITEMS, &PARKS).batch_get(&keys).await?;
    let mut shapes = Vec::new();
    let mut positions = 0;
    for (key, stored) in keys.into_iter().zip(stored) {
        let item: Option<Item> = stored.map(|stored| stored.read()).transpose()?;
        let item = item.filter(|item| view.shows(item));
        let Some(shape) = item.and_then(|item| ShapeName::ALL.iter().find_map(|name| item.shape(*name))) else {
            continue;
        };
        let form = Form::of(shape, zoom);
        positions += form.positions();
        shapes.push((key, form));
    }
    if positions > MAX_POSITIONS {
        let detail = format!(
            "has {positions} positions to simplify, and at most {MAX_POSITIONS} are allowed; use a \
                              lower `limit`"
        );
        return Err(source.mismatch("shapeAs", &detail));
    }
    let simplified = shapes.into_iter().map(|(key, form)| async move {
        let text = form.simplified(cx, zoom).await.unwrap_or_else(|error| {
            // The hit keeps its location and envelope, and the others their shapes.
            tracing::error!(pk = key.pk, sk = key.sk, %error, "a shape could not be read");
            None
        });
        text.map(|text| (key, text))
    });
    let simplified: Vec<Option<(Key, String)>> = stream::iter(simplified).buffer_unordered(CONCURRENCY).collect().await;
    let mut texts: HashMap<Key, String> = simplified.into_iter().flatten().collect();
    if texts.values().map(String::len).sum::<usize>() > MAX_BYTES {
        return Err(source.mismatch("shapeAs", "is too fine: the shapes have more than 5 MiB; use a lower `limit`"));
    }
    for item in &mut found.items {
        item.outline = texts.remove(&key(item));
    }
    Ok(())
}

fn key(item: &FoundItem) -> Key {
    Key::new(&item.pk, &item.sk)
}

/// The form of a stored shape from which its simplified form is made.
enum Form {
    Whole(StoredShape),
    /// The form of at most 10 000 positions of a shape in S3, with its tolerance.
    Coarse {
        sha256: String,
        positions: u64,
        tolerance: f64,
    },
}

impl Form {
    /// Chooses the coarse form if what it leaves out is invisible at the zoom.
    fn of(shape: StoredShape, zoom: u8) -> Self {
        match shape {
            StoredShape::Object(reference)
                if reference.tolerances.coarse * 2.0 <= tolerance(zoom, reference.envelope) =>
            {
                let positions = reference.positions.min(geometry::MAX_COARSE_POSITIONS as u64);
                Self::Coarse { sha256: reference.sha256, positions, tolerance: reference.tolerances.coarse }
            }
            shape => Self::Whole(shape),
        }
    }

    fn positions(&self) -> u64 {
        match self {
            Self::Whole(shape) => describe(shape).map_or(0, |described| described.positions),
            Self::Coarse { positions, .. } => *positions,
        }
    }

    /// Returns the canonical text of the simplified shape. None if the item has no shape, which only a write outside the
    /// platform can have caused.
    async fn simplified(self, cx: &Context, zoom: u8) -> Result<Option<String>, Problem> {
        let (text, used) = match &self {
            Self::Whole(shape) => (text(cx.access(), shape).await?, 0.0),
            Self::Coarse { sha256, tolerance, .. } => {
                let objects = cx.access().objects(&READ_SHAPE, BUCKET, PREFIX);
                let bytes = objects.get(&coarse_object(sha256)).await?;
                (String::from_utf8(bytes.into()).map_err(Problem::internal)?, *tolerance)
            }
        };
        let simplified = move || {
            let shape = Shape::parse_canonical(&text).ok()?;
            let tolerance = tolerance(zoom, shape.envelope().into()) - used;
            Some(shape.simplify(tolerance).shape.canonical())
        };
        tokio::task::spawn_blocking(simplified).await.map_err(Problem::internal)
    }
}

fn tolerance(zoom: u8, envelope: [f64; 4]) -> f64 {
    zoom_tolerance(zoom, geometry::Envelope::from(envelope).middle_latitude())
}
