//! What browsers may do from other origins, the same for every system: API Gateway and the local gateway answer so.

/// The methods that a page may use.
pub const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The header fields that a page may send.
pub const ALLOWED: &[&str] =
    &["authorization", "content-type", "accept", "if-match", "if-none-match", "idempotency-key"];

/// The header fields of an answer that a page may read.
pub const EXPOSED: &[&str] = &["ETag", "Location", "Retry-After", "Link", "apigw-requestid"];

/// How long a browser keeps the answer to its question, in seconds.
pub const MAX_AGE: u32 = 7200;
