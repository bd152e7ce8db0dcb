//! Events through the whole mirror into OpenSearch, beside `_bulk` requests of the same bytes, compressed alike.

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use mirror::NoShapes;
use parks::documents::Parks;
use web::lambda::Function;

use crate::Failure;
use crate::event::{event, modified};
use crate::figure::{Figure, Goal, Table, per_second};
use crate::gateway::json_of;
use crate::platform::Platform;
use crate::timing::Times;

const EVENTS: usize = 5;
const RECORDS: usize = 1000;
const WARM_UP: usize = 4;
const ROUNDS: usize = 12;

/// The size of the mirror's first request, in bytes, and so of the baseline's.
const REQUEST: usize = 1_000_000;

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let function = platform.function("mirror")?;
    let bulk = format!(
        "{}/{}/_bulk?require_alias=true&filter_path=items.*.status,items.*.error",
        platform.engines().config.search,
        platform.write_alias().await?
    );
    let (mut mirrored, mut raw) = (Times::default(), Times::default());
    let mut rev = 2;
    for round in 0..WARM_UP + ROUNDS {
        // Each round changes the same items, so both write over documents; they take turns at being first.
        for turn in 0..2 {
            rev += 2;
            let events: Vec<String> = (0..EVENTS).map(|part| changes(part, rev)).collect();
            let (all, time) = if (round + turn) % 2 == 0 {
                (&mut mirrored, through_the_mirror(platform, &function, &events).await?)
            } else {
                (&mut raw, straight(platform, &bulk, &requests(platform, &events).await?).await?)
            };
            if round >= WARM_UP {
                all.add(time);
            }
        }
    }

    let (mirrored, raw) = (mirrored.percentile(50), raw.percentile(50));
    let ratio = raw.as_secs_f64() / mirrored.as_secs_f64();
    table.add(&Figure {
        name: "pipeline: events to OpenSearch, 1 KB items, MODIFY",
        measured: per_second(EVENTS * RECORDS, mirrored, "records"),
        goal: Goal::at_least(0.95, ratio, "≥ 0.95 of raw"),
        baseline: format!("raw _bulk, same bytes: {}", per_second(EVENTS * RECORDS, raw, "records")),
        ratio: Some(ratio),
    });
    Ok(())
}

fn changes(part: usize, rev: u64) -> String {
    event((part * RECORDS..(part + 1) * RECORDS).map(|number| modified(number, rev)))
}

async fn through_the_mirror(platform: &Platform, function: &Function, events: &[String]) -> Result<Duration, Failure> {
    let start = Instant::now();
    for event in events {
        platform.mirror(function, event).await?;
    }
    Ok(start.elapsed())
}

/// Returns the bulk requests that the mirror makes of these events.
pub async fn requests(platform: &Platform, events: &[String]) -> Result<Vec<String>, Failure> {
    let engines = platform.engines();
    let mut requests = Vec::new();
    for event in events {
        let keep = |request: &str| requests.push(request.to_owned());
        let now = engines.clock.micros();
        mirror::transform(&Parks, &NoShapes, &engines.config, event.as_bytes(), REQUEST, now, keep).await?;
    }
    Ok(requests)
}

async fn straight(platform: &Platform, bulk: &str, requests: &[String]) -> Result<Duration, Failure> {
    let start = Instant::now();
    for lines in requests {
        send(platform, bulk, lines).await?;
    }
    Ok(start.elapsed())
}

/// Sends a bulk request, compressed as the mirror does.
pub async fn send(platform: &Platform, bulk: &str, lines: &str) -> Result<(), Failure> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(lines.len() / 4), Compression::fast());
    encoder.write_all(lines.as_bytes())?;
    let request = platform.gateway().client().post(bulk).header("content-type", "application/x-ndjson");
    let answer = request.header("content-encoding", "gzip").body(encoder.finish()?).send().await?;
    let answer = json_of(answer).await?;
    if answer.to_string().contains("error") {
        return Err(format!("OpenSearch refused: {answer}").into());
    }
    Ok(())
}
