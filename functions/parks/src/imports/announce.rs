//! `POST /parks/imports`: creates the job of an import and the signed link for its file.

use serde::{Deserialize, Serialize};
use table::objects::{Declared, Gathered};
use table::{Engines, EntityKey};
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Sample, problem};

use super::rows::FilePosition;
use super::{Format, LARGEST, Layer, PREFIX, Phase, Plan, Unknown};
use crate::access::IMPORT;
use crate::audit::Audit;
use crate::item::Item;
use crate::jobs::{Counts, Job, JobKind, JobStatus, href};
use crate::keys::CollectionKey;
use crate::names::{CollectionId, JobId};
use crate::schema::{BUCKET, PARKS};
use crate::view::ADMINISTRATORS;

const LINK_SECONDS: i64 = 15 * 60;
/// The time for which a job without a file is kept, as its file would be.
const RETENTION_SECONDS: i64 = 7 * 24 * 3600;

/// A file to import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImport {
    /// The collection of the items.
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

/// The link for the file, and the job that imports it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLink {
    pub job_id: String,
    pub status: JobStatus,
    /// Accepts one `PUT` within 15 minutes.
    pub link: String,
    /// The header fields of the `PUT`.
    pub headers: std::collections::BTreeMap<String, String>,
}

const TEMPLATE: &str = "/parks/imports";

pub fn route() -> Route {
    Route::post("createImport", TEMPLATE, ADMINISTRATORS, create)
        .summary("Create an import of a file of up to 100 MiB and 50 000 rows: a signed link for the file, and its job")
        .patterns(&[&IMPORT])
        .problems(&[problem::TOO_LARGE, problem::UNPROCESSABLE])
        .sample(
            Sample::new(TEMPLATE)
                .body(r#"{"collectionId":"bcparks_1","entity":"facility","format":"geojson","bytes":5000000}"#),
        )
}

async fn create(cx: Context, once: IdempotencyKey, Json(new): Json<NewImport>) -> Result<Created<ImportLink>, Problem> {
    if let Some(earlier) = once.earlier(&cx, &IMPORT, &PARKS).await? {
        return Ok(earlier);
    }
    if new.bytes > LARGEST {
        return Err(Problem::too_large(format!(
            "A file to import has at most {LARGEST} bytes; split it into several files."
        )));
    }
    let unknown = || Problem::unprocessable(vec![Fault::pointer("/collectionId", "is not the id of a collection")]);
    let collection: CollectionId = new.collection_id.parse().map_err(|_| unknown())?;
    let root = CollectionKey { collection }.key();
    let stored = cx.access().table(&IMPORT, &PARKS).get_consistent(root.clone()).await?;
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
        at: FilePosition::default(),
        repeated: Vec::new(),
        faults: Gathered::default(),
    };
    let audit = Audit::now(&cx);
    let mut job = Job {
        kind: JobKind::Import,
        root: root.document_id(),
        status: JobStatus::Waiting,
        counts: Counts::default(),
        checkpoint: serde_json::to_value(plan).map_err(Problem::internal)?,
        lease_until: None,
        created_at: audit.at,
        created_by: audit.by,
        ended_at: None,
        reason: None,
        expires: Some(cx.engines().clock.seconds() + RETENTION_SECONDS),
        list_pk: None,
        list_sk: None,
    };
    let id = JobId::new();
    let objects = cx.access().objects(&IMPORT, BUCKET, PREFIX);
    let link = objects.put_link(&id.to_string(), Declared { bytes: new.bytes, sha256: None }).await?;
    let view = ImportLink {
        job_id: id.to_string(),
        status: job.status,
        link: link.url,
        headers: link.headers.into_iter().collect(),
    };
    Ok(once.create(&cx, &IMPORT, &PARKS, vec![job.create(id)?], href(id), &view).await?)
}

/// Whether the job waits for a file although its link has expired.
pub fn is_late(engines: &Engines, job: &Job) -> bool {
    let made = job.created_at.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    job.status == JobStatus::Waiting && made + LINK_SECONDS < engines.clock.seconds()
}
