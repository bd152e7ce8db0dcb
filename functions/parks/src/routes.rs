//! The routes of parks, in the order of the docs and the API description.

use web::Route;

use crate::entity::{Activity, Collection, Facility, Geozone, Product};
use crate::items::{create, create_collection, delete, geometry, get, get_many, list, restore, retype, update};
use crate::{dates, imports, jobs, relationships, search, uploads};

pub fn all() -> Vec<Route> {
    vec![
        list::route::<Collection>("listCollections", "List the collections by id"),
        create_collection::route(),
        get::route::<Collection>("getCollection", "Get a collection"),
        update::route::<Collection>("updateCollection", "Update the fields that the merge patch names"),
        delete::route::<Collection>(
            "deleteCollection",
            "Delete a collection and, with `cascade=true`, everything in it; it can be restored",
        ),
        restore::route::<Collection>("restoreCollection", "Restore a deleted collection with everything in it"),
        list::route::<Geozone>("listGeozones", "List the geozones of a collection by number"),
        create::route::<Geozone>("createGeozone", "Create a geozone with the next number of its collection"),
        get::route::<Geozone>("getGeozone", "Get a geozone"),
        update::route::<Geozone>("updateGeozone", "Update the fields that the merge patch names"),
        delete::route::<Geozone>(
            "deleteGeozone",
            "Delete a geozone and, with `cascade=true`, its relationships; it can be restored",
        ),
        restore::route::<Geozone>("restoreGeozone", "Restore a deleted geozone with its relationships"),
        geometry::get::route::<Geozone>("getGeozoneGeometry"),
        geometry::put::route::<Geozone>("putGeozoneGeometry"),
        geometry::delete::route::<Geozone>("deleteGeozoneGeometry"),
        list::route::<Facility>("listFacilities", "List the facilities of a collection by type and number"),
        create::route::<Facility>("createFacility", "Create a facility with the next number of its collection"),
        get::route::<Facility>("getFacility", "Get a facility"),
        update::route::<Facility>("updateFacility", "Update the fields that the merge patch names"),
        delete::route::<Facility>(
            "deleteFacility",
            "Delete a facility and, with `cascade=true`, its relationships; it can be restored",
        ),
        restore::route::<Facility>("restoreFacility", "Restore a deleted facility with its relationships"),
        retype::route::<Facility>("retypeFacility", "Set a facility's type; its number and its global id stay"),
        geometry::get::route::<Facility>("getFacilityGeometry"),
        geometry::put::route::<Facility>("putFacilityGeometry"),
        geometry::delete::route::<Facility>("deleteFacilityGeometry"),
        list::route::<Activity>("listActivities", "List the activities of a collection by type and number"),
        create::route::<Activity>("createActivity", "Create an activity with the next number of its collection"),
        get::route::<Activity>("getActivity", "Get an activity"),
        update::route::<Activity>("updateActivity", "Update the fields that the merge patch names"),
        delete::route::<Activity>(
            "deleteActivity",
            "Delete an activity and, with `cascade=true`, its products and relationships; it can be restored",
        ),
        restore::route::<Activity>("restoreActivity", "Restore a deleted activity with its products and relationships"),
        retype::route::<Activity>("retypeActivity", "Set an activity's type; its number and its global id stay"),
        geometry::get::route::<Activity>("getActivityGeometry"),
        geometry::put::route::<Activity>("putActivityGeometry"),
        geometry::delete::route::<Activity>("deleteActivityGeometry"),
        list::route::<Product>("listProducts", "List the products of an activity by number"),
        create::route::<Product>("createProduct", "Create a product with the next number of its activity"),
        get::route::<Product>("getProduct", "Get a product with the days on which it is open"),
        update::route::<Product>(
            "updateProduct",
            "Update the fields that the merge patch names; no date may be left outside the range",
        ),
        delete::route::<Product>(
            "deleteProduct",
            "Delete a product and, with `cascade=true`, its relationships; it can be restored with its dates",
        ),
        restore::route::<Product>("restoreProduct", "Restore a deleted product with its dates"),
        dates::list::route(),
        dates::create::route(),
        dates::update_all::route(),
        dates::delete_all::route(),
        dates::get::route(),
        dates::update::route(),
        dates::delete::route(),
        get::route_by_global_id(),
        get_many::route(),
        relationships::list::route(),
        relationships::create::route(),
        relationships::get::route(),
        relationships::delete::route(),
        uploads::create::route(),
        uploads::get::route(),
        search::route(),
        search::by_shape_route(),
        search::suggest::route(),
        imports::route(),
        jobs::list::route(),
        jobs::get::route(),
        jobs::cancel::route(),
    ]
}
