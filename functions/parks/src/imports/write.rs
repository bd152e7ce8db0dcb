//! Writes rows. The external id decides whether a row creates an item or updates one. An item that equals its row is not
//! written.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde::Deserialize;
use serde_json::Value;
use table::{Access, Action, EntityKey, Escaped, Key, Stored};
use web::{Fault, Problem};

use super::Layer;
use super::row::{ParsedRow, RowFault, RowParser};
use crate::access::{IMPORT_ROWS, NEXT_NUMBER};
use crate::audit::Audit;
use crate::cascade::{self, TransactionBuilder, Visibility};
use crate::item::{INLINE_BYTES, Item, StoredShape};
use crate::items::check_live;
use crate::items::create::{new_item, sequences};
use crate::keys::{CollectionKey, ExternalIdKey, ItemRef, Parent, SequenceKey};
use crate::names::{ActivityType, CollectionId, FacilityType, ShapeName};
use crate::patch::FieldsPatch;
use crate::schema::PARKS;
use crate::shapes::{self, Uses};
use crate::{checks, dependents, external_id};

/// The limit of actions of a batch of rows. The rest of a transaction's 100 are those of the collection, its count, the
/// job and its due row.
pub const ROOM: usize = 96;

/// The number of large shapes that are stored concurrently.
const CONCURRENCY: usize = 8;

/// The result of a batch of rows.
#[derive(Debug)]
pub struct Written {
    pub actions: Vec<Action>,
    pub faults: Vec<RowFault>,
    /// The number of rows with faults.
    pub failed: usize,
    /// The number of the first row of the next batch: this one has no room for it, or writes the same relationship.
    pub next: Option<u64>,
}

/// The result of one row.
struct Outcome {
    item: Item,
    /// The item before. None for a new item.
    before: Option<(Stored, Item)>,
    shape: Option<(ShapeName, geometry::Shape)>,
    /// The updates of its relationships if it is shown or hidden.
    cascade: TransactionBuilder,
}

#[derive(Deserialize)]
pub struct Guard {
    pub item: Key,
}

/// The limit of actions of a row by itself: its item, the guard of its external id or the counter of its relationships, the
/// uses of its shapes before and after, and the sequence of its children.
pub fn cost(layer: Layer, row: &ParsedRow) -> usize {
    let shapes = if row.shape.is_some() { 2 } else { 0 };
    let sequences = if layer == Layer::Activity { 1 } else { 0 };
    2 + shapes + sequences
}

/// Loads the items of the rows and returns the writes. No two rows may have the same external id.
pub async fn rows(
    access: &Access,
    reading: &RowParser,
    collection: &CollectionId,
    who: Option<String>,
    parsed: Vec<ParsedRow>,
) -> Result<Written, Problem> {
    let held = holders(access, reading, collection, &parsed).await?;
    update_or_create(access, reading, collection, who, parsed.into_iter().zip(held).collect()).await
}

/// Returns the writes of rows, each of which updates an item that was read or creates one.
pub async fn update_or_create(
    access: &Access,
    reading: &RowParser,
    collection: &CollectionId,
    who: Option<String>,
    rows: Vec<(ParsedRow, Option<Stored>)>,
) -> Result<Written, Problem> {
    let audit = Audit::of(access, who);
    let (mut outcomes, mut faults, mut failed) = (Vec::<Outcome>::new(), Vec::new(), 0);
    let (mut room, mut next) = (ROOM, None);
    for (row, held) in rows {
        let (number, cost) = (row.number, cost(reading.layer, &row));
        let outcome = match held {
            None => create(reading, collection, &audit, row)?,
            Some(stored) => update(access, reading, collection, &audit, row, stored).await?,
        };
        match outcome {
            Ok(outcome) => {
                let cost = cost + outcome.cascade.size().saturating_sub(1);
                let met = outcomes.iter().any(|before| before.cascade.overlaps(&outcome.cascade));
                if !outcomes.is_empty() && (cost > room || met) {
                    next = Some(number);
                    break;
                }
                room = room.saturating_sub(cost);
                outcomes.push(outcome);
            }
            Err(told) => {
                faults.extend(told);
                failed += 1;
            }
        }
    }
    let dry_run = reading.options.dry_run;
    let actions = if dry_run { Vec::new() } else { actions(access, reading, collection, outcomes, &audit).await? };
    Ok(Written { actions, faults, failed, next })
}

