//! Queries by the days on which products are open.

use serde_json::{Value, json};

use super::clauses::any;
use super::query::OpenMatch;
use crate::days::Days;

/// The limits of days for `openMatch=all` and `openMatch=any`.
const MAX_DAYS_ALL: usize = 31;
const MAX_DAYS_ANY: usize = 366;

/// The limit of activities whose products are open.
pub const MAX_ACTIVITIES: usize = 10_000;

/// A range of days, all or any of which must be open.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    days: Days,
    matching: OpenMatch,
}

impl Open {
    /// Parses `from/to`.
    pub fn parse(text: &str, matching: OpenMatch) -> Result<Self, String> {
        let days: Days = text.parse().map_err(|_| format!("must be {}", Days::EXPECTED))?;
        let (max, name) = match matching {
            OpenMatch::All => (MAX_DAYS_ALL, "all"),
            OpenMatch::Any => (MAX_DAYS_ANY, "any"),
        };
        if days.count() > max {
            return Err(format!("must be at most {max} days for `openMatch={name}`"));
        }
        Ok(Self { days, matching })
    }

    /// Whether this is one of the days.
    pub fn has(&self, date: &str) -> bool {
        date.parse().is_ok_and(|day| self.days.contains(day))
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
    fn other_spellings_of_days_are_refused() {
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
    fn all_is_limited_to_a_month_and_any_to_a_year() {
        assert!(Open::parse("2025-12-01/2025-12-31", OpenMatch::All).is_ok());
        assert!(Open::parse("2025-12-01/2026-01-01", OpenMatch::All).is_err());
        assert!(Open::parse("2024-01-01/2024-12-31", OpenMatch::Any).is_ok());
        assert!(Open::parse("2024-01-01/2025-01-01", OpenMatch::Any).is_err());
    }

    #[test]
    fn all_is_a_term_for_each_day_and_any_is_a_range() {
        let filters = |matching| {
            let open = Open::parse("2025-12-24/2025-12-26", matching).unwrap();
            open.products()["bool"]["filter"].as_array().unwrap().len()
        };
        assert_eq!((filters(OpenMatch::All), filters(OpenMatch::Any)), (4, 2));
    }
}
