//! The kinds of item that this system serves, and what tells one from another.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table::{EntityKey, Key, Number};
use utoipa::ToSchema;

use crate::fields::{CollectionFields, FacilityFields, GeozoneFields, NewCollection, NewFacility, NewGeozone, NewItem};
use crate::item::Item;
use crate::keys::{CollectionKey, FacilityKey, GeozoneKey};
use crate::names::{CollectionId, Kind, ShapeName};

/// A kind of item: its paths, its keys and the bodies that it takes.
pub trait Entity: Send + Sync + 'static {
    const KIND: Kind;
    /// The path's parameters of the route that lists and creates.
    type Parent: DeserializeOwned + ToSchema + Send + 'static;
    /// The path's parameters of one item.
    type Path: DeserializeOwned + ToSchema + Send + 'static;
    /// The body that creates one.
    type New: NewItem;
    /// What may be changed of one.
    type Fields: ToSchema + Send + 'static;

    /// The collection whose items are listed, where they lie in one; nothing for a name that no collection can have.
    fn parent(path: &Self::Parent) -> Option<Parent>;

    /// The key of the item; nothing for a path that no item can have.
    fn key(path: &Self::Path) -> Option<Key>;

    /// The path at which the item is served.
    fn href(item: &Item) -> String;
}

/// A kind of item that lies on the map.
pub trait OnMap: Entity {
    /// The path's parameters of one of its shapes.
    type ShapePath: DeserializeOwned + ToSchema + Send + 'static;

    fn shape(path: &Self::ShapePath) -> (Option<Key>, ShapeName);
}

/// Where the items of a list lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// Collections lie in none.
    Root,
    Collection(CollectionId),
}

impl Parent {
    /// The partition key of the children of one kind.
    pub fn partition(&self, kind: Kind) -> String {
        match self {
            Self::Root => kind.to_string(),
            Self::Collection(collection) => format!("{kind}::{collection}"),
        }
    }
}

#[derive(Debug)]
pub struct Collection;

#[derive(Debug)]
pub struct Geozone;

#[derive(Debug)]
pub struct Facility;

/// The path of all collections has no parameters.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Root {}

#[derive(Debug, Deserialize, ToSchema)]
pub struct InCollection {
    #[schema(example = "bcparks_1")]
    pub collection: String,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct GeozonePath {
    #[schema(example = "bcparks_1")]
    pub collection: String,
    #[schema(example = "1")]
    pub number: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacilityPath {
    #[schema(example = "bcparks_1")]
    pub collection: String,
    #[schema(example = "campground")]
    pub facility_type: String,
    #[schema(example = "1")]
    pub number: String,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct GeozoneShapePath {
    #[schema(example = "bcparks_1")]
    pub collection: String,
    #[schema(example = "1")]
    pub number: String,
    #[schema(inline)]
    pub shape: ShapeName,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacilityShapePath {
    #[schema(example = "bcparks_1")]
    pub collection: String,
    #[schema(example = "campground")]
    pub facility_type: String,
    #[schema(example = "1")]
    pub number: String,
    #[schema(inline)]
    pub shape: ShapeName,
}

impl OnMap for Geozone {
    type ShapePath = GeozoneShapePath;

    fn shape(path: &GeozoneShapePath) -> (Option<Key>, ShapeName) {
        let item = GeozonePath { collection: path.collection.clone(), number: path.number.clone() };
        (Self::key(&item), path.shape)
    }
}

impl OnMap for Facility {
    type ShapePath = FacilityShapePath;

    fn shape(path: &FacilityShapePath) -> (Option<Key>, ShapeName) {
        let FacilityShapePath { collection, facility_type, number, shape } = path;
        let item = FacilityPath {
            collection: collection.clone(),
            facility_type: facility_type.clone(),
            number: number.clone(),
        };
        (Self::key(&item), *shape)
    }
}

impl Entity for Collection {
    const KIND: Kind = Kind::Collection;
    type Parent = Root;
    type Path = InCollection;
    type New = NewCollection;
    type Fields = CollectionFields;

    fn parent(_: &Root) -> Option<Parent> {
        Some(Parent::Root)
    }

    fn key(path: &InCollection) -> Option<Key> {
        Some(CollectionKey { collection: path.collection.parse().ok()? }.key())
    }

    fn href(item: &Item) -> String {
        format!("/parks/collections/{}", item.sk)
    }
}

impl Entity for Geozone {
    const KIND: Kind = Kind::Geozone;
    type Parent = InCollection;
    type Path = GeozonePath;
    type New = NewGeozone;
    type Fields = GeozoneFields;

    fn parent(path: &InCollection) -> Option<Parent> {
        path.collection.parse().ok().map(Parent::Collection)
    }

    fn key(path: &GeozonePath) -> Option<Key> {
        Some(GeozoneKey { collection: path.collection.parse().ok()?, number: path.number.parse().ok()? }.key())
    }

    fn href(item: &Item) -> String {
        in_collection("geozones", item)
    }
}

impl Entity for Facility {
    const KIND: Kind = Kind::Facility;
    type Parent = InCollection;
    type Path = FacilityPath;
    type New = NewFacility;
    type Fields = FacilityFields;

    fn parent(path: &InCollection) -> Option<Parent> {
        path.collection.parse().ok().map(Parent::Collection)
    }

    fn key(path: &FacilityPath) -> Option<Key> {
        let number: Number = path.number.parse().ok()?;
        let facility_type = path.facility_type.parse().ok()?;
        Some(FacilityKey { collection: path.collection.parse().ok()?, facility_type, number }.key())
    }

    fn href(item: &Item) -> String {
        in_collection("facilities", item)
    }
}

/// The path of an item whose entity is known only from the item.
pub fn href(item: &Item) -> String {
    match item.kind() {
        Some(Kind::Geozone) => Geozone::href(item),
        Some(Kind::Facility) => Facility::href(item),
        _ => Collection::href(item),
    }
}

fn in_collection(list: &str, item: &Item) -> String {
    let collection = item.pk.split("::").nth(1).unwrap_or_default();
    format!("/parks/{list}/{collection}/{}", item.sk.replace("::", "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_served_at_its_key() {
        let path = FacilityPath {
            collection: "bcparks_1".to_owned(),
            facility_type: "campground".to_owned(),
            number: "10".to_owned(),
        };
        let key = Facility::key(&path).unwrap();
        let item = Item { pk: key.pk, sk: key.sk.unwrap(), ..Item::default() };
        assert_eq!(Facility::href(&item), "/parks/facilities/bcparks_1/campground/10");
        assert_eq!(href(&item), Facility::href(&item));
    }

    #[test]
    fn no_item_has_another_spelling() {
        for number in ["01", "+1", "1.0", "-1", "x", ""] {
            let path = GeozonePath { collection: "a".to_owned(), number: number.to_owned() };
            assert_eq!(Geozone::key(&path), None, "{number:?}");
        }
    }
}
