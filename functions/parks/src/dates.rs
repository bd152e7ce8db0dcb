//! The dates of a product: what is stored and answered of one, and one file for each thing that is done with them.
//!
//! A product keeps the days on which its dates are open, and a transaction that makes, opens, closes or deletes a date
//! changes both. It does so only on the product as it was read, so they never disagree.

mod bulk;
mod change;
mod list;
mod one;
mod season;
mod seed;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::item::{same, to_item};
use table::{Access, Changes, EntityKey, Error, Stored};
use utoipa::ToSchema;
use web::{Kind, Problem, Request};

use crate::access;
use crate::days::{Day, Days};
use crate::item::{Item, lenient};
use crate::keys::{ItemKey, ProductDateKey, ProductKey};
use crate::schema::PARKS;
use crate::view::View;

pub use bulk::DaysQuery;
pub use change::{ChangedProductDates, DeletedProductDates, change, delete};
pub use list::{DatesQuery, list};
pub use one::{DateQuery, OfDate, change_one, delete_one, get};
pub use seed::{NewProductDates, SeededProductDates, seed};

pub const DATES_OUTSIDE: Kind = Kind::new(409, "dates-outside", "It has dates outside this range");

/// Whether something is offered on a day.
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

/// What may be set of a date.
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
    /// For administrators only.
    #[schema(max_length = 10000)]
    pub admin_notes: Option<String>,
}

/// A date. What only administrators see is absent from a visitor's view.
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
    /// For administrators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_notes: Option<String>,
}

/// A date as it was read.
#[derive(Clone, Debug)]
pub struct ReadDate {
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

    fn open(&self) -> bool {
        self.status == Some(DateStatus::Open)
    }
}

impl ReadDate {
    /// Nothing where the key is no date's.
    fn new(stored: Stored) -> Result<Option<Self>, Error> {
        let Some(key) = ProductDateKey::parse(&stored.key) else { return Ok(None) };
        let date: ProductDate = stored.read()?;
        Ok(Some(Self { day: key.date, date, stored }))
    }

    fn view(&self, view: View) -> ProductDateView {
        let date = self.date.clone();
        ProductDateView {
            pk: self.stored.key.pk.clone(),
            sk: self.stored.key.sk.clone().unwrap_or_default(),
            entity: ENTITY,
            date: self.day,
            // What says nothing offers nothing.
            status: date.status.unwrap_or(DateStatus::Closed),
            reason: date.reason,
            display_name: date.display_name,
            admin_notes: date.admin_notes.filter(|_| view == View::Administrator),
        }
    }

    /// What makes the other of this. Attributes that this system does not know stay as they are.
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

/// The query of a product's dates among these days: both ends name the product whole, so product 1 is not product 10.
fn among<'a>(access: &'a Access, product: &ProductKey, days: Days) -> table::Query<'a> {
    let (from, to) = (key(product, days.from()).key(), key(product, days.to()).key());
    let dates = access.table(&access::DATES, &PARKS).query(from.pk);
    dates.between(from.sk.unwrap_or_default(), to.sk.unwrap_or_default())
}

/// All of them, with every write that was answered.
async fn all_among(access: &Access, product: &ProductKey, days: Days) -> Result<BTreeMap<Day, ReadDate>, Error> {
    let stored = among(access, product, days).consistent().all().await?;
    let read = stored.into_iter().filter_map(|stored| ReadDate::new(stored).transpose());
    read.map(|date| date.map(|date| (date.day, date))).collect()
}

/// Refuses a change of a product's range that would leave a date outside. A date that is made meanwhile changes the
/// product, and so this is asked again.
pub async fn stay_inside(request: &Request, before: &Item, after: &Item) -> Result<(), Problem> {
    let (Some(ItemKey::Product(product)), Some(range)) = (after.item_key(), after.range()) else { return Ok(()) };
    let was = before.range();
    let narrower_at_first = was.is_none_or(|was| was.from() < range.from());
    let narrower_at_last = was.is_none_or(|was| range.to() < was.to());
    let earlier = range.from().before().filter(|_| narrower_at_first).and_then(|end| Days::new(Day::FIRST, end));
    let later = range.to().after().filter(|_| narrower_at_last).and_then(|start| Days::new(start, Day::LAST));
    for outside in [earlier, later].into_iter().flatten() {
        if let Some(date) = among(request.access(), &product, outside).consistent().first().await? {
            let day = ProductDateKey::parse(&date.key).map(|key| key.date.to_string()).unwrap_or_default();
            return Err(
                DATES_OUTSIDE.because(format!("It has dates from {outside}, such as {day}; delete them first."))
            );
        }
    }
    Ok(())
}
