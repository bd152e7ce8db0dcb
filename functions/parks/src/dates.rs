//! Operations on the dates of a product, one file each.
//!
//! A product stores the days on which its dates are open. A transaction that opens, closes, creates or deletes a date
//! updates both, on the condition that the product is unchanged, so they never disagree.

mod batch;
pub mod create;
pub mod delete;
pub mod delete_all;
pub mod get;
pub mod list;
mod product;
pub mod update;
pub mod update_all;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::item::{same, to_item};
use table::{Access, AccessPattern, Action, Changes, EntityKey, Error, Rev, Stored};
use utoipa::ToSchema;
use web::{Context, EntityTag, Kind, Problem};

use crate::access::{DATE, DATES};
use crate::days::{Day, Days};
use crate::item::{Item, lenient};
use crate::keys::{ItemKey, ProductDateKey, ProductKey};
use crate::schema::PARKS;
use crate::view::View;
use product::LoadedProduct;

pub const DATES_OUTSIDE: Kind = Kind::new(409, "dates-outside", "The product has dates outside this range");

const ALL: &str = "/parks/products/{collection}/{activityType}/{activity}/{number}/dates";
const ONE: &str = "/parks/products/{collection}/{activityType}/{activity}/{number}/dates/{date}";

/// The date of the samples.
const SAMPLE: &str = "/parks/products/bcparks_1/dayuse/1/1/dates/2025-12-31";

/// The parameter of the path after the product's.
#[derive(Debug, Deserialize, ToSchema)]
pub struct DatePath {
    date: Day,
}

/// The status of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum DateStatus {
    Open,
    Closed,
}

/// A date as the table stores it. An attribute of a wrong type reads as absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProductDate {
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub date: Option<Day>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub status: Option<DateStatus>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub admin_notes: Option<String>,
}

/// The fields of a date that can be updated.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductDateFields {
    #[schema(inline)]
    pub status: DateStatus,
    /// Such as "wildfire".
    #[schema(max_length = 500)]
    pub reason: Option<String>,
    #[schema(max_length = 200, format = "readable")]
    pub display_name: Option<String>,
    /// For administrators.
    #[schema(max_length = 10000)]
    pub admin_notes: Option<String>,
}

/// A date. The visitors' view lacks the attributes for administrators.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductDate)]
pub struct ProductDateView {
    pub pk: String,
    pub sk: String,
    pub entity: &'static str,
    pub date: Day,
    pub status: DateStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_notes: Option<String>,
}

/// A date as it was read.
#[derive(Clone, Debug)]
pub struct LoadedDate {
    stored: Stored,
    day: Day,
    date: ProductDate,
}

const ENTITY: &str = "productDate";

impl ProductDate {
    fn new(day: Day, status: DateStatus, reason: Option<String>) -> Self {
        let entity = Some(ENTITY.to_owned());
        Self { entity, date: Some(day), status: Some(status), reason, ..Self::default() }
    }

    fn is_open(&self) -> bool {
        self.status == Some(DateStatus::Open)
    }
}

impl LoadedDate {
    /// None if the key is no date's.
    fn new(stored: Stored) -> Result<Option<Self>, Error> {
        let Some(key) = ProductDateKey::parse(&stored.key) else { return Ok(None) };
        Ok(Some(Self { day: key.date, date: stored.read()?, stored }))
    }

    /// Loads a date, with a consistent read for administrators. 404 if there is none.
    async fn load(cx: &Context, product: &ProductKey, day: Day, view: View) -> Result<Self, Problem> {
        let (dates, key) = (cx.access().table(&DATE, &PARKS), key(product, day));
        let stored = match view {
            View::Visitor => dates.get(&key).await?,
            View::Administrator => dates.get_consistent(&key).await?,
        };
        stored.map(Self::new).transpose()?.flatten().ok_or_else(Problem::not_found)
    }

    fn tag(&self) -> EntityTag {
        self.stored.rev.into()
    }

