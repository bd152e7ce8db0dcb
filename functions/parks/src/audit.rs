//! The time and the person of a write.

use table::Access;
use table::clock::rfc3339;
use web::Context;

#[derive(Clone, Debug)]
pub struct Audit {
    pub at: String,
    pub by: Option<String>,
}

impl Audit {
    /// A write by the caller at this time.
    pub fn now(cx: &Context) -> Self {
        Self::of(cx.access(), cx.principal().known().map(|known| known.idpid().to_string()))
    }

    /// A write for this person at this time.
    pub fn of(access: &Access, by: Option<String>) -> Self {
        Self { at: rfc3339(access.engines().clock.now()), by }
    }
}
