//! The CORS settings of every system, for API Gateway and the local gateway.

/// The methods that a page may use.
pub const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The header fields that a page may send.
pub const ALLOWED: &[&str] =
    &["authorization", "content-type", "accept", "if-match", "if-none-match", "idempotency-key"];

/// The header fields of a response that a page may read.
pub const EXPOSED: &[&str] = &["ETag", "Location", "Retry-After", "Link", "apigw-requestid"];

/// The seconds for which a browser caches the response to a preflight request.
pub const MAX_AGE: u32 = 7200;
