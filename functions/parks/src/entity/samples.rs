//! The requests of the samples of each kind of item.

use web::Sample;

/// The samples of one kind.
#[derive(Debug)]
pub struct Samples {
    pub list: Sample,
    pub create: Sample,
    /// The path of the item.
    pub item: Sample,
    pub update: Sample,
    pub restore: Sample,
    pub get_geometry: Sample,
    pub put_geometry: Sample,
    pub geometry: Sample,
}

const BOUNDARY: &str =
    r#"{"type":"Polygon","coordinates":[[[-125.7,49.4],[-125.5,49.4],[-125.5,49.6],[-125.7,49.6],[-125.7,49.4]]]}"#;

macro_rules! samples {
    (list: $list:literal, query: $query:literal, item: $item:literal, new: $new:literal, patch: $patch:literal $(,)?) => {
        Samples {
            list: Sample::new(concat!($list, $query)),
            create: Sample::new($list).body($new),
            item: Sample::new($item),
            update: Sample::new($item).body($patch),
            restore: Sample::new(concat!($item, "/restore")),
            get_geometry: Sample::new(concat!($item, "/geometry/boundary?zoom=8")),
            put_geometry: Sample::new(concat!($item, "/geometry/boundary")).body(BOUNDARY),
            geometry: Sample::new(concat!($item, "/geometry/boundary")),
        }
    };
}

pub const COLLECTION: Samples = samples! {
    list: "/parks/collections",
    query: "",
    item: "/parks/collections/bcparks_1",
    new: r#"{"collectionId":"bcparks_2","displayName":"Garibaldi Park","isVisible":true}"#,
    patch: r#"{"description":"The oldest of them."}"#,
};

pub const GEOZONE: Samples = samples! {
    list: "/parks/geozones/bcparks_1",
    query: "?limit=2",
    item: "/parks/geozones/bcparks_1/1",
    new: "{\"displayName\":\"Bedwell Lakes\",\"location\":[-125.589,49.498],\"searchTerms\":[\"cream lake\"],\
          \"isVisible\":true}",
    patch: r#"{"description":"Two lakes below Big Interior."}"#,
};

pub const FACILITY: Samples = samples! {
    list: "/parks/facilities/bcparks_1",
    query: "?type=campground",
    item: "/parks/facilities/bcparks_1/campground/1",
    new: "{\"facilityType\":\"campground\",\"displayName\":\"Baby Bedwell\",\"location\":[-125.594,49.489],\
          \"isVisible\":true,\"isOpen\":true}",
    patch: r#"{"description":"Nine pads on a ridge."}"#,
};

pub const ACTIVITY: Samples = samples! {
    list: "/parks/activities/bcparks_1",
    query: "?type=dayuse",
    item: "/parks/activities/bcparks_1/dayuse/1",
    new: "{\"activityType\":\"dayuse\",\"displayName\":\"Day use at Buttle Lake\",\"location\":[-125.5,49.6],\
          \"isVisible\":true}",
    patch: r#"{"description":"Docks and a beach."}"#,
};

pub const PRODUCT: Samples = samples! {
    list: "/parks/products/bcparks_1/dayuse/1",
    query: "",
    item: "/parks/products/bcparks_1/dayuse/1/1",
    new: r#"{"displayName":"Day pass","rangeStart":"2025-12-01","rangeEnd":"2026-11-30","isVisible":true}"#,
    patch: r#"{"maxStayDays":3}"#,
};
