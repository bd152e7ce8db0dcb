//! The grammar of dates, over tokens.

use jiff::civil::Date;

use super::Interval;
use super::lexer::Token;
use crate::mapping::DateOrder;

/// Words and a sign for "about", with German, French, Dutch, Spanish and Latin ones.
const ABOUT: [&str; 25] = [
    "~",
    "abt",
    "about",
    "circa",
    "circ",
    "cir",
    "ca",
    "c",
    "approx",
    "approximately",
    "um",
    "etwa",
    "ungefahr",
    "zirka",
    "vers",
    "env",
    "environ",
    "omstreeks",
    "omstr",
    "ongeveer",
    "rond",
    "hacia",
    "alrededor",
    "circiter",
    "aprox",
];
const CALCULATED: [&str; 4] = ["cal", "calc", "calculated", "berechnet"];
const ESTIMATED: [&str; 5] = ["est", "estimated", "geschatzt", "estime", "geschat"];
const BEFORE: [&str; 7] = ["bef", "before", "vor", "avant", "voor", "antes", "ante"];
const AFTER: [&str; 7] = ["aft", "after", "nach", "apres", "na", "despues", "post"];

/// The opening of a range with the words that separate its ends.
const RANGES: [(&[&str], &[&str]); 2] = [
    (
        &["bet", "betw", "between", "btw", "zwischen", "zw", "entre", "tussen", "inter"],
        &["and", "und", "et", "en", "y"],
    ),
    (&["from", "von", "du", "van", "desde"], &["to", "bis", "au", "tot", "hasta"]),
];

const ABOUT_YEARS: i16 = 2;
const CALCULATED_YEARS: i16 = 1;
const ESTIMATED_YEARS: i16 = 5;
const OPEN_YEARS: i16 = 10;

/// Reads a whole text.
pub fn date(tokens: &[Token], order: Option<DateOrder>) -> Option<Interval> {
    if let [Token::Word(opening), rest @ ..] = tokens {
        for (openings, separators) in RANGES {
            if openings.contains(&opening.as_str()) {
                let is_separator = |token: &Token| match token {
                    Token::Word(word) => separators.contains(&word.as_str()),
                    token => *token == Token::Sign('-'),
                };
                return range(rest, is_separator, order);
            }
        }
    }
    qualified(tokens, order).or_else(|| range(tokens, is_dash_or_to, order))
}

fn is_dash_or_to(token: &Token) -> bool {
    match token {
        Token::Word(word) => word == "to" || word == "bis",
        token => *token == Token::Sign('-'),
    }
}

/// Reads two dates on the two sides of the first separator that has one on both.
fn range(tokens: &[Token], is_separator: impl Fn(&Token) -> bool, order: Option<DateOrder>) -> Option<Interval> {
    (0..tokens.len()).find_map(|at| {
        let (before, rest) = tokens.split_at_checked(at)?;
        let (separator, after) = rest.split_first()?;
        if !is_separator(separator) {
            return None;
        }
        let first = qualified(before, order)?;
        let last = qualified(after, order).or_else(|| abbreviated_year(before, after))?;
        (first.from() <= last.from()).then(|| Interval::new(first.from(), last.to()))?
    })
}

/// Reads the `55` of `1850-55`.
fn abbreviated_year(before: &[Token], after: &[Token]) -> Option<Interval> {
    match (before, after) {
        ([.., Token::Number(first, 4)], [Token::Number(last, 2)]) => {
            days(Years::single(first / 100 * 100 + last), None)
        }
        _ => None,
    }
}

/// Reads a date that may have a qualifier.
fn qualified(tokens: &[Token], order: Option<DateOrder>) -> Option<Interval> {
    let [first, rest @ ..] = tokens else { return None };
    let Token::Word(word) = first else { return plain(tokens, order) };
    let word = word.as_str();
    // "about 1850-1855" is wider on both sides.
    let span = |years| Some(plain(rest, order).or_else(|| range(rest, is_dash_or_to, order))?.widened(years));
    match word {
        _ if ABOUT.contains(&word) => span(ABOUT_YEARS),
        _ if CALCULATED.contains(&word) => span(CALCULATED_YEARS),
        _ if ESTIMATED.contains(&word) => span(ESTIMATED_YEARS),
        _ if BEFORE.contains(&word) => Some(plain(rest, order)?.or_before(OPEN_YEARS)),
        _ if AFTER.contains(&word) => Some(plain(rest, order)?.or_after(OPEN_YEARS)),
        _ => None,
    }
}

/// A year, or the two of `1759/60`, where the year began on 25 March for some and on 1 January for others.
#[derive(Clone, Copy)]
struct Years {
    first: i16,
    last: i16,
}

impl Years {
    fn single(year: u16) -> Self {
        let year = i16::try_from(year).unwrap_or(i16::MAX);
        Self { first: year, last: year }
    }

