//! Cursors of a request: bound to its route, its parameters and its caller.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use table::cursor::{self, CursorError};

use crate::route::Body;
use crate::{Context, Fault, Problem};

/// What may differ from page to page.
const FREE: [&str; 2] = ["cursor", "limit"];

impl Context {
    /// Where the page before this one ended, from the cursor that the client sent. 400 if it was changed, or comes
    /// from another route, other parameters or another caller.
    pub fn cursor<T: DeserializeOwned>(&self, cursor: Option<&str>) -> Result<Option<T>, Problem> {
        let Some(cursor) = cursor else { return Ok(None) };
        match cursor::open(&self.engines.config.cursor_secrets, &self.binding(), cursor) {
            Ok(position) => Ok(Some(position)),
            Err(CursorError::Foreign) => Err(Problem::faults(vec![self.foreign_cursor()])),
            Err(error) => Err(Problem::internal(error)),
        }
    }

    /// The cursor that continues after this position, for `nextCursor`.
    pub fn next_cursor(&self, position: &impl Serialize) -> Result<String, Problem> {
        cursor::seal(&self.engines.config.cursor_secrets, &self.binding(), position).map_err(Problem::internal)
    }

    /// The path and the query string of this request from a cursor on: where a link to the next page leads. The
    /// parameters are those that were sent, so the cursor fits them.
    pub fn target_from(&self, cursor: &str) -> String {
        let mut query = self.query.clone();
        if let Some(query) = query.as_object_mut() {
            query.insert("cursor".to_owned(), cursor.into());
        }
        let pairs = query.as_object().into_iter().flatten();
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{}={}", encoded(name), parameter(value))).collect();
        let path: Vec<String> = self.raw_path.split('/').map(encoded).collect();
        format!("{}?{}", path.join("/"), pairs.join("&"))
    }

    fn binding(&self) -> String {
        let mut parts = [self.query.clone(), self.body_value()];
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            part.retain(|name, _| !FREE.contains(&name.as_str()));
        }
        json!([self.route.name, self.principal.text(), self.path, parts]).to_string()
    }

    fn body_value(&self) -> Value {
        match self.route.body {
            Body::Json { .. } => serde_json::from_slice(&self.body).unwrap_or_default(),
            Body::None | Body::Bytes { .. } => Value::Null,
        }
    }

    fn foreign_cursor(&self) -> Fault {
        let detail = "is not a cursor of this route, these parameters and this caller; begin without it";
        match self.route.body {
            Body::Json { .. } => Fault::pointer("/cursor", detail),
            Body::None | Body::Bytes { .. } => Fault::parameter("cursor", detail),
        }
    }
}

/// A parameter's value as it is sent: lists with commas.
fn parameter(value: &Value) -> String {
    match value {
        Value::Array(values) => values.iter().map(parameter).collect::<Vec<_>>().join(","),
        Value::String(text) => encoded(text),
        other => other.to_string(),
    }
}

/// Text in a path or a query string: escaped but for what never need be (RFC 3986, section 2.3).
fn encoded(text: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, KEPT).to_string()
}
