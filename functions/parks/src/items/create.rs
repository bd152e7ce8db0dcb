//! `POST` of an item: the next number of its partition, under a parent that is live.

use serde::Serialize;
use table::{Action, EntityKey, Key, Number};
use web::{Answer, Problem, Request};

use super::{live, stamp};
use crate::entity::{Entity, ListPath};
use crate::fields::NewItem;
use crate::item::Item;
use crate::keys::{ItemKey, SequenceKey};
use crate::schema::PARKS;
use crate::shapes::{Incoming, Uses};
use crate::view::{ItemView, View};
use crate::{access, checks, dependents, external_id};

pub async fn create<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ListPath<E> = request.path()?;
    let parent = E::parent(&path.parts).ok_or_else(Problem::not_found)?;
    let parent_is_live = live(&parent).ok_or_else(Problem::not_found)?;
    let mut new: E::New = request.json()?;
    let (shapes, mut faults) = Incoming::all(new.shapes()).await?;
    let key = |number| E::new_key(&parent, &new, Number(number)).ok_or_else(Problem::not_found);
    let (now, who) = stamp(&request);
    let mut item = first(&new, &key(0)?.key(), &now, who)?;
    shapes.locate(&mut item);
    faults.extend(checks::faults(&item));
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }

    if let Some(answer) = request.earlier(&access::CREATE_ITEM, &PARKS).await? {
        return Ok(answer);
    }
    if let Some(problem) = external_id::held(request.access(), &access::CREATE_ITEM, &item).await? {
        return Err(problem);
    }
    // A missing sequence is a missing parent.
    let sequence = SequenceKey { partition: parent.partition(E::KIND) }.key();
    let numbers = request.access().table(&access::NEXT_NUMBER, &PARKS).next_numbers(sequence, 1).await;
    let number = *numbers?.start();
    let key = key(number)?;
    item.place(key.key(), &now);
    let mut uses = Uses::default();
    for (name, shape) in shapes.store(request.access()).await? {
        uses.replace(None, Some(&shape));
        item.set_shape(name, Some(shape));
    }
    item.envelope = crate::shapes::envelope(&item);

    let mut actions = vec![parent_is_live, Action::create(&PARKS, item.key(), &item)?];
    actions.extend(sequences(&key));
    actions.extend(dependents::count(&item, 1));
    let hold = actions.len();
    actions.extend(external_id::hold(&item)?);
    actions.extend(uses.actions(request.access(), &access::CREATE_ITEM).await?);
    let view = ItemView::new(&item, View::Administrator);
    request.create_once(&access::CREATE_ITEM, &PARKS, actions, key.href(), &view).await.map_err(|error| {
        let parent = error.failed(0).map(|_| Problem::not_found());
        parent.or_else(|| external_id::taken(&error, hold)).unwrap_or_else(|| error.into())
    })
}

/// Makes the sequences of what will lie in a new item.
pub fn sequences(key: &ItemKey) -> impl Iterator<Item = Action> {
    let partitions = key.children().into_iter().map(|(_, partition)| partition);
    partitions.map(|partition| Action::create_sequence(&PARKS, SequenceKey { partition }.key()))
}

/// A new item of what a client has sent: not yet numbered, stored or shown.
pub fn first(new: &impl Serialize, key: &Key, now: &str, who: Option<String>) -> Result<Item, Problem> {
    let mut fields = serde_json::to_value(new).map_err(Problem::internal)?;
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("pk".to_owned(), key.pk.clone().into());
        fields.insert("sk".to_owned(), key.sk.clone().into());
    }
    let mut item: Item = serde_json::from_value(fields).map_err(Problem::internal)?;
    item.complete(now);
    (item.updated_at, item.created_by, item.updated_by) = (Some(now.to_owned()), who.clone(), who);
    Ok(item)
}
