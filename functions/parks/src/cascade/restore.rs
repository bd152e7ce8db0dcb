//! Restores an item with the items that its deletion cascaded to.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Backoff, Error, Key};
use tokio::time::sleep;

use super::counters::{self, Counter};
use super::delete::load_all;
use super::relationships::{Relationships, detached_up_to};
use super::{CONCURRENCY, MAX_ACTIONS, TransactionBuilder};
use crate::audit::Audit;
use crate::item::Item;
use crate::items::{LoadedItem, check_live};
use crate::keys::{ItemKey, ItemRef, Partition};
use crate::relationships::{RelatedItem, Relationship};
use crate::schema::PARKS;
use crate::{access, dependents};

/// The pause before a related item is looked for again.
const PAUSE: Duration = Duration::from_millis(100);

/// The detached relationships of an item to restore.
#[derive(Debug)]
pub struct DetachedRelationships {
    counter: Counter,
    /// Each with the present state of its other item. None if that does not exist any more.
    relationships: Vec<(Relationship, Option<Item>)>,
}

/// The transaction that restores an item with the items that its deletion cascaded to, and the restored item. The item
/// comes first and its parent second, if it has one. None if that is too much for one transaction.
pub async fn restore_with_children(
    access: &Access,
    root: &LoadedItem,
    audit: &Audit,
) -> Result<Option<(TransactionBuilder, Item)>, Error> {
    let Some(cascaded) = cascaded(access, &root.item).await? else { return Ok(None) };
    let after = restored(&root.item, audit);
    let mut transaction = TransactionBuilder::default();
    transaction.push(root.update_to(&after)?);
    if let Some(parent) = after.item_key().and_then(|key| check_live(&key.parent())) {
        transaction.push(parent);
    }
    let cascaded: Vec<(LoadedItem, Item)> = cascaded
        .into_iter()
        .map(|loaded| (restored(&loaded.item, audit), loaded))
        .map(|(after, loaded)| (loaded, after))
        .collect();
    for (loaded, after) in &cascaded {
        transaction.push(loaded.update_to(after)?);
    }
    let restored: BTreeMap<Key, &Item> =
        cascaded.iter().map(|(_, after)| (after.key(), after)).chain([(after.key(), &after)]).collect();
    let items = restored.values().filter_map(|item| Some((item.reference()?, (*item).clone())));
    let with_relationships = |(reference, item): (ItemRef, Item)| {
        let restored = &restored;
        async move {
            // More are too many in any case.
            let detached = detached_up_to(access, &reference, MAX_ACTIONS).await?;
            let detached = load_others(access, &reference, detached, restored).await?;
            Ok::<_, Error>((reference, item, detached))
        }
    };
    {
        let mut loaded = pin!(stream::iter(items.collect::<Vec<_>>()).map(with_relationships).buffered(CONCURRENCY));
        while let Some(one) = loaded.next().await {
            let (reference, item, detached) = one?;
            transaction.add_count(counters::of_items(Partition::of(&item.pk)), 1);
            restore_relationships(&reference, &item, detached, &restored, &mut transaction)?;
            if transaction.size() > MAX_ACTIONS {
                return Ok(None);
            }
        }
    }
    Ok((transaction.size() <= MAX_ACTIONS).then_some((transaction, after)))
}

/// The restored item, and the actions that restore it without its children, which a job restores later. The item comes
/// first and its parent second.
pub fn restore_alone(root: &LoadedItem, audit: &Audit) -> Result<(Item, Vec<Action>), Error> {
    let after = Item {
        deletion: root.item.deletion.clone(),
        cascaded_count: root.item.cascaded_count,
        busy: Some(true),
        ..restored(&root.item, audit)
    };
    let mut actions = vec![root.update_to(&after)?];
    actions.extend(after.item_key().and_then(|key| check_live(&key.parent())));
    actions.extend(dependents::count(&after, 1));
    Ok((after, actions))
}

/// The item after its restoration.
pub fn restored(item: &Item, audit: &Audit) -> Item {
    let mut after = item.clone();
    after.is_deleted = Some(false);
    (after.deleted_at, after.deleted_by, after.deleted_with) = (None, None, None);
    (after.deletion, after.cascaded_count) = (None, None);
    after.set_updated(audit);
    after.complete(&audit.at);
    after
}

