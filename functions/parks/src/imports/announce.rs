//! `POST /parks/imports`: creates the job of an import and the signed link for its file.

use std::collections::BTreeMap;

use jobs::{JobId, Start};
use serde::{Deserialize, Serialize};
use table::EntityKey;
use table::objects::{Declared, Gathered};
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Sample, problem};

use super::mapping::Mapping;
use super::options::{InvalidShapes, Missing, Options, Unknown};
use super::rows::FilePosition;
use super::{Format, LARGEST, Layer, PREFIX, Phase, Plan};
use crate::access::IMPORT;
use crate::audit::Audit;
use crate::item::Item;
use crate::jobs::view::{JobView, view};
use crate::jobs::{Details, Job, JobKind, NewJob, href};
use crate::keys::CollectionKey;
use crate::names::CollectionId;
use crate::schema::{BUCKET, PARKS};
use crate::view::ADMINISTRATORS;

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
    /// For each property or column of the file that has another name than its field: that name, and the field. The fields
    /// are `facilityType` or `activityType` and those of an item of the kind except its location and shapes; in a CSV file
    /// they are its columns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mapping: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(inline)]
    pub invalid_shapes: InvalidShapes,
    #[serde(default)]
    #[schema(inline)]
    pub missing: Missing,
    /// Whether the import reports its counts and faults only and writes no item; false by default.
    #[serde(default)]
    #[schema(required = false)]
    pub dry_run: bool,
}

/// The link for the file, and the job that starts when the file has arrived.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLink {
    #[serde(flatten)]
    pub job: JobView,
    /// Accepts one `PUT` within 15 minutes.
    pub link: String,
    /// The header fields of the `PUT`.
    pub headers: BTreeMap<String, String>,
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
    let mapping = Mapping::new(new.mapping, &new.entity.fields(new.format)?);
    let mapping = mapping.map_err(Problem::faults)?;
    let unknown = || Problem::unprocessable(vec![Fault::pointer("/collectionId", "is not the id of a collection")]);
    let collection: CollectionId = new.collection_id.parse().map_err(|_| unknown())?;
    let root = CollectionKey { collection: collection.clone() }.key();
    let stored = cx.access().table(&IMPORT, &PARKS).get_consistent(root.clone()).await?;
    if stored.ok_or_else(unknown)?.read::<Item>()?.deleted() {
        return Err(unknown());
    }

    let plan = Plan {
        collection: new.collection_id,
        layer: new.entity,
        format: new.format,
        bytes: new.bytes,
        options: Options {
            unknown: new.unknown,
            mapping,
            invalid_shapes: new.invalid_shapes,
            missing: new.missing,
            dry_run: new.dry_run,
        },
        phase: Phase::Counting,
        at: FilePosition::default(),
        repeated: Vec::new(),
        faults: Gathered::default(),
        refused_shapes: 0,
        hidden: 0,
        compared: None,
    };
    let (access, id, who) = (cx.access(), JobId::new(), Audit::now(&cx).by);
    let job = Job::new(access, JobKind::Import, Details::new(&root, id), who).waiting_for_file().at(&plan)?;
    let job = NewJob::with_id(access, collection, id, job, Start::After(0))?;
    let objects = access.objects(&IMPORT, BUCKET, PREFIX);
    let link = objects.put_link(&id.to_string(), Declared { bytes: new.bytes, sha256: None }).await?;
    let headers = link.headers.into_iter().collect();
    let view = ImportLink { job: view(id, job.job), link: link.url, headers };
    Ok(once.create(&cx, &IMPORT, &PARKS, job.actions.to_vec(), href(id), &view).await?)
}
