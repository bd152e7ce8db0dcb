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

/// The samples of a kind: the path and the query of its lists, the path of an item, a new item and a patch.
macro_rules! samples {
    ($list:literal, $query:literal, $item:literal, $new:literal, $patch:literal $(,)?) => {
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

pub const COLLECTION: Samples = samples!(
    "/parks/collections",
    "",
    "/parks/collections/bcparks_1",
    r#"{"collectionId":"bcparks_2","displayName":"Garibaldi Park","isVisible":true}"#,
    r#"{"description":"The oldest of them."}"#,
);

pub const GEOZONE: Samples = samples!(
    "/parks/geozones/bcparks_1",
    "?limit=2",
    "/parks/geozones/bcparks_1/1",
    "{\"displayName\":\"Bedwell Lakes\",\"location\":[-125.589,49.498],\"searchTerms\":[\"cream lake\"],\
          \"isVisible\":true}",
    r#"{"description":"Two lakes below Big Interior."}"#,
);

pub const FACILITY: Samples = samples!(
    "/parks/facilities/bcparks_1",
    "?type=campground",
    "/parks/facilities/bcparks_1/campground/1",
    "{\"facilityType\":\"campground\",\"displayName\":\"Baby Bedwell\",\"location\":[-125.594,49.489],\
          \"isVisible\":true,\"isOpen\":true}",
    r#"{"description":"Nine pads on a ridge."}"#,
);

pub const ACTIVITY: Samples = samples!(
    "/parks/activities/bcparks_1",
    "?type=dayuse",
    "/parks/activities/bcparks_1/dayuse/1",
    "{\"activityType\":\"dayuse\",\"displayName\":\"Day use at Buttle Lake\",\"location\":[-125.5,49.6],\
          \"isVisible\":true}",
    r#"{"description":"Docks and a beach."}"#,
);

pub const PRODUCT: Samples = samples!(
    "/parks/products/bcparks_1/dayuse/1",
    "",
    "/parks/products/bcparks_1/dayuse/1/1",
    r#"{"displayName":"Day pass","rangeStart":"2025-12-01","rangeEnd":"2026-11-30","isVisible":true}"#,
    r#"{"maxStayDays":3}"#,
);
