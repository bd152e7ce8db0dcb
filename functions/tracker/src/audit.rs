//! The time and the person of a write.

use serde::{Deserialize, Serialize};
use web::{Context, Problem};

/// The times and the persons of an item's creation and of its last update, as the table stores them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Audit {
    /// RFC 3339 with six fraction digits.
    pub created_at: String,
    pub created_by: Option<String>,
    pub updated_at: String,
    pub updated_by: Option<String>,
}

impl Audit {
    /// The audit of an item that is created at this time by this person.
    pub fn created(at: String, by: Option<String>) -> Self {
        Self { created_at: at.clone(), created_by: by.clone(), updated_at: at, updated_by: by }
    }

    /// The audit of an item that the caller creates now.
    pub fn now(cx: &Context) -> Result<Self, Problem> {
        let by = cx.principal().signed_in()?.idpid().to_string();
        Ok(Self::created(table::clock::rfc3339(cx.engines().clock.now()), Some(by)))
    }

    /// This audit after an update by the caller.
    pub fn updated(&self, cx: &Context) -> Result<Self, Problem> {
        let Self { updated_at, updated_by, .. } = Self::now(cx)?;
        Ok(Self { updated_at, updated_by, ..self.clone() })
    }
}
