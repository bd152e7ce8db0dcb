//! Calendar days, and ranges of them.

use std::fmt;
use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday, date};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use table::part::NotAPart;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{KnownFormat, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A calendar day from 1900-01-01 to 2199-12-31, written in full. It belongs to no time zone by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    pub const FIRST: Self = Self(date(1900, 1, 1));
    pub const LAST: Self = Self(date(2199, 12, 31));
    pub const EXPECTED: &str = "a calendar day as 2025-12-31, from 1900 to 2199";

    pub fn weekday(self) -> Weekday {
        self.0.weekday()
    }

    /// The day before. None for the first.
    pub fn before(self) -> Option<Self> {
        self.0.yesterday().ok().map(Self).filter(|day| *day >= Self::FIRST)
    }

    /// The day after. None for the last.
    pub fn after(self) -> Option<Self> {
        self.0.tomorrow().ok().map(Self).filter(|day| *day <= Self::LAST)
    }
}

impl FromStr for Day {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let day = text.parse().map(Self).ok();
        // Other spellings of the same day would be other keys.
        let day = day.filter(|day| day.to_string() == text && (Self::FIRST..=Self::LAST).contains(day));
        day.ok_or(NotAPart(Self::EXPECTED))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The order of texts is that of days.
impl table::KeyPart for Day {}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl PartialSchema for Day {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
            .pattern(Some("^(19|20|21)"))
            .examples(["2025-12-31"])
            .description(Some("A calendar day from 1900 to 2199."))
            .into()
    }
}

impl ToSchema for Day {}

/// From one day to another, both included. Its text is `2025-12-24/2025-12-26`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Days {
    from: Day,
    to: Day,
}

impl Days {
    pub const EXPECTED: &str = "two calendar days as 2025-12-24/2025-12-26, the first not after the last";

    /// None if the last day is before the first.
    pub fn new(from: Day, to: Day) -> Option<Self> {
        (from <= to).then_some(Self { from, to })
    }

    pub fn from(self) -> Day {
        self.from
    }

    pub fn to(self) -> Day {
        self.to
    }

    /// The number of days.
    pub fn count(self) -> usize {
        let between = self.from.0.until(self.to.0).map_or(0, |span| span.get_days());
        usize::try_from(between).unwrap_or_default().saturating_add(1)
    }

    /// Each day in order.
    pub fn each(self) -> impl Iterator<Item = Day> {
        self.from.0.series(1.day()).take_while(move |day| *day <= self.to.0).map(Day)
    }

    pub fn contains(self, day: Day) -> bool {
        (self.from..=self.to).contains(&day)
    }
}

impl FromStr for Days {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let range = text.split_once('/').and_then(|(from, to)| Self::new(from.parse().ok()?, to.parse().ok()?));
        range.ok_or(NotAPart(Self::EXPECTED))
    }
}

impl fmt::Display for Days {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_on_the_calendar_and_has_one_spelling() {
        for text in ["1900-01-01", "2024-02-29", "2199-12-31"] {
            assert_eq!(text.parse::<Day>().unwrap().to_string(), text);
        }
        for text in ["2026-02-29", "20251224", "2025-1-1", "1899-12-31", "2200-01-01", "2025-12-24T00:00", "", "x"] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
    }

    #[test]
    fn days_are_in_order_and_include_both_ends() {
        let days: Days = "2023-12-30/2024-01-02".parse().unwrap();
        let each: Vec<String> = days.each().map(|day| day.to_string()).collect();
        assert_eq!(each, ["2023-12-30", "2023-12-31", "2024-01-01", "2024-01-02"]);
        assert_eq!((days.count(), days.to_string()), (4, "2023-12-30/2024-01-02".to_owned()));
        assert_eq!("2024-01-01/2024-12-31".parse::<Days>().unwrap().count(), 366);
        for text in ["2025-12-24", "2025-12-26/2025-12-24", "2026-02-29/2026-03-01", "/", "1899-12-31/1900-01-01"] {
            assert!(text.parse::<Days>().is_err(), "{text}");
        }
    }

    #[test]
    fn days_end_with_the_calendar() {
        assert_eq!((Day::FIRST.before(), Day::LAST.after()), (None, None));
        assert_eq!(Days::new(Day::LAST, Day::LAST).unwrap().each().count(), 1);
        assert_eq!(Day::FIRST.after().and_then(Day::before), Some(Day::FIRST));
    }
}
