//! The end of shapes that nobody uses: after seven days they are marked, so that nobody attaches them any more, then
//! their objects go, then their items. Whoever dies in between leaves a mark, and `runWork` goes on from it.

use std::time::Duration;

use bytes::Bytes;
use jiff::SignedDuration;
use table::{Access, Action, Changes, Error, Stored, item};
use tokio::time::Instant;
use web::{Due, Event, EventFailure, Problem};

use super::store::{Geometry, GeometryStatus, PREFIX, UNREFERENCED, coarse_object, fine_object, object};
use crate::access::SWEEP;
use crate::schema::{BUCKET, PARKS};

/// How long a shape without uses is kept.
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The partition that lists shapes whose removal has begun.
const DELETING: &str = "geometry::deleting";

/// What must be left of a run's time for one more shape.
const FOR_ONE: Duration = Duration::from_secs(2);

const PAGE: u32 = 100;

/// Every day: marks and removes the shapes that have been without uses for seven days.
pub async fn sweep_geometries(event: Event) -> Result<Bytes, EventFailure> {
    let now = event.engines().clock.now();
    let before = table::clock::rfc3339(now.saturating_sub(KEPT).unwrap_or(now));
    let due = remove(event.access(), UNREFERENCED, Some(&before), event.deadline).await.map_err(EventFailure::new)?;
    event.went_on(due)
}

/// Removes what others have marked and not finished.
pub async fn finish(access: &Access, until: Instant) -> Result<Due, Problem> {
    remove(access, DELETING, None, until).await
}

/// One that fails stops no other.
async fn remove(access: &Access, listed: &str, before: Option<&str>, until: Instant) -> Result<Due, Problem> {
    let (mut after, mut due) = (None, Due::default());
    loop {
        let query = access.table(&SWEEP, &PARKS).query(listed).index("list").after(after);
        let query = if let Some(before) = before { query.below(before) } else { query };
        let page = query.page(PAGE).await?;
        for stored in page.items {
            let over = until.saturating_duration_since(Instant::now()) < FOR_ONE;
            if over || access.engines().is_winding_down() {
                return Ok(due);
            }
            let went = remove_one(access, &stored, before).await;
            due.count(went.is_err());
            if let Err(problem) = went {
                tracing::error!(geometry.key = ?stored.key, %problem, "a shape was left where it is; the next run goes on");
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(due),
        }
    }
}

async fn remove_one(access: &Access, listed: &Stored, before: Option<&str>) -> Result<(), Problem> {
    let Some(stored) = access.table(&SWEEP, &PARKS).get_consistent(listed.key.clone()).await? else { return Ok(()) };
    let geometry: Geometry = stored.read()?;
    let engines = access.engines();
    let now = engines.clock.seconds();
    let free = match geometry.status {
        // The index may be late: what counts is the item.
        GeometryStatus::Stored => {
            geometry.refs == 0 && before.is_some_and(|before| geometry.list_sk.as_deref().is_some_and(|sk| sk < before))
        }
        GeometryStatus::Deleting => geometry.lease_until.is_none_or(|until| until <= now),
    };
    if !free {
        return Ok(());
    }
    let until = now + i64::try_from(engines.config.lease.as_secs()).unwrap_or(i64::MAX / 2);
    let mark = Changes::new()
        .set("status", item::text("deleting"))
        .set("listPk", item::text(DELETING))
        .set("leaseUntil", item::number(until));
    let mark = Action::update(&PARKS, stored.key.clone(), mark).if_unchanged(&stored);
    let rev = match access.write(&SWEEP, mark).await {
        Ok(rev) => rev,
        // Somebody uses it now, or removes it.
        Err(Error::Stale { .. } | Error::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let sha256 = stored.key.pk.strip_prefix("geometry::").unwrap_or_default();
    let objects = access.objects(&SWEEP, BUCKET, PREFIX);
    for name in [fine_object(sha256), coarse_object(sha256), object(sha256)] {
        // At the lease's end another run may remove it, and somebody store it again; a call takes some time, too.
        if engines.clock.seconds() >= now.midpoint(until) {
            return Ok(());
        }
        objects.delete(&name).await?;
    }
    match access.write(&SWEEP, Action::delete(&PARKS, stored.key).if_rev(rev)).await {
        Ok(_) | Err(Error::Stale { .. } | Error::NotFound) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
