//! A hundred who create issues of one project at once, beside one who does: over HTTP, all ten values set.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::bare_tracker::BareTracker;
use crate::figure::{Figure, Goal, Table, per_second};
use crate::tenant::{Project, Tenant};
use crate::{Failure, columns};

const COLUMNS: usize = 10;
const CREATORS: usize = 100;

/// Issues of a round, for one creator as for all of them together.
const ISSUES: usize = 500;

/// In turns; the first is not counted.
const ROUNDS: usize = 7;

const LEAST: f64 = 0.8;

pub fn run(table: &mut Table) -> Result<(), Failure> {
    Runtime::new()?.block_on(measure(table))
}

async fn measure(table: &mut Table) -> Result<(), Failure> {
    let tracker = BareTracker::start().await?;
    let tenant = &tracker.tenant;
    let project = tenant.project("Creators", COLUMNS).await?;
    let (mut one, mut all) = (Duration::ZERO, Duration::ZERO);
    for round in 0..ROUNDS {
        let alone = create(tenant, &project, 1).await?;
        let together = create(tenant, &project, CREATORS).await?;
        if round > 0 {
            one += alone;
            all += together;
        }
    }
    let (made, issues) = (count(tenant, &project).await?, 2 * ROUNDS * ISSUES);
    if made != Some(issues as u64) {
        return Err(format!("{issues} issues were made, and {made:?} are there").into());
    }
    let counted = (ROUNDS - 1) * ISSUES;
    let ratio = one.as_secs_f64() / all.as_secs_f64();
    table.add(&Figure {
        name: "creators: issues of 10 values, 100 creators at once",
        measured: per_second(counted, all, "issues"),
        goal: Goal::at_least(LEAST, ratio, format!("≥ {LEAST} of one")),
        baseline: format!("one creator: {}", per_second(counted, one, "issues")),
        ratio: Some(ratio),
    });
    tracker.stop().await
}

/// How long so many creators need for the issues of a round, each of whom makes one after the other.
async fn create(tenant: &Tenant, project: &Project, creators: usize) -> Result<Duration, Failure> {
    let path = format!("{}/issues", project.path);
    let creator = async |creator: usize| {
        for issue in (creator..ISSUES).step_by(creators) {
            let values = columns::values(&project.attributes, issue);
            tenant.post(&path, &json!({"name": format!("Bolt {issue}"), "values": values})).await?;
        }
        Ok::<_, Failure>(())
    };
    let start = Instant::now();
    try_join_all((0..creators).map(creator)).await?;
    Ok(start.elapsed())
}

/// How many issues the project has.
async fn count(tenant: &Tenant, project: &Project) -> Result<Option<u64>, Failure> {
    let page = tenant.read(&project.grid("count=true&limit=1")).await?;
    Ok(page.pointer("/total/value").and_then(serde_json::Value::as_u64))
}