/// The items with the rows' external ids. If one has changed since, the transaction fails and the batch is repeated. An
/// item that equals its row is in no transaction, so the reads are consistent.
async fn holders(
    access: &Access,
    reading: &RowParser,
    collection: &CollectionId,
    parsed: &[ParsedRow],
) -> Result<Vec<Option<Stored>>, Problem> {
    let parks = access.table(&IMPORT_ROWS, &PARKS);
    let guard = |row: &ParsedRow| {
        let external_id = Escaped::new(&row.external_id).map_err(Problem::internal)?;
        let (entity, collection) = (reading.layer.kind(), collection.clone());
        Ok(ExternalIdKey { entity, collection, external_id }.key())
    };
    let guards: Result<Vec<Key>, Problem> = parsed.iter().map(guard).collect();
    let guards = parks.batch_get_consistent(&guards?).await?;
    let held: Result<Vec<Option<Key>>, table::Error> =
        guards.iter().map(|guard| guard.as_ref().map(|guard| Ok(guard.read::<Guard>()?.item)).transpose()).collect();
    let held = held?;
    let keys: Vec<Key> = held.iter().flatten().cloned().collect();
    let mut items = parks.batch_get_consistent(&keys).await?.into_iter();
    // An item that was retyped between the two reads is not found. To create another fails, since its guard exists.
    Ok(held.iter().map(|key| key.as_ref().and_then(|_| items.next().flatten())).collect())
}

fn create(
    reading: &RowParser,
    collection: &CollectionId,
    audit: &Audit,
    row: ParsedRow,
) -> Result<Result<Outcome, Vec<RowFault>>, Problem> {
    // The number is allocated when the batch is known to create the item.
    let Some(key) = reading.layer.key(collection, row.of_type.as_deref(), 0) else {
        return Ok(Err(reading.field(&row, reading.layer.type_field().unwrap_or_default(), "is not a type")));
    };
    let mut item = new_item(&row.fields, &key, audit)?;
    let needs_location = reading.layer != Layer::Activity;
    if needs_location && item.location.is_none() {
        let in_shape = row.shape.as_ref().map(|(_, shape)| shapes::location_in(shape));
        item.location = in_shape.or(row.position.map(Vec::from));
    }
    let faults = checks::faults(&item);
    if !faults.is_empty() {
        return Ok(Err(reading.told_of_item(&row, faults)));
    }
    Ok(Ok(Outcome { item, before: None, shape: row.shape, cascade: TransactionBuilder::default() }))
}

async fn update(
    access: &Access,
    reading: &RowParser,
    collection: &CollectionId,
    audit: &Audit,
    row: ParsedRow,
    stored: Stored,
) -> Result<Result<Outcome, Vec<RowFault>>, Problem> {
    let before: Item = stored.read()?;
    if before.external_id.as_deref() != Some(row.external_id.as_str()) {
        // The item got another external id after its guard was read.
        return Ok(Err(reading.field(&row, "externalId", "goes from one item to another; send the row again")));
    }
    if before.deleted() {
        return Ok(Err(reading.field(&row, "externalId", "is that of a deleted item; restore it first")));
    }
    let key = reading.layer.key(collection, row.of_type.as_deref(), before.number.unwrap_or_default());
    if key.as_ref() != Some(&stored.key) {
        let field = reading.layer.type_field().unwrap_or("externalId");
        let detail = format!("differs from that of its item `{}`, which never changes by an import", before.sk);
        return Ok(Err(reading.field(&row, field, &detail)));
    }
    let patch: FieldsPatch<()> =
        serde_json::from_value(Value::Object(row.fields.clone())).map_err(Problem::internal)?;
    let mut item = patch.apply(&before).map_err(Problem::internal)?;
    item.complete(&audit.at);
    let mut faults = checks::faults(&item);
    // A job that hides the item does so in its last step, so until then the item does not tell what it will be.
    if before.busy() && row.fields.contains_key("isVisible") {
        let detail = "cannot be updated while a job is working on the item; send the row again when the job has ended";
        faults.push(Fault::pointer("/isVisible", detail));
    }
    if !faults.is_empty() {
        return Ok(Err(reading.told_of_item(&row, faults)));
    }
    let shape = row.shape.filter(|(name, shape)| !is_same(before.shape(*name).as_ref(), shape));
    if item != before {
        item.set_updated(audit);
    }
    let turned = item.visible() != before.visible();
    let cascade = match item.reference().filter(|_| turned) {
        Some(reference) => cascade(access, &reference, &mut item, shape.is_some()).await?,
        None => TransactionBuilder::default(),
    };
    Ok(Ok(Outcome { item, before: Some((stored, before)), shape, cascade }))
}

