//! Attributes of a project. Whatever changes the rows that issues have grows the project's schema revision, in the project
//! and at all its gates at once.

pub mod change;
pub mod create;
pub mod delete;
pub mod retype;

use serde::Deserialize;
use table::{Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::{Fault, Kind};

use crate::items::Status;
use crate::names::{AttributeId, ProjectId, TenantId};
use crate::project::{Gates, Schema};
use crate::projects::as_read;
use crate::schema::TRACKER;
use crate::values::folded;

/// The most attributes of a project, those that are being deleted among them.
pub const MOST: usize = 100;

pub const TOO_MANY_ATTRIBUTES: Kind =
    Kind::new(409, "too-many-attributes", "A project has at most 100 attributes, those being deleted among them");

/// The columns that every export has besides.
const RESERVED: [&str; 3] = ["number", "name", "state"];

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttributePath {
    pub tenant_id: TenantId,
    pub project_id: ProjectId,
    pub attribute_id: AttributeId,
}

/// What is wrong with a name by itself.
fn name_faults(name: &str) -> Option<Fault> {
    let folded = folded(name);
    if folded.is_empty() || !web::visible::is_readable(name) || name.chars().any(char::is_control) {
        Some(Fault::pointer("/name", "must not be blank nor hold control characters"))
    } else if RESERVED.contains(&folded.as_str()) {
        Some(Fault::pointer("/name", "is a column that every project has; choose another"))
    } else {
        None
    }
}

/// Whether another attribute has this name, however written; one that is being deleted keeps it.
fn name_taken(schema: &Schema, name: &str, own: Option<AttributeId>) -> Option<Fault> {
    let folded_name = folded(name);
    let other =
        schema.attributes.iter().find(|other| Some(other.id) != own && folded(&other.item.name) == folded_name)?;
    let detail = match other.item.status {
        Status::Deleting => "is the name of an attribute that is being deleted; it is free when that work has ended",
        _ => "is the name of another attribute of this project",
    };
    Some(Fault::pointer("/name", detail))
}

/// The project with its attributes changed, if they are as they were read.
pub fn project_action(schema: &Schema, schema_too: bool) -> Action {
    let changes = Changes::new().set("AttribRev", item::number(schema.project.attrib_rev + 1));
    let changes =
        if schema_too { changes.set("SchemaRev", item::number(schema.project.schema_rev + 1)) } else { changes };
    Action::update(&TRACKER, schema.key(), changes).when(as_read(schema)).when(Condition::Present("Data"))
}

/// All gates with the next schema revision. With `empty` only if none has counted since they were read.
pub fn gate_actions(schema: &Schema, gates: &Gates, empty: bool) -> Vec<Action> {
    let next = Changes::new().set("SchemaRev", item::number(schema.project.schema_rev + 1));
    let action = |(key, gate): &(_, crate::items::Gate)| {
        let moved = Action::update(&TRACKER, key, next.clone()).when(Condition::Absent("Closed"));
        if empty { moved.when(Condition::Equals("Live", item::number(gate.live))) } else { moved }
    };
    gates.0.iter().map(action).collect()
}
