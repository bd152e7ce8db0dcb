//! Files that administrators send to S3 themselves: announced, checked when they have arrived, then shapes or refused.

mod check;
mod routes;

pub use check::check_upload;
pub use routes::{NewUpload, UploadLink, UploadPath, UploadView, create_upload, get_upload};

use geometry::ShapeType;
use serde::{Deserialize, Serialize};
use table::{EntityKey, Key};
use utoipa::ToSchema;
use web::{Fault, Kind, Problem, Request};

use crate::access;
use crate::item::{INLINE_BYTES, StoredShape};
use crate::keys::UploadKey;
use crate::names::ShapeName;
use crate::schema::PARKS;
use crate::shapes::{self, Geometry};

pub const NOT_READY: Kind = Kind::new(409, "upload-not-ready", "The upload is no shape yet");

/// What the table holds of an upload.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    pub status: Status,
    /// As declared, and checked against what arrived.
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub created_at: String,
    /// Epoch seconds after which its link takes no file.
    pub link_until: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<UploadFault>,
    /// Of all faults, the named ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// The hash of the shape that it has become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    /// Epoch seconds after which it is gone: seven days.
    pub expires: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No file has arrived.
    Awaiting,
    /// A file has arrived and is being checked.
    Checking,
    /// It is a shape and can be attached.
    Ready,
    /// It breaks rules; `faults` says which.
    Rejected,
    /// No file arrived while the link took one.
    Expired,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UploadFault {
    /// JSON pointer into the file.
    pub pointer: String,
    pub detail: String,
}

/// Where files lie in the bucket, each under the id of its upload.
pub const PREFIX: &str = "uploads/";

fn key(upload: &str) -> Option<Key> {
    Some(UploadKey { upload: upload.parse().ok()? }.key())
}

/// The shape that an upload has become, where it lies already, if it can stand in this attribute.
pub async fn ready(request: &Request, upload: &str, name: ShapeName) -> Result<(StoredShape, Vec<String>), Problem> {
    let unknown = || Problem::unprocessable(vec![Fault::pointer("/uploadId", "names no upload")]);
    let parks = request.access().table(&access::ITEM, &PARKS);
    let stored = parks.get_consistent(key(upload).ok_or_else(unknown)?).await?.ok_or_else(unknown)?;
    let upload: Upload = stored.read()?;
    let Some(sha256) = upload.geometry.filter(|_| upload.status == Status::Ready) else {
        return Err(NOT_READY.because("Wait until the upload is `ready`; what was `rejected` must be sent anew."));
    };
    let stored = parks.get_consistent(shapes::key(&sha256)?).await?.ok_or_else(|| {
        NOT_READY.because("The shape was unused for too long and has been removed; send the file anew.")
    })?;
    let geometry: Geometry = stored.read()?;
    let of = ShapeType::parse(&geometry.shape_type);
    if of.is_some_and(|of| shapes::kind(name).allows(of)) {
        let object = StoredShape::Object(geometry.reference(request.access(), &sha256));
        let small = geometry.bytes <= INLINE_BYTES as u64;
        let shape = if small { StoredShape::Inline(shapes::text(request.access(), &object).await?) } else { object };
        Ok((shape, upload.repairs))
    } else {
        let detail = format!("holds a {}, and a {name} must be a {}", geometry.shape_type, shapes::kind(name).types());
        Err(Problem::unprocessable(vec![Fault::pointer("/uploadId", detail)]))
    }
}
