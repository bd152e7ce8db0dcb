//! The columns by which issues are sorted and filtered.

use std::fmt;

use serde::Serialize;

use crate::items::Issue;
use crate::names::AttributeId;
use crate::project::{Attribute, Schema};
use crate::values::{ValueKey, folded, number_key};

/// A column of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Column {
    Number,
    Name,
    State,
    CreatedAt,
    UpdatedAt,
    Attribute(AttributeId),
}

/// The order of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    pub column: Column,
    pub backward: bool,
}

impl Column {
    /// Parses a column's name in a query; an attribute is named by its id.
    pub fn parse(text: &str, schema: &Schema) -> Result<Self, String> {
        match text {
            "number" => Ok(Self::Number),
            "name" => Ok(Self::Name),
            "state" => Ok(Self::State),
            "createdAt" => Ok(Self::CreatedAt),
            "updatedAt" => Ok(Self::UpdatedAt),
            _ => AttributeId::parse_id(text).filter(|id| schema.column(*id).is_some()).map(Self::Attribute).ok_or_else(
                || "must be `number`, `name`, `state`, `createdAt`, `updatedAt`, or the id of an attribute".to_owned(),
            ),
        }
    }

    /// The attribute of the column, unless every project has the column.
    pub fn attribute(self, schema: &Schema) -> Option<&Attribute> {
        match self {
            Self::Attribute(id) => schema.column(id),
            Self::Number | Self::Name | Self::State | Self::CreatedAt | Self::UpdatedAt => None,
        }
    }

    /// The key of an issue's value in this column.
    pub fn key(self, issue: &Issue) -> Option<ValueKey> {
        match self {
            Self::Number => Some(ValueKey::whole(number_key(issue.num))),
            Self::Name => Some(ValueKey::whole(folded(&issue.name))),
            Self::State => Some(ValueKey::whole(issue.state.as_str())),
            Self::CreatedAt => Some(ValueKey::whole(issue.audit.created_at.as_str())),
            Self::UpdatedAt => Some(ValueKey::whole(issue.audit.updated_at.as_str())),
            Self::Attribute(id) => issue.value(id).map(|value| value.key()),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => formatter.write_str("number"),
            Self::Name => formatter.write_str("name"),
            Self::State => formatter.write_str("state"),
            Self::CreatedAt => formatter.write_str("createdAt"),
            Self::UpdatedAt => formatter.write_str("updatedAt"),
            Self::Attribute(id) => formatter.write_str(&id.id()),
        }
    }
}
