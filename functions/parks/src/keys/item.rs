//! The key of an item of any kind: its parent, its children and its path.

use table::{EntityKey, Key};

use super::{ActivityKey, CollectionKey, FacilityKey, GeozoneKey, Partition, ProductKey};
use crate::names::{ActivityType, CollectionId, FacilityType, Kind};

/// The key of an item of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ItemKey {
    Collection(CollectionKey),
    Geozone(GeozoneKey),
    Facility(FacilityKey),
    Activity(ActivityKey),
    Product(ProductKey),
}

/// The parent of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Parent {
    /// The parent of collections, which is no item.
    Root,
    Collection(CollectionKey),
    Activity(ActivityKey),
}

/// Evaluates an expression for the key of each kind.
macro_rules! of_each {
    ($item:expr, $key:ident => $value:expr) => {
        match $item {
            ItemKey::Collection($key) => $value,
            ItemKey::Geozone($key) => $value,
            ItemKey::Facility($key) => $value,
            ItemKey::Activity($key) => $value,
            ItemKey::Product($key) => $value,
        }
    };
}

impl ItemKey {
    /// Parses a key. None for a key of no kind of item.
    pub fn parse(key: &Key) -> Option<Self> {
        match key.pk.split("::").next()?.parse().ok()? {
            Kind::Collection => CollectionKey::parse(key).map(Self::Collection),
            Kind::Geozone => GeozoneKey::parse(key).map(Self::Geozone),
            Kind::Facility => FacilityKey::parse(key).map(Self::Facility),
            Kind::Activity => ActivityKey::parse(key).map(Self::Activity),
            Kind::Product => ProductKey::parse(key).map(Self::Product),
        }
    }

    pub fn key(&self) -> Key {
        of_each!(self, key => key.key())
    }

    /// The sort key with each number in its order-preserving form.
    pub fn list_sk(&self) -> String {
        of_each!(self, key => key.list_sk())
    }

    /// The collection of the item; of a collection, itself.
    pub fn collection(&self) -> &CollectionId {
        of_each!(self, key => &key.collection)
    }

    /// The parent of the item.
    pub fn parent(&self) -> Parent {
        let collection = || Parent::Collection(CollectionKey { collection: self.collection().clone() });
        match self {
            Self::Collection(_) => Parent::Root,
            Self::Geozone(_) | Self::Facility(_) | Self::Activity(_) => collection(),
            Self::Product(ProductKey { collection, activity_type, activity, .. }) => Parent::Activity(ActivityKey {
                collection: collection.clone(),
                activity_type: *activity_type,
                number: *activity,
            }),
        }
    }

    /// The partitions of its children, each with its name in problems.
    pub fn children(&self) -> Vec<(&'static str, Partition)> {
        match self {
            Self::Collection(key) => {
                let parent = Parent::Collection(key.clone());
                [("geozones", Kind::Geozone), ("facilities", Kind::Facility), ("activities", Kind::Activity)]
                    .map(|(name, kind)| (name, parent.partition(kind)))
                    .to_vec()
            }
            Self::Activity(key) => vec![("products", Parent::Activity(key.clone()).partition(Kind::Product))],
            Self::Geozone(_) | Self::Facility(_) | Self::Product(_) => Vec::new(),
        }
    }

    /// The keys that the item has if its type is another one, one for each: a retyped item keeps its collection and its
    /// number. Empty for a kind whose key never changes.
    pub fn of_other_types(&self) -> Vec<Self> {
        match self {
            Self::Facility(key) => {
                let others = FacilityType::ALL.iter().filter(|other| **other != key.facility_type);
                others.map(|other| Self::Facility(FacilityKey { facility_type: *other, ..key.clone() })).collect()
            }
            Self::Activity(key) => {
                let others = ActivityType::ALL.iter().filter(|other| **other != key.activity_type);
                others.map(|other| Self::Activity(ActivityKey { activity_type: *other, ..key.clone() })).collect()
            }
            // An activity that has had a product keeps its type.
            Self::Collection(_) | Self::Geozone(_) | Self::Product(_) => Vec::new(),
        }
    }

