//! Whole numbers with a fraction or an exponent: to JSON Schema `22.0` is an integer, to a Rust integer it is none.

/// The largest whole number up to which a double has them all.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The same JSON text with `22.0` and `2.2e1` written as `22`; none if it has no such number.
pub(crate) fn written_plainly(json: &str) -> Option<String> {
    let mut plain = String::with_capacity(json.len());
    let (mut rest, mut changed) = (json, false);
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => end_of_string(rest),
            '-' | '0'..='9' => rest.find(|letter| !is_of_number(letter)).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(end)?;
        match whole(token) {
            Some(number) if first != '"' => {
                changed = true;
                plain.push_str(&number.to_string());
            }
            _ => plain.push_str(token),
        }
        rest = after;
    }
    changed.then_some(plain)
}

fn is_of_number(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.' | 'e' | 'E')
}

/// The number, where it is a whole one that is not written so.
fn whole(token: &str) -> Option<i64> {
    let number: f64 = token.parse().ok().filter(|_| token.contains(['.', 'e', 'E']))?;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// Where a text that begins with a quote ends, its second quote included.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (place, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return place + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_number_with_fraction_is_written_plainly() {
        for (json, plain) in [
            ("22.0", Some("22")),
            (r#"{"a":-3.00,"b":[2.2e1,1.5],"c":"1.0"}"#, Some(r#"{"a":-3,"b":[22,1.5],"c":"1.0"}"#)),
            (r#"{"\\\"1.0":1,"é":7.0}"#, Some(r#"{"\\\"1.0":1,"é":7}"#)),
            ("-0.0", Some("0")),
            ("1e400", None),
            ("1e20", None),
            ("1.5", None),
            (r#"["1.0\"",12]"#, None),
        ] {
            assert_eq!(written_plainly(json).as_deref(), plain, "{json}");
        }
    }
}
