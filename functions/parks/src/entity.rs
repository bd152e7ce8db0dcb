//! The kinds of item that this system serves, and what tells one from another.

mod path;

use serde::de::DeserializeOwned;
use table::{AccessPattern, Number};
use utoipa::ToSchema;

use crate::access::{CHANGE_COLLECTION, CHANGE_ITEM, CHANGE_PRODUCT};
use crate::fields::{
    ActivityFields, CollectionFields, FacilityFields, GeozoneFields, NewActivity, NewCollection, NewFacility,
    NewGeozone, NewItem, NewProduct, ProductFields,
};
use crate::items::list::{ActivityListQuery, FacilityListQuery, ListQuery, Listing};
use crate::keys::{ActivityKey, CollectionKey, FacilityKey, GeozoneKey, ItemKey, Parent, ProductKey};
use crate::names::Kind;

pub use path::{ItemPath, ListPath, Parts};

/// A kind of item: its paths, its keys and the bodies that it takes.
pub trait Entity: Send + Sync + 'static {
    const KIND: Kind;
    /// The path at which its items are listed and made.
    const LIST: &'static str;
    /// The path of one item.
    const ITEM: &'static str;
    /// How one is changed.
    const CHANGE: &'static AccessPattern;
    /// The parameters of its lists.
    type ListQuery: DeserializeOwned + ToSchema + Into<Listing> + Send + 'static;
    /// The body that creates one.
    type New: NewItem;
    /// What may be changed of one.
    type Fields: ToSchema + Send + 'static;

    /// What the items of a list lie in; nothing for a path that no list can have.
    fn parent(path: &Parts) -> Option<Parent>;

    /// The key of the item; nothing for a path that no item can have.
    fn key(path: &Parts) -> Option<ItemKey>;

    /// The key of a new item; nothing where its kind lies elsewhere.
    fn new_key(parent: &Parent, new: &Self::New, number: Number) -> Option<ItemKey>;
}

/// A kind of item that lies on the map, with a boundary and a path.
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
    const CHANGE: &'static AccessPattern = &CHANGE_COLLECTION;
    type ListQuery = ListQuery;
    type New = NewCollection;
    type Fields = CollectionFields;

    fn parent(_: &Parts) -> Option<Parent> {
        Some(Parent::Root)
    }

    fn key(path: &Parts) -> Option<ItemKey> {
        Some(ItemKey::Collection(CollectionKey { collection: path.part("collection")? }))
    }

    fn new_key(_: &Parent, new: &NewCollection, _: Number) -> Option<ItemKey> {
        Some(ItemKey::Collection(CollectionKey { collection: new.collection_id.parse().ok()? }))
    }
}

impl Entity for Geozone {
    const KIND: Kind = Kind::Geozone;
    const LIST: &'static str = "/parks/geozones/{collection}";
    const ITEM: &'static str = "/parks/geozones/{collection}/{number}";
    const CHANGE: &'static AccessPattern = &CHANGE_ITEM;
    type ListQuery = ListQuery;
    type New = NewGeozone;
    type Fields = GeozoneFields;

    fn parent(path: &Parts) -> Option<Parent> {
        in_collection(path)
    }

    fn key(path: &Parts) -> Option<ItemKey> {
        Some(ItemKey::Geozone(GeozoneKey { collection: path.part("collection")?, number: path.part("number")? }))
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
    const CHANGE: &'static AccessPattern = &CHANGE_ITEM;
    type ListQuery = FacilityListQuery;
    type New = NewFacility;
    type Fields = FacilityFields;

    fn parent(path: &Parts) -> Option<Parent> {
        in_collection(path)
    }

    fn key(path: &Parts) -> Option<ItemKey> {
        Some(ItemKey::Facility(FacilityKey {
            collection: path.part("collection")?,
            facility_type: path.part("facilityType")?,
            number: path.part("number")?,
        }))
    }

    fn new_key(parent: &Parent, new: &NewFacility, number: Number) -> Option<ItemKey> {
        let Parent::Collection(CollectionKey { collection }) = parent.clone() else { return None };
        Some(ItemKey::Facility(FacilityKey { collection, facility_type: new.facility_type, number }))
    }
}

impl Entity for Activity {
    const KIND: Kind = Kind::Activity;
    const LIST: &'static str = "/parks/activities/{collection}";
    const ITEM: &'static str = "/parks/activities/{collection}/{activityType}/{number}";
    const CHANGE: &'static AccessPattern = &CHANGE_ITEM;
    type ListQuery = ActivityListQuery;
    type New = NewActivity;
    type Fields = ActivityFields;

    fn parent(path: &Parts) -> Option<Parent> {
        in_collection(path)
    }

    fn key(path: &Parts) -> Option<ItemKey> {
        Some(ItemKey::Activity(ActivityKey {
            collection: path.part("collection")?,
            activity_type: path.part("activityType")?,
            number: path.part("number")?,
        }))
    }

    fn new_key(parent: &Parent, new: &NewActivity, number: Number) -> Option<ItemKey> {
        let Parent::Collection(CollectionKey { collection }) = parent.clone() else { return None };
        Some(ItemKey::Activity(ActivityKey { collection, activity_type: new.activity_type, number }))
    }
}

impl Product {
    /// The key of the product that a path names.
    pub fn at(path: &Parts) -> Option<ProductKey> {
        Some(ProductKey {
            collection: path.part("collection")?,
            activity_type: path.part("activityType")?,
            activity: path.part("activity")?,
            number: path.part("number")?,
        })
    }
}

impl Entity for Product {
    const KIND: Kind = Kind::Product;
    const LIST: &'static str = "/parks/products/{collection}/{activityType}/{activity}";
    const ITEM: &'static str = "/parks/products/{collection}/{activityType}/{activity}/{number}";
    const CHANGE: &'static AccessPattern = &CHANGE_PRODUCT;
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

    fn key(path: &Parts) -> Option<ItemKey> {
        Self::at(path).map(ItemKey::Product)
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
    fn an_item_is_served_at_its_key() {
        let path = parts(&[("collection", "bcparks_1"), ("facilityType", "campground"), ("number", "10")]);
        assert_eq!(Facility::key(&path).unwrap().href(), "/parks/facilities/bcparks_1/campground/10");
        let path = parts(&[("collection", "a"), ("activityType", "dayuse"), ("activity", "3"), ("number", "1")]);
        assert_eq!(Product::key(&path).unwrap().parent(), Product::parent(&path).unwrap());
    }

    #[test]
    fn no_item_has_another_spelling() {
        for number in ["01", "+1", "1.0", "-1", "x", ""] {
            assert_eq!(Geozone::key(&parts(&[("collection", "a"), ("number", number)])), None, "{number:?}");
        }
    }
}