    /// Reads `1850`, `1759/60`, `1708/9` or `1699/1700`.
    fn read(tokens: &[Token]) -> Option<Self> {
        match *tokens {
            [Token::Number(year, 3 | 4)] => Some(Self::single(year)),
            [Token::Number(year, 3 | 4), Token::Sign('/'), Token::Number(next, digits @ 1..=4)] => {
                let power = 10_u16.pow(u32::try_from(digits).ok()?);
                let follows = (year + 1) % power == next && (digits < 4 || year >= 1000);
                follows.then(|| Self { first: Self::single(year).first, last: Self::single(year + 1).last })
            }
            _ => None,
        }
    }
}

/// Reads one date without a qualifier.
fn plain(tokens: &[Token], order: Option<DateOrder>) -> Option<Interval> {
    if let Some(years) = Years::read(tokens) {
        return days(years, None);
    }
    if tokens.iter().any(|token| matches!(token, Token::Month(_))) {
        return with_month_name(tokens);
    }
    match *tokens {
        // 1850-03, 03/1850
        [Token::Number(year, 3 | 4), Token::Sign(_), Token::Number(month, 2)]
        | [Token::Number(month, 1 | 2), Token::Sign(_), Token::Number(year, 3 | 4)] => {
            days(Years::single(year), Some((number(month)?, None)))
        }
        // 1850-03-12
        [
            Token::Number(year, 3 | 4),
            Token::Sign(a),
            Token::Number(month, 1 | 2),
            Token::Sign(b),
            Token::Number(day, 1 | 2),
        ] if a == b => days(Years::single(year), Some((number(month)?, Some(number(day)?)))),
        [Token::Number(first, 1 | 2), Token::Sign(a), Token::Number(second, 1 | 2), Token::Sign(b), ..] if a == b => {
            let years = Years::read(tokens.get(4..)?)?;
            numeric(number(first)?, number(second)?, years, order.or((a == '.').then_some(DateOrder::DayMonthYear)))
        }
        _ => None,
    }
}

/// Reads a day and a month in the order of the column. Without an order it may be either, as far as it exists.
fn numeric(first: i8, second: i8, years: Years, order: Option<DateOrder>) -> Option<Interval> {
    let day_first = days(years, Some((second, Some(first))));
    let month_first = days(years, Some((first, Some(second))));
    match order {
        Some(DateOrder::DayMonthYear) => day_first,
        Some(DateOrder::MonthDayYear) => month_first,
        Some(DateOrder::YearMonthDay) | None => match (day_first, month_first) {
            (Some(one), Some(other)) => Some(one.joined(other)),
            (one, other) => one.or(other),
        },
    }
}

/// Reads a date with the name of its month: day, month and year in any order that has the month before or after the
/// day, and the year first or last. Signs next to the name only separate it: `3-Mar-1850`.
fn with_month_name(tokens: &[Token]) -> Option<Interval> {
    let at = tokens.iter().position(|token| matches!(token, Token::Month(_)))?;
    let (before, rest) = tokens.split_at_checked(at)?;
    let [Token::Month(month), after @ ..] = rest else { return None };
    let before = match before {
        [before @ .., Token::Sign('-' | '/' | '.')] => before,
        before => before,
    };
    let after = match after {
        [Token::Sign('-' | '/' | '.'), after @ ..] => after,
        after => after,
    };
    let (years, day) = match (before, after) {
        // Mar 1850
        ([], years) if Years::read(years).is_some() => (Years::read(years)?, None),
        // March 3, 1850; March 3 - 1850
        (
            [],
            [Token::Number(day, 1 | 2), Token::Sign('-' | '/'), years @ ..] | [Token::Number(day, 1 | 2), years @ ..],
        ) => (Years::read(years)?, Some(number(*day)?)),
        // 3 Mar 1850
        ([Token::Number(day, 1 | 2)], years) => (Years::read(years)?, Some(number(*day)?)),
        // 1850 Mar
        (years, []) => (Years::read(years)?, None),
        // 1850 Mar 3
        (years, [Token::Number(day, 1 | 2)]) => (Years::read(years)?, Some(number(*day)?)),
        _ => return None,
    };
    days(years, Some((*month, day)))
}

fn number(value: u16) -> Option<i8> {
    i8::try_from(value).ok()
}

/// Returns the days of a year, month or day. Of two years, a day counts in each that has it.
fn days(years: Years, within: Option<(i8, Option<i8>)>) -> Option<Interval> {
    let Some((month, day)) = within else {
        return Interval::new(Date::new(years.first, 1, 1).ok()?, Date::new(years.last, 12, 31).ok()?);
    };
    let Some(day) = day else {
        let first = Date::new(years.first, month, 1).ok()?;
        return Interval::new(first, Date::new(years.last, month, 1).ok()?.last_of_month());
    };
    let [first, last] = [years.first, years.last].map(|year| Date::new(year, month, day).ok());
    Interval::new(first.or(last)?, last.or(first)?)
}