    fn view(&self, view: View) -> ProductDateView {
        let date = self.date.clone();
        ProductDateView {
            pk: self.stored.key.pk.clone(),
            sk: self.stored.key.sk.clone().unwrap_or_default(),
            entity: ENTITY,
            date: self.day,
            // A stored date without a status is not open.
            status: date.status.unwrap_or(DateStatus::Closed),
            reason: date.reason,
            display_name: date.display_name,
            admin_notes: date.admin_notes.filter(|_| view == View::Administrator),
        }
    }

    /// The changes from the stored date to this one. Attributes that this system does not know stay as they are.
    fn changes_to(&self, after: &ProductDate) -> Result<Changes, Error> {
        let (read, after) = (to_item(&self.date)?, to_item(after)?);
        let removed = read.keys().filter(|name| !after.contains_key(*name));
        let changes = removed.fold(Changes::new(), |changes, name| changes.remove(name));
        let set = after.into_iter().filter(|(name, new)| !read.get(name).is_some_and(|old| same(old, new)));
        Ok(set.fold(changes, |changes, (name, new)| changes.set(&name, new)))
    }
}

/// The key of a product's date.
fn key(product: &ProductKey, date: Day) -> ProductDateKey {
    let ProductKey { collection, activity_type, activity, number } = product.clone();
    ProductDateKey { collection, activity_type, activity, product: number, date }
}

/// The query of a product's dates among these days. Both bounds have the whole number of the product, so that product 1
/// does not match product 10.
fn among<'a>(access: &'a Access, product: &ProductKey, days: Days) -> Result<table::Query<'a>, Error> {
    let (from, to) = (key(product, days.from()).key(), key(product, days.to()).key());
    let (Some(first), Some(last)) = (from.sk, to.sk) else {
        return Err(Error::Misfit("the key of a date has no sort key".to_owned()));
    };
    Ok(access.table(&DATES, &PARKS).query(from.pk).between(first, last))
}

/// All dates among these days, with a consistent read.
async fn load_among(access: &Access, product: &ProductKey, days: Days) -> Result<BTreeMap<Day, LoadedDate>, Error> {
    let stored = among(access, product, days)?.consistent().all().await?;
    let dates = stored.into_iter().filter_map(|stored| LoadedDate::new(stored).transpose());
    dates.map(|date| date.map(|date| (date.day, date))).collect()
}

/// Writes one date, and its product if a day opens or closes.
async fn write_one(
    cx: &Context,
    pattern: &'static AccessPattern,
    mut product: LoadedProduct,
    loaded: &LoadedDate,
    action: Action,
    after: Option<&ProductDate>,
) -> Result<Rev, Problem> {
    product.set_date(loaded.day, after);
    let mut actions = vec![action.if_unchanged(&loaded.stored)];
    if product.has_changed() {
        actions.push(product.update()?);
    }
    cx.access().transact(pattern, &actions).await.map_err(|error| match error {
        error if error.failed(0).is_some() => Problem::stale(),
        // Another request has changed the product, and the date is still as the client has read it.
        Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    })
}

/// 409 if an update of a product's range would leave a date outside. A concurrent creation of a date changes the product,
/// so that the update fails and this check is repeated.
pub async fn check_range(cx: &Context, before: &Item, after: &Item) -> Result<(), Problem> {
    let (Some(ItemKey::Product(product)), Some(range)) = (after.item_key(), after.range()) else { return Ok(()) };
    let old = before.range();
    let starts_later = old.is_none_or(|old| old.from() < range.from());
    let ends_earlier = old.is_none_or(|old| range.to() < old.to());
    let earlier = range.from().before().filter(|_| starts_later).and_then(|end| Days::new(Day::FIRST, end));
    let later = range.to().after().filter(|_| ends_earlier).and_then(|start| Days::new(start, Day::LAST));
    for outside in [earlier, later].into_iter().flatten() {
        if let Some(date) = among(cx.access(), &product, outside)?.consistent().first().await? {
            let day = ProductDateKey::parse(&date.key).map(|key| format!(", such as {}", key.date));
            let such_as = day.unwrap_or_default();
            let (from, to) = (range.from(), range.to());
            let detail = format!("The product has dates outside of {from} to {to}{such_as}. Delete them first.");
            return Err(DATES_OUTSIDE.because(detail));
        }
    }
    Ok(())
}
