//! The kinds of item of this system: their paths, keys and bodies.

mod list_query;
mod path;
mod samples;

use std::fmt;

use serde::de::DeserializeOwned;
use table::{AccessPattern, EntityKey, Number};
use utoipa::ToSchema;

use crate::access::{UPDATE_COLLECTION, UPDATE_ITEM, UPDATE_PRODUCT};
use crate::fields::{
    ActivityFields, CollectionFields, FacilityFields, GeozoneFields, NewActivity, NewCollection, NewFacility,
    NewGeozone, NewItem, NewProduct, ProductFields,
};
use crate::keys::{ActivityKey, CollectionKey, FacilityKey, GeozoneKey, ItemKey, Parent, ProductKey};
use crate::names::Kind;

pub use list_query::{ActivityListQuery, FacilityListQuery, ListParameters, ListQuery};
pub use path::{ItemPath, ListPath, Parts};
pub use samples::Samples;

/// A kind of item.
pub trait Entity: Send + Sync + 'static {
    const KIND: Kind;
    /// The path of its lists.
    const LIST: &'static str;
    /// The path of an item.
    const ITEM: &'static str;
    /// The access pattern of an update.
    const UPDATE: &'static AccessPattern;
    const SAMPLES: Samples;
    type Key: EntityKey + Into<ItemKey> + Clone + fmt::Debug + Send + Sync + 'static;
    /// The query of its lists.
    type ListQuery: DeserializeOwned + ToSchema + Into<ListParameters> + Send + 'static;
    /// The body that creates an item.
    type New: NewItem;
    /// The fields that can be updated.
    type Fields: ToSchema + Send + Sync + 'static;

    /// The parent of the items of a list. None for a path that no list can have.
    fn parent(path: &Parts) -> Option<Parent>;

    /// The key of an item. None for a path that no item can have.
    fn key(path: &Parts) -> Option<Self::Key>;

    /// The key of a new item. None if items of this kind have another kind of parent.
    fn new_key(parent: &Parent, new: &Self::New, number: Number) -> Option<ItemKey>;
}

/// A kind of item with a boundary and a path.
pub trait OnMap: Entity {}

#[derive(Debug)]
pub struct Collection;

#[derive(Debug)]
pub struct Geozone;

#[derive(Debug)]
pub struct Facility;

#[derive(Debug)]
pub struct Activity;

#[derive(Debug)]
pub struct Product;

impl OnMap for Geozone {}
impl OnMap for Facility {}
impl OnMap for Activity {}

impl Entity for Collection {
    const KIND: Kind = Kind::Collection;
    const LIST: &'static str = "/parks/collections";
    const ITEM: &'static str = "/parks/collections/{collection}";
    const UPDATE: &'static AccessPattern = &UPDATE_COLLECTION;
    const SAMPLES: Samples = samples::COLLECTION;
    type Key = CollectionKey;
    type ListQuery = ListQuery;
    type New = NewCollection;
    type Fields = CollectionFields;

    fn parent(_: &Parts) -> Option<Parent> {
        Some(Parent::Root)
    }

    fn key(path: &Parts) -> Option<CollectionKey> {
        Some(CollectionKey { collection: path.part("collection")? })
    }

    fn new_key(_: &Parent, new: &NewCollection, _: Number) -> Option<ItemKey> {
        Some(ItemKey::Collection(CollectionKey { collection: new.collection_id.parse().ok()? }))
    }
}

impl Entity for Geozone {
    const KIND: Kind = Kind::Geozone;
    const LIST: &'static str = "/parks/geozones/{collection}";
    const ITEM: &'static str = "/parks/geozones/{collection}/{number}";
    const UPDATE: &'static AccessPattern = &UPDATE_ITEM;
    const SAMPLES: Samples = samples::GEOZONE;
    type Key = GeozoneKey;
    type ListQuery = ListQuery;
    type New = NewGeozone;
    type Fields = GeozoneFields;

    fn parent(path: &Parts) -> Option<Parent> {
        in_collection(path)
    }

    fn key(path: &Parts) -> Option<GeozoneKey> {
        Some(GeozoneKey { collection: path.part("collection")?, number: path.part("number")? })
    }

    fn new_key(parent: &Parent, _: &NewGeozone, number: Number) -> Option<ItemKey> {
        let Parent::Collection(CollectionKey { collection }) = parent.clone() else { return None };
        Some(ItemKey::Geozone(GeozoneKey { collection, number }))
    }
}

