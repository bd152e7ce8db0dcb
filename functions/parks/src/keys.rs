//! The keys of every entity that this system writes, as in the rows of its seed.

use std::fmt;
use std::str::FromStr;

use table::part::NotAPart;
use table::{Access, EntityKey, Error, Escaped, Key, Number};

use crate::access::BY_GLOBAL_ID;
use crate::names::{CollectionId, FacilityType, JobId, Kind, Sha256, UploadId};
use crate::schema::PARKS;

table::key! {
    /// A root of everything below it.
    pub struct CollectionKey { collection: CollectionId }
    pk "collection"
    sk "{collection}"
}

table::key! {
    pub struct GeozoneKey { collection: CollectionId, number: Number }
    pk "geozone::{collection}"
    sk "{number}"
}

table::key! {
    pub struct FacilityKey { collection: CollectionId, facility_type: FacilityType, number: Number }
    pk "facility::{collection}"
    sk "{facility_type}::{number}"
}

table::key! {
    /// The last number given out in a partition; made with the partition's parent.
    pub struct SequenceKey { partition: Partition }
    pk "counter::{partition}"
    sk "sequence"
}

table::key! {
    /// How many items of a partition are live, or how many relationships an item has.
    pub struct LiveKey { partition: Partition }
    pk "counter::{partition}"
    sk "live"
}

table::key! {
    /// Holds an external id for one item of its entity and collection.
    pub struct ExternalIdKey { entity: Kind, collection: CollectionId, external_id: Escaped }
    pk "external::{entity}::{collection}"
    sk "{external_id}"
}

table::key! {
    /// A shape in S3, with the number of its uses.
    pub struct GeometryKey { sha256: Sha256 }
    pk "geometry::{sha256}"
    sk "object"
}

table::key! {
    /// A file that an administrator sends, until it is a shape or refused.
    pub struct UploadKey { upload: UploadId }
    pk "upload::{upload}"
    sk "upload"
}

table::key! {
    /// Work that outlives its request.
    pub struct JobKey { job: JobId }
    pk "job::{job}"
    sk "job"
}

/// What a counter counts: the items of a partition, or the relationships of one item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition(String);

impl Partition {
    /// The items under a partition key.
    pub fn of(pk: &str) -> Self {
        Self(pk.to_owned())
    }

    /// The items of one kind in a collection.
    pub fn children(kind: Kind, collection: &CollectionId) -> Self {
        Self(format!("{kind}::{collection}"))
    }

    /// The relationships of the item with this key.
    pub fn relationships(pk: &str, sk: &str) -> Self {
        Self(format!("rel::{pk}::{sk}"))
    }
}

impl FromStr for Partition {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let kind = text.strip_prefix("rel::").unwrap_or(text).split("::").next().unwrap_or_default();
        kind.parse::<Kind>().map(|_| Self(text.to_owned())).map_err(|_| NotAPart("the partition key of an entity"))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl table::KeyPart for Partition {}

/// The key of the item with this global id, as the index knows it.
pub async fn by_global_id(access: &Access, global_id: &str) -> Result<Option<Key>, Error> {
    let found = access.table(&BY_GLOBAL_ID, &PARKS).query(global_id).index("globalId").first().await?;
    Ok(found.map(|stored| stored.key))
}

/// The sort key of an item that people look for, with each number in its order-preserving form.
pub fn list_sk(key: &Key) -> String {
    let ordered = CollectionKey::parse(key)
        .map(|key| key.list_sk())
        .or_else(|| GeozoneKey::parse(key).map(|key| key.list_sk()))
        .or_else(|| FacilityKey::parse(key).map(|key| key.list_sk()));
    ordered.or_else(|| key.sk.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_run_by_type_then_number() {
        let sk = |number: u64| {
            let collection = "bcparks_1".parse().unwrap();
            FacilityKey { collection, facility_type: FacilityType::Campground, number: Number(number) }.key()
        };
        assert_eq!(sk(10), Key::new("facility::bcparks_1", "campground::10"));
        assert!(list_sk(&sk(2)) < list_sk(&sk(10)));
    }

    #[test]
    fn a_counter_counts_what_has_a_kind() {
        for text in ["geozone::bcparks_1", "rel::facility::bcparks_1::campground::1", "product::a::dayuse::1"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        assert!("nothing::a".parse::<Partition>().is_err());
    }
}
