//! `/parks/collections` and what lies below it.

use web::{Page, Route, Sample, problem};

use super::{ADMINISTRATORS, BOTH};
use crate::access::{CHANGE_ITEM, CREATE_COLLECTION, DELETE_OR_RESTORE, ITEM, LIST, PUBLIC_LIST, READ_SHAPE};
use crate::change::Change;
use crate::entity::{Collection, InCollection, Root};
use crate::fields::{CollectionFields, NewCollection};
use crate::geojson::{CONTENT_TYPE, Feature, FeatureCollection};
use crate::items::list::ListQuery;
use crate::items::read::ItemQuery;
use crate::items::restore::NOT_DELETED;
use crate::items::{change, create_collection, delete, list, read, restore};
use crate::view::{ItemView, Summary};

const COLLECTIONS: &str = "/parks/collections";
const COLLECTION: &str = "/parks/collections/{collection}";
const RESTORE: &str = "/parks/collections/{collection}/restore";

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listCollections", COLLECTIONS, BOTH, list::list::<Collection>)
            .summary("All collections by name")
            .patterns(&[&LIST, &PUBLIC_LIST])
            .path::<Root>()
            .query::<ListQuery>()
            .answers::<Page<Summary>>(200)
            .answers_as::<FeatureCollection>(200, CONTENT_TYPE)
            .problems(&[problem::FORBIDDEN])
            .sample(Sample::new("/parks/collections")),
        Route::post("createCollection", COLLECTIONS, ADMINISTRATORS, create_collection::create_collection)
            .summary("Makes a collection under the name it will always have")
            .patterns(&[&CREATE_COLLECTION])
            .takes::<NewCollection>()
            .creates()
            .answers::<ItemView>(201)
            .problems(&[problem::EXISTS, problem::CONFLICT])
            .sample(
                Sample::new("/parks/collections")
                    .body(r#"{"collectionId":"bcparks_2","displayName":"Garibaldi Park","isVisible":true}"#),
            ),
        Route::get("getCollection", COLLECTION, BOTH, read::get::<Collection>)
            .summary("One collection")
            .patterns(&[&ITEM, &READ_SHAPE])
            .path::<InCollection>()
            .query::<ItemQuery>()
            .if_none_match()
            .answers::<ItemView>(200)
            .answers_as::<Feature>(200, CONTENT_TYPE)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/parks/collections/bcparks_1")),
        Route::patch("updateCollection", COLLECTION, ADMINISTRATORS, change::change::<Collection>)
            .summary("Changes what the merge patch names")
            .patterns(&[&ITEM, &CHANGE_ITEM])
            .path::<InCollection>()
            .takes_patch::<Change<CollectionFields>>()
            .if_match()
            .answers::<ItemView>(200)
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/parks/collections/bcparks_1").body(r#"{"description":"The oldest of them."}"#)),
        Route::delete("deleteCollection", COLLECTION, ADMINISTRATORS, delete::delete::<Collection>)
            .summary("Deletes an empty collection; it can be restored")
            .patterns(&[&ITEM, &DELETE_OR_RESTORE])
            .path::<InCollection>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
            .sample(Sample::new("/parks/collections/bcparks_1")),
        Route::post("restoreCollection", RESTORE, ADMINISTRATORS, restore::restore::<Collection>)
            .summary("Brings a deleted collection back as it was")
            .patterns(&[&ITEM, &DELETE_OR_RESTORE])
            .path::<InCollection>()
            .answers::<ItemView>(200)
            .problems(&[problem::NOT_FOUND, NOT_DELETED, problem::CONFLICT])
            .sample(Sample::new("/parks/collections/bcparks_1/restore")),
    ]
}
