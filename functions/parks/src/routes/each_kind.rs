//! The routes that each kind of item has. What differs from kind to kind is said where they are put together: the
//! operation's name, its summary, its sample.

use table::AccessPattern;
use web::route::MAX_TIMEOUT;
use web::{Page, Route, problem};

use super::{ADMINISTRATORS, BOTH, GEOJSON_BODIES, WITH_SHAPES};
use crate::access::{
    ALL_RELATIONSHIPS, ATTACH, BELOW, BY_GLOBAL_ID, CHANGE_ITEM, CREATE_ITEM, DELETE_OR_RESTORE, DETACHED, ITEM, LIST,
    NEXT_NUMBER, PUBLIC_LIST, READ_SHAPE, RETYPE, STORE_SHAPE, TAKEN, WORK,
};
use crate::change::Change;
use crate::entity::{Entity, ItemPath, ListPath, OnMap};
use crate::geojson::{CONTENT_TYPE, Feature, FeatureCollection, ShapeFeature};
use crate::items::delete::DeleteQuery;
use crate::items::geometry::{Attached, NewShape, OfShape, ShapeQuery};
use crate::items::read::ItemQuery;
use crate::items::restore::{NOT_DELETED, PARENT_DELETED};
use crate::items::retype::{HAS_HAD_PRODUCTS, Typed};
use crate::items::{self, geometry};
use crate::jobs::JobView;
use crate::names::{Kind, ShapeName};
use crate::shapes::GEOMETRY_UNAVAILABLE;
use crate::structure::{BUSY, TOO_MANY};
use crate::uploads::NOT_READY;
use crate::view::{ItemView, Summary};

pub const DELETE_WITH_BELOW: &[&AccessPattern] = &[&ITEM, &DELETE_OR_RESTORE, &BELOW, &ALL_RELATIONSHIPS, &WORK];
pub const RESTORE_WITH_BELOW: &[&AccessPattern] = &[&ITEM, &DELETE_OR_RESTORE, &TAKEN, &DETACHED, &BY_GLOBAL_ID];

pub fn list<E: Entity>(name: &'static str) -> Route {
    Route::get(name, E::LIST, BOTH, items::list::list::<E>)
        .patterns(&[&LIST, &PUBLIC_LIST])
        .path::<ListPath<E>>()
        .query::<E::ListQuery>()
        .answers::<Page<Summary>>(200)
        .answers_as::<FeatureCollection>(200, CONTENT_TYPE)
        .problems(&[problem::FORBIDDEN])
}

pub fn create<E: Entity>(name: &'static str) -> Route {
    Route::post(name, E::LIST, ADMINISTRATORS, items::create::create::<E>)
        .patterns(&[&NEXT_NUMBER, &CREATE_ITEM, &STORE_SHAPE])
        .path::<ListPath<E>>()
        .takes::<E::New>()
        .body_limit(WITH_SHAPES)
        .creates()
        .answers::<ItemView>(201)
        .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
}

pub fn get<E: Entity>(name: &'static str) -> Route {
    Route::get(name, E::ITEM, BOTH, items::read::get::<E>)
        .patterns(&[&ITEM, &READ_SHAPE])
        .path::<ItemPath<E>>()
        .query::<ItemQuery>()
        .if_none_match()
        .answers::<ItemView>(200)
        .answers_as::<Feature>(200, CONTENT_TYPE)
        .answers_empty(304)
        .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
}

pub fn update<E: Entity>(name: &'static str) -> Route {
    let route = Route::patch(name, E::ITEM, ADMINISTRATORS, items::change::change::<E>)
        .patterns(&[&ITEM, &CHANGE_ITEM, &ALL_RELATIONSHIPS])
        .path::<ItemPath<E>>()
        .takes_patch::<Change<E::Fields>>()
        .if_match()
        .tagged()
        .answers::<ItemView>(200)
        .answers::<JobView>(202)
        .problems(&[problem::NOT_FOUND, problem::TAKEN, BUSY, problem::CONFLICT]);
    not_by_patch::<E>().into_iter().fold(route, |route, (member, detail)| route.elsewhere(member, detail))
}

