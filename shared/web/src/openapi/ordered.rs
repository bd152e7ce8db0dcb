//! JSON text in which `application/json` comes before other content types. It is the default of a response, and client
//! generators use the first content type of a response.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

const FIRST: &str = "application/json";

/// A value that is written with `application/json` before other content types.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<'a>(pub &'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let first = members.get_key_value(FIRST).into_iter();
                let others = members.iter().filter(|(name, _)| *name != FIRST);
                serializer.collect_map(first.chain(others).map(|(name, value)| (name, Ordered(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Ordered)),
            other => other.serialize(serializer),
        }
    }
}

/// JSON text, indented with `{:#}`.
impl fmt::Display for Ordered<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = if formatter.alternate() { serde_json::to_string_pretty } else { serde_json::to_string };
        formatter.write_str(&write(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn application_json_is_written_before_other_content_types() {
        let value = json!({ "b": [{ "application/geo+json": 1, "application/json": 2 }], "a": null });
        let text = Ordered(&value).to_string();
        assert_eq!(text, r#"{"a":null,"b":[{"application/json":2,"application/geo+json":1}]}"#);
    }
}
