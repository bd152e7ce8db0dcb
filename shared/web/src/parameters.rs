//! Parameters of paths and query strings. Each text is converted to the JSON type of its schema.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Number, Value};

use crate::check::shortened;
use crate::shape::{Parameter, Scalar};
use crate::{Fault, Problem};

/// The maximum size of a query string in bytes, without the cursor, which has at most some 2 KB. API Gateway refuses a
/// request line and header values of more than 10 240 bytes together, and a client needs the rest for its token.
pub const MAX_QUERY: usize = 5_000;

/// Checks the size of a query string. The cursor does not count, so that each page of a list has the same limit.
pub(crate) fn check_size(query: &str) -> Result<(), Problem> {
    let counted = query.split('&').filter(|pair| !pair.starts_with("cursor="));
    let bytes: usize = counted.map(|pair| pair.len().saturating_add(1)).sum();
    if bytes.saturating_sub(1) <= MAX_QUERY {
        return Ok(());
    }
    let detail = format!("The query string has more than {MAX_QUERY} bytes. Send fewer or shorter parameters.");
    Err(Problem::bad_request(detail))
}

/// Returns the decoded names and values of a query string. `+` is a space; a name without `=` has an empty value.
pub(crate) fn pairs(query: &str) -> (Vec<(String, String)>, Vec<Fault>) {
    let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().map(|text| text.into_owned());
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (decode(name), decode(value)) {
            (Ok(name), Ok(value)) => pairs.push((name, value)),
            (Ok(name), Err(_)) => faults.push(Fault::parameter(shortened(&name), "is not UTF-8")),
            (Err(_), _) => faults.push(Fault::parameter("", "has a name that is not UTF-8")),
        }
    }
    (pairs, faults)
}

/// Converts parameters to the object that the schema describes. A text that is not of its type stays a string, so that
/// the check against the schema reports the fault. Unknown names are reported here, with the list of parameters.
pub(crate) fn object(
    pairs: &[(String, String)],
    parameters: &[Parameter],
    faults: &mut Vec<Fault>,
) -> Map<String, Value> {
    let mut object = Map::new();
    for (name, text) in pairs {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == *name) else {
            let known: Vec<String> = parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
            let detail = match known.as_slice() {
                [] => "is not a known parameter: this operation takes none".to_owned(),
                known => format!("is not a known parameter; this operation takes {}", known.join(", ")),
            };
            let fault = Fault::parameter(shortened(name), detail);
            if !faults.contains(&fault) {
                faults.push(fault);
            }
            continue;
        };
        if parameter.list {
            let elements = text.split(',').map(|element| convert(element, parameter.scalar));
            if let Value::Array(list) = object.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new())) {
                list.extend(elements);
            }
        } else if object.insert(name.clone(), convert(text, parameter.scalar)).is_some() {
            let fault = Fault::parameter(name.clone(), "must be sent only once");
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    object
}

fn convert(text: &str, scalar: Scalar) -> Value {
    let value = match scalar {
        Scalar::Text => None,
        Scalar::Boolean => text.parse().ok().map(Value::Bool),
        Scalar::Integer => integer(text).map(Value::Number),
        Scalar::Number => number(text).map(Value::Number),
    };
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Parses an integer in JSON's syntax; `+1` and `007` stay strings.
fn integer(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_json = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_json {
        return None;
    }
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

/// Parses a number in JSON's syntax.
fn number(text: &str) -> Option<Number> {
    let json = |text: &str| serde_json::from_str::<Number>(text).ok();
    json(text).filter(|_| text.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
}
