//! `POST /parks/imports`: a file is announced; the answer says where to send it, and names the job.

use serde::{Deserialize, Serialize};
use table::objects::{Declared, Gathered};
use table::{Engines, EntityKey};
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request};

use super::rows::At;
use super::{Format, LARGEST, Layer, PREFIX, Phase, Plan, Unknown};
use crate::access;
use crate::item::Item;
use crate::items::stamp;
use crate::jobs::{Counts, Job, JobKind, JobStatus, href};
use crate::keys::CollectionKey;
use crate::names::{CollectionId, JobId};
use crate::schema::{BUCKET, PARKS};

const LINK_SECONDS: i64 = 15 * 60;
/// A job whose file never comes is kept as long as the file would be.
const KEPT_SECONDS: i64 = 7 * 24 * 3600;

/// A file that is about to be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImport {
    /// The collection that the items lie in.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$")]
    pub collection_id: String,
    #[schema(inline)]
    pub entity: Layer,
    #[schema(inline)]
    pub format: Format,
    /// The exact size of the file, at most 100 MiB.
    #[schema(minimum = 1)]
    pub bytes: u64,
    #[serde(default)]
    #[schema(inline)]
    pub unknown: Unknown,
}

/// Where to send the file, and the job that goes on when it has arrived.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLink {
    pub job_id: String,
    pub status: JobStatus,
    /// Takes one `PUT` for 15 minutes.
    pub link: String,
    /// Header fields that the `PUT` must carry.
    pub headers: std::collections::BTreeMap<String, String>,
}

pub async fn create_import(request: Request) -> Result<Answer, Problem> {
    let new: NewImport = request.json()?;
    if let Some(answer) = request.earlier(&access::IMPORT, &PARKS).await? {
        return Ok(answer);
    }
    if new.bytes > LARGEST {
        return Err(Problem::too_large(format!("A file to import has at most {LARGEST} bytes; cut it into several.")));
    }
    let unknown = || Problem::unprocessable(vec![Fault::pointer("/collectionId", "names no collection")]);
    let collection: CollectionId = new.collection_id.parse().map_err(|_| unknown())?;
    let root = CollectionKey { collection }.key();
    let stored = request.access().table(&access::IMPORT, &PARKS).get_consistent(root.clone()).await?;
    if stored.ok_or_else(unknown)?.read::<Item>()?.deleted() {
        return Err(unknown());
    }

    let plan = Plan {
        collection: new.collection_id,
        layer: new.entity,
        format: new.format,
        bytes: new.bytes,
        unknown: new.unknown,
        phase: Phase::Counting,
        at: At::default(),
        repeated: Vec::new(),
        faults: Gathered::default(),
    };
    let (now, who) = stamp(&request);
    let mut job = Job {
        kind: JobKind::Import,
        root: root.document_id(),
        status: JobStatus::Waiting,
        counts: Counts::default(),
        checkpoint: serde_json::to_value(plan).map_err(Problem::internal)?,
        lease_until: None,
        created_at: now,
        created_by: who,
        ended_at: None,
        reason: None,
        expires: Some(request.engines().clock.seconds() + KEPT_SECONDS),
        list_pk: None,
        list_sk: None,
    };
    let id = JobId::new();
    let objects = request.access().objects(&access::IMPORT, BUCKET, PREFIX);
    let link = objects.put_link(&id.to_string(), Declared { bytes: new.bytes, sha256: None }).await?;
    let view = ImportLink {
        job_id: id.to_string(),
        status: job.status,
        link: link.url,
        headers: link.headers.into_iter().collect(),
    };
    Ok(request.create_once(&access::IMPORT, &PARKS, vec![job.create(id)?], href(id), &view).await?)
}

/// Whether the job waits for a file that its link does not take any more.
pub fn is_late(engines: &Engines, job: &Job) -> bool {
    let made = job.created_at.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    job.status == JobStatus::Waiting && made + LINK_SECONDS < engines.clock.seconds()
}
