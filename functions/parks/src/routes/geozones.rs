//! `/parks/geozones/{collection}` and what lies below it.

use web::{Route, Sample};

use super::each_kind::{create, delete, delete_geometry, get, get_geometry, list, put_geometry, restore, update};
use crate::entity::Geozone;

/// A sample of a new geozone.
const NEW: &str =
    r#"{"displayName":"Bedwell Lakes","location":[-125.589,49.498],"searchTerms":["cream lake"],"isVisible":true}"#;

/// A sample of a shape.
const BOUNDARY: &str =
    r#"{"type":"Polygon","coordinates":[[[-125.7,49.4],[-125.5,49.4],[-125.5,49.6],[-125.7,49.6],[-125.7,49.4]]]}"#;

pub fn routes() -> Vec<Route> {
    vec![
        list::<Geozone>("listGeozones")
            .summary("The geozones of a collection by number")
            .sample(Sample::new("/parks/geozones/bcparks_1?limit=2")),
        create::<Geozone>("createGeozone")
            .summary("Makes a geozone with the next number of its collection")
            .sample(Sample::new("/parks/geozones/bcparks_1").body(NEW)),
        get::<Geozone>("getGeozone").summary("One geozone").sample(Sample::new("/parks/geozones/bcparks_1/1")),
        update::<Geozone>("updateGeozone").summary("Changes what the merge patch names").sample(
            Sample::new("/parks/geozones/bcparks_1/1").body(r#"{"description":"Two lakes below Big Interior."}"#),
        ),
        delete::<Geozone>("deleteGeozone")
            .summary("Deletes a geozone; `cascade=true` also deletes what depends on it; it can be restored")
            .sample(Sample::new("/parks/geozones/bcparks_1/1")),
        restore::<Geozone>("restoreGeozone")
            .summary("Brings a deleted geozone back as it was, with what went along")
            .sample(Sample::new("/parks/geozones/bcparks_1/1/restore")),
        get_geometry::<Geozone>("getGeozoneGeometry")
            .sample(Sample::new("/parks/geozones/bcparks_1/1/geometry/boundary?zoom=8")),
        put_geometry::<Geozone>("putGeozoneGeometry")
            .sample(Sample::new("/parks/geozones/bcparks_1/1/geometry/boundary").body(BOUNDARY)),
        delete_geometry::<Geozone>("deleteGeozoneGeometry")
            .sample(Sample::new("/parks/geozones/bcparks_1/1/geometry/boundary")),
    ]
}
