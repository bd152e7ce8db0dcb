//! `POST …/retype`: another type for a facility or an activity, which keeps its number and its global id. Its key and
//! its path change with it, and its relationships and its external id follow.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table::{Action, Backoff, Cause, Condition, EntityKey, Error, item};
use utoipa::ToSchema;
use web::{Answer, Kind, Problem, Request};

use super::{Read, administrators_answer, again, live, lost, read, stamp};
use crate::entity::{Activity, Entity, Facility, ItemPath};
use crate::item::Item;
use crate::keys::{ActivityKey, FacilityKey, ItemKey, SequenceKey};
use crate::names::{ActivityType, FacilityType};
use crate::relationships::{End, Joined};
use crate::schema::PARKS;
use crate::structure::{self, BUSY, Plan, TOO_MANY, counters};
use crate::view::View;
use crate::{access, external_id};

/// An activity that ever had a product: its type stands in the keys of its products.
pub const HAS_HAD_PRODUCTS: Kind = Kind::new(409, "has-had-products", "Its products are named by its type");

/// The most relationships that can move in one transaction with everything else.
const MOST: usize = 40;

/// A kind of item whose type stands in its key.
pub trait Typed: Entity {
    /// The body that names the new type.
    type NewType: DeserializeOwned + Serialize + ToSchema + Send + 'static;

    /// The key with another type.
    fn retyped(key: &ItemKey, to: &Self::NewType) -> Option<ItemKey>;
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFacilityType {
    pub facility_type: FacilityType,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewActivityType {
    pub activity_type: ActivityType,
}

impl Typed for Facility {
    type NewType = NewFacilityType;

    fn retyped(key: &ItemKey, to: &NewFacilityType) -> Option<ItemKey> {
        let ItemKey::Facility(FacilityKey { collection, number, .. }) = key else { return None };
        let (collection, facility_type) = (collection.clone(), to.facility_type);
        Some(ItemKey::Facility(FacilityKey { collection, facility_type, number: *number }))
    }
}

impl Typed for Activity {
    type NewType = NewActivityType;

    fn retyped(key: &ItemKey, to: &NewActivityType) -> Option<ItemKey> {
        let ItemKey::Activity(ActivityKey { collection, number, .. }) = key else { return None };
        let (collection, activity_type) = (collection.clone(), to.activity_type);
        Some(ItemKey::Activity(ActivityKey { collection, activity_type, number: *number }))
    }
}

pub async fn retype<E: Typed>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    let to: E::NewType = request.json()?;
    let key = E::key(&path.parts).ok_or_else(Problem::not_found)?;
    let new_key = E::retyped(&key, &to).ok_or_else(Problem::not_found)?;
    let mut backoff = Backoff::new();
    loop {
        let before = read(&request, &access::ITEM, Some(key.key()), View::Administrator).await?;
        if before.item.deleted() {
            return Err(Problem::not_found());
        }
        if before.item.busy() {
            return Err(BUSY.because("A job is still at work on it."));
        }
        request.if_match().check(before.tag())?;
        if key == new_key {
            return Ok(administrators_answer(&before).location(new_key.href()));
        }
        let mut after = before.item.clone();
        let (now, who) = stamp(&request);
        after.place(new_key.key(), &now);
        (after.updated_at, after.updated_by) = (Some(now), who);

        let (plan, sequences) = moved(&request, &key, &before, &new_key, &after).await?;
        let error = match request.access().transact(&access::RETYPE, &plan.into_actions()).await {
            Ok(rev) => return Ok(administrators_answer(&before.changed(after, rev)).location(new_key.href())),
            Err(error) => error,
        };
        if error.failed(1).is_some() {
            return Err(Problem::not_found());
        }
        if sequences.into_iter().any(|at| error.failed(at).is_some_and(|failed| failed.cause == Cause::Unmet)) {
            return Err(HAS_HAD_PRODUCTS.because("Make another activity of the type that you want."));
        }
        if lost(&error) {
            again(&request)?;
        }
        if !matches!(error, Error::ConditionFailed(_)) || !backoff.wait().await {
            return Err(structure::unsettled(error));
        }
    }
}

/// Everything that bears the old key, under the new one: the item first, what it lies in second. With the places of the
/// sequences that nobody may have used.
async fn moved(
    request: &Request,
    key: &ItemKey,
    before: &Read,
    new_key: &ItemKey,
    after: &Item,
) -> Result<(Plan, Vec<usize>), Problem> {
    let mut plan = Plan::default();
    plan.push(Action::delete(&PARKS, key.key()).if_unchanged(&before.stored));
    plan.push(live(&key.parent()).ok_or_else(Problem::not_found)?);
    plan.push(Action::create(&PARKS, new_key.key(), after)?);
    let mut sequences = Vec::new();
    for ((_, old), (_, new)) in key.children().into_iter().zip(new_key.children()) {
        sequences.push(plan.size());
        let unused = Condition::Equals("value", item::number(0));
        plan.push(Action::delete(&PARKS, SequenceKey { partition: old }.key()).when(unused));
        plan.push(Action::create_sequence(&PARKS, SequenceKey { partition: new }.key()));
    }
    if let Some(moved) = external_id::moved(&before.item, after)? {
        plan.push(moved);
    }
    let (Some(end), Some(new_end)) = (End::of(&before.item.pk, &before.item.sk), End::of(&after.pk, &after.sk)) else {
        return Err(Problem::not_found());
    };
    let related = structure::relationships(request.access(), &end).await?;
    if related.all.len() > MOST {
        return Err(TOO_MANY.because(format!("It has more than {MOST} relationships.")));
    }
    for relationship in related.all {
        // As it was read: the other end may be hidden or shown meanwhile.
        plan.push(relationship.delete_as_read());
        plan.push(relationship.with(&end, Joined::of(new_end.clone(), after)).create()?);
    }
    let count = i64::try_from(related.counter.count).unwrap_or(i64::MAX);
    plan.push(related.counter.delete());
    if count > 0 {
        plan.count(counters::of_relationships(&new_end), count);
    }
    Ok((plan, sequences))
}
