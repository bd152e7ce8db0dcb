//! Operations on categories, one file each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod list_collections;
pub mod update;

use serde::{Deserialize, Serialize};
use table::part::NotAPart;
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Fault, Kind, Problem};

use crate::item::Category;
use crate::names::{CategoryId, FoldedName};

const LIST: &str = "/archive/categories";
const ONE: &str = "/archive/categories/{categoryId}";

/// The category of the samples.
const SAMPLE: &str = "/archive/categories/7000000001";

pub const TOO_MANY_CATEGORIES: Kind = Kind::new(409, "too-many-categories", "Too many categories");

/// The path of a category.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CategoryPath {
    #[schema(value_type = String, example = "7000000001")]
    pub category_id: CategoryId,
}

/// A category in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Category)]
pub struct CategoryView {
    pub id: CategoryId,
    pub name: String,
    pub description: String,
    pub created_at: String,
    pub updated_at: String,
    /// The number of its collections; only where one category is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collections: Option<u64>,
    /// The number of records in its collections that the caller can find; only in searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_count: Option<u64>,
}

impl From<Category> for CategoryView {
    fn from(category: Category) -> Self {
        Self {
            id: category.id,
            name: category.name,
            description: category.description,
            created_at: category.created_at,
            updated_at: category.updated_at,
            collections: None,
            record_count: None,
        }
    }
}

/// Returns what is wrong with a name of a category.
fn name_faults(name: &str) -> Vec<Fault> {
    name_fault("/name", name).into_iter().chain(folded(name).err()).collect()
}

/// Returns the form of a name that is unique.
fn folded(name: &str) -> Result<FoldedName, Fault> {
    FoldedName::of(name).map_err(|NotAPart(expected)| Fault::pointer("/name", format!("must be {expected}")))
}

/// 409 for the name of another category.
fn taken() -> Problem {
    Problem::taken(vec![Fault::pointer("/name", "is the name of another category, without regard to case and accents")])
}
