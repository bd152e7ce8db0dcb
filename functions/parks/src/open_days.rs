//! The days on which a product is open, stored as ranges.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::days::{Day, Days};

/// The limit of days in the range of a product. If every second day is open, they are 750 ranges.
pub const MAX_DAYS: usize = 1500;

/// A set of days. In JSON it is a list of `from/to`: the longest possible ranges in order, with a closed day in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenDays(BTreeSet<Day>);

impl OpenDays {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the day is open.
    pub fn has(&self, day: Day) -> bool {
        self.0.contains(&day)
    }

    /// Opens or closes a day.
    pub fn set(&mut self, day: Day, open: bool) {
        if open {
            self.0.insert(day);
        } else {
            self.0.remove(&day);
        }
    }

    /// The days of these ranges. None if one is not a range, or if they are too many.
    pub fn of_ranges<T: AsRef<str>>(ranges: impl IntoIterator<Item = T>) -> Option<Self> {
        let mut open = BTreeSet::new();
        for range in ranges {
            let days: Days = range.as_ref().parse().ok()?;
            // Before the days are listed: a range may span centuries.
            if days.count() > MAX_DAYS {
                return None;
            }
            open.extend(days.each());
            if open.len() > MAX_DAYS {
                return None;
            }
        }
        Some(Self(open))
    }

    pub fn each(&self) -> impl Iterator<Item = Day> {
        self.0.iter().copied()
    }

    pub fn ranges(&self) -> Vec<Days> {
        let mut ranges: Vec<Days> = Vec::new();
        for day in self.each() {
            let last = ranges.last_mut().filter(|last| last.to().after() == Some(day));
            match last.and_then(|last| Days::new(last.from(), day).map(|longer| (last, longer))) {
                Some((last, longer)) => *last = longer,
                None => ranges.extend(Days::new(day, day)),
            }
        }
        ranges
    }
}

impl Serialize for OpenDays {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.ranges().iter().map(Days::to_string))
    }
}

impl<'de> Deserialize<'de> for OpenDays {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ranges = Vec::<String>::deserialize(deserializer)?;
        Self::of_ranges(ranges).ok_or_else(|| serde::de::Error::custom(Days::EXPECTED))
    }
}

impl PartialSchema for OpenDays {
    fn schema() -> RefOr<Schema> {
        let range = ObjectBuilder::new().schema_type(Type::String).examples(["2025-12-24/2025-12-26"]);
        ArrayBuilder::new().items(range).max_items(Some(MAX_DAYS / 2)).into()
    }
}

impl ToSchema for OpenDays {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    #[test]
    fn days_are_merged_into_ranges_and_cut_out_of_them() {
        let mut open = OpenDays::default();
        for text in ["2025-12-31", "2026-01-02", "2026-01-01", "2026-01-04"] {
            open.set(day(text), true);
        }
        assert_eq!(json!(open), json!(["2025-12-31/2026-01-02", "2026-01-04/2026-01-04"]));
        open.set(day("2026-01-01"), false);
        let ranges = json!(["2025-12-31/2025-12-31", "2026-01-02/2026-01-02", "2026-01-04/2026-01-04"]);
        assert_eq!(json!(open), ranges);
        assert_eq!(serde_json::from_value::<OpenDays>(ranges).unwrap(), open);
        assert!(open.has(day("2025-12-31")) && !open.has(day("2026-01-01")));
    }

    #[test]
    fn what_is_stored_in_another_way_is_read_as_the_same_days() {
        let odd = ["2026-01-03/2026-01-05", "2026-01-01/2026-01-03"];
        assert_eq!(json!(OpenDays::of_ranges(odd)), json!(["2026-01-01/2026-01-05"]));
        for wrong in ["2026-01-01", "2026-01-02/2026-01-01", "1900-01-01/2199-12-31", ""] {
            assert_eq!(OpenDays::of_ranges([wrong]), None, "{wrong}");
        }
        let too_many = ["2020-01-01/2022-12-31", "2023-01-01/2025-12-31"];
        assert_eq!(OpenDays::of_ranges(too_many), None);
    }

    #[test]
    fn the_most_ranges_are_every_second_day() {
        let mut open = OpenDays::default();
        let all = Days::new(day("2025-01-01"), Day::LAST).unwrap();
        all.each().take(MAX_DAYS).step_by(2).for_each(|day| open.set(day, true));
        assert_eq!(open.ranges().len(), 750);
    }
}
