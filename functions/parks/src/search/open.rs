//! Days on which something is offered.

use serde_json::{Value, json};

use super::extent::any;
use super::form::OpenMatch;
use crate::days::Days;

/// The most days of which each, or any, must be open.
const ALL: usize = 31;
const ANY: usize = 366;

/// The most activities that are taken from the products found.
pub const ACTIVITIES: usize = 10_000;

/// From the first day to the last, and whether all of them or any must be open.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    days: Days,
    matching: OpenMatch,
}

impl Open {
    /// Reads `from/to`.
    pub fn parse(text: &str, matching: OpenMatch) -> Result<Self, String> {
        let days: Days = text.parse().map_err(|_| format!("must be {}", Days::EXPECTED))?;
        let (most, name) = match matching {
            OpenMatch::All => (ALL, "all"),
            OpenMatch::Any => (ANY, "any"),
        };
        if days.count() > most {
            return Err(format!("must be at most {most} days for `openMatch={name}`"));
        }
        Ok(Self { days, matching })
    }

    /// Whether it asks for this day.
    pub fn has(&self, date: &str) -> bool {
        self.days.each().any(|day| day.to_string() == date)
    }

    /// Products that are open on these days, and activities that have one such product.
    pub fn clause(&self, activities: &[String]) -> Value {
        let activities = json!({ "bool": { "filter": [
            { "term": { "entity": "activity" } },
            { "terms": { "activityKey": activities } },
        ] } });
        any([self.products(), activities])
    }

    /// Products that are open on these days.
    pub fn products(&self) -> Value {
        let mut filters = vec![json!({ "term": { "entity": "product" } })];
        match self.matching {
            OpenMatch::Any => {
                filters.push(json!({ "range": { "openDates": { "gte": self.days.from(), "lte": self.days.to() } } }));
            }
            OpenMatch::All => {
                filters.extend(self.days.each().map(|day| json!({ "term": { "openDates": day } })));
            }
        }
        json!({ "bool": { "filter": filters } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_in_full_and_in_order() {
        assert!(Open::parse("2025-12-24/2025-12-26", OpenMatch::All).is_ok());
        for wrong in [
            "2025-12-24",
            "2025-12-26/2025-12-24",
            "2026-02-29/2026-03-01",
            "20251224/20251226",
            "1899-12-31/1900-01-01",
            "/",
        ] {
            assert!(Open::parse(wrong, OpenMatch::Any).is_err(), "{wrong}");
        }
    }

    #[test]
    fn all_of_a_month_or_any_of_a_year() {
        assert!(Open::parse("2025-12-01/2025-12-31", OpenMatch::All).is_ok());
        assert!(Open::parse("2025-12-01/2026-01-01", OpenMatch::All).is_err());
        assert!(Open::parse("2024-01-01/2024-12-31", OpenMatch::Any).is_ok());
        assert!(Open::parse("2024-01-01/2025-01-01", OpenMatch::Any).is_err());
    }

    #[test]
    fn all_days_are_asked_one_by_one_and_any_as_a_range() {
        let filters = |matching| {
            let open = Open::parse("2025-12-24/2025-12-26", matching).unwrap();
            open.products()["bool"]["filter"].as_array().unwrap().len()
        };
        assert_eq!((filters(OpenMatch::All), filters(OpenMatch::Any)), (4, 2));
    }
}
