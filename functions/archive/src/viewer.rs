//! The readers of published records. A record is public exactly when its run is its post's published run and its closed
//! years are over. Staff see closed records, too.

use table::clock::rfc3339;
use web::{Context, EntityTag, Problem, Who, problem};

use crate::access::ONE;
use crate::authorization::Caller;
use crate::item::Post;
use crate::keys::PostKey;
use crate::names::{PostId, Role, RunNumber};
use crate::record::Record;
use crate::schema::ARCHIVE;

/// Every caller; volunteers see closed records, too.
pub const READERS: Who = Who::Views { fuller: "archive-volunteer" };

/// Which records a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// Whether the caller is a volunteer or has a higher role.
    pub is_staff: bool,
    /// The present day in UTC as `yyyymmdd`.
    today: u32,
}

impl Viewer {
    /// Loads the caller. A disabled user sees what the public sees.
    pub async fn load(cx: &Context) -> Result<Self, Problem> {
        let today = day(&rfc3339(cx.engines().clock.now()));
        if cx.principal().known().is_none() {
            return Ok(Self::new(false, today));
        }
        let is_staff = match Caller::load(cx).await {
            Ok(caller) => caller.role >= Role::Volunteer,
            Err(problem) if problem.kind() == problem::FORBIDDEN => false,
            Err(problem) => return Err(problem),
        };
        Ok(Self::new(is_staff, today))
    }

    /// Returns a viewer on a day, given as `yyyymmdd`.
    pub const fn new(is_staff: bool, today: u32) -> Self {
        Self { is_staff, today }
    }

    /// Whether the caller may see what is closed to the public before this day.
    pub fn sees(&self, visible_from: Option<u32>) -> bool {
        self.is_staff || visible_from.is_none_or(|from| from <= self.today)
    }

    /// Whether the caller may learn that a record is gone which was closed to the public before this day. If the day is not
    /// known, it may be any.
    pub fn sees_gone(&self, visible_from: Option<u32>) -> bool {
        self.is_staff || visible_from.is_some() && self.sees(visible_from)
    }

    /// Returns the day by which a record must be open for the caller. None for staff.
    pub fn must_be_open_on(&self) -> Option<u32> {
        (!self.is_staff).then_some(self.today)
    }

    pub fn sees_record(&self, record: &Record) -> bool {
        self.sees(record.visible_from)
    }

    /// Returns the tag of a record in this caller's view.
    pub fn tag(&self, revision: impl Into<EntityTag>) -> EntityTag {
        let revision = revision.into();
        if self.is_staff { revision } else { revision.of_representation("public") }
    }
}

/// Reads a post with its published run. 404 if it has none.
pub async fn published(cx: &Context, post: PostId) -> Result<(Post, RunNumber), Problem> {
    let stored = cx.access().table(&ONE, &ARCHIVE).get_consistent(PostKey { post }).await?;
    let post: Post = stored.ok_or_else(Problem::not_found)?.read()?;
    let run = post.published_run.ok_or_else(Problem::not_found)?;
    Ok((post, run))
}

/// Asserts that readers still see this run of a post. Otherwise what was read of it may be deleted in part, and the caller
/// reads again.
pub async fn require_published(cx: &Context, post: PostId, run: RunNumber) -> Result<(), Problem> {
    let (_, now) = published(cx, post).await?;
    if now == run { Ok(()) } else { Err(Problem::lost_race()) }
}

/// Returns the day of a time in RFC 3339 as `yyyymmdd`. Of a text that is no time it is 0, on which nothing has opened.
fn day(time: &str) -> u32 {
    let digits: String = time.chars().take(10).filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::OPEN;

    #[test]
    fn closed_record_is_seen_by_staff_before_its_first_open_day() {
        let public = Viewer::new(false, 20_261_231);
        for (visible_from, sees) in [(None, true), (Some(20_261_231), true), (Some(20_270_101), false)] {
            assert_eq!(public.sees(visible_from), sees, "{visible_from:?}");
            assert!(Viewer { is_staff: true, ..public }.sees(visible_from));
        }
    }

    #[test]
    fn record_that_is_gone_is_told_to_the_public_only_if_it_is_known_to_be_open() {
        let public = Viewer::new(false, 20_261_231);
        for (visible_from, sees) in
            [(None, false), (Some(OPEN), true), (Some(20_261_231), true), (Some(20_270_101), false)]
        {
            assert_eq!(public.sees_gone(visible_from), sees, "{visible_from:?}");
            assert!(Viewer { is_staff: true, ..public }.sees_gone(visible_from));
        }
    }

    #[test]
    fn day_of_a_time_is_a_number() {
        assert_eq!(day("2026-11-25T17:43:00.000000Z"), 20_261_125);
        assert_eq!(day(""), 0);
    }

    #[test]
    fn tag_of_the_public_view_is_another() {
        let public = Viewer::new(false, 20_261_231);
        assert_eq!(public.tag(EntityTag::new("16")).to_string(), "\"16-public\"");
        assert_eq!(Viewer { is_staff: true, ..public }.tag(EntityTag::new("16")).to_string(), "\"16\"");
    }
}
