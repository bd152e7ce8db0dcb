//! `/parks/facilities/{collection}` and what lies below it.

use web::{Route, Sample};

use super::each_kind::{
    create, delete, delete_geometry, get, get_geometry, list, put_geometry, restore, retype, update,
};
use crate::entity::Facility;

/// A sample of a new facility.
const NEW: &str = r#"{"facilityType":"campground","displayName":"Baby Bedwell","location":[-125.594,49.489],"isVisible":true,"isOpen":true}"#;

/// A sample of a shape.
const BOUNDARY: &str =
    r#"{"type":"Polygon","coordinates":[[[-125.7,49.4],[-125.5,49.4],[-125.5,49.6],[-125.7,49.6],[-125.7,49.4]]]}"#;

pub fn routes() -> Vec<Route> {
    vec![
        list::<Facility>("listFacilities")
            .summary("The facilities of a collection by type and number")
            .sample(Sample::new("/parks/facilities/bcparks_1?type=campground")),
        create::<Facility>("createFacility")
            .summary("Makes a facility with the next number of its collection")
            .sample(Sample::new("/parks/facilities/bcparks_1").body(NEW)),
        get::<Facility>("getFacility")
            .summary("One facility")
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1")),
        update::<Facility>("updateFacility").summary("Changes what the merge patch names").sample(
            Sample::new("/parks/facilities/bcparks_1/campground/1").body(r#"{"description":"Nine pads on a ridge."}"#),
        ),
        delete::<Facility>("deleteFacility")
            .summary("Deletes a facility; `cascade=true` also deletes what depends on it; it can be restored")
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1")),
        restore::<Facility>("restoreFacility")
            .summary("Brings a deleted facility back as it was, with what went along")
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/restore")),
        retype::<Facility>("retypeFacility")
            .summary("Gives it another type; its number and its global id stay")
            .sample(
                Sample::new("/parks/facilities/bcparks_1/campground/1/retype").body(r#"{"facilityType":"dayUseArea"}"#),
            ),
        get_geometry::<Facility>("getFacilityGeometry")
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/geometry/boundary?zoom=8")),
        put_geometry::<Facility>("putFacilityGeometry")
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/geometry/boundary").body(BOUNDARY)),
        delete_geometry::<Facility>("deleteFacilityGeometry")
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/geometry/boundary")),
    ]
}
