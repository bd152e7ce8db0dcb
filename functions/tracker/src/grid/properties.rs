//! Properties (a) to (f) of the order and the filters of values, over random values of every type.

use std::cmp::Ordering;

use proptest::prelude::*;
use table::ordered;

use super::{Comparison, Range, Test};
use crate::issues::MAX_NUMBER;
use crate::options::{Options, WantedOption};
use crate::values::{ENDS, ENDS_CUT, Input, MAX_OPERAND, Plain, Type, folded, number_of};

const TYPES: [Type; 6] = [Type::Int, Type::Decimal, Type::Date, Type::DateTime, Type::Text, Type::Choice];

fn options() -> Options {
    let label = |label: &str| WantedOption { id: None, label: Some(label.to_owned()) };
    Options::default().replaced(&["High", "Mid", "Low"].map(label)).unwrap()
}

/// Values of each type as a client may spell them, most of them close together.
fn spelt(of: Type) -> BoxedStrategy<String> {
    match of {
        Type::Int => prop_oneof![any::<i64>(), -30_i64..30, (-30_i64..30).prop_map(|n| n * 100)]
            .prop_map(|number| number.to_string())
            .boxed(),
        Type::Decimal => (-2000_i64..2000, -4_i32..4, prop_oneof![Just(0), -120_i32..100])
            .prop_map(|(digits, near, far)| format!("{digits}E{}", near + far))
            .boxed(),
        Type::Date => (1_i16..=9999, 1_i8..=12, 1_i8..=28)
            .prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}"))
            .boxed(),
        Type::DateTime => (1969_i16..2030, 1_i8..=12, 0_i8..24, 0_u32..1_000_000, -14_i8..=14)
            .prop_map(|(year, month, hour, micros, zone)| {
                let sign = if zone < 0 { '-' } else { '+' };
                format!("{year:04}-{month:02}-10T{hour:02}:00:00.{micros:06}{sign}{:02}:30", zone.abs())
            })
            .boxed(),
        Type::Text => prop_oneof![
            "[a-cA-C éß]{1,4}".prop_filter("not blank", |text| !text.trim().is_empty()),
            "[^\u{0}-\u{1f}\u{7f}-\u{9f} ]{1,12}",
            ("[abé]{0,3}", 990_usize..1024).prop_map(|(end, length)| {
                let end = format!("y{end}");
                "x".repeat(length.saturating_sub(end.chars().count())) + &end
            }),
        ]
        .boxed(),
        Type::Choice => prop_oneof![Just("High"), Just("Mid"), Just("low")].prop_map(str::to_owned).boxed(),
    }
}

/// The order of two values by their meaning, without their keys.
fn compare(of: Type, one: &Plain, other: &Plain) -> Ordering {
    match of {
        Type::Int => one.as_str().parse::<i64>().unwrap().cmp(&other.as_str().parse().unwrap()),
        Type::Decimal => decimal(one.as_str(), other.as_str()),
        Type::Text => folded(one.as_str()).cmp(&folded(other.as_str())),
        Type::Date | Type::DateTime | Type::Choice => one.as_str().cmp(other.as_str()),
    }
}

