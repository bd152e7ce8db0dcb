//! The meaning of a file's columns.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ImportParams, Mode};
use crate::names::AttributeId;
use crate::project::Schema;
use crate::values::folded;

/// The treatment of columns that are neither of the project nor mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownColumns {
    /// Nothing is written.
    #[default]
    Refuse,
    /// They are left out.
    Ignore,
}

/// The meaning of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    Number,
    Name,
    State,
    Attribute(AttributeId),
    /// The column is left out.
    Nothing,
}

impl Target {
    /// Parses a client's name of a column: `number`, `name`, `state`, the id of an attribute, or nothing.
    pub fn parse(text: Option<&str>, schema: &Schema) -> Option<Self> {
        match text {
            None => Some(Self::Nothing),
            Some("number") => Some(Self::Number),
            Some("name") => Some(Self::Name),
            Some("state") => Some(Self::State),
            Some(id) => AttributeId::parse_id(id).filter(|id| schema.column(*id).is_some()).map(Self::Attribute),
        }
    }

    /// Finds a column by its header in exports, compared without case.
    fn named(header: &str, schema: &Schema) -> Option<Self> {
        match folded(header).as_str() {
            "number" => Some(Self::Number),
            "name" => Some(Self::Name),
            "state" => Some(Self::State),
            _ => schema.named(header).map(|attribute| Self::Attribute(attribute.id)),
        }
    }
}

/// The meaning of each column of a file, or the faults of its headers, each with its header.
pub fn columns(
    headers: &[String],
    params: &ImportParams,
    schema: &Schema,
) -> Result<Vec<Target>, Vec<(Option<String>, String)>> {
    let ImportParams { mapping, mode, unknown_columns, .. } = params;
    let (mut columns, mut faults) = (Vec::<Target>::new(), Vec::new());
    for header in headers {
        let mapped = mapping.iter().find(|(mapped, _)| mapped == header).map(|(_, target)| *target);
        let target = mapped.or_else(|| Target::named(header, schema));
        let target = match target {
            Some(target) if target != Target::Nothing && columns.contains(&target) => {
                faults.push((Some(header.clone()), "has the same meaning as another column".to_owned()));
                target
            }
            Some(target) => target,
            None if *unknown_columns == UnknownColumns::Ignore => Target::Nothing,
            None => {
                let detail = "is no column of the project; map it in `columns`, to null to leave it out, or choose \
                              `unknownColumns: ignore`";
                faults.push((Some(header.clone()), detail.to_owned()));
                Target::Nothing
            }
        };
        columns.push(target);
    }
    for (mapped, _) in mapping.iter().filter(|(mapped, _)| !headers.contains(mapped)) {
        faults.push((Some(mapped.clone()), "is mapped in `columns`, but the file has no such header".to_owned()));
    }
    let has = |target| columns.contains(&target);
    if faults.is_empty() {
        match mode {
            Mode::Create if !has(Target::Name) => faults.push((None, "needs a column with names".to_owned())),
            Mode::Upsert if !has(Target::Name) && !has(Target::Number) => {
                faults.push((None, "needs a column with numbers or with names".to_owned()));
            }
            _ => {}
        }
    }
    if faults.is_empty() { Ok(columns) } else { Err(faults) }
}
