//! `POST …/retype`: a new type for a facility or an activity. Its key and its path change; its number, its global id, its
//! relationships and its external id stay.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table::{Action, Cause, Condition, EntityKey, item};
use utoipa::ToSchema;
use web::{Context, IfMatch, Json, Kind, Path, Problem, Route, Sample, Tagged, problem};

use super::{LoadedItem, check_live};
use crate::access::{ALL_RELATIONSHIPS, ITEM, RETYPE};
use crate::audit::Audit;
use crate::cascade::{self, BUSY, TOO_MANY, TransactionBuilder, counters};
use crate::entity::{Activity, Entity, Facility, ItemPath};
use crate::external_id;
use crate::item::Item;
use crate::keys::{ActivityKey, FacilityKey, ItemKey, SequenceKey};
use crate::names::{ActivityType, FacilityType};
use crate::relationships::RelatedItem;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, ItemView};

/// Of an activity that has or had products: its type is part of their keys.
pub const HAS_HAD_PRODUCTS: Kind = Kind::new(409, "has-had-products", "The activity has or had products");

/// The limit of relationships, which move in the same transaction.
const MAX_RELATIONSHIPS: usize = 40;

/// A kind of item whose type is part of its key.
pub trait Typed: Entity {
    /// The body with the new type.
    type NewType: DeserializeOwned + Serialize + ToSchema + Send + Sync + 'static;

    const SAMPLE: Sample;

    /// The key with another type.
    fn retyped(key: &Self::Key, to: &Self::NewType) -> Self::Key;
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFacilityType {
    facility_type: FacilityType,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewActivityType {
    activity_type: ActivityType,
}

impl Typed for Facility {
    type NewType = NewFacilityType;
    const SAMPLE: Sample =
        Sample::new("/parks/facilities/bcparks_1/campground/1/retype").body(r#"{"facilityType":"dayUseArea"}"#);

    fn retyped(key: &FacilityKey, to: &NewFacilityType) -> FacilityKey {
        FacilityKey { facility_type: to.facility_type, ..key.clone() }
    }
}

impl Typed for Activity {
    type NewType = NewActivityType;
    const SAMPLE: Sample =
        Sample::new("/parks/activities/bcparks_1/dayuse/1/retype").body(r#"{"activityType":"hiking"}"#);

    fn retyped(key: &ActivityKey, to: &NewActivityType) -> ActivityKey {
        ActivityKey { activity_type: to.activity_type, ..key.clone() }
    }
}

pub fn route<E: Typed>(name: &'static str, summary: &'static str) -> Route {
    Route::post(name, format!("{}/retype", E::ITEM), ADMINISTRATORS, retype::<E>)
        .summary(summary)
        .patterns(&[&ITEM, &RETYPE, &ALL_RELATIONSHIPS])
        .problems(&[problem::NOT_FOUND, HAS_HAD_PRODUCTS, BUSY, TOO_MANY, problem::CONFLICT])
        .sample(E::SAMPLE)
}

async fn retype<E: Typed>(
    cx: Context,
    Path(path): Path<ItemPath<E>>,
    tag: IfMatch,
    Json(to): Json<E::NewType>,
) -> Result<Tagged<ItemView>, Problem> {
    let (old, new): (ItemKey, ItemKey) = (path.key.clone().into(), E::retyped(&path.key, &to).into());
    let tagged = |item: &LoadedItem| item.tagged().map(|answer| answer.location(new.href()));
    cx.retry_stale(&tag, || async {
        let before = LoadedItem::load_live(&cx, old.key()).await?;
        if before.item.busy() {
            return Err(BUSY.because("Wait until the job that works on the item has ended."));
        }
        tag.check(before.tag())?;
        if old == new {
            return Ok(tagged(&before));
        }
        let mut after = before.item.clone();
        let audit = Audit::now(&cx);
        after.set_key(new.key(), &audit.at);
        after.set_updated(&audit);

        let (transaction, sequences) = move_item(&cx, &old, &before, &new, &after).await?;
        let error = match cx.access().transact(&RETYPE, &transaction.into_actions()).await {
            Ok(rev) => return Ok(tagged(&before.updated(after, rev))),
            Err(error) => error,
        };
        let is_used = |index| error.failed(index).is_some_and(|failed| failed.cause == Cause::Unmet);
        Err(if error.failed(1).is_some() {
            Problem::not_found()
        } else if sequences.into_iter().any(is_used) {
            HAS_HAD_PRODUCTS.because("Create another activity of the type that you want.")
        } else {
            cascade::refusal(error)
        })
    })
    .await
}

/// The transaction that moves everything with the old key to the new one, the item first and its parent second, and the
/// positions of the sequences that must be unused.
async fn move_item(
    cx: &Context,
    old: &ItemKey,
    before: &LoadedItem,
    new: &ItemKey,
    after: &Item,
) -> Result<(TransactionBuilder, Vec<usize>), Problem> {
    let mut transaction = TransactionBuilder::default();
    transaction.push(Action::delete(&PARKS, old.key()).if_unchanged(&before.stored));
    transaction.push(check_live(&old.parent()).ok_or_else(Problem::not_found)?);
    transaction.push(Action::create(&PARKS, new.key(), after)?);
    let mut sequences = Vec::new();
    for ((_, old), (_, new)) in old.children().into_iter().zip(new.children()) {
        sequences.push(transaction.size());
        let unused = Condition::Equals("value", item::number(0));
        transaction.push(Action::delete(&PARKS, SequenceKey { partition: old }.key()).when(unused));
        transaction.push(Action::create_sequence(&PARKS, SequenceKey { partition: new }.key()));
    }
    if let Some(moved) = external_id::moved(&before.item, after)? {
        transaction.push(moved);
    }
    let (Some(old), Some(new)) = (before.item.reference(), after.reference()) else {
        return Err(Problem::not_found());
    };
    let too_many = || TOO_MANY.because(format!("The item has more than {MAX_RELATIONSHIPS} relationships."));
    let related = cascade::relationships_within(cx.access(), &old, MAX_RELATIONSHIPS).await?.ok_or_else(too_many)?;
    let count = related.counter.count;
    for relationship in related.listed {
        // The other item may be shown or hidden concurrently.
        transaction.push(relationship.delete_unchanged());
        transaction.push(relationship.with(&old, RelatedItem::new(new.clone(), after)).create()?);
    }
    transaction.push(related.counter.delete());
    if count > 0 {
        transaction.add_count(counters::of_relationships(&new), i64::try_from(count).map_err(Problem::internal)?);
    }
    Ok((transaction, sequences))
}
