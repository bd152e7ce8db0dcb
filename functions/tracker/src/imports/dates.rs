//! Dates as spreadsheets write them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The order of day, month and year in dates like 31.12.2026, 31/12/2026 and 31-12-2026.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Only dates like 2026-12-31, which are valid in each order.
    #[default]
    Ymd,
    Dmy,
    Mdy,
}

impl DateOrder {
    /// The date in the form YYYY-MM-DD if it has this order and a year of four digits, otherwise as it is.
    pub fn iso(self, text: &str) -> Cow<'_, str> {
        let parts: Vec<&str> = text.split(['.', '/', '-']).collect();
        let (day, month, year) = match (self, parts.as_slice()) {
            (Self::Dmy, [day, month, year]) | (Self::Mdy, [month, day, year]) => (day, month, year),
            _ => return Cow::Borrowed(text),
        };
        let has_digits = |text: &str, range: std::ops::RangeInclusive<usize>| {
            range.contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit())
        };
        if has_digits(day, 1..=2) && has_digits(month, 1..=2) && has_digits(year, 4..=4) {
            Cow::Owned(format!("{year}-{month:0>2}-{day:0>2}"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_is_read_in_the_given_order() {
        for text in ["31.12.2026", "31/12/2026", "31-12-2026"] {
            assert_eq!(DateOrder::Dmy.iso(text), "2026-12-31");
        }
        assert_eq!(DateOrder::Dmy.iso("3.4.2026"), "2026-04-03");
        assert_eq!(DateOrder::Mdy.iso("3/4/2026"), "2026-03-04");
        for (order, text) in [
            (DateOrder::Ymd, "3.4.2026"),
            (DateOrder::Dmy, "2026-12-31"),
            (DateOrder::Dmy, "3.4.26"),
            (DateOrder::Dmy, "3.April.2026"),
            (DateOrder::Mdy, "3.4.2026.1"),
            (DateOrder::Mdy, ""),
        ] {
            assert_eq!(order.iso(text), text);
        }
    }
}
