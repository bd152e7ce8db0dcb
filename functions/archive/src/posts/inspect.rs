//! The handler `inspectFile` of the event that a file has arrived: finds out how it is read, and makes it the file of its
//! post. A file that a later request has replaced is only removed. An event may be delivered twice.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use table::objects::{Blocks, LEAST_PART};
use table::{Access, Action, Changes, EntityKey, Error};
use web::notification::arrived;
use web::{Event, EventFailure, Fault, Problem};

use crate::access::{FILES, INCOMING, INSPECT_AGAIN, INSPECT_FILE};
use crate::item::{Post, PostFile, Upload};
use crate::keys::PostKey;
use crate::names::{PostId, UploadId};
use crate::publishing::{file_name, hex};
use crate::register::{CsvOptions, Inspection, Inspector, MAX_FILE_BYTES, Refusal};
use crate::schema::{ARCHIVE, BUCKET};

pub async fn inspect_file(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        inspect(event.access(), &object).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Inspects one file.
async fn inspect(access: &Access, object: &str) -> Result<(), Problem> {
    let Some(name) = object.strip_prefix(INCOMING.prefix) else { return Ok(()) };
    let Some((post, upload)) = name.split_once('/') else { return Ok(()) };
    let (Ok(post), Ok(upload)) = (post.parse::<PostId>(), upload.parse::<UploadId>()) else { return Ok(()) };
    let mut last_read = None;
    let mut stored_as: Option<String> = None;
    loop {
        let archive = access.table(&INSPECT_FILE, &ARCHIVE);
        let stored = archive.get_consistent(PostKey { post }.key()).await?;
        let before = stored.as_ref().map(|stored| stored.read::<Post>()).transpose()?;
        let (Some(stored), Some(before)) = (stored, before) else {
            // The post was deleted meanwhile, and what it had was deleted before.
            if let Some(sha256) = &stored_as {
                access.objects(&INSPECT_FILE, BUCKET, FILES.prefix).delete(&file_name(post, sha256)).await?;
            }
            break;
        };
        let expected = before.upload.as_ref().filter(|expected| expected.id == upload && expected.refused.is_none());
        let Some(expected) = expected else { break };
        let options = before.csv_options.unwrap_or_default();
        let found = match last_read.take() {
            Some((read_with, found)) if read_with == options => found,
            _ => match read(access, name, expected, options).await? {
                Some(found) => found,
                None => break,
            },
        };
        last_read = Some((options, found.clone()));
        let mut after = before.clone();
        let is_last = match found {
            Ok(file) if lists(&before, &file.sha256) => {
                if !copy(access, name, file.bytes, &file_name(post, &file.sha256)).await? {
                    break;
                }
                stored_as = Some(file.sha256.clone());
                replace_file(&mut after, file);
                true
            }
            // The post lists the file before the file is stored. So the deletion of the post deletes the file, even if
            // this process stops in between.
            Ok(file) => {
                after.unused_files.insert(file.sha256);
                false
            }
            Err(reason) => {
                after.upload = Some(Upload { refused: Some(reason), ..expected.clone() });
                true
            }
        };
        let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?);
        match access.write(&INSPECT_FILE, update.if_unchanged(&stored)).await {
            Ok(_) if is_last => break,
            // If it failed, the post has changed, and with it perhaps the upload that it expects, or it is deleted.
            Ok(_) | Err(Error::NotFound | Error::Stale { .. } | Error::ConditionFailed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(access.objects(&INSPECT_FILE, BUCKET, INCOMING.prefix).delete(name).await?)
}

/// Reads the file of a post again, with other options. 422 if it cannot be read so.
pub async fn inspect_again(
    access: &Access,
    post: PostId,
    file: &PostFile,
    options: CsvOptions,
) -> Result<Inspection, Problem> {
    let files = access.objects(&INSPECT_AGAIN, BUCKET, FILES.prefix);
    let mut inspector = Inspector::new(options);
    let mut blocks = Blocks::new(file_name(post, &file.sha256), file.bytes, 0);
    while !blocks.at_end() {
        if !blocks.more(files).await? {
            return Err(Problem::internal("the file of a post is gone"));
        }
        inspector.push(blocks.rest());
        blocks.take(blocks.rest().len());
    }
    let refused = |refusal: Refusal| Problem::unprocessable(vec![Fault::pointer("/csvOptions", refusal.text())]);
    inspector.finish().map_err(refused)
}

/// Whether the deletion of a post deletes this file.
fn lists(post: &Post, sha256: &str) -> bool {
    post.unused_files.contains(sha256) || post.file.as_ref().is_some_and(|file| file.sha256 == sha256)
}

/// Makes a file the post's.
fn replace_file(post: &mut Post, file: PostFile) {
    post.upload = None;
    post.unused_files.remove(&file.sha256);
    if let Some(before) = &post.file
        && before.sha256 != file.sha256
        && !before.is_in_run
    {
        post.unused_files.insert(before.sha256.clone());
    }
    let is_in_run = post.file.as_ref().is_some_and(|before| before.sha256 == file.sha256 && before.is_in_run);
    post.file = Some(PostFile { is_in_run, ..file });
}

/// Reads a file. None if it is gone. The error is why it is refused.
async fn read(
    access: &Access,
    name: &str,
    expected: &Upload,
    options: CsvOptions,
) -> Result<Option<Result<PostFile, String>>, Problem> {
    let incoming = access.objects(&INSPECT_FILE, BUCKET, INCOMING.prefix);
    let bytes = match incoming.head(name).await {
        Ok(head) => head.bytes,
        Err(Error::NotFound) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if bytes > MAX_FILE_BYTES {
        return Ok(Some(Err(Refusal::TooLarge.text())));
    }
    if bytes != expected.bytes {
        return Ok(Some(Err(format!("{} bytes were announced, and {bytes} arrived.", expected.bytes))));
    }
    let (mut hash, mut inspector) = (Sha256::new(), Inspector::new(options));
    let mut blocks = Blocks::new(name.to_owned(), bytes, 0);
    while !blocks.at_end() {
        if !blocks.more(incoming).await? {
            return Ok(None);
        }
        hash.update(blocks.rest());
        inspector.push(blocks.rest());
        blocks.take(blocks.rest().len());
    }
    let inspection: Inspection = match inspector.finish() {
        Ok(inspection) => inspection,
        Err(refusal) => return Ok(Some(Err(refusal.text()))),
    };
    let sha256 = hex(&hash.finalize());
    let uploaded_at = table::clock::rfc3339(access.engines().clock.now());
    Ok(Some(Ok(PostFile { sha256, bytes, inspection, uploaded_at, is_in_run: false })))
}

/// Copies a file, unless an equal one is there. Returns false if it is gone.
async fn copy(access: &Access, from: &str, bytes: u64, to: &str) -> Result<bool, Problem> {
    let incoming = access.objects(&INSPECT_FILE, BUCKET, INCOMING.prefix);
    let files = access.objects(&INSPECT_FILE, BUCKET, FILES.prefix);
    match files.head(to).await {
        Ok(_) => return Ok(true),
        Err(Error::NotFound) => {}
        Err(error) => return Err(error.into()),
    }
    let mut blocks = Blocks::new(from.to_owned(), bytes, 0);
    let mut upload = files.begin_upload(to, "text/csv").await?;
    while !blocks.at_end() {
        while !blocks.at_end() && blocks.rest().len() < LEAST_PART {
            if !blocks.more(incoming).await? {
                return Ok(false);
            }
        }
        upload = files.add_part(to, upload, Bytes::copy_from_slice(blocks.rest())).await?;
        blocks.take(blocks.rest().len());
    }
    files.complete_upload(to, &upload).await?;
    Ok(true)
}
