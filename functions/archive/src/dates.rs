//! Dates as registers and people write them: imprecise, in several languages, and read as an interval of days.
//!
//! | text | from – to |
//! |---|---|
//! | `1850`, `Mar 1850`, `3 Mar 1850` | the year, the month, the day |
//! | `March 3, 1850`, `1850-03-03`, `3-III-1850` | the day |
//! | `1850-1855`, `bet 1850 and 1855`, `from 1850 to 1855` | 1 January 1850 – 31 December 1855 |
//! | `abt`, `about`, `circa`, `ca`, `c`, `~` | 2 years earlier – 2 years later |
//! | `cal`; `est` | the same with 1 year; with 5 years |
//! | `bef 1850` | 1 January 1840 – 31 December 1850 |
//! | `aft 1850` | 1 January 1850 – 31 December 1860 |
//! | `1759/60` | both years |
//! | `2/3/1900` | by the order of the column; without one 3 February – 2 March 1900 |
//!
//! Years are 1 to 9999 of the Gregorian calendar, written with three or four digits: `87` could be any century. A day
//! that does not exist, such as 31 February, is not understood. Two numbers between dots are day and month, since no
//! country writes them the other way round.

mod grammar;
mod lexer;
mod months;

use jiff::Span;
use jiff::civil::{Date, date};

use crate::mapping::DateOrder;

/// The days that a date text may mean, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    from: Date,
    to: Date,
}

/// The first and last day that an interval can have.
const FIRST: Date = date(1, 1, 1);
const LAST: Date = date(9999, 12, 31);

/// The most decades that an interval counts in.
const MAX_DECADES: usize = 3;

/// Reads a date of a file or a query. `order` decides what `2/3/1900` means. Returns `None` if the text is not
/// understood.
///
/// ```
/// use archive::dates::parse;
///
/// let born = parse("abt 1838", None).unwrap();
/// assert_eq!((born.from_number(), born.to_number()), (18360101, 18401231));
/// assert_eq!(parse("3. März 1850", None), parse("1850-03-03", None));
/// assert_eq!(parse("next year", None), None);
/// ```
pub fn parse(text: &str, order: Option<DateOrder>) -> Option<Interval> {
    grammar::date(&lexer::tokens(text)?, order)
}

impl Interval {
    /// Creates an interval. Returns `None` if it would end before it begins, or is outside the years 1 to 9999.
    fn new(from: Date, to: Date) -> Option<Self> {
        (FIRST <= from && from <= to && to <= LAST).then_some(Self { from, to })
    }

    pub const fn from(self) -> Date {
        self.from
    }

    pub const fn to(self) -> Date {
        self.to
    }

    /// Returns its first day as the number `yyyymmdd`.
    pub fn from_number(self) -> u32 {
        day_number(self.from)
    }

    /// Returns its last day as the number `yyyymmdd`.
    pub fn to_number(self) -> u32 {
        day_number(self.to)
    }

    /// Extends both ends by years, as far as the first and the last year.
    fn widened(self, years: i16) -> Self {
        Self { from: add_years(self.from, -years), to: add_years(self.to, years) }
    }

    /// Returns the interval from 1 January, `years` before its last year, to its end.
    fn or_before(self, years: i16) -> Self {
        Self { from: add_years(self.to.first_of_year(), -years), to: self.to }
    }

    /// Returns the interval from its beginning to 31 December, `years` after its first year.
    fn or_after(self, years: i16) -> Self {
        Self { from: self.from, to: add_years(self.from.last_of_year(), years) }
    }

    /// Returns the smallest interval that contains both.
    fn joined(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

/// Returns a day as the number `yyyymmdd`.
pub fn day_number(day: Date) -> u32 {
    [(day.year().unsigned_abs().into(), 10_000), (day.month().unsigned_abs().into(), 100)]
        .into_iter()
        .fold(day.day().unsigned_abs().into(), |sum, (part, factor): (u32, u32)| sum + part * factor)
}

/// Returns the decades, by their first years, that the days from one `yyyymmdd` to another touch. An interval of more
/// than three decades counts in its first three.
pub fn decades(from: u32, to: u32) -> impl Iterator<Item = u32> {
    let decade = |day: u32| day / 100_000 * 10;
    (decade(from)..=decade(to)).step_by(10).take(MAX_DECADES)
}

/// Adds years to a day. 29 February becomes 28 February where a year has no such day.
fn add_years(day: Date, years: i16) -> Date {
    let moved = day.checked_add(Span::new().years(years));
    moved.unwrap_or(if years < 0 { FIRST } else { LAST }).clamp(FIRST, LAST)
}

#[cfg(test)]
mod tests;