/// What people take for fields of an item that a patch changes, and how it is changed.
fn not_by_patch<E: Entity>() -> Vec<(&'static str, String)> {
    const NEVER: &str = "never changes: it stands in the keys of the item, or names it for ever";
    let never = ["pk", "sk", "collectionId", "number", "globalId", "entity"];
    let mut members: Vec<_> = never.map(|name| (name, NEVER.to_owned())).to_vec();
    members.push(("isDeleted", format!("is not changed here: DELETE the item, or POST to `{}/restore`", E::ITEM)));
    if matches!(E::KIND, Kind::Geozone | Kind::Facility | Kind::Activity) {
        for shape in ShapeName::ALL {
            let detail = format!("is not changed here: PUT it to `{}/geometry/{shape}`, or DELETE it there", E::ITEM);
            members.push((shape.as_str(), detail));
        }
    }
    let retype = format!("is not changed here: POST to `{}/retype`", E::ITEM);
    match E::KIND {
        Kind::Facility => members.push(("facilityType", retype)),
        Kind::Activity => members.push(("activityType", retype)),
        Kind::Product => {
            members.push(("openRanges", format!("is kept by the system: change `{}/dates`", E::ITEM)));
            members.push(("activityType", NEVER.to_owned()));
        }
        Kind::Collection | Kind::Geozone => {}
    }
    members
}

/// Of a kind that has nothing below itself; others take [`DELETE_WITH_BELOW`].
pub fn delete<E: Entity>(name: &'static str) -> Route {
    Route::delete(name, E::ITEM, ADMINISTRATORS, items::delete::delete::<E>)
        .patterns(&[&ITEM, &DELETE_OR_RESTORE, &ALL_RELATIONSHIPS, &WORK])
        .path::<ItemPath<E>>()
        .query::<DeleteQuery>()
        .if_match()
        .timeout(MAX_TIMEOUT)
        .answers_empty(204)
        .answers::<JobView>(202)
        .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, BUSY, problem::CONFLICT])
}

/// Of a kind that has nothing below itself; others take [`RESTORE_WITH_BELOW`].
pub fn restore<E: Entity>(name: &'static str) -> Route {
    Route::post(name, format!("{}/restore", E::ITEM), ADMINISTRATORS, items::restore::restore::<E>)
        .patterns(&[&ITEM, &DELETE_OR_RESTORE, &DETACHED, &BY_GLOBAL_ID])
        .path::<ItemPath<E>>()
        .tagged()
        .answers::<ItemView>(200)
        .answers::<JobView>(202)
        .problems(&[problem::NOT_FOUND, NOT_DELETED, PARENT_DELETED, BUSY, problem::CONFLICT])
}

pub fn retype<E: Typed>(name: &'static str) -> Route {
    Route::post(name, format!("{}/retype", E::ITEM), ADMINISTRATORS, items::retype::retype::<E>)
        .patterns(&[&ITEM, &RETYPE, &ALL_RELATIONSHIPS])
        .path::<ItemPath<E>>()
        .takes::<E::NewType>()
        .if_match()
        .tagged()
        .answers::<ItemView>(200)
        .problems(&[problem::NOT_FOUND, HAS_HAD_PRODUCTS, BUSY, TOO_MANY, problem::CONFLICT])
}

fn shape<E: OnMap>() -> String {
    format!("{}/geometry/{{shape}}", E::ITEM)
}

pub fn get_geometry<E: OnMap>(name: &'static str) -> Route {
    Route::get(name, shape::<E>(), BOTH, geometry::get::<E>)
        .summary("The boundary or the path as GeoJSON, whole or simplified")
        .patterns(&[&ITEM, &READ_SHAPE])
        .path::<ItemPath<E, OfShape>>()
        .query::<ShapeQuery>()
        .if_none_match()
        .answers_as::<ShapeFeature>(200, CONTENT_TYPE)
        .answers_empty(303)
        .answers_empty(304)
        .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
}

pub fn put_geometry<E: OnMap>(name: &'static str) -> Route {
    Route::put(name, shape::<E>(), ADMINISTRATORS, geometry::put::<E>)
        .summary("Attaches a boundary or a path: a GeoJSON document, or an upload that is ready")
        .patterns(&[&ITEM, &STORE_SHAPE, &READ_SHAPE, &ATTACH])
        .path::<ItemPath<E, OfShape>>()
        .takes_bytes::<NewShape>(GEOJSON_BODIES)
        .body_limit(WITH_SHAPES)
        .if_match()
        .tagged()
        .answers::<Attached>(200)
        .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, NOT_READY, GEOMETRY_UNAVAILABLE, problem::CONFLICT])
}

pub fn delete_geometry<E: OnMap>(name: &'static str) -> Route {
    Route::delete(name, shape::<E>(), ADMINISTRATORS, geometry::delete::<E>)
        .summary("Detaches the boundary or the path")
        .patterns(&[&ITEM, &ATTACH])
        .path::<ItemPath<E, OfShape>>()
        .if_match()
        .answers_empty(204)
        .problems(&[problem::NOT_FOUND, problem::CONFLICT])
}
