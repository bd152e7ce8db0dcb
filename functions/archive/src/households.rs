//! Households: the members of each, in the order of the rows.

pub mod get;
pub mod list;
mod members;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::fold::first;
use crate::names::{Household, RecordId};
use crate::record::{Event, Person, Sex};

pub use members::{Members, listed, members_of, view};

/// A member of a household, as the table stores it for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The record in this run.
    pub id: RecordId,
    pub permanent_id: RecordId,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The first day on which the public may see the record, as `yyyymmdd`. Absent if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
}

/// A household in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Household)]
pub struct HouseholdView {
    /// The household in paths.
    pub id: Household,
    /// The number or the name of the household, as the file has it.
    pub number: String,
    /// The number of members whom the caller may see.
    pub count: usize,
    /// The members in the order of the rows. A list has the first ten of each household.
    pub members: Vec<MemberView>,
}

/// A member of a household in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = HouseholdMember)]
pub struct MemberView {
    /// The permanent id of the record.
    pub id: RecordId,
    pub name: String,
    /// The relation to the head of the household.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// Only where one household is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sex: Option<Sex>,
    /// The events in the member's life, with the first 60 to 200 characters of their dates and places; only where one
    /// household is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
}

/// The characters of a name and of a relation that a household shows. The record has all of them.
const NAME_CHARS: usize = 200;
const RELATION_CHARS: usize = 100;

/// The bytes that the table counts for a member beside its name and relation, at most.
const MEMBER_BYTES: usize = 75;

/// The largest household of a run in bytes, with its corrections by hand. Its item has at most 400 KB for two runs: the one
/// that readers see and the next.
pub const MAX_BYTES: usize = 200_000;

/// Returns the name of a member, given the principal person of the record.
pub fn name_of(principal: Option<&Person>) -> String {
    let name = principal.map(|person| full_name(&person.given, &person.surname)).unwrap_or_default();
    first(&name, NAME_CHARS).trim_end().to_owned()
}

/// Returns the relation of a member, given that of the record.
pub fn relation_of(relation: &str) -> String {
    first(relation, RELATION_CHARS).trim_end().to_owned()
}

/// Returns how many bytes of its item a member takes, at most.
pub fn bytes_of(principal: Option<&Person>, relation: Option<&str>) -> usize {
    MEMBER_BYTES + name_of(principal).len() + relation.map_or(0, |relation| relation_of(relation).len())
}

/// Returns the name of a person as households show it.
pub fn full_name(given: &str, surname: &str) -> String {
    format!("{given} {surname}").trim().to_owned()
}

impl Member {
    /// Returns how many bytes of its item the member takes, at most.
    pub fn bytes(&self) -> usize {
        MEMBER_BYTES + self.name.len() + self.relation.as_ref().map_or(0, String::len)
    }
}

impl From<Member> for MemberView {
    fn from(member: Member) -> Self {
        Self { id: member.permanent_id, name: member.name, relation: member.relation, sex: None, events: None }
    }
}
