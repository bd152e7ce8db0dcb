//! `POST /parks/geometries/uploads` and `GET …/{uploadId}`.

use serde::{Deserialize, Serialize};
use table::objects::Declared;
use table::{Action, EntityKey};
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::{PREFIX, Status, Upload, UploadFault, key};
use crate::access;
use crate::keys::UploadKey;
use crate::names::UploadId;
use crate::schema::{BUCKET, PARKS};
use crate::view::View;

/// The largest file that becomes a shape: 32 MiB.
pub const LARGEST: u64 = 32 * 1024 * 1024;
const LINK_SECONDS: i64 = 15 * 60;
const KEPT_SECONDS: i64 = 7 * 24 * 3600;

/// A file that is about to be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUpload {
    /// Its exact size.
    #[schema(minimum = 1)]
    pub bytes: u64,
    /// Of the file, in lower-case hexadecimal; checked when it has arrived.
    #[serde(default)]
    #[schema(pattern = "^[0-9a-f]{64}$", nullable = false)]
    pub sha256: Option<String>,
}

/// Where to send the file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadLink {
    pub upload_id: String,
    pub status: Status,
    /// Takes one `PUT` for 15 minutes.
    pub link: String,
    /// Header fields that the `PUT` must carry.
    pub headers: std::collections::BTreeMap<String, String>,
}

/// How far an upload has come.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadView {
    pub upload_id: String,
    pub status: Status,
    pub bytes: u64,
    pub created_at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub faults: Vec<UploadFault>,
    /// Of all faults; only 100 are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault_count: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub repairs: Vec<String>,
    /// The hash of the shape's canonical form, once it is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadPath {
    pub upload_id: String,
}

pub async fn create_upload(request: Request) -> Result<Answer, Problem> {
    let new: NewUpload = request.json()?;
    if let Some(answer) = request.earlier(&access::UPLOAD, &PARKS).await? {
        return Ok(answer);
    }
    if new.bytes > LARGEST {
        return Err(Problem::too_large(format!("A shape has at most {LARGEST} bytes; import layers of many instead.")));
    }
    let upload_id = UploadId::new();
    let clock = &request.engines().clock;
    let upload = Upload {
        status: Status::Awaiting,
        bytes: new.bytes,
        sha256: new.sha256,
        created_at: table::clock::rfc3339(clock.now()),
        link_until: clock.seconds() + LINK_SECONDS,
        faults: Vec::new(),
        fault_count: None,
        repairs: Vec::new(),
        geometry: None,
        expires: clock.seconds() + KEPT_SECONDS,
    };
    let objects = request.access().objects(&access::UPLOAD, BUCKET, PREFIX);
    // The hash is checked on arrival, so that a file of another hash is refused in our words and not in S3's.
    let link = objects.put_link(&upload_id.to_string(), Declared { bytes: upload.bytes, sha256: None }).await?;
    let action = Action::create(&PARKS, UploadKey { upload: upload_id }.key(), &upload)?;
    let view = UploadLink {
        upload_id: upload_id.to_string(),
        status: Status::Awaiting,
        link: link.url,
        headers: link.headers.into_iter().collect(),
    };
    let location = format!("/parks/geometries/uploads/{upload_id}");
    Ok(request.create_once(&access::UPLOAD, &PARKS, vec![action], location, &view).await?)
}

pub async fn get_upload(request: Request) -> Result<Answer, Problem> {
    let UploadPath { upload_id } = request.path()?;
    let key = key(&upload_id).ok_or_else(Problem::not_found)?;
    let parks = request.access().table(&access::ITEM, &PARKS);
    let stored = parks.get_consistent(key).await?.ok_or_else(Problem::not_found)?;
    let upload: Upload = stored.read()?;
    let late = upload.status == Status::Awaiting && upload.link_until < request.engines().clock.seconds();
    let status = if late { Status::Expired } else { upload.status };
    let view = UploadView {
        upload_id,
        status,
        bytes: upload.bytes,
        created_at: upload.created_at,
        faults: upload.faults,
        fault_count: upload.fault_count,
        repairs: upload.repairs,
        sha256: upload.geometry,
    };
    let answer = View::Administrator.cached(Answer::ok(&view));
    Ok(if matches!(status, Status::Awaiting | Status::Checking) { answer.retry_after(1) } else { answer })
}
