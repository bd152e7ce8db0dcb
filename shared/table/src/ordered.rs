//! Numbers as text whose byte order is their numeric order, for sort keys: `2` before `10`, `-3` before `-2.5`.

use std::ops::RangeInclusive;

/// Encodes a whole number: a letter for its count of digits (`a` is one), then the digits. `7` is `a7`, `10` is `b10`.
pub fn integer(number: u64) -> String {
    let digits = number.to_string();
    let count = (b'a'..=b'z').nth(digits.len() - 1).map_or('z', char::from);
    format!("{count}{digits}")
}

/// Decodes a text of [`integer`]. Returns none for any other text.
pub fn parse_integer(text: &str) -> Option<u64> {
    let number = text.get(1..)?.parse().ok()?;
    (integer(number) == text).then_some(number)
}

/// The exponents of DynamoDB's numbers, from 1E-130 to 9.99E+125.
const EXPONENTS: RangeInclusive<i32> = -130..=125;

/// The maximum number of digits of DynamoDB's numbers.
const MAX_DIGITS: usize = 38;

/// Encodes a decimal number that DynamoDB can store, such as `-12.5`, `3` or `1e-7`. All spellings of a number give one
/// text. Returns none for a text that is not such a number.
///
/// Zero is `o`. With its first digit before the point, a positive number is `p`, its exponent with 130 added in three
/// digits, and its digits: `12.5` is `p131125`. A negative one is `n`, 125 less its exponent in three digits, nine minus
/// each of its digits, and `~`, which sorts after every digit: `-12.5` is `n124874~`.
pub fn number(text: &str) -> Option<String> {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let power: i32 = power.parse().ok()?;
    let significant = digits.trim_start_matches('0');
    let leading = digits.len() - significant.len();
    let exponent = i32::try_from(whole.len()).ok()?.checked_sub(i32::try_from(leading).ok()?)?.checked_sub(1)?;
    let exponent = exponent.checked_add(power)?;
    let significant = significant.trim_end_matches('0');
    if significant.is_empty() {
        return Some("o".to_owned());
    }
    if significant.len() > MAX_DIGITS || !EXPONENTS.contains(&exponent) {
        return None;
    }
    Some(if negative {
        format!("n{:03}{}~", EXPONENTS.end() - exponent, nines_complement(significant))
    } else {
        format!("p{:03}{significant}", exponent - EXPONENTS.start())
    })
}

/// Decodes a text of [`number`] into decimal text without exponent. Returns none for any other text.
pub fn parse_number(text: &str) -> Option<String> {
    if text == "o" {
        return Some("0".to_owned());
    }
    let (sign, exponent, digits) = match text.strip_prefix('n') {
        Some(rest) => {
            let (exponent, digits) = rest.strip_suffix('~')?.split_at_checked(3)?;
            ("-", EXPONENTS.end() - exponent.parse::<i32>().ok()?, nines_complement(digits))
        }
        None => {
            let (exponent, digits) = text.strip_prefix('p')?.split_at_checked(3)?;
            ("", exponent.parse::<i32>().ok()? + EXPONENTS.start(), digits.to_owned())
        }
    };
    let number = match usize::try_from(exponent + 1) {
        Ok(whole) if whole >= digits.len() => format!("{sign}{digits:0<whole$}"),
        Ok(whole) if whole > 0 => {
            let (whole, fraction) = digits.split_at_checked(whole)?;
            format!("{sign}{whole}.{fraction}")
        }
        _ => {
            let zeros = usize::try_from(exponent.checked_neg()? - 1).ok()?;
            format!("{sign}0.{}{digits}", "0".repeat(zeros))
        }
    };
    (self::number(&number).as_deref() == Some(text)).then_some(number)
}

fn nines_complement(digits: &str) -> String {
    digits.bytes().map(|digit| char::from(if digit.is_ascii_digit() { b'0' + b'9' - digit } else { digit })).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn number_is_encoded_as_documented() {
        assert_eq!((integer(7), integer(10), integer(u64::MAX)), ("a7".into(), "b10".into(), format!("t{}", u64::MAX)));
        for (number, text) in [
            ("12.5", "p131125"),
            ("-12.5", "n124874~"),
            ("0", "o"),
            ("-0.00", "o"),
            ("0.01", "p1281"),
            ("9e125", "p2559"),
        ] {
            assert_eq!(super::number(number).as_deref(), Some(text), "{number}");
        }
        for spelling in ["100", "1e2", "1.00E+2", "0100", "0.1e3"] {
            assert_eq!(number(spelling).as_deref(), Some("p1321"), "{spelling}");
        }
        for text in ["", "-", ".", "+1", "1_0", "--1", "1e", "NaN", "1e126", "1e-131", "1e99999999999", "0x1", " 1"] {
            assert_eq!(number(text), None, "{text:?}");
        }
    }

    #[test]
    fn text_in_another_spelling_is_not_decoded() {
        for text in ["", "7", "a07", "b7", "a", "z7", "a+7", "é7"] {
            assert_eq!(parse_integer(text), None, "{text:?}");
        }
        for text in ["", "p", "p131", "p13110", "p1301~", "n1248", "oo", "p2561", "n2568~", "p+301", "pé", "n1é~"] {
            assert_eq!(parse_number(text), None, "{text:?}");
        }
    }

    /// Thousandths as decimal text, so that the order of the numbers is known exactly.
    fn thousandths(number: i64) -> String {
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{}.{:03}", number.unsigned_abs() / 1000, number.unsigned_abs() % 1000)
    }

    proptest! {
        #[test]
        fn encoded_integers_keep_their_order_and_are_decoded(a: u64, b in 0_u64..2000, close in 0_u64..2000, shift in 0_u32..60) {
            for (a, b) in [(a, b), (b, close), (a >> shift, a >> (shift / 2))] {
                prop_assert_eq!(format!("{}::x", integer(a)).cmp(&format!("{}::x", integer(b))), a.cmp(&b));
                prop_assert_eq!(parse_integer(&integer(a)), Some(a));
            }
        }

        #[test]
        fn encoded_numbers_keep_their_order_and_are_decoded(a: i64, b in -3000_i64..3000, close in -3000_i64..3000, shift in 0_u32..60) {
            for (a, b) in [(a, b), (b, close), (a >> shift, b), (a >> shift, a >> (shift / 2))] {
                let (left, right) = (number(&thousandths(a)).unwrap(), number(&thousandths(b)).unwrap());
                prop_assert_eq!(format!("{left}\u{1}x").cmp(&format!("{right}\u{1}x")), a.cmp(&b));
                let back = parse_number(&left).unwrap();
                prop_assert_eq!(number(&back), Some(left));
                prop_assert_eq!(back.parse::<f64>().unwrap(), thousandths(a).parse::<f64>().unwrap());
            }
        }
    }
}
