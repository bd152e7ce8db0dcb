//! The removal of shapes without uses. After seven days they are marked, so that no request attaches them any more; then
//! their objects are deleted, and last their items. `runJobs` resumes a removal that a run has not finished.

use std::time::Duration;

use bytes::Bytes;
use jiff::SignedDuration;
use table::{Access, Action, Changes, EntityKey, Error, Stored, item};
use tokio::time::Instant;
use web::{Event, EventFailure, Problem, RunSummary};

use super::store::{Geometry, GeometryStatus, PREFIX, UNREFERENCED, coarse_object, fine_object, object};
use crate::access::SWEEP;
use crate::keys::GeometryKey;
use crate::schema::{BUCKET, PARKS};

/// The time for which a shape without uses is kept.
const RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The partition that lists shapes whose removal has started.
const DELETING: &str = "geometry::deleting";

/// The remaining time that a run needs to start another removal.
const TIME_FOR_ONE: Duration = Duration::from_secs(2);

const PAGE: u32 = 100;

/// Marks and removes the shapes that have had no uses for seven days; every day.
pub async fn sweep_geometries(event: Event) -> Result<Bytes, EventFailure> {
    let now = event.engines().clock.now();
    let before = table::clock::rfc3339(now.saturating_sub(RETENTION).unwrap_or(now));
    let due = remove(event.access(), UNREFERENCED, Some(&before), event.deadline).await.map_err(EventFailure::new)?;
    event.finish(due)
}

/// Resumes the removals that other runs have not finished.
pub async fn finish(access: &Access, until: Instant) -> Result<RunSummary, Problem> {
    remove(access, DELETING, None, until).await
}

/// Removes the listed shapes. A failed removal does not block the others.
async fn remove(access: &Access, listed: &str, before: Option<&str>, until: Instant) -> Result<RunSummary, Problem> {
    let (mut after, mut due) = (None, RunSummary::default());
    loop {
        let query = access.table(&SWEEP, &PARKS).query(listed).index("list").after(after);
        let query = if let Some(before) = before { query.below(before) } else { query };
        let page = query.page(PAGE).await?;
        for stored in page.items {
            let over = until.saturating_duration_since(Instant::now()) < TIME_FOR_ONE;
            if over || access.engines().is_winding_down() {
                return Ok(due);
            }
            let went = remove_one(access, &stored, before).await;
            due.count(went.is_err());
            if let Err(problem) = went {
                tracing::error!(geometry.key = ?stored.key, %problem, "removal of a shape failed; the next run will resume it");
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
        // The index may lag behind the item.
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
        // Another request has attached it, or another run removes it.
        Err(Error::Stale { .. } | Error::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Some(GeometryKey { sha256 }) = GeometryKey::parse(&stored.key) else {
        return Err(Problem::internal(format!("{:?} is not the key of a shape", stored.key)));
    };
    let sha256 = sha256.as_str();
    let objects = access.objects(&SWEEP, BUCKET, PREFIX);
    for name in [fine_object(sha256), coarse_object(sha256), object(sha256)] {
        // After the lease another run may remove the shape and a request store it again, and a call takes some time.
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
