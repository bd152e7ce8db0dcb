//! `POST /parks/geometries/uploads`: creates an upload and the signed link for its file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::objects::Declared;
use table::{Action, EntityKey};
use utoipa::ToSchema;
use web::{Context, Created, IdempotencyKey, Json, Problem, Route, Sample, problem};

use super::{PREFIX, Status, Upload};
use crate::access::UPLOAD;
use crate::keys::UploadKey;
use crate::names::UploadId;
use crate::schema::{BUCKET, PARKS};
use crate::view::ADMINISTRATORS;

const TEMPLATE: &str = "/parks/geometries/uploads";

/// The limit of a file: 32 MiB.
pub const MAX_BYTES: u64 = 32 * 1024 * 1024;

const LINK_SECONDS: i64 = 15 * 60;
const RETENTION_SECONDS: i64 = 7 * 24 * 3600;

/// A file to upload.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUpload {
    /// Its exact size.
    #[schema(minimum = 1)]
    bytes: u64,
    /// The hash of the file in lower-case hexadecimal. It is checked when the file has arrived.
    #[serde(default)]
    #[schema(pattern = "^[0-9a-f]{64}$", nullable = false)]
    sha256: Option<String>,
}

/// The link for the file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadLink {
    upload_id: String,
    status: Status,
    /// Accepts one `PUT` within 15 minutes.
    link: String,
    /// The header fields of the `PUT`.
    headers: BTreeMap<String, String>,
}

pub fn route() -> Route {
    Route::post("createUpload", TEMPLATE, ADMINISTRATORS, create)
        .summary("Create an upload of a GeoJSON file of up to 32 MiB: a signed link for the file")
        .patterns(&[&UPLOAD])
        .problems(&[problem::TOO_LARGE])
        .sample(Sample::new(TEMPLATE).body(r#"{"bytes":5000000}"#))
}

async fn create(cx: Context, once: IdempotencyKey, Json(new): Json<NewUpload>) -> Result<Created<UploadLink>, Problem> {
    if let Some(earlier) = once.earlier(&cx, &UPLOAD, &PARKS).await? {
        return Ok(earlier);
    }
    if new.bytes > MAX_BYTES {
        return Err(Problem::too_large(format!(
            "A shape has at most {MAX_BYTES} bytes; import layers of many instead."
        )));
    }
    let upload_id = UploadId::new();
    let clock = &cx.engines().clock;
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
        expires: clock.seconds() + RETENTION_SECONDS,
    };
    let objects = cx.access().objects(&UPLOAD, BUCKET, PREFIX);
    // The platform checks the hash and not S3, so that a file with another hash gets the platform's fault.
    let link = objects.put_link(&upload_id.to_string(), Declared { bytes: upload.bytes, sha256: None }).await?;
    let action = Action::create(&PARKS, UploadKey { upload: upload_id }.key(), &upload)?;
    let view = UploadLink {
        upload_id: upload_id.to_string(),
        status: Status::Awaiting,
        link: link.url,
        headers: link.headers.into_iter().collect(),
    };
    let location = format!("/parks/geometries/uploads/{upload_id}");
    Ok(once.create(&cx, &UPLOAD, &PARKS, vec![action], location, &view).await?)
}
