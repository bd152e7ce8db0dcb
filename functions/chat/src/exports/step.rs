//! One step of an export: reads pages of rows as lines, and uploads them when they are enough for a part of the file.

use std::time::{Duration, Instant};

use ::jobs::{Counts, Step, Then, Worker};
use bytes::Bytes;
use table::objects::{LEAST_PART, Upload};
use table::{Access, Action, Condition, Error};
use web::Problem;

use super::walk::{Exported, Page, Walk};
use super::{Progress, object, remove};
use crate::access::{EXPORT, EXPORTS};
use crate::jobs::{ChatJobs, Lease};
use crate::keys::UserKey;
use crate::schema::{self, BUCKET};
use crate::users::User;

/// The longest time of a step, so that clients see the counts change.
const MAX_STEP: Duration = Duration::from_secs(1);

const CONTENT_TYPE: &str = "application/jsonl; charset=utf-8";

/// The next part of the file.
#[derive(Debug)]
struct Part {
    /// The number of lines before it, which tells the checkpoint that it follows.
    before: u64,
    file: Vec<u8>,
    lines: u64,
    walk: Walk,
}

/// Works on an export. It keeps the lines that it has read beyond the checkpoint.
#[derive(Debug, Default)]
pub struct Export(Option<Part>);

impl Worker<ChatJobs> for Export {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let start = Instant::now();
        if is_gone(access, lease).await? {
            // Nothing of a deleted user stays, not even a file that was just completed.
            remove(access, &EXPORT, lease.id).await?;
            remove_kept(access, &progress(lease)?).await?;
            return Ok(Step::fail(&lease.job, "the user was deleted"));
        }
        let mut progress = progress(lease)?;
        let mut part = match self.0.take() {
            Some(part) if part.before == progress.lines => part,
            _ => match begin(access, &progress).await? {
                Some(part) => part,
                None => return restart(),
            },
        };
        let exported = Exported { access, user: lease.group, job: &lease.job };
        while part.file.len() < LEAST_PART && start.elapsed() < MAX_STEP {
            let Page { lines, next } = exported.page(part.walk, &mut part.file).await?;
            part.lines += lines;
            match next {
                Some(next) => part.walk = next,
                None => return finish(access, lease, progress, part.file, part.lines).await,
            }
        }
        let counts = Counts::new(part.lines, part.lines);
        if part.file.len() >= LEAST_PART {
            let (objects, name) = (access.objects(&EXPORT, BUCKET, EXPORTS.prefix), object(lease.id));
            let upload = match progress.upload.take() {
                Some(upload) => upload,
                None => objects.begin_upload(&name, CONTENT_TYPE).await?,
            };
            match objects.add_part(&name, upload, Bytes::from(part.file)).await {
                Ok(upload) => progress.upload = Some(upload),
                Err(Error::NotFound) => return restart(),
                Err(error) => return Err(error.into()),
            }
            (progress.walk, progress.lines, progress.is_kept) = (part.walk, part.lines, false);
        } else {
            self.0 = Some(part);
        }
        Step::new(Vec::new(), &progress, counts, Then::Continue)
    }

    /// Stores the lines for the next run, so that an export advances even if each run reads only a few.
    async fn suspend(&mut self, access: &Access, lease: &Lease) -> Result<Option<Step>, Problem> {
        let progress = progress(lease)?;
        let Some(part) = self.0.take().filter(|part| part.before == progress.lines && part.walk != progress.walk)
        else {
            return Ok(None);
        };
        // No other run writes this name with fewer or more lines.
        let name = format!("{}-{}.part", lease.id, part.lines);
        let body = Bytes::from(part.file);
        access.objects(&EXPORT, BUCKET, EXPORTS.prefix).put(&name, body, CONTENT_TYPE).await?;
        let mut kept = progress.kept;
        kept.push(name);
        let counts = Counts::new(part.lines, part.lines);
        let progress = Progress { walk: part.walk, lines: part.lines, kept, is_kept: true, ..progress };
        Step::new(Vec::new(), &progress, counts, Then::Wait(0)).map(Some)
    }
}

fn progress(lease: &Lease) -> Result<Progress, Problem> {
    if lease.job.checkpoint.is_null() { Ok(Progress::default()) } else { lease.job.checkpoint() }
}

async fn is_gone(access: &Access, lease: &Lease) -> Result<bool, Problem> {
    let user = UserKey { user: lease.group };
    let stored = access.table(&EXPORT, &schema::USERS).get_consistent(user).await?;
    let user = stored.map(|stored| stored.read::<User>()).transpose()?;
    Ok(user.is_none_or(|user| user.deleted_at.is_some()))
}

/// Returns the part that follows the checkpoint. None if the lines that an earlier run has kept are gone.
async fn begin(access: &Access, progress: &Progress) -> Result<Option<Part>, Problem> {
    let file = match progress.kept.last().filter(|_| progress.is_kept) {
        Some(name) => match access.objects(&EXPORT, BUCKET, EXPORTS.prefix).get(name).await {
            Ok(file) => Vec::from(file),
            Err(Error::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        },
        None => Vec::new(),
    };
    Ok(Some(Part { before: progress.lines, file, lines: progress.lines, walk: progress.walk.clone() }))
}

/// Starts again: S3 aborts an upload after a day, and kept lines expire.
fn restart() -> Result<Step, Problem> {
    Step::new(Vec::new(), &Progress::default(), Counts::default(), Then::Continue)
}

/// Completes the file, unless the user was deleted meanwhile.
async fn finish(
    access: &Access,
    lease: &Lease,
    progress: Progress,
    file: Vec<u8>,
    lines: u64,
) -> Result<Step, Problem> {
    match complete(access, &object(lease.id), progress.upload.clone(), Bytes::from(file)).await {
        Ok(()) => {}
        Err(Error::NotFound) => return restart(),
        Err(error) => return Err(error.into()),
    }
    remove_kept(access, &progress).await?;
    let is_there = Action::check(&schema::USERS, UserKey { user: lease.group }).when(Condition::Absent("DeletedAt"));
    Step::new(vec![is_there], &Progress { lines, ..progress }, Counts::new(lines, lines), Then::Succeed)
}

/// Completes an object with its last part. It is complete already if an earlier run has crashed after that.
async fn complete(access: &Access, name: &str, upload: Option<Upload>, last: Bytes) -> Result<(), Error> {
    let objects = access.objects(&EXPORT, BUCKET, EXPORTS.prefix);
    let Some(upload) = upload else { return objects.put(name, last, CONTENT_TYPE).await };
    let complete = async {
        let upload = if last.is_empty() { upload } else { objects.add_part(name, upload, last).await? };
        objects.complete_upload(name, &upload).await
    };
    match complete.await {
        Ok(()) => Ok(()),
        Err(error) => match objects.head(name).await {
            Ok(_) => Ok(()),
            Err(Error::NotFound) => Err(error),
            Err(other) => Err(other),
        },
    }
}

async fn remove_kept(access: &Access, progress: &Progress) -> Result<(), Error> {
    let objects = access.objects(&EXPORT, BUCKET, EXPORTS.prefix);
    for name in &progress.kept {
        objects.delete(name).await?;
    }
    Ok(())
}
