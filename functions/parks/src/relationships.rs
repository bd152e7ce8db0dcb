//! Relationships of two items, in either order.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
mod stored;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Fault, Problem};

use crate::keys::ItemRef;
use crate::names::Kind;
use crate::view::View;

pub use stored::{NOT_ALLOWED, Pair, RelatedItem, Relationship};

const ONE: &str = "/parks/relationships/{pk1}/{sk1}/{pk2}/{sk2}";

/// The relationship of the samples.
const SAMPLE: &str = "/parks/relationships/geozone::bcparks_1/1/facility::bcparks_1/campground::1";

/// The keys of two items in either order.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipPath {
    #[schema(example = "geozone::bcparks_1")]
    pk1: String,
    #[schema(example = "1")]
    sk1: String,
    #[schema(example = "facility::bcparks_1")]
    pk2: String,
    #[schema(example = "campground::1")]
    sk2: String,
}

/// A relationship with its items in their order: geozone, facility, activity, product; of one entity, the smaller key
/// first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Relationship)]
pub struct RelationshipView {
    pub pk1: String,
    pub sk1: String,
    pub entity1: Kind,
    pub pk2: String,
    pub sk2: String,
    pub entity2: Kind,
    /// For administrators, as is the next attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
}

impl RelationshipPath {
    /// The pair of items. `missing` is the problem of keys that no item can have; 400 for items that cannot be related.
    fn pair(&self, missing: fn(&str, &str) -> Problem) -> Result<Pair, Problem> {
        let named = [("pk1", &self.pk1), ("pk2", &self.pk2)];
        let collections = named.iter().filter(|(_, pk)| *pk == Kind::Collection.as_str());
        let faults: Vec<Fault> =
            collections.map(|(name, _)| Fault::parameter(*name, format!("must be {}", ItemRef::EXPECTED))).collect();
        if !faults.is_empty() {
            return Err(Problem::faults(faults));
        }
        let item = |pk: &str, sk: &str| ItemRef::of(pk, sk).ok_or_else(|| missing(pk, sk));
        let (one, other) = (item(&self.pk1, &self.sk1)?, item(&self.pk2, &self.sk2)?);
        Pair::new(one, other).ok_or_else(|| Problem::faults(vec![Fault::parameter("pk2", NOT_ALLOWED)]))
    }

    /// The pair of items; 404 for keys that no item can have.
    fn existing_pair(&self) -> Result<Pair, Problem> {
        self.pair(|_, _| Problem::not_found())
    }
}

impl RelationshipView {
    pub fn new(relationship: &Relationship, view: View) -> Self {
        let for_administrators = |text: &Option<String>| text.clone().filter(|_| view == View::Administrator);
        let (first, second) = (&relationship.first.item, &relationship.second.item);
        Self {
            pk1: first.pk().to_owned(),
            sk1: first.sk().to_owned(),
            entity1: first.kind(),
            pk2: second.pk().to_owned(),
            sk2: second.sk().to_owned(),
            entity2: second.kind(),
            created_at: for_administrators(&relationship.created_at),
            created_by: for_administrators(&relationship.created_by),
        }
    }
}
