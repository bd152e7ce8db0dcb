//! Shapes in S3, named by the hash of their canonical form, each with an item that counts its uses.

use std::time::Duration;

use bytes::Bytes;
use geometry::{MAX_COARSE_POSITIONS, MAX_FULL_POSITIONS, Shape, Simplified, is_indexed_in_full};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, EntityKey, Error, Key, item};
use tokio::time::Instant;
use web::{Kind, Problem};

use crate::access;
use crate::item::{INLINE_BYTES, ShapeRef, StoredShape, Tolerances};
use crate::keys::GeometryKey;
use crate::schema::{BUCKET, PARKS};

pub const GEOMETRY_UNAVAILABLE: Kind = Kind::new(503, "geometry-unavailable", "The shape is not available now");

/// The prefix of shapes in the bucket.
pub const PREFIX: &str = "geometries/";

/// The partition that lists shapes without uses, by the time since.
pub const UNREFERENCED: &str = "geometry::unreferenced";

/// The time limit for the end of a sweep of the same shape.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);

/// The item of a shape in S3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Geometry {
    pub bytes: u64,
    pub positions: u64,
    pub parts: u64,
    pub rings: u64,
    #[serde(rename = "type")]
    pub shape_type: String,
    pub envelope: [f64; 4],
    pub tolerances: Tolerances,
    pub status: GeometryStatus,
    /// The number of items that use it.
    pub refs: u64,
    /// The lease of the run that sweeps it, in epoch seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_pk: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_sk: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GeometryStatus {
    Stored,
    /// Being swept: its objects may be deleted.
    Deleting,
}

/// Stores a shape so that it can be attached: inline if it is small, else in S3.
pub async fn store(access: &Access, shape: Shape) -> Result<StoredShape, Problem> {
    let canonical = shape.canonical();
    if canonical.len() <= INLINE_BYTES {
        return Ok(StoredShape::Inline(canonical));
    }
    Ok(StoredShape::Object(store_object(access, shape, canonical).await?))
}

/// Stores a shape of any size with its simplified forms in S3, and the item that counts its uses.
pub async fn store_object(access: &Access, shape: Shape, canonical: String) -> Result<ShapeRef, Problem> {
    let sha256 = geometry::sha256(canonical.as_bytes());
    let bytes = canonical.len();
    let (shape, fine, coarse) = tokio::task::spawn_blocking(move || {
        let (fine, coarse) = simplified(&shape, bytes);
        (shape, fine, coarse)
    })
    .await
    .map_err(Problem::internal)?;
    let geometry = Geometry {
        bytes: canonical.len() as u64,
        positions: shape.positions() as u64,
        parts: shape.parts() as u64,
        rings: shape.rings() as u64,
        shape_type: shape.shape_type().to_string(),
        envelope: shape.envelope().into(),
        tolerances: Tolerances { fine: fine.as_ref().map(|fine| fine.tolerance), coarse: coarse.tolerance },
        status: GeometryStatus::Stored,
        refs: 0,
        lease_until: None,
        list_pk: Some(UNREFERENCED.to_owned()),
        list_sk: Some(table::clock::rfc3339(access.engines().clock.now())),
    };
    let reference = reference(access, &sha256, &geometry);
    // The item is written first, which keeps the sweep from deleting the objects in between. The objects are always put,
    // even if the item exists: this restores lost objects.
    register(access, key(&sha256)?, &geometry).await?;
    put_object(access, &object(&sha256), canonical.into()).await?;
    if let Some(fine) = fine {
        put_object(access, &fine_object(&sha256), fine.shape.canonical().into()).await?;
    }
    put_object(access, &coarse_object(&sha256), coarse.shape.canonical().into()).await?;
    Ok(reference)
}

/// The derived forms of a shape of this size in bytes: a fine one if search does not take the whole, and a coarse one.
fn simplified(shape: &Shape, bytes: usize) -> (Option<Simplified>, Simplified) {
    let is_whole = is_indexed_in_full(shape.positions(), bytes);
    let fine = (!is_whole).then(|| shape.simplify_to(MAX_FULL_POSITIONS));
    (fine, shape.simplify_to(MAX_COARSE_POSITIONS))
}

