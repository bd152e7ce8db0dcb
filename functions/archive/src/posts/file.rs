//! `POST /archive/posts/{postId}/file` and `GET` of it: the file of a post.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::objects::Declared;
use table::{Action, Changes, EntityKey};
use utoipa::ToSchema;
use web::{Answer, Context, Created, IdempotencyKey, Json, Path, Problem, Route, Sample, problem};

use super::{IN_TRANSIT, PostPath, in_transit, load, load_own, raced};
use crate::access::{CALLER, FILES, GET_FILE, INCOMING, ONE as ONE_ITEM, REQUEST_UPLOAD};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::Upload;
use crate::keys::PostKey;
use crate::names::{Role, UploadId};
use crate::publishing::file_name;
use crate::register::{Inspection, MAX_FILE_BYTES};
use crate::schema::{ARCHIVE, BUCKET};

const FILE: &str = "/archive/posts/{postId}/file";

/// A file to upload.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFile {
    /// The exact size of the file, at most 50 MB.
    #[schema(minimum = 1)]
    bytes: u64,
}

/// The link that takes the file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileLink {
    upload_id: UploadId,
    /// Takes one `PUT` for 15 minutes.
    link: String,
    /// Header fields that the `PUT` must have.
    headers: BTreeMap<String, String>,
}

/// The file of a post.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PostFile)]
pub struct FileView {
    /// The link to the file, valid for 5 minutes. Absent if the only upload was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inspection: Option<Inspection>,
    /// The upload whose file has not arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<UploadId>,
    /// Why the last upload was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

pub fn request_route() -> Route {
    Route::post("requestUpload", FILE, SIGNED_IN, request)
        .summary("Create a link that takes the CSV file of a post, of at most 50 MB")
        .patterns(&[&CALLER, &ONE_ITEM, &REQUEST_UPLOAD])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, IN_TRANSIT, problem::CONFLICT, problem::TOO_LARGE])
        .sample(Sample::new("/archive/posts/7000000003/file").body(r#"{"bytes":1000}"#))
}

async fn request(
    cx: Context,
    Path(path): Path<PostPath>,
    once: IdempotencyKey,
    Json(new): Json<NewFile>,
) -> Result<Created<FileLink>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    load_own(&cx, &caller, path.post_id).await?;
    if let Some(earlier) = once.earlier(&cx, &REQUEST_UPLOAD, &ARCHIVE).await? {
        return Ok(earlier);
    }
    if new.bytes > MAX_FILE_BYTES {
        let detail = format!("A file has at most {MAX_FILE_BYTES} bytes. Divide it into files for several posts.");
        return Err(Problem::too_large(detail));
    }
    cx.retry(|| async {
        let (stored, before) = load_own(&cx, &caller, path.post_id).await?;
        if before.status.is_in_transit() {
            return Err(in_transit());
        }
        let id = UploadId::new();
        let name = format!("{}/{id}", path.post_id);
        let declared = Declared { bytes: new.bytes, sha256: None };
        let link = cx.access().objects(&REQUEST_UPLOAD, BUCKET, INCOMING.prefix).put_link(&name, declared).await?;
        let mut after = before.clone();
        after.upload = Some(Upload { id, bytes: new.bytes, refused: None });
        let changes = Changes::between(&before, &after)?;
        let update = Action::update(&ARCHIVE, PostKey { post: path.post_id }.key(), changes).if_unchanged(&stored);
        let view = FileLink { upload_id: id, link: link.url, headers: link.headers.into_iter().collect() };
        let href = format!("/archive/posts/{}/file", path.post_id);
        once.create(&cx, &REQUEST_UPLOAD, &ARCHIVE, vec![update], href, &view).await.map_err(raced)
    })
    .await
}

pub fn get_route() -> Route {
    Route::get("getFile", FILE, SIGNED_IN, get)
        .summary("Get the file of a post: a link to it, how it is read, and its first rows")
        .patterns(&[&CALLER, &ONE_ITEM, &GET_FILE])
        .answers::<FileView>(200)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_FILE))
}

const SAMPLE_FILE: &str = "/archive/posts/7000000003/file";

async fn get(cx: Context, Path(path): Path<PostPath>) -> Result<Answer, Problem> {
    Caller::with_role(&cx, Role::Volunteer).await?;
    let (_, post) = load(&cx, path.post_id).await?;
    if post.file.is_none() && post.upload.is_none() {
        return Err(Problem::not_found());
    }
    let link = match &post.file {
        Some(file) => {
            let files = cx.access().objects(&GET_FILE, BUCKET, FILES.prefix);
            Some(files.get_link(&file_name(path.post_id, &file.sha256)).await?.url)
        }
        None => None,
    };
    let (bytes, sha256, inspection) = match post.file {
        Some(file) => (Some(file.bytes), Some(file.sha256), Some(file.inspection)),
        None => (None, None, None),
    };
    let (waits_for, refused) = match post.upload {
        Some(Upload { refused: Some(refused), .. }) => (None, Some(refused)),
        Some(Upload { id, .. }) => (Some(id), None),
        None => (None, None),
    };
    let is_waiting = waits_for.is_some();
    let answer = Answer::ok(&FileView { link, bytes, sha256, inspection, waits_for, refused });
    Ok(if is_waiting { answer.retry_after(1) } else { answer })
}
