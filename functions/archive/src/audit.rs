//! The time of a write, and the user who creates an item.

use web::Context;

use crate::names::UserId;

/// The time and the user of a creation, as items store them.
#[derive(Clone, Debug)]
pub struct Audit {
    /// RFC 3339 with six fraction digits.
    pub at: String,
    pub by: UserId,
}

impl Audit {
    /// The present time and this user.
    pub fn now(cx: &Context, by: UserId) -> Self {
        Self { at: now(cx), by }
    }
}

/// Returns the present time as items store it.
pub fn now(cx: &Context) -> String {
    table::clock::rfc3339(cx.engines().clock.now())
}
