//! `/parks/geozones/{collection}` and what lies below it.

use web::{Page, Route, Sample, problem};

use super::{ADMINISTRATORS, BOTH, GEOJSON_BODIES, WITH_SHAPES};
use crate::access::{
    ATTACH, CHANGE_ITEM, CREATE_ITEM, DELETE_OR_RESTORE, ITEM, LIST, NEXT_NUMBER, PUBLIC_LIST, READ_SHAPE, STORE_SHAPE,
};
use crate::change::Change;
use crate::entity::{Geozone, GeozonePath, GeozoneShapePath, InCollection};
use crate::fields::{GeozoneFields, NewGeozone};
use crate::geojson::{CONTENT_TYPE, Feature, FeatureCollection, ShapeFeature};
use crate::items::geometry::{Attached, NewShape, ShapeQuery};
use crate::items::list::ListQuery;
use crate::items::read::ItemQuery;
use crate::items::restore::{NOT_DELETED, PARENT_DELETED};
use crate::items::{change, create, delete, geometry, list, read, restore};
use crate::shapes::GEOMETRY_UNAVAILABLE;
use crate::uploads::NOT_READY;
use crate::view::{ItemView, Summary};

const GEOZONES: &str = "/parks/geozones/{collection}";
const GEOZONE: &str = "/parks/geozones/{collection}/{number}";
const RESTORE: &str = "/parks/geozones/{collection}/{number}/restore";
const SHAPE: &str = "/parks/geozones/{collection}/{number}/geometry/{shape}";

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listGeozones", GEOZONES, BOTH, list::list::<Geozone>)
            .summary("The geozones of a collection by number")
            .patterns(&[&LIST, &PUBLIC_LIST])
            .path::<InCollection>()
            .query::<ListQuery>()
            .answers::<Page<Summary>>(200)
            .answers_as::<FeatureCollection>(200, CONTENT_TYPE)
            .problems(&[problem::FORBIDDEN])
            .sample(Sample::new("/parks/geozones/bcparks_1?limit=2")),
        Route::post("createGeozone", GEOZONES, ADMINISTRATORS, create::create::<Geozone>)
            .summary("Makes a geozone with the next number of its collection")
            .patterns(&[&NEXT_NUMBER, &CREATE_ITEM, &STORE_SHAPE])
            .path::<InCollection>()
            .takes::<NewGeozone>()
            .body_limit(WITH_SHAPES)
            .creates()
            .answers::<ItemView>(201)
            .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
            .sample(Sample::new("/parks/geozones/bcparks_1").body(
                r#"{"displayName":"Bedwell Lakes","location":[-125.589,49.498],"searchTerms":["cream lake"],"isVisible":true}"#,
            )),
        Route::get("getGeozone", GEOZONE, BOTH, read::get::<Geozone>)
            .summary("One geozone")
            .patterns(&[&ITEM, &READ_SHAPE])
            .path::<GeozonePath>()
            .query::<ItemQuery>()
            .if_none_match()
            .answers::<ItemView>(200)
            .answers_as::<Feature>(200, CONTENT_TYPE)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
            .sample(Sample::new("/parks/geozones/bcparks_1/1")),
        Route::patch("updateGeozone", GEOZONE, ADMINISTRATORS, change::change::<Geozone>)
            .summary("Changes what the merge patch names")
            .patterns(&[&ITEM, &CHANGE_ITEM])
            .path::<GeozonePath>()
            .takes_patch::<Change<GeozoneFields>>()
            .if_match()
            .answers::<ItemView>(200)
            .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
            .sample(Sample::new("/parks/geozones/bcparks_1/1").body(r#"{"description":"Two lakes below Big Interior."}"#)),
        Route::delete("deleteGeozone", GEOZONE, ADMINISTRATORS, delete::delete::<Geozone>)
            .summary("Deletes a geozone without relationships; it can be restored")
            .patterns(&[&ITEM, &DELETE_OR_RESTORE])
            .path::<GeozonePath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
            .sample(Sample::new("/parks/geozones/bcparks_1/1")),
        Route::post("restoreGeozone", RESTORE, ADMINISTRATORS, restore::restore::<Geozone>)
            .summary("Brings a deleted geozone back as it was")
            .patterns(&[&ITEM, &DELETE_OR_RESTORE])
            .path::<GeozonePath>()
            .answers::<ItemView>(200)
            .problems(&[problem::NOT_FOUND, NOT_DELETED, PARENT_DELETED, problem::CONFLICT])
            .sample(Sample::new("/parks/geozones/bcparks_1/1/restore")),
        Route::get("getGeozoneGeometry", SHAPE, BOTH, geometry::get::<Geozone>)
            .summary("The boundary or the path as GeoJSON, whole or simplified")
            .patterns(&[&ITEM, &READ_SHAPE])
            .path::<GeozoneShapePath>()
            .query::<ShapeQuery>()
            .if_none_match()
            .answers_as::<ShapeFeature>(200, CONTENT_TYPE)
            .answers_empty(303)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
            .sample(Sample::new("/parks/geozones/bcparks_1/1/geometry/boundary?zoom=8")),
        Route::put("putGeozoneGeometry", SHAPE, ADMINISTRATORS, geometry::put::<Geozone>)
            .summary("Attaches a boundary or a path: a GeoJSON document, or an upload that is ready")
            .patterns(&[&ITEM, &STORE_SHAPE, &READ_SHAPE, &ATTACH])
            .path::<GeozoneShapePath>()
            .takes_bytes::<NewShape>(GEOJSON_BODIES)
            .body_limit(WITH_SHAPES)
            .if_match()
            .answers::<Attached>(200)
            .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, NOT_READY, GEOMETRY_UNAVAILABLE, problem::CONFLICT])
            .sample(Sample::new("/parks/geozones/bcparks_1/1/geometry/boundary").body(
                r#"{"type":"Polygon","coordinates":[[[-125.7,49.4],[-125.5,49.4],[-125.5,49.6],[-125.7,49.6],[-125.7,49.4]]]}"#,
            )),
        Route::delete("deleteGeozoneGeometry", SHAPE, ADMINISTRATORS, geometry::delete::<Geozone>)
            .summary("Detaches the boundary or the path")
            .patterns(&[&ITEM, &ATTACH])
            .path::<GeozoneShapePath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/parks/geozones/bcparks_1/1/geometry/boundary")),
    ]
}
