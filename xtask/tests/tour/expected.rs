//! Comparison of a response with the one on a page. They must be equal except for placeholders in angle brackets and
//! the layout of JSON.

use serde_json::Value;

/// The output of curl.
#[derive(Debug)]
pub struct Shown {
    /// The status line and header fields, if `-i` is set.
    pub head: String,
    pub body: String,
}

/// Whether a response is the expected one.
pub fn fits(expected: &str, shown: &Shown) -> bool {
    let (head, body) = if shown.head.is_empty() {
        ("", expected)
    } else {
        expected.split_once("\n\n").unwrap_or((expected.trim_end(), ""))
    };
    let heads_fit = head.lines().count() == shown.head.lines().count()
        && head.lines().zip(shown.head.lines()).all(|(expected, line)| text_fits(expected, line));
    heads_fit
        && match (serde_json::from_str::<Value>(&quoted(body)), serde_json::from_str::<Value>(&shown.body)) {
            (Ok(expected), Ok(actual)) => value_fits(&expected, &actual),
            _ => text_fits(body.trim_end(), shown.body.trim_end()),
        }
}

/// Formats a response as on the page.
pub fn laid_out(shown: &Shown) -> String {
    let body = match serde_json::from_str::<Value>(&shown.body) {
        Ok(_) => indented(&shown.body),
        Err(_) => shown.body.clone(),
    };
    if shown.head.is_empty() { body } else { format!("{}\n\n{body}", shown.head) }
}

fn value_fits(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(expected), Value::String(actual)) => text_fits(expected, actual),
        (Value::String(expected), Value::Number(actual)) if expected == NUMBER => actual.is_u64(),
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(one, other)| value_fits(one, other))
        }
        (Value::Object(expected), Value::Object(actual)) => {
            expected.len() == actual.len()
                && expected.iter().all(|(name, value)| actual.get(name).is_some_and(|other| value_fits(value, other)))
        }
        _ => expected == actual,
    }
}

/// Whether a text matches the expected one with its placeholders.
fn text_fits(expected: &str, actual: &str) -> bool {
    let found = PLACEHOLDERS.iter().filter_map(|known| Some((expected.find(known.0)?, known)));
    let Some((at, (placeholder, kind))) = found.min_by_key(|(at, _)| *at) else { return expected == actual };
    let (before, after) = (&expected[..at], &expected[at + placeholder.len()..]);
    let Some(rest) = actual.strip_prefix(before) else { return false };
    let length = rest.find(|character: char| !kind.contains(character)).unwrap_or(rest.len());
    length > 0 && text_fits(after, &rest[length..])
}

const NUMBER: &str = "<number>";

/// Parses JSON in which `<number>` may stand for a number.
fn quoted(json: &str) -> String {
    json.replace(&format!("\": {NUMBER}"), &format!("\": \"{NUMBER}\""))
}

/// The placeholders with the characters of their values.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("<id>", "0123456789abcdef-"),
    ("<rev>", "0123456789"),
    (NUMBER, "0123456789"),
    ("<time>", "0123456789-:.TZ"),
    ("<cursor>", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
    ("<date>", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:, "),
];

/// Formats JSON with one member per line, and small objects and lists of numbers on one line.
fn indented(json: &str) -> String {
    const WIDTH: usize = 100;
    fn write(value: &Value, depth: usize, text: &mut String) {
        let short = value.to_string();
        if short.len() + 2 * depth <= WIDTH {
            return text.push_str(&short);
        }
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        let members: Vec<(Option<&String>, &Value)> = match value {
            Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
            Value::Object(members) => members.iter().map(|(name, value)| (Some(name), value)).collect(),
            _ => return text.push_str(&short),
        };
        text.push(open);
        for (at, (name, member)) in members.into_iter().enumerate() {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            text.push_str(&"  ".repeat(depth + 1));
            if let Some(name) = name {
                text.push_str(&format!("{}: ", Value::from(name.as_str())));
            }
            write(member, depth + 1, text);
        }
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
        text.push(close);
    }
    let mut text = String::new();
    write(&serde_json::from_str(json).unwrap(), 0, &mut text);
    text
}

#[test]
fn only_placeholders_may_differ() {
    let shown = |head: &str, body: &str| Shown { head: head.to_owned(), body: body.to_owned() };
    assert!(fits("{\"a\": \"<time> <id>\"}", &shown("", r#"{"a":"2026-01-01T00:00:00.000000Z 0198-ab"}"#)));
    assert!(fits("{\n \"a\": \"x <id>\"\n}\n", &shown("", r#"{"a":"x 0198-ab"}"#)));
    for other in [r#"{"a":"x "}"#, r#"{"a":"x 0198","b":1}"#, r#"{"a":"y 01"}"#, r#"{"a":"x 01."}"#, "{}", ""] {
        assert!(!fits("{\"a\": \"x <id>\"}\n", &shown("", other)), "{other}");
    }
    assert!(fits("{\"a\": <number>}", &shown("", r#"{"a":12}"#)));
    assert!(!fits("{\"a\": <number>}", &shown("", r#"{"a":-1.5}"#)));
    assert!(fits("HTTP/1.1 200 OK\netag: \"<rev>\"\n\ntext\n", &shown("HTTP/1.1 200 OK\netag: \"12\"", "text")));
    assert!(!fits("HTTP/1.1 200 OK\n\ntext\n", &shown("HTTP/1.1 200 OK\netag: \"12\"", "text")));
}