    /// The path of the item.
    pub fn href(&self) -> String {
        match self {
            Self::Collection(CollectionKey { collection }) => format!("/parks/collections/{collection}"),
            Self::Geozone(GeozoneKey { collection, number }) => format!("/parks/geozones/{collection}/{number}"),
            Self::Facility(FacilityKey { collection, facility_type, number }) => {
                format!("/parks/facilities/{collection}/{facility_type}/{number}")
            }
            Self::Activity(ActivityKey { collection, activity_type, number }) => {
                format!("/parks/activities/{collection}/{activity_type}/{number}")
            }
            Self::Product(ProductKey { collection, activity_type, activity, number }) => {
                format!("/parks/products/{collection}/{activity_type}/{activity}/{number}")
            }
        }
    }
}

macro_rules! from_each {
    ($($key:ident $kind:ident,)+) => {$(
        impl From<$key> for ItemKey {
            fn from(key: $key) -> Self {
                Self::$kind(key)
            }
        }
    )+};
}

from_each! {
    CollectionKey Collection,
    GeozoneKey Geozone,
    FacilityKey Facility,
    ActivityKey Activity,
    ProductKey Product,
}

impl Parent {
    /// The partition of its children of one kind.
    pub fn partition(&self, kind: Kind) -> Partition {
        Partition::of(&match self {
            Self::Root => kind.to_string(),
            Self::Collection(CollectionKey { collection }) => format!("{kind}::{collection}"),
            Self::Activity(ActivityKey { collection, activity_type, number }) => {
                format!("{kind}::{collection}::{activity_type}::{number}")
            }
        })
    }

    /// The key of the parent. None for the root.
    pub fn key(&self) -> Option<Key> {
        match self {
            Self::Root => None,
            Self::Collection(key) => Some(key.key()),
            Self::Activity(key) => Some(key.key()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pk: &str, sk: &str) -> ItemKey {
        ItemKey::parse(&Key::new(pk, sk)).unwrap()
    }

    #[test]
    fn a_key_of_any_kind_is_read_served_and_written_back() {
        for (pk, sk, href) in [
            ("collection", "bcparks_1", "/parks/collections/bcparks_1"),
            ("geozone::bcparks_1", "10", "/parks/geozones/bcparks_1/10"),
            ("facility::bcparks_1", "campground::10", "/parks/facilities/bcparks_1/campground/10"),
            ("activity::bcparks_1", "dayuse::1", "/parks/activities/bcparks_1/dayuse/1"),
            ("product::bcparks_1::dayuse::1", "2", "/parks/products/bcparks_1/dayuse/1/2"),
        ] {
            let key = parsed(pk, sk);
            assert_eq!((key.key(), key.href()), (Key::new(pk, sk), href.to_owned()));
            assert_eq!(key.collection().as_str(), "bcparks_1");
        }
        for (pk, sk) in [("geozone::a", "01"), ("facility::a", "camp::1"), ("product::a", "1"), ("rel::a", "1")] {
            assert_eq!(ItemKey::parse(&Key::new(pk, sk)), None, "{pk} {sk}");
        }
    }

    #[test]
    fn key_of_another_type_keeps_collection_and_number() {
        let others = parsed("facility::bcparks_1", "campground::10").of_other_types();
        assert_eq!(others.len(), FacilityType::ALL.len() - 1);
        assert!(others.contains(&parsed("facility::bcparks_1", "trail::10")));
        let others = parsed("activity::bcparks_1", "dayuse::1").of_other_types();
        assert_eq!(others.len(), ActivityType::ALL.len() - 1);
        assert!(others.contains(&parsed("activity::bcparks_1", "hiking::1")));
        for (pk, sk) in [("collection", "a"), ("geozone::a", "1"), ("product::a::dayuse::1", "1")] {
            assert_eq!(parsed(pk, sk).of_other_types(), []);
        }
    }

    #[test]
    fn lists_run_by_type_then_number() {
        let list_sk = |number: u64| parsed("facility::bcparks_1", &format!("campground::{number}")).list_sk();
        assert!(list_sk(2) < list_sk(10));
    }

    #[test]
    fn children_lie_in_the_partitions_that_their_parent_names() {
        for (pk, sk) in [("collection", "a"), ("activity::a", "dayuse::1")] {
            let parent = parsed(pk, sk);
            for (_, partition) in parent.children() {
                let typed = if partition.to_string().starts_with("facility") { "trail::1" } else { "dayuse::1" };
                let child =
                    [typed, "1"].into_iter().find_map(|sk| ItemKey::parse(&Key::new(partition.to_string(), sk)));
                assert_eq!(child.unwrap().parent().key(), Some(parent.key()));
            }
        }
        assert_eq!(parsed("product::a::dayuse::1", "1").children(), []);
    }
}
