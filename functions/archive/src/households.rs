//! Households: the members of each, in the order of the rows.

pub mod get;
pub mod list;
mod members;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    /// The events in the member's life; only where one household is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
}

/// Returns the name of a member, given the principal person of the record.
pub fn name_of(principal: Option<&Person>) -> String {
    principal.map(|person| full_name(&person.given, &person.surname)).unwrap_or_default()
}

/// Returns the name of a person as households show it.
pub fn full_name(given: &str, surname: &str) -> String {
    format!("{given} {surname}").trim().to_owned()
}

impl From<Member> for MemberView {
    fn from(member: Member) -> Self {
        Self { id: member.permanent_id, name: member.name, relation: member.relation, sex: None, events: None }
    }
}
