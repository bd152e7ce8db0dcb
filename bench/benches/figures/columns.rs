//! What issues of the figures have as values: columns of every type but choice, in turn.

use serde_json::{Map, Value, json};

const TYPES: [&str; 5] = ["decimal", "int", "text", "date", "dateTime"];

/// The first column of decimals, of which half are negative.
pub const DECIMAL: usize = 0;

/// The first column of texts.
pub const TEXT: usize = 2;

/// A column's header.
pub fn name(column: usize) -> String {
    format!("Column {column}")
}

/// A column as a new attribute.
pub fn attribute(column: usize) -> Value {
    json!({"name": name(column), "type": TYPES.get(column % TYPES.len())})
}

/// The value of an issue, as a client writes it.
pub fn value(column: usize, issue: usize) -> String {
    let (month, day) = (1 + issue % 12, 1 + issue % 28);
    match column % TYPES.len() {
        DECIMAL => hundredths(decimal(column, issue)),
        1 => (issue * 31 + column).to_string(),
        TEXT => format!("Seen by team {} of crew {column}", issue % 97),
        3 => format!("20{:02}-{month:02}-{day:02}", column + issue % 50),
        _ => format!("2026-{month:02}-{day:02}T10:{:02}:00.000000Z", issue % 60),
    }
}

/// The values of an issue by the ids of the attributes, one for each column.
pub fn values(attributes: &[String], issue: usize) -> Value {
    let value = |(column, id): (usize, &String)| (id.clone(), value(column, issue).into());
    Value::Object(attributes.iter().enumerate().map(value).collect::<Map<_, _>>())
}

/// The value in a column of decimals, in hundredths.
pub fn decimal(column: usize, issue: usize) -> i64 {
    (issue * 7_919 + column) as i64 % 2_000_000 - 1_000_000
}

/// So many hundredths as a decimal.
pub fn hundredths(count: i64) -> String {
    let sign = if count < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", count.unsigned_abs() / 100, count.unsigned_abs() % 100)
}
