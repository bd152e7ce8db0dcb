//! Items as the table stores them. The names of their attributes start with a capital.

use jobs::JobId;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::Audit;
use crate::listed;
use crate::names::{AttributeId, TenantId};
use crate::options::Options;
use crate::values::{Plain, Type, ValueKey};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Tenant {
    pub name: String,
    pub projects: i64,
    pub admins: i64,
    /// The job that deletes the tenant. To every other request the tenant is absent.
    pub deleting: Option<JobId>,
    #[serde(flatten)]
    pub audit: Audit,
}

/// The directory row of a tenant, which lists it by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Directory {
    pub data: String,
}

/// The role of a member, lowest first.
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
    /// The value of `CreatedAt`, by which a person's tenants are listed.
    pub data: String,
    pub role: Role,
    pub name: String,
    #[serde(flatten)]
    pub audit: Audit,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Project {
    /// The entry in the list by name; absent while the project is being deleted.
    pub data: Option<String>,
    /// The revision of the attributes, which every change of one raises.
    pub attrib_rev: i64,
    /// The schema revision, which a new, retyped or deleted attribute raises. Rows are written for one schema revision only.
    pub schema_rev: i64,
    /// The job that deletes the project.
    pub deleting: Option<JobId>,
    #[serde(flatten)]
    pub audit: Audit,
}

impl Project {
    /// None while the project is being deleted.
    pub fn name(&self) -> Option<&str> {
        self.data.as_deref().map(listed::name)
    }
}

/// The state of an attribute's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A job creates the rows of older issues, which have no value.
    Building,
    Ready,
    /// A job rewrites the values of the former type.
    Retyping,
    /// Hidden; a job deletes the values.
    Deleting,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AttributeItem {
    pub name: String,
    /// The attributes sort by this number as columns.
    pub num: f64,
    #[serde(rename = "Type")]
    pub of: Type,
    /// The search field of its values, 0 to 99.
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

/// An issue with all its values. Its rows are a function of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Issue {
    /// The key of the number.
    pub data: String,
    pub name: String,
    pub state: State,
    pub num: u64,
    pub tenant: TenantId,
    /// Absent if there are none, since DynamoDB Local's stream loses the type of an empty map.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
    /// The import that has created the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<JobId>,
    /// Present while some of the rows are not written yet.
    pub unsettled: Option<bool>,
    #[serde(flatten)]
    pub audit: Audit,
}

/// A value of an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    pub slot: u8,
    #[serde(rename = "type")]
    pub of: Type,
    pub value: String,
}

impl Value {
    /// Whether the other value is the same number after its attribute was retyped from `int` to `decimal`.
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

    /// Sets or removes a value. A value that is the same number already keeps the type of its attribute at that time.
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
    /// The sum over all gates is the number of issues.
    pub live: i64,
    /// The sum over all gates is the number of open issues.
    pub open: i64,
    /// Present while the project is being deleted, so that no issue is written any more.
    pub closed: Option<bool>,
}
