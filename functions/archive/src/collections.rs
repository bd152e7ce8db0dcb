//! Operations on collections, one file each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod list_posts;
pub mod update;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use table::access::AccessPattern;
use table::{Action, Condition, Error, Item};
use utoipa::ToSchema;
use web::{Context, Fault, Problem};

use crate::category_use::is_known;
use crate::item::{ClosedYears, Collection};
use crate::mapping::MappedColumn;
use crate::names::{CategoryId, CollectionId, PlaceId};
use crate::places;
use crate::schema::ARCHIVE;

const LIST: &str = "/archive/collections";
const ONE: &str = "/archive/collections/{collectionId}";

/// The collection of the samples.
const SAMPLE: &str = "/archive/collections/7000000002";

/// The most categories of a collection. All of them are counted and listed in one transaction.
pub const MAX_CATEGORIES: usize = 90;

/// The path of a collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CollectionPath {
    #[schema(value_type = String, example = "7000000002")]
    pub collection_id: CollectionId,
}

/// A collection in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Collection)]
pub struct CollectionView {
    pub id: CollectionId,
    pub name: String,
    pub description: String,
    pub category_ids: Vec<CategoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_id: Option<PlaceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mapping: Option<Vec<MappedColumn>>,
    pub citation_template: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url_template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_years: Option<ClosedYears>,
    pub created_at: String,
    pub updated_at: String,
    /// Its categories with their names; only where one collection is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<NamedCategory>>,
    /// Where one collection is read, the number of its published records, closed ones included, and only for staff. In
    /// searches, the number of those that the caller can find.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_count: Option<u64>,
}

/// A category of a collection.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NamedCategory {
    pub id: CategoryId,
    pub name: String,
}

impl From<Collection> for CollectionView {
    fn from(collection: Collection) -> Self {
        Self {
            id: collection.id,
            name: collection.name,
            description: collection.description,
            category_ids: collection.category_ids,
            place_id: collection.place_id,
            default_mapping: collection.default_mapping,
            citation_template: collection.citation_template,
            image_url_template: collection.image_url_template,
            closed_years: collection.closed_years,
            created_at: collection.created_at,
            updated_at: collection.updated_at,
            categories: None,
            record_count: None,
        }
    }
}

/// Returns a fault for each category that is named twice.
fn repeated(categories: &[CategoryId]) -> Vec<Fault> {
    let mut seen = HashSet::new();
    let again = categories.iter().enumerate().filter(|(_, category)| !seen.insert(**category));
    again.map(|(index, _)| Fault::pointer(category_pointer(index), "names a category that is named already")).collect()
}

/// 422 with a pointer to each category that does not exist, according to the item that counts them.
fn unknown(categories: &[CategoryId], counts: Option<&Item>) -> Problem {
    let unknown = categories.iter().enumerate().filter(|(_, category)| !is_known(counts, **category));
    let fault = |(index, _)| Fault::pointer(category_pointer(index), "names no category");
    Problem::unprocessable(unknown.map(fault).collect())
}

/// Returns the check that a place is there in the transaction which names it. 422 if it is not, or if another place has
/// replaced it.
async fn place_check(cx: &Context, pattern: &'static AccessPattern, place: PlaceId) -> Result<Action, Problem> {
    let found = places::find_consistent(cx.access(), pattern, place).await?;
    let found = found.filter(|(_, place)| place.replaced_by.is_none());
    let (stored, _) = found.ok_or_else(|| unknown_place(place))?;
    Ok(Action::check(&ARCHIVE, stored.key).when(Condition::Absent("replacedBy")))
}

/// Converts the failure of a transaction with a [`place_check`]. Another request has renamed, moved, replaced or
/// deleted the place meanwhile.
fn of_transaction(error: Error) -> Problem {
    match error {
        Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    }
}

/// 422 with a pointer to a place that does not exist.
fn unknown_place(place: PlaceId) -> Problem {
    Problem::unprocessable(vec![Fault::pointer("/placeId", format!("names the place {place}, which does not exist"))])
}

fn category_pointer(index: usize) -> String {
    format!("/categoryIds/{index}")
}

/// The fault of a template of image links that is no address of the web.
fn image_url_fault(template: &str) -> Option<Fault> {
    let is_web = ["https://", "http://"].iter().any(|scheme| template.starts_with(scheme));
    let is_valid = is_web && !template.chars().any(|character| character.is_control() || character.is_whitespace());
    (!is_valid).then(|| Fault::pointer("/imageUrlTemplate", "must be an https or http URL without spaces"))
}
