//! Days and times.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

/// A day of the years 0001 to 9999, as it is written.
pub(super) fn date(text: Option<&str>) -> Option<String> {
    let text = text?;
    day(text).map(|_| text.to_owned())
}

/// A time in UTC with six fraction digits.
pub(super) fn date_time(text: Option<&str>) -> Option<String> {
    let (date, rest) = text?.split_at_checked(10)?;
    let date = day(date)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let [hour, minute, second] = *clock.split(':').collect::<Vec<_>>().as_slice() else { return None };
    let zone_at = rest.find(|character: char| character != '.' && !character.is_ascii_digit())?;
    let (fraction, zone) = rest.split_at_checked(zone_at)?;
    let time = Time::new(two(hour)?, two(minute)?, two(second)?, micros(fraction)?.checked_mul(1000)?).ok()?;
    let utc = DateTime::from_parts(date, time).checked_sub(offset(zone)?).ok()?;
    (1..=9999).contains(&utc.year()).then(|| format!("{utc:.6}Z"))
}

fn day(text: &str) -> Option<Date> {
    let [year, month, day] = *text.split('-').collect::<Vec<_>>().as_slice() else { return None };
    if year.len() != 4 || !year.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let year = year.parse().ok().filter(|year| *year > 0)?;
    Date::new(year, two(month)?, two(day)?).ok()
}

/// Exactly two digits.
fn two(text: &str) -> Option<i8> {
    (text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// The fraction after the seconds: nothing, or a point and one to six digits.
fn micros(fraction: &str) -> Option<i32> {
    if fraction.is_empty() {
        return Some(0);
    }
    let digits = fraction.strip_prefix('.')?;
    let plain = (1..=6).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| format!("{digits:0<6}").parse().ok()).flatten()
}

/// The offset of a zone from UTC.
fn offset(zone: &str) -> Option<SignedDuration> {
    if matches!(zone, "Z" | "z") {
        return Some(SignedDuration::ZERO);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes) = (i64::from(two(hours)?), i64::from(two(minutes)?));
    (hours <= 23 && minutes <= 59).then(|| SignedDuration::from_secs(sign * (hours * 3600 + minutes * 60)))
}
