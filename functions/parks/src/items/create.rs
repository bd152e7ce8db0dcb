//! `POST` of an item: it gets the next number of its partition, under a live parent.

use serde::Serialize;
use table::{Action, EntityKey, Key, Number};
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, problem};

use super::check_live;
use crate::access::{CREATE_ITEM, NEXT_NUMBER, STORE_SHAPE};
use crate::audit::Audit;
use crate::entity::{Entity, ListPath};
use crate::fields::NewItem;
use crate::item::Item;
use crate::keys::{ItemKey, SequenceKey};
use crate::schema::PARKS;
use crate::shapes::{self, MAX_BODY, NewShapes, Uses};
use crate::view::{ADMINISTRATORS, ItemView, View};
use crate::{checks, dependents, external_id};

pub fn route<E: Entity>(name: &'static str, summary: &'static str) -> Route {
    let route = Route::post(name, E::LIST, ADMINISTRATORS, create::<E>)
        .summary(summary)
        .body_limit(MAX_BODY)
        .rules::<E::New>()
        .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
        .sample(E::SAMPLES.create);
    if E::KIND.is_on_map() {
        route.patterns(&[&NEXT_NUMBER, &CREATE_ITEM, &STORE_SHAPE])
    } else {
        route.patterns(&[&NEXT_NUMBER, &CREATE_ITEM])
    }
}

async fn create<E: Entity>(
    cx: Context,
    Path(path): Path<ListPath<E>>,
    once: IdempotencyKey,
    Json(mut new): Json<E::New>,
) -> Result<Created<ItemView>, Problem> {
    let parent = path.parent.ok_or_else(Problem::not_found)?;
    let parent_is_live = check_live(&parent).ok_or_else(Problem::not_found)?;
    let (new_shapes, mut faults) = NewShapes::check(new.shapes()).await?;
    let key = |number| E::new_key(&parent, &new, Number(number)).ok_or_else(Problem::not_found);
    let audit = Audit::now(&cx);
    let mut item = new_item(&new, &key(0)?.key(), &audit)?;
    new_shapes.locate(&mut item);
    // Without its faults, a shape would give the item its location.
    let is_unplaced = !faults.listed.is_empty() && item.location.is_none();
    let at_location = Fault::pointer("/location", "").place;
    let of_item = checks::faults(&item).into_iter().filter(|fault| !is_unplaced || fault.place != at_location);
    faults.listed.extend(of_item);
    if !faults.listed.is_empty() {
        return Err(faults.problem());
    }

    if let Some(earlier) = once.earlier(&cx, &CREATE_ITEM, &PARKS).await? {
        return Ok(earlier);
    }
    if let Some(problem) = external_id::held(cx.access(), &CREATE_ITEM, &item).await? {
        // The same request, sent twice at once, may have created the item that has it.
        return once.earlier(&cx, &CREATE_ITEM, &PARKS).await?.ok_or(problem);
    }
    // A missing sequence is a missing parent.
    let sequence = SequenceKey { partition: parent.partition(E::KIND) }.key();
    let numbers = cx.access().table(&NEXT_NUMBER, &PARKS).next_numbers(sequence, 1).await?;
    let key = key(*numbers.start())?;
    item.set_key(key.key(), &audit.at);
    let mut uses = Uses::default();
    for (name, shape) in new_shapes.store(cx.access()).await? {
        uses.replace(None, Some(&shape));
        item.set_shape(name, Some(shape));
    }
    item.envelope = shapes::envelope(&item);

    let mut actions = vec![parent_is_live, Action::create(&PARKS, item.key(), &item)?];
    actions.extend(sequences(&key));
    actions.extend(dependents::count(&item, 1));
    let hold_index = actions.len();
    actions.extend(external_id::hold(&item)?);
    actions.extend(uses.actions(cx.access(), &CREATE_ITEM).await?);
    let view = ItemView::new(&item, View::Administrator);
    let created = once.create(&cx, &CREATE_ITEM, &PARKS, actions, key.href(), &view).await;
    created.map_err(|error| match error.failed(0) {
        Some(_) => Problem::not_found(),
        None => external_id::taken(&error, hold_index).unwrap_or_else(|| error.into()),
    })
}

/// The actions that create the sequences of the children of a new item.
pub fn sequences(key: &ItemKey) -> impl Iterator<Item = Action> {
    let partitions = key.children().into_iter().map(|(_, partition)| partition);
    partitions.map(|partition| Action::create_sequence(&PARKS, SequenceKey { partition }.key()))
}

/// A new item with the fields that a client has sent.
pub fn new_item(new: &impl Serialize, key: &Key, audit: &Audit) -> Result<Item, Problem> {
    let mut fields = serde_json::to_value(new).map_err(Problem::internal)?;
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("pk".to_owned(), key.pk.clone().into());
        fields.insert("sk".to_owned(), key.sk.clone().into());
    }
    let mut item: Item = serde_json::from_value(fields).map_err(Problem::internal)?;
    item.complete(&audit.at);
    item.created_by.clone_from(&audit.by);
    item.set_updated(audit);
    Ok(item)
}
