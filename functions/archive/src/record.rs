//! A record: one row of a published file, with the people and events in it.

mod citation;
mod closing;
mod corrections;
mod mapped;
mod matching;
mod name;
mod sex;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use citation::{citation, image_link};
pub use closing::{OPEN, visible_from};
pub use corrections::{Conflict, Corrected, CorrectionsPolicy, apply, correct, correction_of};
pub use mapped::{BoundMapping, MappedRow, RowFault, RowFaultKind, key_headers, labels};
pub use matching::{Matches, RowIdentity, matches};

use crate::mapping::PersonRole;
use crate::names::{CollectionId, PlaceId, RecordId, RunNumber, UserId};

/// The largest record in bytes.
pub const MAX_BYTES: usize = 100 * 1024;

/// A record as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    #[serde(rename = "PK")]
    pub id: RecordId,
    /// The id, by which the index lists it.
    #[serde(rename = "GSISK")]
    pub listed_by: RecordId,
    /// The run that wrote it.
    pub run: RunNumber,
    /// The number of its row in the file, from 1.
    pub row: u32,
    pub collection_id: CollectionId,
    /// The id of the row's first publication, by which readers know the record.
    pub permanent_id: RecordId,
    /// The cells in the order of the columns, corrected.
    pub values: Vec<String>,
    pub people: Vec<Person>,
    pub events: Vec<Event>,
    pub relatives: Vec<Relative>,
    pub keywords: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub household: Option<String>,
    /// The relation to the head of the household, as the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The first day on which the public may see it, as `yyyymmdd`. Absent if it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
    /// The corrections by header.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub corrections: BTreeMap<String, Correction>,
    pub created_at: String,
    pub updated_at: String,
    pub created_by: UserId,
}

/// A person of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    pub role: PersonRole,
    /// As written. What the transcriber could not read is `_`, `*`, `[ae]` or a final `?`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub given: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub surname: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sex: Option<Sex>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Sex {
    Male,
    Female,
}

/// An event in the life of a person of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(rename = "type")]
    pub kind: EventType,
    pub role: PersonRole,
    /// The date as the file has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub date_text: String,
    /// The first day that the date may mean, as `yyyymmdd`. Absent if the date is not understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from: Option<u32>,
    /// The last day that the date may mean, as `yyyymmdd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub to: Option<u32>,
    /// The place as the file has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub place_text: String,
    /// The place that the text means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub place_id: Option<PlaceId>,
    /// The ids of its ancestors, country first, and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub place_path: Vec<PlaceId>,
    /// The latitude as decimal text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lat: Option<String>,
    /// The longitude as decimal text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lon: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum EventType {
    Birth,
    Baptism,
    Marriage,
    Residence,
    Death,
    Burial,
    Other,
}

/// A relative of the principal person, from the same household.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relative {
    pub relation: RelativeKind,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub given: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub surname: String,
    /// The first day on which the public may see the relative's own record, as `yyyymmdd`; only for staff. Absent if the
    /// record is never closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub visible_from: Option<u32>,
}

/// What a relative is to the principal person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RelativeKind {
    Father,
    Mother,
    Spouse,
    Child,
    Sibling,
}

/// A correction of one cell by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Correction {
    /// The cell of the file that it replaces.
    pub from: String,
    pub to: String,
    pub by: UserId,
    pub at: String,
}

impl Person {
    pub const fn has_name(&self) -> bool {
        !self.given.is_empty() || !self.surname.is_empty()
    }
}

impl Record {
    /// Returns the person whom the record is about.
    pub fn principal(&self) -> Option<&Person> {
        self.people.iter().find(|person| person.role == PersonRole::Principal)
    }

    /// Whether the public may see it on a day, given as `yyyymmdd`.
    pub fn is_open(&self, today: u32) -> bool {
        self.visible_from.is_none_or(|from| from <= today)
    }

    /// Sets the relatives, as many as [`MAX_BYTES`] leaves room for. A row has 32 KB, and its names, dates, places and
    /// keywords are stored a second time, so only names of thousands of characters are left out.
    pub fn set_relatives(&mut self, relatives: Vec<Relative>) {
        self.relatives.clear();
        let mut bytes = self.bytes();
        for relative in relatives {
            bytes += json_bytes(&relative) + 1;
            if bytes > MAX_BYTES {
                break;
            }
            self.relatives.push(relative);
        }
    }

    /// Returns the bytes of its JSON text, which has at least as many as the item in the table.
    pub fn bytes(&self) -> usize {
        json_bytes(self)
    }
}

/// A value that cannot be written counts as too large.
fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 2, |text| text.len())
}

#[cfg(test)]
mod tests;
