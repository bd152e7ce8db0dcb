//! Dates as spreadsheets write them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::options::Options;
use crate::values::{Input, Plain, Type};

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
    /// The date as an attribute reads it. The error names the dates of this order.
    pub fn read(self, text: &str, options: &Options) -> Result<Plain, String> {
        let other = match self {
            Self::Ymd => return Type::Date.read(&Input::from(text), options),
            Self::Dmy => "31.12.2026 (day, month, year)",
            Self::Mdy => "12/31/2026 (month, day, year)",
        };
        let read = Type::Date.read(&Input::from(self.iso(text).as_ref()), options);
        read.map_err(|_| format!("must be a calendar day as {other} or 2026-12-31"))
    }

    /// The date in the form YYYY-MM-DD if it has this order and a year of four digits, otherwise as it is.
    fn iso(self, text: &str) -> Cow<'_, str> {
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
    fn fault_of_a_date_names_its_order() {
        let fault = |order: DateOrder| order.read("13/31/2026", &Options::default()).unwrap_err();
        assert_eq!(fault(DateOrder::Dmy), "must be a calendar day as 31.12.2026 (day, month, year) or 2026-12-31");
        assert_eq!(fault(DateOrder::Mdy), "must be a calendar day as 12/31/2026 (month, day, year) or 2026-12-31");
        assert_eq!(fault(DateOrder::Ymd), "must be a calendar day as 2023-05-01");
    }

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