/// The items that the deletion of this item cascaded to. None if they are too many for one transaction.
async fn cascaded(access: &Access, root: &Item) -> Result<Option<Vec<LoadedItem>>, Error> {
    let (Some(deletion), Some(count)) = (&root.deletion, root.cascaded_count) else { return Ok(Some(Vec::new())) };
    if count == 0 {
        return Ok(Some(Vec::new()));
    }
    if count >= MAX_ACTIONS as u64 {
        return Ok(None);
    }
    let mut backoff = Backoff::new();
    loop {
        let parks = access.table(&access::CASCADED, &PARKS);
        let listed = parks.query(Item::cascaded_pk(deletion)).index("reverse").all().await?;
        let mut cascaded = load_all(access, &access::CASCADED, listed).await?;
        cascaded.retain(|loaded| loaded.item.deleted_with.as_ref() == Some(deletion));
        if cascaded.len() as u64 == count {
            return Ok(Some(cascaded));
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Loads the other items of the detached relationships of an item.
pub async fn load_others(
    access: &Access,
    item: &ItemRef,
    Relationships { counter, listed }: Relationships,
    restored: &BTreeMap<Key, &Item>,
) -> Result<DetachedRelationships, Error> {
    let with_other = |relationship: Relationship| async move {
        let other = present(access, relationship.other(item), restored).await?;
        Ok::<_, Error>((relationship, other))
    };
    let relationships = stream::iter(listed).map(with_other).buffered(CONCURRENCY).try_collect().await?;
    Ok(DetachedRelationships { counter, relationships })
}

/// Adds the actions that restore the relationships of an item, with the assertion that they are all. A relationship whose
/// other item is live, or restored by the same transaction, is attached. One whose other item is deleted is detached from
/// that item instead. One whose other item was deleted from the table, which no request does, is deleted.
pub fn restore_relationships(
    reference: &ItemRef,
    item: &Item,
    detached: DetachedRelationships,
    restored: &BTreeMap<Key, &Item>,
    transaction: &mut TransactionBuilder,
) -> Result<(), Error> {
    transaction.assert_count(detached.counter);
    for (relationship, other) in detached.relationships {
        transaction.push(Action::delete(&PARKS, relationship.detached_key(reference)));
        let Some(other) = other else { continue };
        let Some(other_reference) = other.reference() else { continue };
        let before = relationship.other(reference).item.clone();
        let relationship: Relationship = relationship
            .with(&before, RelatedItem::new(other_reference.clone(), &other))
            .with(reference, RelatedItem::new(reference.clone(), item));
        if !restored.contains_key(&other.key()) {
            transaction.check_visibility(&other);
        }
        if other.deleted() {
            transaction.push(relationship.detach(&other_reference)?);
            // A concurrent restoration of that item has not seen this relationship, so its assertion has to fail.
            transaction.add_count(counters::of_relationships(&other_reference), 0);
        } else {
            transaction.push(relationship.create()?);
            transaction.add_count(counters::of_relationships(reference), 1);
            transaction.add_count(counters::of_relationships(&other_reference), 1);
        }
    }
    Ok(())
}

/// The present state of a related item, which may have been retyped since. None if the table does not have it.
async fn present(
    access: &Access,
    related: &RelatedItem,
    restored: &BTreeMap<Key, &Item>,
) -> Result<Option<Item>, Error> {
    if let Some(item) = restored.get(&related.item.key()) {
        return Ok(Some((*item).clone()));
    }
    let mut found = find(access, related).await?;
    if found.is_none() {
        // The keys are not read at one moment, so an item that moves from one to another meanwhile may be missed.
        sleep(PAUSE).await;
        found = find(access, related).await?;
    }
    if found.is_none() {
        tracing::warn!(item.key = %related.item, "a relationship was not restored, since its other item does not exist");
    }
    Ok(found.map(|item| restored.get(&item.key()).map_or(item, |restored| (*restored).clone())))
}

/// Looks for a related item under its key, then under those of the other types. The table decides, and not the index of
/// global ids, which lags behind it.
async fn find(access: &Access, related: &RelatedItem) -> Result<Option<Item>, Error> {
    let parks = access.table(&access::OTHER_ITEM, &PARKS);
    let is_same = |item: &Item| related.global_id.is_none() || item.global_id == related.global_id;
    let key = related.item.key();
    let found = parks.get_consistent(key.clone()).await?.map(|stored| stored.read::<Item>()).transpose()?;
    let found = found.filter(is_same);
    if found.is_some() || related.global_id.is_none() {
        return Ok(found);
    }
    let others = ItemKey::parse(&key).into_iter().flat_map(|key| key.of_other_types());
    let others: Vec<Key> = others.map(|other| other.key()).collect();
    for stored in parks.batch_get_consistent(&others).await?.into_iter().flatten() {
        let item: Item = stored.read()?;
        if is_same(&item) {
            return Ok(Some(item));
        }
    }
    Ok(None)
}
