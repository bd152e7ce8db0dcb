//! An item as the table stores it, of any kind.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use table::item::{same, to_item};
use table::{Changes, Error, Key, Stored};

use crate::audit::Audit;
use crate::days::{Day, Days};
use crate::keys::{ItemKey, ItemRef, Partition};
use crate::names::{ActivityType, CollectionId, FacilityType, Kind, ShapeName};
use crate::open_days::OpenDays;

/// The attributes that items may have, each by its name in the table.
macro_rules! attributes {
    ($(#[$doc:meta])* $item:ident { $($(#[$field_doc:meta])* $name:literal $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $item {
            pub pk: String,
            pub sk: String,
            $(
                $(#[$field_doc])*
                #[serde(rename = $name, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
        }

        impl $item {
            /// The names of all of them but the keys.
            pub const ATTRIBUTES: &[&str] = &[$($name),*];
        }
    };
}

attributes! {
    /// An item of any kind. An attribute of a wrong type, which only a write outside the platform can have created,
    /// reads as absent. The item can still be read, and the next update corrects it.
    Item {
        "entity" entity: Kind,
        "globalId" global_id: String,
        /// The partition in which administrators list it: its own, or `deleted::{pk}`.
        "listPk" list_pk: String,
        /// Its sort key with numbers in order.
        "listSk" list_sk: String,
        /// The partition in which visitors list it; absent while hidden or deleted.
        "publicPk" public_pk: String,
        /// Of an item that a deletion cascaded to: `deletedWith::{deletion}`, and its key in order.
        "gsipk" gsipk: String,
        "gsisk" gsisk: String,
        "collectionId" collection_id: String,
        "number" number: u64,
        "displayName" display_name: String,
        "description" description: String,
        "searchTerms" search_terms: Vec<String>,
        "imageUrls" image_urls: Vec<String>,
        "timezone" timezone: String,
        "isVisible" is_visible: bool,
        "isDeleted" is_deleted: bool,
        "createdAt" created_at: String,
        "updatedAt" updated_at: String,
        "deletedAt" deleted_at: String,
        "createdBy" created_by: String,
        "updatedBy" updated_by: String,
        "deletedBy" deleted_by: String,
        "adminNotes" admin_notes: String,
        /// The deletion of an ancestor that cascaded to it.
        "deletedWith" deleted_with: String,
        /// Of an item that was deleted with its children: the deletion, by which they are listed.
        "deletion" deletion: String,
        /// The number of items that the deletion cascaded to.
        "took" cascaded_count: u64,
        /// While a job works on it or on its children.
        "busy" busy: bool,
        /// `[lon, lat]` or `[lon, lat, metres]`.
        "location" location: Vec<f64>,
        /// A shape of up to [`INLINE_BYTES`] as canonical GeoJSON text.
        "boundary" boundary: String,
        /// A larger shape, in S3.
        "boundaryRef" boundary_ref: ShapeRef,
        "path" path: String,
        "pathRef" path_ref: ShapeRef,
        /// `[west, south, east, north]` of both shapes.
        "envelope" envelope: [f64; 4],
        "minMapZoom" min_map_zoom: u8,
        "maxMapZoom" max_map_zoom: u8,
        "externalId" external_id: String,
        "facilityType" facility_type: FacilityType,
        "activityType" activity_type: ActivityType,
        "subType" sub_type: String,
        "address" address: String,
        "isOpen" is_open: bool,
        "showOnMap" show_on_map: bool,
        /// The first and the last day that a product may have.
        "rangeStart" range_start: Day,
        "rangeEnd" range_end: Day,
        "minStayDays" min_stay_days: u16,
        "maxStayDays" max_stay_days: u16,
        /// The days on which a product is open, updated with its dates; absent if there are none.
        "openRanges" open_ranges: OpenDays,
    }
}

/// The size in bytes up to which a canonical shape is stored on the item as text.
pub const INLINE_BYTES: usize = 8192;

/// A shape in S3. Readers go by `sha256` in the configured bucket and never follow `url`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShapeRef {
    pub url: String,
    pub sha256: String,
    pub bytes: u64,
    pub positions: u64,
    pub parts: u64,
    #[serde(rename = "type")]
    pub shape_type: String,
    pub envelope: [f64; 4],
    /// The tolerance of each derived form, in metres.
    pub tolerances: Tolerances,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerances {
    /// Of the form of at most 50 000 positions, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine: Option<f64>,
    /// Of the form of at most 10 000 positions.
    pub coarse: f64,
}

/// One of an item's shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredShape {
    Inline(String),
    Object(ShapeRef),
}

impl Item {
    pub fn key(&self) -> Key {
        Key::new(self.pk.clone(), self.sk.clone())
    }

    /// The typed key. None if a write outside the platform has given the item a key of no kind.
    pub fn item_key(&self) -> Option<ItemKey> {
        ItemKey::parse(&self.key())
    }

    /// The item as an end of relationships. None for a collection, which has none.
    pub fn reference(&self) -> Option<ItemRef> {
        ItemRef::of(&self.pk, &self.sk)
    }

    /// The partitions of its children, each with its name in problems.
    pub fn children(&self) -> Vec<(&'static str, Partition)> {
        self.item_key().map(|key| key.children()).unwrap_or_default()
    }

    pub fn visible(&self) -> bool {
        self.is_visible.unwrap_or(false)
    }

    pub fn deleted(&self) -> bool {
        self.is_deleted.unwrap_or(false)
    }

    pub fn busy(&self) -> bool {
        self.busy.unwrap_or(false)
    }

    pub fn kind(&self) -> Option<Kind> {
        self.entity.or_else(|| self.pk.split("::").next().and_then(|kind| kind.parse().ok()))
    }

    /// Whether it must have a location.
    pub fn needs_location(&self) -> bool {
        matches!(self.kind(), Some(Kind::Geozone | Kind::Facility))
    }

    /// The collection it belongs to. None for a collection itself.
    pub fn collection(&self) -> Option<CollectionId> {
        self.pk.split("::").nth(1).and_then(|id| id.parse().ok())
    }

    /// The days that a product may have.
    pub fn range(&self) -> Option<Days> {
        Days::new(self.range_start?, self.range_end?)
    }

    /// Sets the key of a new or retyped item.
    pub fn set_key(&mut self, key: Key, now: &str) {
        let sk = key.sk.unwrap_or_else(|| {
            table::never!("the key of an item has no sort key");
            String::new()
        });
        (self.pk, self.sk) = (key.pk, sk);
        self.complete(now);
    }

    /// Records the person and the time of an update.
    pub fn set_updated(&mut self, audit: &Audit) {
        (self.updated_at, self.updated_by) = (Some(audit.at.clone()), audit.by.clone());
    }

    /// Sets the attributes that follow from the key, and again those that a write outside the platform has removed.
    pub fn complete(&mut self, now: &str) {
        self.entity = self.kind();
        self.collection_id = match self.kind() {
            Some(Kind::Collection) => Some(self.sk.clone()),
            _ => self.collection().map(|id| id.as_str().to_owned()),
        };
        match self.item_key() {
            Some(ItemKey::Facility(key)) => self.facility_type = Some(key.facility_type),
            Some(ItemKey::Activity(key)) => self.activity_type = Some(key.activity_type),
            Some(ItemKey::Product(key)) => self.activity_type = Some(key.activity_type),
            Some(ItemKey::Collection(_) | ItemKey::Geozone(_)) | None => {}
        }
        self.number = self.sk.rsplit("::").next().and_then(|number| number.parse().ok());
        self.global_id.get_or_insert_with(|| uuid::Uuid::now_v7().to_string());
        self.is_visible.get_or_insert(false);
        self.is_deleted.get_or_insert(false);
        self.created_at.get_or_insert_with(|| now.to_owned());
        self.index();
    }

    /// The changes from a stored item to this one. Attributes that this system does not know stay as they are.
    pub fn changes_of(&self, read: &Stored) -> Result<Changes, Error> {
        let new = to_item(self)?;
        let mut changes = Changes::new();
        for name in Self::ATTRIBUTES {
            match (read.item.get(*name), new.get(*name)) {
                (Some(_), None) => changes = changes.remove(name),
                (old, Some(new)) if old.is_none_or(|old| !same(old, new)) => changes = changes.set(name, new.clone()),
                _ => {}
            }
        }
        Ok(changes)
    }

    /// The partition of the index `reverse` that lists the items that a deletion cascaded to.
    pub fn cascaded_pk(deletion: &str) -> String {
        format!("deletedWith::{deletion}")
    }

    /// Sets the keys of the indexes, which depend on visibility and deletion.
    pub fn index(&mut self) {
        let list_sk = self.item_key().map_or_else(|| self.sk.clone(), |key| key.list_sk());
        let deletion = self.deleted_with.as_ref().filter(|_| self.deleted());
        self.gsipk = deletion.map(|deletion| Self::cascaded_pk(deletion));
        self.gsisk = deletion.map(|_| format!("{}::{list_sk}", self.pk));
        self.list_pk = Some(if self.deleted() { format!("deleted::{}", self.pk) } else { self.pk.clone() });
        self.list_sk = Some(list_sk);
        self.public_pk = (self.visible() && !self.deleted()).then(|| self.pk.clone());
    }

    pub fn shape(&self, name: ShapeName) -> Option<StoredShape> {
        let (text, reference) = match name {
            ShapeName::Boundary => (&self.boundary, &self.boundary_ref),
            ShapeName::Path => (&self.path, &self.path_ref),
        };
        let inline = text.clone().map(StoredShape::Inline);
        inline.or_else(|| reference.clone().map(StoredShape::Object))
    }

    /// Replaces or removes a shape.
    pub fn set_shape(&mut self, name: ShapeName, shape: Option<StoredShape>) {
        let (text, reference) = match name {
            ShapeName::Boundary => (&mut self.boundary, &mut self.boundary_ref),
            ShapeName::Path => (&mut self.path, &mut self.path_ref),
        };
        (*text, *reference) = match shape {
            None => (None, None),
            Some(StoredShape::Inline(canonical)) => (Some(canonical), None),
            Some(StoredShape::Object(object)) => (None, Some(object)),
        };
    }
}

/// Reads a value of another type as absent.
pub fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(value).ok())
}
