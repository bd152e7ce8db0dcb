//! How values of every type are read, stored and sorted, by examples.

use super::*;
use crate::options::{Options, WantedOption};

fn data(of: Type, input: &Input, options: &Options) -> Option<String> {
    of.read(input, options).ok().map(|plain| of.key(&plain).data(3))
}

fn check(of: Type, examples: &[(&str, &str)]) {
    for (input, expected) in examples {
        let expected = Some(format!("{expected}␁p1303").replace('␁', "\u{1}"));
        assert_eq!(data(of, &Input::from(*input), &Options::default()), expected, "{input}");
    }
}

fn refused(of: Type, inputs: &[&str]) {
    for input in inputs {
        assert_eq!(data(of, &Input::from(*input), &Options::default()), None, "{input:?}");
    }
}

#[test]
fn whole_numbers() {
    let examples = [
        ("-9223372036854775808", "n1070776627963145224191~"),
        ("-10", "n1248~"),
        ("-7", "n1252~"),
        ("0", "o"),
        ("2", "p1302"),
        ("10", "p1311"),
        ("42", "p13142"),
        ("9223372036854775807", "p1489223372036854775807"),
    ];
    check(Type::Int, &examples);
    refused(Type::Int, &["9223372036854775808", "-9223372036854775809", "1.5", "", "ten", "1_000", " 1", "+1", "０"]);
}

#[test]
fn decimals() {
    let examples = [
        ("-12.5", "n124874~"),
        ("-12.25", "n1248774~"),
        ("-0.001", "n1288~"),
        ("-1E-130", "n2558~"),
        ("0.00", "o"),
        ("0.00125", "p127125"),
        ("1.50", "p13015"),
        ("1E+125", "p2551"),
    ];
    check(Type::Decimal, &examples);
    refused(Type::Decimal, &["1E+126", "1E-131", "NaN", "", ".", "123456789012345678901234567890123456789"]);
    let shown = |text: &str| Type::Decimal.read(&Input::Number(text.to_owned()), &Options::default()).unwrap();
    assert_eq!((shown("1.50").as_str(), shown("-0.0").as_str()), ("1.5", "0"));
}

#[test]
fn days() {
    for day in ["0001-01-01", "1969-07-20", "1999-12-31", "2000-02-29", "2023-05-01", "9999-12-31"] {
        check(Type::Date, &[(day, day)]);
    }
    refused(
        Type::Date,
        &["2023-02-29", "2023-5-1", "0000-01-01", "+2023-05-01", "2023-05-01T00:00:00Z", "20230501", ""],
    );
}

#[test]
fn moments() {
    let examples = [
        ("2023-05-01T10:00:00Z", "2023-05-01T10:00:00.000000Z"),
        ("2023-05-01T12:00:00+02:00", "2023-05-01T10:00:00.000000Z"),
        ("2023-05-01T10:00:00.5Z", "2023-05-01T10:00:00.500000Z"),
        ("1969-07-20T20:17:40.123456Z", "1969-07-20T20:17:40.123456Z"),
        ("2024-12-31T23:30:00-01:00", "2025-01-01T00:30:00.000000Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
    ];
    check(Type::DateTime, &examples);
    let wrong = [
        "2023-05-01T10:00:00",
        "2023-05-01T10:00:60Z",
        "2023-05-01T10:00:00.0000001Z",
        "2023-05-01T24:00:00Z",
        "2023-05-01T10:00:00.Z",
        "2023-05-01 10:00:00Z",
        "2023-05-01T10:00:00+24:00",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+01:00",
        "2023-05-01T10:00Z",
        "é",
    ];
    refused(Type::DateTime, &wrong);
}

#[test]
fn texts() {
    let long = "x".repeat(1000);
    let examples = [
        ("Approved", "approved"),
        ("Apple", "apple"),
        ("apple", "apple"),
        ("\ttwo\nlines", "two lines"),
        ("Straße", "strasse"),
        ("Émile", "émile"),
        ("E\u{301}mile", "émile"),
        (&long, &long),
    ];
    check(Type::Text, &examples);
    let cut = |text: String, kept: String| {
        let expected = Some(format!("{kept}\u{2}p1303"));
        assert_eq!(data(Type::Text, &Input::Text(text), &Options::default()), expected);
    };
    cut("é".repeat(1024), "é".repeat(500));
    cut("あ".repeat(1024), "あ".repeat(333));
    refused(Type::Text, &["", " \t\n", "\u{0}", "a\u{1}b", &"x".repeat(1025)]);
    assert!(data(Type::Text, &Input::Number("1".to_owned()), &Options::default()).is_none());
}

#[test]
fn choices() {
    let label = |label: &str| WantedOption { id: None, label: Some(label.to_owned()) };
    let id = |id: &str| WantedOption { id: Some(id.to_owned()), label: None };
    let three = Options::default().replaced(&[label("High"), label("Mid"), label("Low")]).unwrap();
    let of = |text: &str, options: &Options| data(Type::Choice, &Input::from(text), options);
    let on_3 = |id: &str| Some(format!("{id}\u{1}p1303"));
    assert_eq!(of("High", &three), on_3("001"));
    assert_eq!(of("001", &three), None);
    assert_eq!(data(Type::Choice, &Input::Id("001".to_owned()), &three), on_3("001"));
    assert_eq!(of("low", &three), on_3("003"));
    assert_eq!((of("Other", &three), of("", &three)), (None, None));
    let top = WantedOption { id: Some("001".to_owned()), label: Some("Top".to_owned()) };
    let changed = three.replaced(&[label("Urgent"), top, id("003")]).unwrap();
    assert_eq!(of("Urgent", &changed), on_3("004"));
    assert_eq!(of("Top", &changed), on_3("001"));
    assert_eq!(of("Mid", &changed), None);
    assert_eq!(Type::Choice.key(&Plain::stored("002")).data(3), on_3("002").unwrap());
}
