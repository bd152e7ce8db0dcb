//! The time and the person of a write.

use jiff::{SignedDuration, Timestamp};
use table::clock::rfc3339;
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

    /// Returns the time of a change to an item that was last modified at `last`. If the clock is behind, it is a
    /// microsecond after `last`, so that `modified` grows with each change.
    pub fn modified_after(&self, last: &str) -> String {
        let last = last.parse::<Timestamp>().ok();
        let next = last.and_then(|last| last.checked_add(SignedDuration::from_micros(1)).ok()).map(rfc3339);
        next.filter(|next| *next > self.at).unwrap_or_else(|| self.at.clone())
    }
}

/// The present time as items store it.
pub fn now(cx: &Context) -> String {
    rfc3339(cx.engines().clock.now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modified_is_after_the_last_change_although_the_clock_is_behind() {
        let audit = Audit { at: "2026-01-01T00:00:10.000000Z".to_owned(), by: "idp:ann".to_owned() };
        for (last, modified) in [
            ("2026-01-01T00:00:09.999999Z", "2026-01-01T00:00:10.000000Z"),
            ("2026-01-01T00:00:10.000000Z", "2026-01-01T00:00:10.000001Z"),
            ("2026-01-01T00:00:59.999999Z", "2026-01-01T00:01:00.000000Z"),
            ("once", "2026-01-01T00:00:10.000000Z"),
        ] {
            assert_eq!(audit.modified_after(last), modified, "{last}");
        }
    }
}
