//! Cursors of a request. Each is bound to the request's route, parameters and caller.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use table::cursor::{self, CursorError};

use crate::{Context, Fault, Problem};

/// The parameters that may differ from page to page.
const UNBOUND: [&str; 2] = ["cursor", "limit"];

impl Context {
    /// Opens the cursor that the client sent and returns the position where the previous page ended. A cursor that was
    /// changed, or belongs to another route, other parameters or another caller, is 400.
    pub fn cursor<T: DeserializeOwned>(&self, cursor: Option<&str>) -> Result<Option<T>, Problem> {
        let Some(cursor) = cursor else { return Ok(None) };
        match cursor::open(&self.engines.config.cursor_secrets, &self.binding()?, cursor) {
            Ok(position) => Ok(Some(position)),
            Err(CursorError::Foreign) => Err(Problem::faults(vec![self.invalid_cursor()])),
            Err(error) => Err(Problem::internal(error)),
        }
    }

    /// Returns the cursor of the next page, if there is one, for `nextCursor`.
    pub fn cursor_to(&self, next: Option<impl Serialize>) -> Result<Option<String>, Problem> {
        next.map(|position| self.next_cursor(&position)).transpose()
    }

    /// Returns the cursor that continues after this position, for `nextCursor`.
    pub fn next_cursor(&self, position: &impl Serialize) -> Result<String, Problem> {
        cursor::seal(&self.engines.config.cursor_secrets, &self.binding()?, position).map_err(Problem::internal)
    }

    /// Returns the path and the query string of a link to the page at this cursor. The other parameters are those of
    /// this request, so the cursor is valid with them.
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

    /// Returns what a cursor is bound to: the operation, the caller with its roles, which may choose the list, and the
    /// parameters that must not change.
    fn binding(&self) -> Result<String, Problem> {
        let mut parts = [self.query.clone(), self.body_value()?];
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            part.retain(|name, _| !UNBOUND.contains(&name.as_str()));
        }
        let mut roles: Vec<&String> =
            self.principal.known().map(|known| known.roles.iter().collect()).unwrap_or_default();
        roles.sort_unstable();
        Ok(json!([self.declared.operation, self.principal.text(), roles, self.path, parts]).to_string())
    }

    fn body_value(&self) -> Result<Value, Problem> {
        if self.declared.takes_json {
            serde_json::from_slice(&self.body).map_err(Problem::internal)
        } else {
            Ok(Value::Null)
        }
    }

    fn invalid_cursor(&self) -> Fault {
        let detail = "is not a cursor of this route, these parameters and this caller; send the request without it to \
            get the first page";
        if self.declared.takes_json { Fault::pointer("/cursor", detail) } else { Fault::parameter("cursor", detail) }
    }
}

/// Writes a value as a parameter. The elements of an array are separated by commas.
fn parameter(value: &Value) -> String {
    match value {
        Value::Array(values) => values.iter().map(parameter).collect::<Vec<_>>().join(","),
        Value::String(text) => encoded(text),
        other => other.to_string(),
    }
}

/// Percent-encodes a text for a path or a query string, except the unreserved characters (RFC 3986, section 2.3).
fn encoded(text: &str) -> String {
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, RESERVED).to_string()
}
