//! The product of dates that are being written.

use table::{Action, EntityKey, Error, Rev};
use web::{Context, Problem};

use super::ProductDate;
use crate::days::{Day, Days};
use crate::items::LoadedItem;
use crate::keys::ProductKey;
use crate::open_days::OpenDays;
use crate::schema::PARKS;

/// A live product with its open days after the writes.
#[derive(Debug)]
pub struct LoadedProduct {
    pub loaded: LoadedItem,
    open: OpenDays,
}

impl LoadedProduct {
    /// Loads a product. 404 if it is deleted.
    pub async fn load(cx: &Context, product: &ProductKey) -> Result<Self, Problem> {
        let loaded = LoadedItem::load_live(cx, product.key()).await?;
        let open = loaded.item.open_ranges.clone().unwrap_or_default();
        Ok(Self { loaded, open })
    }

    /// Records the date of a day, or that the day has none.
    pub fn set_date(&mut self, day: Day, date: Option<&ProductDate>) {
        self.open.set(day, date.is_some_and(ProductDate::is_open));
    }

    /// Whether the open days are other ones than those of the stored product.
    pub fn has_changed(&self) -> bool {
        self.open != self.loaded.item.open_ranges.clone().unwrap_or_default()
    }

    /// The first and the last of these days if they are outside the product's range.
    pub fn outside(&self, days: Days) -> (Option<Day>, Option<Day>) {
        let range = self.loaded.item.range();
        let outside = |day: &Day| !range.is_some_and(|range| range.contains(*day));
        (Some(days.from()).filter(outside), Some(days.to()).filter(outside))
    }

    /// Updates the open days of the product, or only its revision if they stay. Fails if it has changed since it was read.
    pub fn update(&self) -> Result<Action, Error> {
        let mut after = self.loaded.item.clone();
        after.open_ranges = Some(self.open.clone()).filter(|open| !open.is_empty());
        self.loaded.update_to(&after)
    }

    /// Fails if the product has changed since it was read.
    pub fn check_unchanged(&self) -> Action {
        Action::check(&PARKS, self.loaded.stored.key.clone()).if_unchanged(&self.loaded.stored)
    }

    pub fn rev(&self) -> Option<Rev> {
        self.loaded.stored.rev
    }
}
