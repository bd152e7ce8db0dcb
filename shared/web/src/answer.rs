//! The response of a handler that succeeded.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;

use crate::{EntityTag, Problem};

/// Returns the number of bytes that a value takes in the response of a Lambda function. Its JSON is a string there.
pub fn response_bytes(value: &impl Serialize) -> Result<usize, Problem> {
    let json = serde_json::to_vec(value).map_err(Problem::internal)?;
    Ok(string_bytes(&json))
}

/// Returns the number of bytes of a text as a JSON string, without its quotes.
pub fn string_bytes(text: &[u8]) -> usize {
    let escaped = |byte: &u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | b'\x08' | b'\x0c' => 2,
        ..b' ' => r"\u0000".len(),
        _ => 1,
    };
    text.iter().map(escaped).sum()
}

/// A status, headers, and JSON or bytes.
#[derive(Debug)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Result<Bytes, serde_json::Error>,
}

impl Answer {
    /// 200 with JSON.
    pub fn ok(body: &impl Serialize) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with JSON, the path of what was created, and its entity tag.
    pub fn created(location: impl AsRef<str>, etag: impl Into<EntityTag>, body: &impl Serialize) -> Self {
        Self::json(StatusCode::CREATED, body).location(location).etag(etag)
    }

    /// 202 with JSON: a job does the work after the response.
    pub fn accepted(body: &impl Serialize) -> Self {
        Self::json(StatusCode::ACCEPTED, body)
    }

    pub fn no_content() -> Self {
        Self::empty(StatusCode::NO_CONTENT)
    }

    /// 304: the client's content is current.
    pub fn not_modified(etag: impl Into<EntityTag>) -> Self {
        Self::empty(StatusCode::NOT_MODIFIED).etag(etag)
    }

    /// 303 to the URL of the content.
    pub fn see_other(location: impl AsRef<str>) -> Self {
        Self::empty(StatusCode::SEE_OTHER).location(location)
    }

    pub fn json(status: StatusCode, body: &impl Serialize) -> Self {
        let answer = Self { status, headers: HeaderMap::new(), body: serde_json::to_vec(body).map(Bytes::from) };
        answer.content_type("application/json")
    }

    pub fn bytes(status: StatusCode, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self { status, headers: HeaderMap::new(), body: Ok(body.into()) }.content_type(content_type)
    }

    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Ok(Bytes::new()) }
    }

    /// Replaces the content type, for a format with a more specific one than JSON.
    pub fn content_type(self, content_type: &str) -> Self {
        self.header(header::CONTENT_TYPE, content_type)
    }

    pub fn etag(self, etag: impl Into<EntityTag>) -> Self {
        self.header(header::ETAG, etag.into().to_string())
    }

    /// Sets `Location` to a path or URL. Characters that are not valid in a URI are percent-encoded.
    pub fn location(self, location: impl AsRef<str>) -> Self {
        const OUTSIDE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');
        self.header(header::LOCATION, utf8_percent_encode(location.as_ref(), OUTSIDE).to_string())
    }

    pub fn retry_after(self, seconds: u32) -> Self {
        self.header(header::RETRY_AFTER, seconds.to_string())
    }

    /// Permits shared caches to keep the response for these seconds. The default is `private, no-store`.
    pub fn public_for(self, seconds: u32) -> Self {
        self.header(header::CACHE_CONTROL, format!("public, max-age={seconds}"))
    }

    /// Sets a header field. A value that is not valid in a header is ignored.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Returns whether `Location` is this path.
    pub fn is_at(&self, location: &str) -> bool {
        self.headers.get(header::LOCATION).is_some_and(|own| own == location)
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn into_response(self) -> Result<Response<Bytes>, Problem> {
        let mut response = Response::new(self.body.map_err(Problem::internal)?);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_response_are_those_of_its_json_as_a_string() {
        for value in ["", "plain", r#"a "quote" and \ one"#, "lines\r\n\ttab\u{8}\u{c}\u{1}\u{1f}\u{7f}", "Größe 😀"]
        {
            assert_eq!(string_bytes(value.as_bytes()), serde_json::to_string(value).unwrap().len() - 2, "{value}");
            let value = serde_json::json!({ "text": value, "number": 1 });
            let escaped = serde_json::to_string(&value.to_string()).unwrap();
            assert_eq!(response_bytes(&value).unwrap(), escaped.len() - 2, "{value}");
        }
    }
}
