//! A product as its dates are changed: live, with the days on which it is open.

use table::{Action, EntityKey, Error, Rev};
use web::{Problem, Request};

use super::ProductDate;
use crate::access;
use crate::days::{Day, Days};
use crate::items::{self, Read};
use crate::keys::ProductKey;
use crate::open_days::OpenDays;
use crate::schema::PARKS;
use crate::view::View;

/// The product's item as it was read, and its open days as they are to be.
#[derive(Debug)]
pub struct Season {
    pub read: Read,
    pub product: ProductKey,
    open: OpenDays,
}

impl Season {
    /// The product as it is now. A deleted one keeps its dates out of reach.
    pub async fn read(request: &Request, product: &ProductKey) -> Result<Self, Problem> {
        let read = items::read(request, &access::ITEM, Some(product.key()), View::Administrator).await?;
        if read.item.deleted() {
            return Err(Problem::not_found());
        }
        let open = read.item.open_ranges.clone().unwrap_or_default();
        Ok(Self { read, product: product.clone(), open })
    }

    /// Notes that a day is as this date says, or has none.
    pub fn note(&mut self, day: Day, date: Option<&ProductDate>) {
        self.open.set(day, date.is_some_and(ProductDate::open));
    }

    /// Whether other days are open than those that the product says.
    pub fn differs(&self) -> bool {
        self.open != self.read.item.open_ranges.clone().unwrap_or_default()
    }

    /// The days of a request as far as they lie outside the product's range.
    pub fn outside(&self, days: Days) -> (Option<Day>, Option<Day>) {
        let range = self.read.item.range();
        let outside = |day: &Day| !range.is_some_and(|range| range.contains(*day));
        (Some(days.from()).filter(outside), Some(days.to()).filter(outside))
    }

    /// Tells the product its open days, if it is still as it was read. Its revision grows even where they stay.
    pub fn keep(&self) -> Result<Action, Error> {
        let mut after = self.read.item.clone();
        after.open_ranges = Some(self.open.clone()).filter(|open| !open.is_empty());
        let changes = after.changes_of(&self.read.stored)?;
        Ok(Action::update(&PARKS, self.read.stored.key.clone(), changes).if_unchanged(&self.read.stored))
    }

    /// Fails unless the product is still as it was read.
    pub fn unchanged(&self) -> Action {
        Action::check(&PARKS, self.read.stored.key.clone()).if_unchanged(&self.read.stored)
    }

    pub fn rev(&self) -> Option<Rev> {
        self.read.stored.rev
    }
}
