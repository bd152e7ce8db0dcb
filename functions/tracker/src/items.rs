//! What the table holds of tenants, members, projects, attributes, gates and issues. Attributes begin with a capital.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::Audit;
use crate::listed;
use crate::names::{AttributeId, TenantId, WorkId};
use crate::options::Options;
use crate::values::{Plain, Type, ValueKey};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Tenant {
    pub name: String,
    pub projects: i64,
    pub admins: i64,
    /// The work that deletes it: to everybody else it is gone.
    pub deleting: Option<String>,
    #[serde(flatten)]
    pub audit: Audit,
}

/// By which tenants are listed by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Directory {
    pub data: String,
}

/// What a member may do, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Viewer,
    Editor,
    Admin,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Member {
    /// `CreatedAt`: a person's tenants are listed by it.
    pub data: String,
    pub role: Role,
    pub name: String,
    #[serde(flatten)]
    pub audit: Audit,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Project {
    /// By which it is listed by name; absent once it is being deleted.
    pub data: Option<String>,
    /// Grows with any change of an attribute.
    pub attrib_rev: i64,
    /// Grows when an attribute is made, retyped or deleted: rows are written for one such revision only.
    pub schema_rev: i64,
    /// The work that deletes it.
    pub deleting: Option<String>,
    #[serde(flatten)]
    pub audit: Audit,
}

impl Project {
    /// Nothing once it is being deleted.
    pub fn name(&self) -> Option<&str> {
        self.data.as_deref().map(listed::name)
    }
}

/// Where an attribute is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Issues from before it are still entered among those without a value.
    Building,
    Ready,
    /// Values of its former type are still rewritten.
    Retyping,
    /// Hidden; its values follow.
    Deleting,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AttributeItem {
    pub name: String,
    /// Its place among the columns.
    pub num: f64,
    #[serde(rename = "Type")]
    pub of: Type,
    /// 0 to 99: the search field of its values.
    pub slot: u8,
    pub status: Status,
    #[serde(default)]
    pub options: Options,
    #[serde(flatten)]
    pub audit: Audit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Closed,
}

impl State {
    pub const ALL: [Self; 2] = [Self::Open, Self::Closed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// An issue with all its values: the truth, of which its rows are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Issue {
    /// The key of its number.
    pub data: String,
    pub name: String,
    pub state: State,
    pub num: u64,
    pub tenant: TenantId,
    /// Absent where there is none: DynamoDB Local's stream loses the type of an empty map.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
    /// The import that has made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<WorkId>,
    /// Some of its rows are not written yet.
    pub unsettled: Option<bool>,
    #[serde(flatten)]
    pub audit: Audit,
}

/// A value as an issue holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    pub slot: u8,
    #[serde(rename = "type")]
    pub of: Type,
    pub value: String,
}

impl Value {
    /// Whether an attribute that has become one of decimals shows both alike.
    fn is_same_number(&self, other: &Self) -> bool {
        let widened = (self.of, other.of) == (Type::Int, Type::Decimal);
        widened && self.slot == other.slot && self.value == other.value
    }

    pub fn plain(&self) -> Plain {
        Plain::stored(self.value.as_str())
    }

    pub fn key(&self) -> ValueKey {
        self.of.key(&self.plain())
    }
}

impl Issue {
    pub fn value(&self, attribute: AttributeId) -> Option<&Value> {
        self.values.get(&attribute.to_string())
    }

    /// A value that is there already stays as it is stored, of the type that its attribute had then.
    pub fn set(&mut self, attribute: AttributeId, value: Option<Value>) {
        match value {
            Some(value) if self.value(attribute).is_some_and(|before| before.is_same_number(&value)) => {}
            Some(value) => drop(self.values.insert(attribute.to_string(), value)),
            None => drop(self.values.remove(&attribute.to_string())),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Gate {
    pub schema_rev: i64,
    /// Over all gates: how many issues there are.
    pub live: i64,
    /// Over all gates: how many of them are open.
    pub open: i64,
    /// No issue is written any more.
    pub closed: Option<bool>,
}
