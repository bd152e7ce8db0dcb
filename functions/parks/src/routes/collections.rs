//! `/parks/collections` and what lies below it.

use web::{Route, Sample, problem};

use super::ADMINISTRATORS;
use super::each_kind::{DELETE_WITH_BELOW, RESTORE_WITH_BELOW, delete, get, list, restore, update};
use crate::access::{CHANGE_COLLECTION, CREATE_COLLECTION, ITEM};
use crate::entity::{Collection, Entity};
use crate::fields::NewCollection;
use crate::items::create_collection;
use crate::items::restore::NOT_DELETED;
use crate::structure::BUSY;
use crate::view::ItemView;

pub fn routes() -> Vec<Route> {
    vec![
        list::<Collection>("listCollections")
            .summary("All collections by name")
            .sample(Sample::new("/parks/collections")),
        Route::post("createCollection", Collection::LIST, ADMINISTRATORS, create_collection::create_collection)
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
        get::<Collection>("getCollection")
            .summary("One collection")
            .patterns(&[&ITEM])
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/parks/collections/bcparks_1")),
        update::<Collection>("updateCollection")
            .summary("Changes what the merge patch names")
            .patterns(&[&ITEM, &CHANGE_COLLECTION])
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/parks/collections/bcparks_1").body(r#"{"description":"The oldest of them."}"#)),
        delete::<Collection>("deleteCollection")
            .patterns(DELETE_WITH_BELOW)
            .summary("Deletes a collection; `cascade=true` also deletes everything in it; it can be restored")
            .sample(Sample::new("/parks/collections/bcparks_1")),
        restore::<Collection>("restoreCollection")
            .patterns(RESTORE_WITH_BELOW)
            .summary("Brings a deleted collection back as it was, with what went along")
            .problems(&[problem::NOT_FOUND, NOT_DELETED, BUSY, problem::CONFLICT])
            .sample(Sample::new("/parks/collections/bcparks_1/restore")),
    ]
}
