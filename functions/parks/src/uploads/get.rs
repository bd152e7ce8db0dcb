//! `GET /parks/geometries/uploads/{uploadId}`

use serde::{Deserialize, Serialize};
use table::EntityKey;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::{Status, Upload, UploadFault};
use crate::access::ITEM;
use crate::keys::UploadKey;
use crate::names::UploadId;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, View};

/// How long after the end of its link the event of a file may come, in seconds.
const EVENT_SECONDS: i64 = 30;

/// How long after the end of its link a file is checked, in seconds. Three attempts of a minute and the pauses between
/// them take less.
const CHECK_SECONDS: i64 = 600;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadPath {
    #[schema(value_type = String)]
    upload_id: UploadId,
}

/// The status of an upload.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadView {
    upload_id: String,
    status: Status,
    bytes: u64,
    created_at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    faults: Vec<UploadFault>,
    /// The number of all faults, of which at most 100 are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault_count: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    repairs: Vec<String>,
    /// The hash of the shape's canonical form, once it is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

pub fn route() -> Route {
    Route::get("getUpload", "/parks/geometries/uploads/{uploadId}", ADMINISTRATORS, get)
        .summary("Get an upload's status with its faults or its shape")
        .patterns(&[&ITEM])
        .answers::<UploadView>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/parks/geometries/uploads/01890a5d-ac96-774b-bcce-b302099a8057").expects(404))
}

async fn get(cx: Context, Path(path): Path<UploadPath>) -> Result<Answer, Problem> {
    let key = UploadKey { upload: path.upload_id }.key();
    let stored = cx.access().table(&ITEM, &PARKS).get_consistent(key).await?.ok_or_else(Problem::not_found)?;
    let upload: Upload = stored.read()?;
    let since_link = cx.engines().clock.seconds() - upload.link_until;
    let status = match upload.status {
        Status::Awaiting if since_link > EVENT_SECONDS => Status::Expired,
        Status::Checking if since_link > CHECK_SECONDS => Status::Failed,
        status => status,
    };
    let (mut faults, mut fault_count) = (upload.faults, upload.fault_count);
    if status == Status::Failed {
        let detail = "could not be checked because the server failed. Create another upload, and tell the operator if \
                      that fails, too";
        faults = vec![UploadFault { pointer: String::new(), detail: detail.to_owned() }];
        fault_count = Some(1);
    }
    let view = UploadView {
        upload_id: path.upload_id.to_string(),
        status,
        bytes: upload.bytes,
        created_at: upload.created_at,
        faults,
        fault_count,
        repairs: upload.repairs,
        sha256: upload.geometry,
    };
    let answer = View::Administrator.cached(Answer::ok(&view));
    Ok(if matches!(status, Status::Awaiting | Status::Checking) { answer.retry_after(1) } else { answer })
}
