//! `POST /parks/collections`: a collection with the sequences of what will lie in it.

use table::Action;
use web::{Answer, Fault, Problem, Request};

use super::create::{first, sequences};
use super::stamp;
use crate::fields::NewCollection;
use crate::keys::{CollectionKey, ItemKey};
use crate::names::CollectionId;
use crate::schema::PARKS;
use crate::view::{ItemView, View};
use crate::{access, checks};

pub async fn create_collection(request: Request) -> Result<Answer, Problem> {
    let new: NewCollection = request.json()?;
    let collection: CollectionId = new.collection_id.parse().map_err(|_| {
        Problem::faults(vec![Fault::pointer("/collectionId", format!("expected {}", CollectionId::EXPECTED))])
    })?;
    let key = ItemKey::Collection(CollectionKey { collection });
    let (now, who) = stamp(&request);
    let item = first(&new, &key.key(), &now, who)?;
    let faults = checks::faults(&item);
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    if let Some(answer) = request.earlier(&access::CREATE_COLLECTION, &PARKS).await? {
        return Ok(answer);
    }
    let mut actions = vec![Action::create(&PARKS, key.key(), &item)?];
    actions.extend(sequences(&key));
    let view = ItemView::new(&item, View::Administrator);
    request.create_once(&access::CREATE_COLLECTION, &PARKS, actions, key.href(), &view).await.map_err(|error| {
        let exists = error.failed(0).is_some() || error.failed(1).is_some();
        if exists { Problem::exists("A collection of this name exists, or is deleted.") } else { error.into() }
    })
}
