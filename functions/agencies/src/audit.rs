//! The time and the person of a write.

use web::{Context, Problem};

/// The time and the person of a write, as items store them.
#[derive(Clone, Debug)]
pub struct Audit {
    /// RFC 3339 with six fraction digits.
    pub at: String,
    pub by: String,
}

impl Audit {
    /// The present time and the caller.
    pub fn now(cx: &Context) -> Result<Self, Problem> {
        let by = cx.principal().signed_in()?.idpid().to_string();
        Ok(Self { at: now(cx), by })
    }
}

/// The present time as items store it.
pub fn now(cx: &Context) -> String {
    table::clock::rfc3339(cx.engines().clock.now())
}
