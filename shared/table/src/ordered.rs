//! Numbers as text whose byte order is the order of the numbers, for sort keys: `2` before `10`, `-3` before `-2.5`.

/// A whole number: a letter for its count of digits (`a` is one), then the digits. `7` is `a7`, `10` is `b10`.
pub fn integer(number: u64) -> String {
    let digits = number.to_string();
    let count = (b'a'..=b'z').nth(digits.len() - 1).map_or('z', char::from);
    format!("{count}{digits}")
}

/// The number that [`integer`] wrote, if the text is its one spelling.
pub fn parse_integer(text: &str) -> Option<u64> {
    let number = text.get(1..)?.parse().ok()?;
    (integer(number) == text).then_some(number)
}

/// Any number that DynamoDB can hold, from its decimal text: `-12.5`, `3`, `1e-7`. One number has one text, however
/// it was spelt; none for what is no such number.
///
/// `n`, `o` or `p` for negative, zero and positive; then the power of ten, with 500 added, in three digits; then the
/// significant digits; then `-`, which sorts before every digit. `12.5` is `p502125-`. A negative number has nine
/// minus each digit, and ends in `_`, which sorts after every digit: `-12.5` is `n497874_`.
pub fn decimal(text: &str) -> Option<String> {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let point = i32::try_from(whole.len()).ok()?.checked_add(power.parse().ok()?)?;
    let significant = digits.trim_start_matches('0');
    let power = point.checked_sub(i32::try_from(digits.len() - significant.len()).ok()?)?;
    let significant = significant.trim_end_matches('0');
    if significant.is_empty() {
        return Some("o".to_owned());
    }
    if significant.len() > 38 || !(-129..=126).contains(&power) {
        return None;
    }
    let body = format!("{:03}{significant}", power + 500);
    Some(if negative { format!("n{}_", nines_complement(&body)) } else { format!("p{body}-") })
}

/// The decimal text, without exponent, of the number that [`decimal`] wrote, if the text is its one spelling.
pub fn parse_decimal(text: &str) -> Option<String> {
    if text == "o" {
        return Some("0".to_owned());
    }
    let (sign, body) = match text.strip_prefix('n') {
        Some(rest) => ("-", nines_complement(rest.strip_suffix('_')?)),
        None => ("", text.strip_prefix('p')?.strip_suffix('-')?.to_owned()),
    };
    let (power, digits) = body.split_at_checked(3)?;
    let power: i32 = power.parse::<i32>().ok()?.checked_sub(500)?;
    let number = match usize::try_from(power) {
        Ok(whole) if whole >= digits.len() => format!("{sign}{digits:0<whole$}"),
        Ok(whole) if whole > 0 => {
            let (whole, fraction) = digits.split_at_checked(whole)?;
            format!("{sign}{whole}.{fraction}")
        }
        _ => {
            let zeros = usize::try_from(power.checked_neg()?).ok()?;
            format!("{sign}0.{}{digits}", "0".repeat(zeros))
        }
    };
    (decimal(&number).as_deref() == Some(text)).then_some(number)
}

fn nines_complement(digits: &str) -> String {
    digits.bytes().map(|digit| char::from(if digit.is_ascii_digit() { b'0' + b'9' - digit } else { digit })).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_documented_forms() {
        assert_eq!((integer(7), integer(10), integer(u64::MAX)), ("a7".into(), "b10".into(), format!("t{}", u64::MAX)));
        for (number, text) in
            [("12.5", "p502125-"), ("-12.5", "n497874_"), ("0", "o"), ("-0.00", "o"), ("0.01", "p4991-")]
        {
            assert_eq!(decimal(number).as_deref(), Some(text), "{number}");
        }
        for spelling in ["100", "1e2", "1.00E+2", "0100", "0.1e3"] {
            assert_eq!(decimal(spelling).as_deref(), Some("p5031-"), "{spelling}");
        }
        for text in ["", "-", ".", "+1", "1_0", "--1", "1e", "NaN", "1e200", "1e-200", "0x1", " 1"] {
            assert_eq!(decimal(text), None, "{text:?}");
        }
    }

    #[test]
    fn another_spelling_is_none() {
        for text in ["", "7", "a07", "b7", "a", "z7", "a+7", "é7"] {
            assert_eq!(parse_integer(text), None, "{text:?}");
        }
        for text in ["", "p", "p501-", "p50110-", "p5011", "n4988-", "p5011_", "oo", "p9991-", "pé-"] {
            assert_eq!(parse_decimal(text), None, "{text:?}");
        }
    }

    /// Thousandths as decimal text, so that the order of the numbers is known exactly.
    fn thousandths(number: i64) -> String {
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{}.{:03}", number.unsigned_abs() / 1000, number.unsigned_abs() % 1000)
    }

    proptest! {
        #[test]
        fn integers_keep_their_order_and_come_back(a: u64, b in 0_u64..2000, close in 0_u64..2000, shift in 0_u32..60) {
            for (a, b) in [(a, b), (b, close), (a >> shift, a >> (shift / 2))] {
                prop_assert_eq!(format!("{}::x", integer(a)).cmp(&format!("{}::x", integer(b))), a.cmp(&b));
                prop_assert_eq!(parse_integer(&integer(a)), Some(a));
            }
        }

        #[test]
        fn decimals_keep_their_order_and_come_back(a: i64, b in -3000_i64..3000, close in -3000_i64..3000, shift in 0_u32..60) {
            for (a, b) in [(a, b), (b, close), (a >> shift, b), (a >> shift, a >> (shift / 2))] {
                let (left, right) = (decimal(&thousandths(a)).unwrap(), decimal(&thousandths(b)).unwrap());
                prop_assert_eq!(format!("{left}::x").cmp(&format!("{right}::x")), a.cmp(&b));
                let back = parse_decimal(&left).unwrap();
                prop_assert_eq!(decimal(&back), Some(left));
                prop_assert_eq!(back.parse::<f64>().unwrap(), thousandths(a).parse::<f64>().unwrap());
            }
        }
    }
}
