//! The ids of jobs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use table::KeyPart;
use table::part::NotAPart;
use utoipa::openapi::schema::{Schema, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

/// The id of a job: a UUID v7, so that ids sort by the time of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(Uuid);

impl JobId {
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl Default for JobId {
    fn default() -> Self {
        Self::new()
    }
}

impl FromStr for JobId {
    type Err = NotAPart;

    /// Accepts one spelling only, since another would be another key.
    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let id = Uuid::parse_str(text).ok().filter(|id| id.to_string() == text);
        id.map(Self).ok_or(NotAPart("a UUID in lower case with hyphens"))
    }
}

impl TryFrom<String> for JobId {
    type Error = NotAPart;

    fn try_from(text: String) -> Result<Self, NotAPart> {
        text.parse()
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl KeyPart for JobId {}

impl PartialSchema for JobId {
    fn schema() -> RefOr<Schema> {
        const PATTERN: &str = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(PATTERN)).into()
    }
}

impl ToSchema for JobId {}