/// Creates the item of a shape. If it exists and has no uses, its unused time starts again.
async fn register(access: &Access, key: Key, geometry: &Geometry) -> Result<(), Problem> {
    let deadline = Instant::now() + SWEEP_TIMEOUT;
    loop {
        match access.write(&access::STORE_SHAPE, Action::create(&PARKS, key.clone(), geometry)?).await {
            Ok(_) => return Ok(()),
            Err(Error::Exists) => {}
            Err(error) => return Err(error.into()),
        }
        let Some(stored) = access.table(&access::STORE_SHAPE, &PARKS).get_consistent(key.clone()).await? else {
            continue;
        };
        let existing: Geometry = stored.read()?;
        match existing.status {
            GeometryStatus::Stored if existing.refs > 0 => return Ok(()),
            GeometryStatus::Stored => {
                let since = table::clock::rfc3339(access.engines().clock.now());
                let wanted = Changes::new().set("listPk", item::text(UNREFERENCED)).set("listSk", item::text(since));
                let wanted = Action::update(&PARKS, key.clone(), wanted).if_unchanged(&stored);
                match access.write(&access::STORE_SHAPE, wanted).await {
                    Ok(_) => return Ok(()),
                    Err(Error::Stale { .. } | Error::NotFound) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            // It is created again after the sweep.
            GeometryStatus::Deleting if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
            GeometryStatus::Deleting => return Err(Problem::conflict()),
        }
    }
}

/// Puts an object, unless it exists with this content. It is read first, because S3 may refuse an existing object before it
/// has received the body, and close the connection of the client that is still sending.
async fn put_object(access: &Access, name: &str, body: Bytes) -> Result<(), Problem> {
    let objects = access.objects(&access::STORE_SHAPE, BUCKET, PREFIX);
    let put = match objects.get(name).await {
        Ok(existing) if existing == body => return Ok(()),
        Ok(_) => objects.put(name, body, crate::geojson::CONTENT_TYPE).await,
        Err(Error::NotFound) => objects.put_new(name, body, crate::geojson::CONTENT_TYPE).await,
        Err(error) => Err(error),
    };
    match put {
        Ok(()) | Err(Error::Exists) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Loads a shape from S3 and checks its hash.
pub async fn fetch(access: &Access, reference: &ShapeRef) -> Result<String, Problem> {
    let objects = access.objects(&access::READ_SHAPE, BUCKET, PREFIX);
    let unavailable = |why: String| {
        GEOMETRY_UNAVAILABLE.because("The stored shape could not be read; try again.").retry_after(1).caused_by(why)
    };
    let bytes = objects.get(&object(&reference.sha256)).await.map_err(|error| unavailable(error.to_string()))?;
    if geometry::sha256(&bytes) != reference.sha256 {
        tracing::error!(geometry.sha256 = reference.sha256, "the hash of a stored object differs from its name");
        return Err(unavailable("the hash of the object differs from its name".to_owned()));
    }
    String::from_utf8(bytes.into()).map_err(|error| unavailable(error.to_string()))
}

pub fn key(sha256: &str) -> Result<Key, Problem> {
    Ok(GeometryKey { sha256: sha256.parse().map_err(Problem::internal)? }.key())
}

/// The name of a shape's object under [`PREFIX`].
pub fn object(sha256: &str) -> String {
    format!("{sha256}.geojson")
}

/// The name of the form of at most 50 000 positions, which search takes of larger shapes.
pub fn fine_object(sha256: &str) -> String {
    format!("{sha256}/{MAX_FULL_POSITIONS}.geojson")
}

/// The name of the form of at most 10 000 positions, which search takes if it refuses larger ones.
pub fn coarse_object(sha256: &str) -> String {
    format!("{sha256}/{MAX_COARSE_POSITIONS}.geojson")
}

fn reference(access: &Access, sha256: &str, geometry: &Geometry) -> ShapeRef {
    let bucket = access.engines().config.bucket(BUCKET);
    ShapeRef {
        url: format!("s3://{bucket}/{PREFIX}{}", object(sha256)),
        sha256: sha256.to_owned(),
        bytes: geometry.bytes,
        positions: geometry.positions,
        parts: geometry.parts,
        shape_type: geometry.shape_type.clone(),
        envelope: geometry.envelope,
        tolerances: geometry.tolerances.clone(),
    }
}

impl Geometry {
    /// The reference that items store.
    pub fn reference(&self, access: &Access, sha256: &str) -> ShapeRef {
        reference(access, sha256, self)
    }
}
