//! Cursors of a request: bound to its route, its parameters and its caller.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use table::cursor::{self, CursorError};

use crate::route::Body;
use crate::{Fault, Problem, Request};

/// What may differ from page to page.
const FREE: [&str; 2] = ["cursor", "limit"];

impl Request {
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
