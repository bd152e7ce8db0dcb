//! The bodies that create and update items. A body without a required field still deserializes, so that the faults of
//! its other fields are reported together with the missing one. A handler gets no such body.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use web::{Fault, Rules};

use crate::checks::member_faults;
use crate::days::Day;
use crate::names::{ActivityType, FacilityType, ShapeName};

/// The limit of a body of fields in bytes. Texts at their limits have 67 000 characters together, each of which is up to
/// twelve bytes as an escape.
pub const MAX_FIELDS_BODY: usize = 1024 * 1024;

/// Declares a body with the fields of every kind of item and further ones.
macro_rules! fields {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            #[serde(default)]
            #[schema(min_length = 1, max_length = 200, format = "readable", required = true)]
            pub display_name: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(max_length = 10000)]
            pub description: Option<String>,
            /// Other names of the item, which search finds.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(schema_with = crate::fields::search_terms)]
            pub search_terms: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(schema_with = crate::fields::image_urls)]
            pub image_urls: Option<Vec<String>>,
            /// A name of the IANA time zone database.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(max_length = 64)]
            pub timezone: Option<String>,
            /// Whether visitors see the item.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub is_visible: Option<bool>,
            /// For administrators.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(max_length = 10000)]
            pub admin_notes: Option<String>,
            $($own)*
        }
    };
}

/// Declares a body with the fields of items on the map.
macro_rules! place_fields {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        fields! {
            $(#[$doc])*
            $name {
                /// `[longitude, latitude]` in degrees, optionally with the altitude in metres. Geozones and facilities always
                /// have a location: a new one without a boundary or a path needs it, and no patch can remove it.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(min_items = 2, max_items = 3)]
                pub location: Option<Vec<f64>>,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(maximum = 22)]
                pub min_map_zoom: Option<u8>,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(maximum = 22)]
                pub max_map_zoom: Option<u8>,
                /// The id of the item in another system, unique among the items of its kind in the collection.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(min_length = 1, max_length = 128)]
                pub external_id: Option<String>,
                $($own)*
            }
        }
    };
}

/// Declares the body of a new item with shapes.
macro_rules! new_place {
    ($fields:ident $(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        $fields! {
            $(#[$doc])*
            $name {
                /// GeoJSON: a Polygon or a MultiPolygon.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(value_type = Option<Object>)]
                pub boundary: Option<Value>,
                /// GeoJSON: a LineString or a MultiLineString.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(value_type = Option<Object>)]
                pub path: Option<Value>,
                $($own)*
            }
        }

        impl NewItem for $name {
            fn shapes(&mut self) -> Vec<(ShapeName, Value)> {
                let boundary = self.boundary.take().map(|shape| (ShapeName::Boundary, shape));
                let path = self.path.take().map(|shape| (ShapeName::Path, shape));
                boundary.into_iter().chain(path).collect()
            }
        }

        impl Rules for $name {
            fn faults(&self) -> Vec<Fault> {
                member_faults(self.location.as_deref(), self.timezone.as_deref(), self.external_id.as_deref())
            }
        }
    };
}

/// Declares a body with the fields of activities.
macro_rules! activity_fields {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        place_fields! {
            $(#[$doc])*
            $name {
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(pattern = "^[a-z][A-Za-z0-9]{0,31}$")]
                pub sub_type: Option<String>,
                $($own)*
            }
        }
    };
}

/// Declares a body with the fields of facilities.
macro_rules! facility_fields {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        place_fields! {
            $(#[$doc])*
            $name {
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(pattern = "^[a-z][A-Za-z0-9]{0,31}$")]
                pub sub_type: Option<String>,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(max_length = 500)]
                pub address: Option<String>,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub is_open: Option<bool>,
                /// Whether maps draw the facility; true by default.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub show_on_map: Option<bool>,
                $($own)*
            }
        }
    };
}

fields! {
    /// The fields of a collection.
    CollectionFields {}
}

fields! {
    /// A new collection.
    NewCollection {
        /// Part of the keys of everything in it. It never changes.
        #[serde(default)]
        #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$", required = true)]
        pub collection_id: String,
    }
}

place_fields! {
    /// The fields of a geozone.
    GeozoneFields {}
}

new_place! { place_fields
    /// A new geozone. It needs a location, a boundary or a path. Without a location it gets a point in or on its shape.
    NewGeozone {}
}

facility_fields! {
    /// The fields of a facility.
    FacilityFields {}
}

new_place! { facility_fields
    /// A new facility. It needs a location, a boundary or a path. Without a location it gets a point in or on its shape.
    NewFacility {
        /// Part of its key.
        #[serde(default)]
        #[schema(value_type = FacilityType, required = true)]
        pub facility_type: Option<FacilityType>,
    }
}

activity_fields! {
    /// The fields of an activity.
    ActivityFields {}
}

new_place! { activity_fields
    /// A new activity.
    NewActivity {
        /// Part of its key.
        #[serde(default)]
        #[schema(value_type = ActivityType, required = true)]
        pub activity_type: Option<ActivityType>,
    }
}

/// Declares a body with the fields of products.
macro_rules! product_fields {
    ($(#[$doc:meta])* $name:ident) => {
        fields! {
            $(#[$doc])*
            $name {
                /// The first day of its dates. The last day is at most 1499 days later.
                #[serde(default)]
                #[schema(value_type = Day, required = true)]
                pub range_start: Option<Day>,
                #[serde(default)]
                #[schema(value_type = Day, required = true)]
                pub range_end: Option<Day>,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(minimum = 1, maximum = 365)]
                pub min_stay_days: Option<u16>,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schema(minimum = 1, maximum = 365)]
                pub max_stay_days: Option<u16>,
            }
        }
    };
}

product_fields! {
    /// The fields of a product.
    ProductFields
}

product_fields! {
    /// A new product.
    NewProduct
}

/// A body that creates an item.
pub trait NewItem: Rules + Serialize + ToSchema + Send + Sync + 'static {
    /// Takes the GeoJSON documents out of the body.
    fn shapes(&mut self) -> Vec<(ShapeName, Value)> {
        Vec::new()
    }
}

impl NewItem for NewCollection {}

impl NewItem for NewProduct {}

impl Rules for NewCollection {
    fn faults(&self) -> Vec<Fault> {
        member_faults(None, self.timezone.as_deref(), None)
    }
}

impl Rules for NewProduct {
    fn faults(&self) -> Vec<Fault> {
        member_faults(None, self.timezone.as_deref(), None)
    }
}

fn texts(max_items: usize, text: ObjectBuilder) -> Schema {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(text.schema_type(Type::String).build())
        .max_items(Some(max_items))
        .build()
        .into()
}

pub(crate) fn search_terms() -> Schema {
    let readable = SchemaFormat::Custom("readable".to_owned());
    texts(50, ObjectBuilder::new().min_length(Some(1)).max_length(Some(100)).format(Some(readable)))
}

pub(crate) fn image_urls() -> Schema {
    texts(20, ObjectBuilder::new().pattern(Some("^https://[^/]")).max_length(Some(2048)))
}
