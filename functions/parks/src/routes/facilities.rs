//! `/parks/facilities/{collection}` and what lies below it.

use web::{Page, Route, Sample, problem};

use super::{ADMINISTRATORS, BOTH, GEOJSON_BODIES, WITH_SHAPES};
use crate::access::{
    ATTACH, CHANGE_ITEM, CREATE_ITEM, DELETE_OR_RESTORE, ITEM, LIST, NEXT_NUMBER, PUBLIC_LIST, READ_SHAPE, STORE_SHAPE,
};
use crate::change::Change;
use crate::entity::{Facility, FacilityPath, FacilityShapePath, InCollection};
use crate::fields::{FacilityFields, NewFacility};
use crate::geojson::{CONTENT_TYPE, Feature, FeatureCollection, ShapeFeature};
use crate::items::geometry::{Attached, NewShape, ShapeQuery};
use crate::items::list::FacilityListQuery;
use crate::items::read::ItemQuery;
use crate::items::restore::{NOT_DELETED, PARENT_DELETED};
use crate::items::{change, create, delete, geometry, list, read, restore};
use crate::shapes::GEOMETRY_UNAVAILABLE;
use crate::uploads::NOT_READY;
use crate::view::{ItemView, Summary};

const FACILITIES: &str = "/parks/facilities/{collection}";
const FACILITY: &str = "/parks/facilities/{collection}/{facilityType}/{number}";
const RESTORE: &str = "/parks/facilities/{collection}/{facilityType}/{number}/restore";
const SHAPE: &str = "/parks/facilities/{collection}/{facilityType}/{number}/geometry/{shape}";

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listFacilities", FACILITIES, BOTH, list::list_of_type::<Facility>)
            .summary("The facilities of a collection by type and number")
            .patterns(&[&LIST, &PUBLIC_LIST])
            .path::<InCollection>()
            .query::<FacilityListQuery>()
            .answers::<Page<Summary>>(200)
            .answers_as::<FeatureCollection>(200, CONTENT_TYPE)
            .problems(&[problem::FORBIDDEN])
            .sample(Sample::new("/parks/facilities/bcparks_1?type=campground")),
        Route::post("createFacility", FACILITIES, ADMINISTRATORS, create::create::<Facility>)
            .summary("Makes a facility with the next number of its collection")
            .patterns(&[&NEXT_NUMBER, &CREATE_ITEM, &STORE_SHAPE])
            .path::<InCollection>()
            .takes::<NewFacility>()
            .body_limit(WITH_SHAPES)
            .creates()
            .answers::<ItemView>(201)
            .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
            .sample(Sample::new("/parks/facilities/bcparks_1").body(
                r#"{"facilityType":"campground","displayName":"Baby Bedwell","location":[-125.594,49.489],"isVisible":true,"isOpen":true}"#,
            )),
        Route::get("getFacility", FACILITY, BOTH, read::get::<Facility>)
            .summary("One facility")
            .patterns(&[&ITEM, &READ_SHAPE])
            .path::<FacilityPath>()
            .query::<ItemQuery>()
            .if_none_match()
            .answers::<ItemView>(200)
            .answers_as::<Feature>(200, CONTENT_TYPE)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1")),
        Route::patch("updateFacility", FACILITY, ADMINISTRATORS, change::change::<Facility>)
            .summary("Changes what the merge patch names")
            .patterns(&[&ITEM, &CHANGE_ITEM])
            .path::<FacilityPath>()
            .takes_patch::<Change<FacilityFields>>()
            .if_match()
            .answers::<ItemView>(200)
            .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1").body(r#"{"description":"Nine pads on a ridge."}"#)),
        Route::delete("deleteFacility", FACILITY, ADMINISTRATORS, delete::delete::<Facility>)
            .summary("Deletes a facility without relationships; it can be restored")
            .patterns(&[&ITEM, &DELETE_OR_RESTORE])
            .path::<FacilityPath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1")),
        Route::post("restoreFacility", RESTORE, ADMINISTRATORS, restore::restore::<Facility>)
            .summary("Brings a deleted facility back as it was")
            .patterns(&[&ITEM, &DELETE_OR_RESTORE])
            .path::<FacilityPath>()
            .answers::<ItemView>(200)
            .problems(&[problem::NOT_FOUND, NOT_DELETED, PARENT_DELETED, problem::CONFLICT])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/restore")),
        Route::get("getFacilityGeometry", SHAPE, BOTH, geometry::get::<Facility>)
            .summary("The boundary or the path as GeoJSON, whole or simplified")
            .patterns(&[&ITEM, &READ_SHAPE])
            .path::<FacilityShapePath>()
            .query::<ShapeQuery>()
            .if_none_match()
            .answers_as::<ShapeFeature>(200, CONTENT_TYPE)
            .answers_empty(303)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/geometry/boundary?zoom=8")),
        Route::put("putFacilityGeometry", SHAPE, ADMINISTRATORS, geometry::put::<Facility>)
            .summary("Attaches a boundary or a path: a GeoJSON document, or an upload that is ready")
            .patterns(&[&ITEM, &STORE_SHAPE, &READ_SHAPE, &ATTACH])
            .path::<FacilityShapePath>()
            .takes_bytes::<NewShape>(GEOJSON_BODIES)
            .body_limit(WITH_SHAPES)
            .if_match()
            .answers::<Attached>(200)
            .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, NOT_READY, GEOMETRY_UNAVAILABLE, problem::CONFLICT])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/geometry/boundary").body(
                r#"{"type":"Polygon","coordinates":[[[-125.7,49.4],[-125.5,49.4],[-125.5,49.6],[-125.7,49.6],[-125.7,49.4]]]}"#,
            )),
        Route::delete("deleteFacilityGeometry", SHAPE, ADMINISTRATORS, geometry::delete::<Facility>)
            .summary("Detaches the boundary or the path")
            .patterns(&[&ITEM, &ATTACH])
            .path::<FacilityShapePath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/parks/facilities/bcparks_1/campground/1/geometry/boundary")),
    ]
}
