//! Uploads: files of shapes that clients put into S3 by a signed link. The platform checks a file when it has arrived.

mod check;
pub mod create;
pub mod get;

pub use check::check_upload;

use geometry::ShapeType;
use serde::{Deserialize, Serialize};
use table::EntityKey;
use utoipa::ToSchema;
use web::{Context, Fault, Kind, Problem};

use crate::access;
use crate::item::{INLINE_BYTES, StoredShape};
use crate::keys::UploadKey;
use crate::names::{ShapeName, UploadId};
use crate::schema::PARKS;
use crate::shapes::{self, Geometry};

pub const NOT_READY: Kind = Kind::new(409, "upload-not-ready", "The upload is not ready");

/// An upload as the table stores it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    pub status: Status,
    /// The declared size, which the file must have.
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub created_at: String,
    /// When its link expires, in epoch seconds.
    pub link_until: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<UploadFault>,
    /// The number of all faults, also of those that are not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// The hash of its shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    /// The time to live, in epoch seconds: seven days.
    pub expires: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No file has arrived.
    Awaiting,
    /// A file has arrived and is being checked.
    Checking,
    /// The file is a valid shape and can be attached.
    Ready,
    /// The file is invalid; `faults` lists the reasons.
    Rejected,
    /// No file arrived before the link expired. Computed when the upload is read, and never stored.
    Expired,
    /// The file could not be checked; `faults` says what to do. Computed when the upload is read, and never stored.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UploadFault {
    /// JSON pointer into the file.
    pub pointer: String,
    pub detail: String,
}

/// The prefix of the files in the bucket, each under the id of its upload.
pub const PREFIX: &str = "uploads/";

/// The stored shape of an upload that is ready, with its repairs. 422 if an attribute of this name cannot have it.
pub async fn ready(cx: &Context, upload: &str, name: ShapeName) -> Result<(StoredShape, Vec<String>), Problem> {
    let unknown = || Problem::unprocessable(vec![Fault::pointer("/uploadId", "does not exist")]);
    let upload: UploadId = upload.parse().map_err(|_| unknown())?;
    let parks = cx.access().table(&access::ITEM, &PARKS);
    let stored = parks.get_consistent(UploadKey { upload }.key()).await?.ok_or_else(unknown)?;
    let upload: Upload = stored.read()?;
    let Some(sha256) = upload.geometry.filter(|_| upload.status == Status::Ready) else {
        return Err(NOT_READY.because(
            "Wait until the upload is `ready`. If it is `rejected`, `expired` or `failed`, create another upload.",
        ));
    };
    let stored = parks.get_consistent(shapes::key(&sha256)?).await?.ok_or_else(|| {
        NOT_READY.because("The shape was unused for too long and has been removed. Create another upload.")
    })?;
    let geometry: Geometry = stored.read()?;
    let of = ShapeType::parse(&geometry.shape_type);
    if of.is_some_and(|of| shapes::kind(name).allows(of)) {
        let object = StoredShape::Object(geometry.reference(cx.access(), &sha256));
        let small = geometry.bytes <= INLINE_BYTES as u64;
        let shape = if small { StoredShape::Inline(shapes::text(cx.access(), &object).await?) } else { object };
        Ok((shape, upload.repairs))
    } else {
        let detail = format!("holds a {}, and a {name} must be a {}", geometry.shape_type, shapes::kind(name).types());
        Err(Problem::unprocessable(vec![Fault::pointer("/uploadId", detail)]))
    }
}
