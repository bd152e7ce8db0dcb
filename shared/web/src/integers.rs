//! Integers with a fraction or an exponent. JSON Schema takes `22.0` for an integer, and serde does not.

use serde_json::Value;

/// The largest integer up to which a double represents all of them.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the JSON text with `22.0` and `2.2e1` written as `22`, or `None` if it has no such number.
pub(crate) fn normalize(json: &str) -> Option<String> {
    let mut normalized = String::with_capacity(json.len());
    let (mut rest, mut changed) = (json, false);
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => end_of_string(rest),
            '-' | '0'..='9' => rest.find(|letter| !is_of_number(letter)).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(end)?;
        match integer(token) {
            Some(number) if first != '"' => {
                changed = true;
                normalized.push_str(&number.to_string());
            }
            _ => normalized.push_str(token),
        }
        rest = after;
    }
    changed.then_some(normalized)
}

/// Writes each number of a JSON value that is an integer with a fraction or an exponent as an integer.
pub fn normalize_value(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = number.as_f64().and_then(whole) {
                *value = whole.into();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(normalize_value),
        Value::Object(members) => members.values_mut().for_each(normalize_value),
        _ => {}
    }
}

fn is_of_number(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.' | 'e' | 'E')
}

/// Returns the value of a token that is an integer with a fraction or an exponent.
fn integer(token: &str) -> Option<i64> {
    whole(token.parse().ok().filter(|_| token.contains(['.', 'e', 'E']))?)
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT).then_some(number as i64)
}

/// Returns the end of a string that starts with a quote, after its closing quote.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (index, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return index + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_of_a_value_are_normalized_at_every_depth() {
        let mut value = json!({ "a": [1.0, -2.0, 1.5, 1e20], "b": { "c": -0.0, "d": "1.0" }, "e": 7 });
        normalize_value(&mut value);
        assert_eq!(value.to_string(), r#"{"a":[1,-2,1.5,1e+20],"b":{"c":0,"d":"1.0"},"e":7}"#);
    }

    #[test]
    fn integer_with_fraction_or_exponent_is_normalized() {
        for (json, normalized) in [
            ("22.0", Some("22")),
            (r#"{"a":-3.00,"b":[2.2e1,1.5],"c":"1.0"}"#, Some(r#"{"a":-3,"b":[22,1.5],"c":"1.0"}"#)),
            (r#"{"\\\"1.0":1,"é":7.0}"#, Some(r#"{"\\\"1.0":1,"é":7}"#)),
            ("-0.0", Some("0")),
            ("1e400", None),
            ("1e20", None),
            ("1.5", None),
            (r#"["1.0\"",12]"#, None),
        ] {
            assert_eq!(normalize(json).as_deref(), normalized, "{json}");
        }
    }
}