impl Entity for Facility {
    const KIND: Kind = Kind::Facility;
    const LIST: &'static str = "/parks/facilities/{collection}";
    const ITEM: &'static str = "/parks/facilities/{collection}/{facilityType}/{number}";
    const UPDATE: &'static AccessPattern = &UPDATE_ITEM;
    const SAMPLES: Samples = samples::FACILITY;
    type Key = FacilityKey;
    type ListQuery = FacilityListQuery;
    type New = NewFacility;
    type Fields = FacilityFields;

    fn parent(path: &Parts) -> Option<Parent> {
        in_collection(path)
    }

    fn key(path: &Parts) -> Option<FacilityKey> {
        Some(FacilityKey {
            collection: path.part("collection")?,
            facility_type: path.part("facilityType")?,
            number: path.part("number")?,
        })
    }

    fn new_key(parent: &Parent, new: &NewFacility, number: Number) -> Option<ItemKey> {
        let Parent::Collection(CollectionKey { collection }) = parent.clone() else { return None };
        Some(ItemKey::Facility(FacilityKey { collection, facility_type: new.facility_type?, number }))
    }
}

impl Entity for Activity {
    const KIND: Kind = Kind::Activity;
    const LIST: &'static str = "/parks/activities/{collection}";
    const ITEM: &'static str = "/parks/activities/{collection}/{activityType}/{number}";
    const UPDATE: &'static AccessPattern = &UPDATE_ITEM;
    const SAMPLES: Samples = samples::ACTIVITY;
    type Key = ActivityKey;
    type ListQuery = ActivityListQuery;
    type New = NewActivity;
    type Fields = ActivityFields;

    fn parent(path: &Parts) -> Option<Parent> {
        in_collection(path)
    }

    fn key(path: &Parts) -> Option<ActivityKey> {
        Some(ActivityKey {
            collection: path.part("collection")?,
            activity_type: path.part("activityType")?,
            number: path.part("number")?,
        })
    }

    fn new_key(parent: &Parent, new: &NewActivity, number: Number) -> Option<ItemKey> {
        let Parent::Collection(CollectionKey { collection }) = parent.clone() else { return None };
        Some(ItemKey::Activity(ActivityKey { collection, activity_type: new.activity_type?, number }))
    }
}

impl Entity for Product {
    const KIND: Kind = Kind::Product;
    const LIST: &'static str = "/parks/products/{collection}/{activityType}/{activity}";
    const ITEM: &'static str = "/parks/products/{collection}/{activityType}/{activity}/{number}";
    const UPDATE: &'static AccessPattern = &UPDATE_PRODUCT;
    const SAMPLES: Samples = samples::PRODUCT;
    type Key = ProductKey;
    type ListQuery = ListQuery;
    type New = NewProduct;
    type Fields = ProductFields;

    fn parent(path: &Parts) -> Option<Parent> {
        Some(Parent::Activity(ActivityKey {
            collection: path.part("collection")?,
            activity_type: path.part("activityType")?,
            number: path.part("activity")?,
        }))
    }

    fn key(path: &Parts) -> Option<ProductKey> {
        Some(ProductKey {
            collection: path.part("collection")?,
            activity_type: path.part("activityType")?,
            activity: path.part("activity")?,
            number: path.part("number")?,
        })
    }

    fn new_key(parent: &Parent, _: &NewProduct, number: Number) -> Option<ItemKey> {
        let Parent::Activity(ActivityKey { collection, activity_type, number: activity }) = parent.clone() else {
            return None;
        };
        Some(ItemKey::Product(ProductKey { collection, activity_type, activity, number }))
    }
}

fn in_collection(path: &Parts) -> Option<Parent> {
    Some(Parent::Collection(CollectionKey { collection: path.part("collection")? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(pairs: &[(&str, &str)]) -> Parts {
        pairs.iter().copied().collect()
    }

    #[test]
    fn href_of_key_is_the_path_of_the_item() {
        let path = parts(&[("collection", "bcparks_1"), ("facilityType", "campground"), ("number", "10")]);
        assert_eq!(ItemKey::from(Facility::key(&path).unwrap()).href(), "/parks/facilities/bcparks_1/campground/10");
        let path = parts(&[("collection", "a"), ("activityType", "dayuse"), ("activity", "3"), ("number", "1")]);
        assert_eq!(ItemKey::from(Product::key(&path).unwrap()).parent(), Product::parent(&path).unwrap());
    }

    #[test]
    fn other_spellings_of_a_number_are_no_key() {
        for number in ["01", "+1", "1.0", "-1", "x", ""] {
            assert_eq!(Geozone::key(&parts(&[("collection", "a"), ("number", number)])), None, "{number:?}");
        }
    }
}