/// The updates of the relationships of an item that is shown or hidden. If they are too many for one transaction, the
/// actions that create a job for them.
async fn cascade(
    access: &Access,
    reference: &ItemRef,
    item: &mut Item,
    has_shape: bool,
) -> Result<TransactionBuilder, Problem> {
    // The item, the job and its due row; and the uses of its shapes before and after.
    let other_actions = if has_shape { 5 } else { 3 };
    match cascade::set_visibility(access, reference, item.visible(), other_actions).await? {
        Visibility::Transaction(transaction) => Ok(transaction),
        Visibility::TooMany(count) => {
            let mut transaction = TransactionBuilder::default();
            for action in cascade::job::set_visibility(access, item, count)?.actions {
                transaction.push(action);
            }
            Ok(transaction)
        }
    }
}

fn is_same(stored: Option<&StoredShape>, shape: &geometry::Shape) -> bool {
    let canonical = shape.canonical();
    match stored {
        None => false,
        Some(StoredShape::Inline(text)) => *text == canonical,
        Some(StoredShape::Object(object)) => {
            canonical.len() > INLINE_BYTES && object.sha256 == geometry::sha256(canonical.as_bytes())
        }
    }
}

/// Stores the shapes, allocates the numbers, and returns the actions.
async fn actions(
    access: &Access,
    reading: &RowParser,
    collection: &CollectionId,
    outcomes: Vec<Outcome>,
    audit: &Audit,
) -> Result<Vec<Action>, Problem> {
    let made = outcomes.iter().filter(|outcome| outcome.before.is_none()).count() as u32;
    let mut numbers = None;
    if made > 0 {
        let parent = Parent::Collection(CollectionKey { collection: collection.clone() });
        let sequence = SequenceKey { partition: parent.partition(reading.layer.kind()) }.key();
        numbers = Some(access.table(&NEXT_NUMBER, &PARKS).next_numbers(sequence, made).await?);
    }
    let stored = stream::iter(outcomes).map(|outcome| with_shape(access, outcome)).buffered(CONCURRENCY);
    let stored: Vec<(Outcome, Option<(ShapeName, StoredShape)>)> = stored.try_collect().await?;

    let (mut actions, mut uses, mut counted) = (Vec::new(), Uses::default(), None);
    for (Outcome { mut item, before, cascade, .. }, shape) in stored {
        if let Some((name, shape)) = shape {
            uses.replace(item.shape(name).as_ref(), Some(&shape));
            item.set_shape(name, Some(shape));
            item.envelope = shapes::envelope(&item);
            item.set_updated(audit);
        }
        match before {
            None => {
                let facility_type = item.facility_type.map(FacilityType::as_str);
                let of_type = facility_type.or(item.activity_type.map(ActivityType::as_str));
                let number = numbers.as_mut().and_then(Iterator::next);
                let key = number.and_then(|number| reading.layer.key(collection, of_type, number));
                item.set_key(key.ok_or_else(|| Problem::internal("a row without a number"))?, &audit.at);
                actions.push(Action::create(&PARKS, item.key(), &item)?);
                actions.extend(item.item_key().iter().flat_map(sequences));
                actions.extend(external_id::hold(&item)?);
                counted.get_or_insert(item);
            }
            Some((stored, _)) => {
                let changes = item.changes_of(&stored)?;
                if changes.is_empty() {
                    continue;
                }
                actions.push(Action::update(&PARKS, stored.key.clone(), changes).if_unchanged(&stored));
                actions.extend(cascade.into_actions());
            }
        }
    }
    if let Some(item) = counted {
        actions.extend(check_live(&Parent::Collection(CollectionKey { collection: collection.clone() })));
        actions.extend(dependents::count(&item, i64::from(made)));
    }
    actions.extend(uses.actions(access, &IMPORT_ROWS).await?);
    Ok(actions)
}

async fn with_shape(
    access: &Access,
    mut outcome: Outcome,
) -> Result<(Outcome, Option<(ShapeName, StoredShape)>), Problem> {
    let Some((name, shape)) = outcome.shape.take() else { return Ok((outcome, None)) };
    let stored = shapes::store(access, shape).await?;
    Ok((outcome, Some((name, stored))))
}
