//! `POST /parks/collections`

use table::Action;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, problem};

use super::create::{new_item, sequences};
use crate::access::CREATE_COLLECTION;
use crate::audit::Audit;
use crate::checks;
use crate::entity::{Collection, Entity};
use crate::fields::{MAX_FIELDS_BODY, NewCollection};
use crate::keys::{CollectionKey, ItemKey};
use crate::names::CollectionId;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, ItemView, View};

pub fn route() -> Route {
    Route::post("createCollection", Collection::LIST, ADMINISTRATORS, create)
        .summary("Create a collection, whose id never changes")
        .patterns(&[&CREATE_COLLECTION])
        .body_limit(MAX_FIELDS_BODY)
        .rules::<NewCollection>()
        .problems(&[problem::EXISTS, problem::CONFLICT])
        .sample(Collection::SAMPLES.create)
}

/// Creates a collection with the sequences of its partitions.
async fn create(
    cx: Context,
    once: IdempotencyKey,
    Json(new): Json<NewCollection>,
) -> Result<Created<ItemView>, Problem> {
    let collection: CollectionId = new.collection_id.parse().map_err(|_| {
        Problem::faults(vec![Fault::pointer("/collectionId", format!("must be {}", CollectionId::EXPECTED))])
    })?;
    let key = ItemKey::Collection(CollectionKey { collection });
    let item = new_item(&new, &key.key(), &Audit::now(&cx))?;
    let faults = checks::faults(&item);
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    if let Some(earlier) = once.earlier(&cx, &CREATE_COLLECTION, &PARKS).await? {
        return Ok(earlier);
    }
    let mut actions = vec![Action::create(&PARKS, key.key(), &item)?];
    actions.extend(sequences(&key));
    let view = ItemView::new(&item, View::Administrator);
    let created = once.create(&cx, &CREATE_COLLECTION, &PARKS, actions, key.href(), &view).await;
    created.map_err(|error| match error.failed(0).or(error.failed(1)) {
        Some(_) => Problem::exists("A collection with this id exists, or existed and is deleted."),
        None => error.into(),
    })
}