/// Plain decimals by sign, then digit by digit at the same places.
fn decimal(one: &str, other: &str) -> Ordering {
    let negative = |text: &str| text.starts_with('-');
    let places = |text: &str| {
        let text = text.trim_start_matches('-').to_owned();
        let (whole, fraction) = text.split_once('.').map_or((text.as_str(), ""), |parts| parts);
        format!("{whole:0>200}{fraction:0<200}")
    };
    match (negative(one), negative(other)) {
        (false, false) => places(one).cmp(&places(other)),
        (true, true) => places(other).cmp(&places(one)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

fn two() -> impl Strategy<Value = (Type, String, String)> {
    prop::sample::select(TYPES.to_vec()).prop_flat_map(|of| (Just(of), spelt(of), spelt(of)))
}

/// Whether the keys of two texts differ where the texts do: both are whole, or they differ before the cut.
fn keys_differ(of: Type, one: &Plain, other: &Plain) -> bool {
    let (one, other) = (folded(one.as_str()).into_bytes(), folded(other.as_str()).into_bytes());
    of != Type::Text
        || one.len() <= 1000 && other.len() <= 1000
        || one.iter().zip(&other).take(MAX_OPERAND).any(|(one, other)| one != other)
}

const COMPARISONS: [(Comparison, [Ordering; 2]); 4] = [
    (Comparison::Below, [Ordering::Less, Ordering::Less]),
    (Comparison::UpTo, [Ordering::Less, Ordering::Equal]),
    (Comparison::Above, [Ordering::Greater, Ordering::Greater]),
    (Comparison::From, [Ordering::Greater, Ordering::Equal]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// (a), (b), (c), (e)
    #[test]
    fn keys_are_in_the_order_of_values(
        (of, one, other) in two(), m in 1_u64..=MAX_NUMBER, n in 1_u64..=MAX_NUMBER, alike: bool
    ) {
        let read = |text: &str| of.read(&Input::from(text), &options());
        let (Ok(one), Ok(other)) = (read(&one), read(if alike { &one } else { &other })) else { return Ok(()) };
        let (left, right) = (of.key(&one), of.key(&other));
        let (at_m, at_n) = (left.data(m), right.data(n));
        let values = compare(of, &one, &other);
        if keys_differ(of, &one, &other) {
            prop_assert_eq!(at_m.cmp(&at_n), values.then(m.cmp(&n)), "{:?} {:?}", at_m, at_n);
            prop_assert_eq!(left.keyword().cmp(&right.keyword()), values);
            prop_assert_eq!(left == right, values.is_eq());
        } else {
            prop_assert_eq!(at_m.cmp(&at_n), left.keyword().cmp(&right.keyword()).then(m.cmp(&n)));
        }
        if matches!(of, Type::Int | Type::Decimal) {
            let back = ordered::parse_number(left.as_str());
            prop_assert_eq!(back.as_deref(), Some(one.as_str()));
        } else if of != Type::Text {
            prop_assert_eq!(left.as_str(), one.as_str());
        }
        prop_assert!(!at_m.is_empty() && at_m.len() <= 1000 + 1 + 16);
        prop_assert!(!left.as_str().contains([ENDS, ENDS_CUT]));
        prop_assert_eq!(number_of(&at_m), Some(m));
    }

    /// (d)
    #[test]
    fn a_range_selects_what_a_naive_comparison_selects(
        (of, value, operand) in two(), n in 1_u64..=MAX_NUMBER, alike: bool, kept in 1_usize..4
    ) {
        let read = |text: &str| of.read(&Input::from(text), &options());
        let (Ok(value), Ok(operand)) = (read(&value), read(if alike { &value } else { &operand })) else { return Ok(()) };
        let (data, key) = (of.key(&value).data(n), of.key(&operand));
        if key.as_str().len() > MAX_OPERAND {
            return Ok(());
        }
        let order = compare(of, &value, &operand);
        prop_assert_eq!(Range::exactly(key.as_str()).holds(&data), order.is_eq());
        for (comparison, holds) in COMPARISONS {
            let test = Test::Compare(comparison, key.as_str().to_owned());
            let range = Range::of(&[&test]).unwrap().unwrap();
            prop_assert_eq!(range.holds(&data), holds.contains(&order), "{:?} {:?} {:?}", comparison, value, operand);
            prop_assert_eq!(comparison.holds(&of.key(&value).keyword(), key.as_str()), holds.contains(&order));
        }
        if of == Type::Text {
            let prefix: String = key.as_str().chars().take(kept).collect();
            let prefix = folded(&prefix);
            if !prefix.is_empty() {
                let range = Range::of(&[&Test::Prefix(prefix.clone())]).unwrap().unwrap();
                prop_assert_eq!(range.holds(&data), folded(value.as_str()).starts_with(&prefix));
            }
        }
    }

    /// (d), with two bounds as one range.
    #[test]
    fn two_bounds_are_one_range(value in -20_i64..20, from in -20_i64..20, to in -20_i64..20, n in 1_u64..100) {
        let key = |number: i64| Type::Int.key(&Plain::stored(number.to_string()));
        let bound = |comparison, number| Test::Compare(comparison, key(number).as_str().to_owned());
        let data = key(value).data(n);
        let holds = |tests: [&Test; 2]| Range::of(&tests).unwrap().is_some_and(|range| range.holds(&data));
        let (above, from_on) = (bound(Comparison::Above, from), bound(Comparison::From, from));
        let (below, up_to) = (bound(Comparison::Below, to), bound(Comparison::UpTo, to));
        prop_assert_eq!(holds([&above, &below]), from < value && value < to);
        prop_assert_eq!(holds([&from_on, &up_to]), (from..=to).contains(&value));
        prop_assert_eq!(holds([&from_on, &below]), (from..to).contains(&value));
    }

    /// (f)
    #[test]
    fn no_input_panics(text in ".{0,40}|[0-9TZ:.+eE-]{0,30}", of in prop::sample::select(TYPES.to_vec())) {
        for input in [Input::Text(text.clone()), Input::Number(text.clone())] {
            if let Ok(plain) = of.read(&input, &options()) {
                prop_assert!(of.key(&plain).data(1).len() > 1);
            }
        }
    }
}
