//! Operations on the attributes of a project, one file each. A change of the rows that issues have raises the project's
//! schema revision, on the project and on all its gates in one transaction.

pub mod create;
pub mod delete;
pub mod retype;
pub mod update;

use jobs::Start;
use serde::Deserialize;
use table::{Action, Changes, Condition, Error, item};
use utoipa::ToSchema;
use web::{Context, Fault, Kind, Problem};

use crate::items::{Gate, Status};
use crate::jobs::LAG;
use crate::names::{AttributeId, ProjectId, TenantId};
use crate::options::Options;
use crate::project::{Attribute, Consistency, Gates, Schema};
use crate::projects;
use crate::schema::TRACKER;
use crate::values::folded;

const LIST: &str = "/tracker/tenants/{tenantId}/projects/{projectId}/attributes";
const ONE: &str = "/tracker/tenants/{tenantId}/projects/{projectId}/attributes/{attributeId}";

/// The attribute of the samples.
const SAMPLE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/attributes/xattrib-3fe6";

/// Attributes of a project, including those that are being deleted. Each has a slot of its own below this number.
pub const MAX_ATTRIBUTES: u8 = 100;

pub const TOO_MANY_ATTRIBUTES: Kind =
    Kind::new(409, "too-many-attributes", "A project has at most 100 attributes, including those being deleted");

pub const ATTRIBUTE_BUSY: Kind = Kind::new(409, "attribute-busy", "A job is writing the values of this attribute");

/// Bytes of the options of all attributes of a project in a response, which has them all. A function's response has at most
/// 6 MB.
const MAX_OPTION_BYTES: usize = 4_000_000;

/// The columns that every project has.
const RESERVED: [&str; 3] = ["number", "name", "state"];

/// The path of an attribute.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttributePath {
    tenant_id: TenantId,
    project_id: ProjectId,
    attribute_id: AttributeId,
}

impl AttributePath {
    /// Loads the project with its attributes.
    async fn load_project(&self, cx: &Context) -> Result<Schema, Problem> {
        projects::load(cx, self.tenant_id, self.project_id, Consistency::Strong).await
    }
}

/// The problem of an attribute whose rows are being written.
pub fn busy() -> Problem {
    // A job that waits for the index does so for this time.
    const RETRY_AFTER: u32 = LAG as u32;
    ATTRIBUTE_BUSY
        .because("Wait until the job has ended. The tenant's jobs show its progress.")
        .retry_after(RETRY_AFTER)
}

/// The fault of a name by itself.
fn name_fault(name: &str) -> Option<Fault> {
    let reserved = || {
        let is_reserved = RESERVED.contains(&folded(name).as_str());
        is_reserved.then(|| Fault::pointer("/name", "is a column of every project; choose another name"))
    };
    web::visible::name_fault("/name", name).or_else(reserved)
}

/// The fault of a name that another attribute has, compared without case. An attribute that is being deleted keeps its
/// name.
fn taken_name_fault(schema: &Schema, name: &str, own: Option<AttributeId>) -> Option<Fault> {
    let folded_name = folded(name);
    let other =
        schema.attributes.iter().find(|other| Some(other.id) != own && folded(&other.item.name) == folded_name)?;
    let detail = match other.item.status {
        Status::Deleting => "is the name of an attribute that is being deleted; it is free after its job has ended",
        Status::Building | Status::Ready | Status::Retyping => "is the name of another attribute of this project",
    };
    Some(Fault::pointer("/name", detail))
}

/// Refuses options that make those of the whole project too long. Shorter ones than the attribute has are accepted.
fn check_length(schema: &Schema, own: Option<AttributeId>, options: &Options) -> Result<(), Problem> {
    let (own, others): (Vec<_>, Vec<_>) = schema.columns().partition(|column| Some(column.id) == own);
    let bytes = |columns: Vec<&Attribute>| -> Result<usize, Problem> {
        columns.iter().map(|column| column.options().response_bytes()).sum()
    };
    let (before, others, after) = (bytes(own)?, bytes(others)?, options.response_bytes()?);
    if after <= before || others + after <= MAX_OPTION_BYTES {
        return Ok(());
    }
    let detail = "would make the options of all attributes longer than 4 MB, including former ones; shorten labels, or \
                  delete an attribute";
    Err(Problem::faults(vec![option_fault((None, detail.to_owned()))]))
}

/// The next revision of the project's attributes, if they are unchanged since they were read. `rows` also raises the
/// schema revision.
pub fn project_action(schema: &Schema, rows: bool) -> Action {
    let mut changes = Changes::new().set("AttribRev", item::number(schema.project.attrib_rev + 1));
    if rows {
        changes = changes.set("SchemaRev", item::number(schema.project.schema_rev + 1));
    }
    Action::update(&TRACKER, schema.key(), changes).when(schema.unchanged()).when(Condition::Present("Data"))
}

/// The next schema revision on all gates. `empty` requires that no issue was counted since the gates were read.
pub fn gate_actions(schema: &Schema, gates: &Gates, empty: bool) -> Vec<Action> {
    let next = Changes::new().set("SchemaRev", item::number(schema.project.schema_rev + 1));
    let action = |(key, gate): &(_, Gate)| {
        let update = Action::update(&TRACKER, key, next.clone()).when(Condition::Absent("Closed"));
        if empty { update.when(Condition::Equals("Live", item::number(gate.live))) } else { update }
    };
    gates.all.iter().map(action).collect()
}

/// When the job of an attribute starts: in a small project by the request, otherwise when the index has had its time.
fn start(gates: &Gates) -> Start {
    if gates.is_small() { Start::Leased } else { Start::After(LAG) }
}

/// The problem of a write whose conditions failed, because other items than the client's `If-Match` states may have
/// changed, such as a gate or a counter. The next attempt reads all of them again, and compares the tag.
pub fn refusal(error: Error) -> Problem {
    match error {
        Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    }
}

/// A fault of the options in the body, at an option or at the whole list.
fn option_fault((index, detail): (Option<usize>, String)) -> Fault {
    Fault::pointer(index.map_or("/options".to_owned(), |index| format!("/options/{index}")), detail)
}
