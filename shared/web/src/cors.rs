//! The CORS settings of every system and its buckets, for AWS and the local platform.

/// The methods that a page may use.
pub const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The methods that a page may use at a signed link to a bucket.
pub const LINK_METHODS: &[&str] = &["GET", "PUT"];

/// The header fields that a page may send.
pub const ALLOWED: &[&str] =
    &["authorization", "content-type", "accept", "if-match", "if-none-match", "idempotency-key"];

/// The header fields of a response that a page may read.
pub const EXPOSED: &[&str] = &["ETag", "Location", "Retry-After", "Link", "apigw-requestid"];

/// The seconds for which a browser caches the response to a preflight request.
pub const MAX_AGE: u32 = 7200;
