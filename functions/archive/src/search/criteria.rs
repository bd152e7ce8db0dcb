//! What a search over people asks, after its texts were parsed and its places resolved.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::dates::Interval;
use crate::mapping::PersonRole;
use crate::person_names::AskedName;
use crate::record::{EventType, Sex};

/// What a record must have. The names belong to one person of the record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    pub person: PersonCriteria,
    pub relations: Vec<RelationCriteria>,
    pub events: Vec<EventCriteria>,
    pub missing: Missing,
    /// Folded words that the keywords of the record have.
    pub keywords: Vec<String>,
    pub post_id: Option<String>,
    /// A record has one of the values of each list. An empty list is no filter.
    pub collection_ids: Vec<String>,
    pub decades: Vec<u32>,
    /// The collections of the queried category. A category without collections has no records.
    pub category_collections: Option<Vec<String>>,
}

/// What one person of a record must have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PersonCriteria {
    pub names: Vec<AskedName>,
    pub role: Option<PersonRole>,
    pub sex: Option<Sex>,
}

/// The name of a relative of the person.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationCriteria {
    pub relation: Relation,
    pub names: Vec<AskedName>,
}

/// What one event of the record must have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventCriteria {
    /// None for an event of any type.
    pub event: Option<EventType>,
    pub date: Option<Interval>,
    pub place: Option<PlaceCriteria>,
}

/// Where an event must have been.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceCriteria {
    /// In the place with this id or in one inside it.
    Inside(String),
    Near {
        latitude: f64,
        longitude: f64,
        kilometres: u32,
    },
    /// The queried text names no known place.
    Unresolved,
}

/// Whether records are found that lack what is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Missing {
    #[default]
    Exclude,
    /// Records whose person has no such name, or that have no such dated or located event, match without points.
    Include,
}

/// A relation to the person of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Father,
    Mother,
    Spouse,
    /// Any other relative, or a person in the role `other`.
    Other,
}
