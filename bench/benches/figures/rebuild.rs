//! The filling of a new index from a table, beside `_bulk` requests of the same documents and a scan of the same items;
//! then the audit of both.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures::{StreamExt, TryStreamExt, stream};
use local::systems;
use mirror::{AuditOptions, Documents, Goal as Order, Progress, Rebuild};
use parks::documents::Parks;
use reqwest::Method;
use serde_json::Value;
use table::Item;

use crate::Failure;
use crate::event::{self, event, facility, modified};
use crate::figure::{Figure, Goal, Table, per_second};
use crate::gateway::json_of;
use crate::pipeline;
use crate::platform::Platform;
use crate::timing::Times;

/// The number of items, unless `CAIRN_BENCH_ITEMS` has another.
const ITEMS: usize = 100_000;

/// The rounds with at most [`ITEMS`]. With more items there is one, since its figures vary less.
const ROUNDS: usize = 3;

/// The items of one `BatchWriteItem`, and the records of one event from which bulk requests are made.
const WRITES: usize = 25;
const RECORDS: usize = 1_000;

/// The concurrency of a rebuild, which scans a table in four segments, and so that of the baselines.
const SEGMENTS: usize = 4;

/// The revision of every item.
const REV: u64 = 4;

/// The index of the baseline, and its alias, which the mirror's requests require.
const RAW: &str = "raw-rebuild-000001";
const RAW_ALIAS: &str = "raw-rebuild";

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let items = std::env::var("CAIRN_BENCH_ITEMS").map_or(Ok(ITEMS), |items| items.parse())?;
    let platform = platform.beside("rebuild-").await?;
    put_items(&platform, items).await?;
    platform.caught_up().await;
    let bulks = bulks(&platform, items).await?;
    let [mut scans, mut raws, mut fills] = [(); 3].map(|()| Times::default());
    let rounds = if items > ITEMS { 1 } else { ROUNDS };
    for _ in 0..rounds {
        scans.add(scan(&platform, items).await?);
        raws.add(write_raw(&platform, &bulks, items).await?);
        fills.add(rebuild(&platform).await?);
    }
    let [scan, raw, fill] = [scans, raws, fills].map(|times| times.percentile(50));
    let ratio = raw.as_secs_f64() / fill.as_secs_f64();
    table.add(&Figure {
        name: &format!("rebuild: {items} items of 1 KB into a new index"),
        measured: per_second(items, fill, "items"),
        goal: Goal::at_least(0.9, ratio, "≥ 0.9 of raw"),
        baseline: format!("raw _bulk, same bytes: {}", per_second(items, raw, "documents")),
        ratio: Some(ratio),
    });
    let audit = audit(&platform, items).await?;
    for (name, time) in [("rebuild: the same", fill), ("audit: of the table and its index, no differences", audit)] {
        table.add(&Figure {
            name,
            measured: per_second(items, time, "items"),
            goal: Goal::None,
            baseline: format!("a scan alone: {}", per_second(items, scan, "items")),
            ratio: Some(scan.as_secs_f64() / time.as_secs_f64()),
        });
    }
    platform.stop().await;
    Ok(())
}

async fn put_items(platform: &Platform, items: usize) -> Result<(), Failure> {
    let engines = platform.engines();
    let name = engines.config.table("parks");
    let put = async |from: usize| {
        let puts = (from..items.min(from + WRITES)).map(|number| {
            let put = PutRequest::builder().set_item(attributes(&facility(number, REV))).build()?;
            Ok::<_, Failure>(WriteRequest::builder().put_request(put).build())
        });
        let puts = puts.collect::<Result<Vec<_>, _>>()?;
        engines.dynamodb().batch_write_item().request_items(&name, puts).send().await?;
        Ok::<_, Failure>(())
    };
    stream::iter((0..items).step_by(WRITES).map(put)).buffer_unordered(SEGMENTS).try_collect().await
}

/// Reads DynamoDB JSON.
fn attributes(item: &Value) -> Option<Item> {
    item.as_object()?.iter().map(|(name, value)| Some((name.clone(), attribute(value)?))).collect()
}

fn attribute(value: &Value) -> Option<AttributeValue> {
    let (kind, value) = value.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "S" => AttributeValue::S(value.as_str()?.to_owned()),
        "N" => AttributeValue::N(value.as_str()?.to_owned()),
        "BOOL" => AttributeValue::Bool(value.as_bool()?),
        "L" => AttributeValue::L(value.as_array()?.iter().map(attribute).collect::<Option<_>>()?),
        _ => return None,
    })
}

/// Returns the bulk requests that write the same documents.
async fn bulks(platform: &Platform, items: usize) -> Result<Vec<Arc<str>>, Failure> {
    let mut bulks = Vec::new();
    for from in (0..items).step_by(RECORDS) {
        let records = (from..items.min(from + RECORDS)).map(|number| modified(number, REV));
        let event = event::on_platform(&event(records), &platform.engines().config);
        bulks.extend(pipeline::requests(platform, &[event]).await?.into_iter().map(Arc::from));
    }
    Ok(bulks)
}

/// Reads the table as a rebuild does.
async fn scan(platform: &Platform, items: usize) -> Result<Duration, Failure> {
    let engines = platform.engines();
    let name = engines.config.table("parks");
    let start = Instant::now();
    let segments = (0..SEGMENTS).map(async |segment| {
        let scan = engines.dynamodb().scan().table_name(&name).consistent_read(true);
        let scan = scan.segment(i32::try_from(segment)?).total_segments(i32::try_from(SEGMENTS)?);
        let mut pages = scan.into_paginator().send();
        let mut read = 0;
        while let Some(page) = pages.try_next().await? {
            read += page.items().len();
        }
        Ok::<_, Failure>(read)
    });
    let read = stream::iter(segments).buffer_unordered(SEGMENTS).try_fold(0, async |sum, read| Ok(sum + read)).await?;
    if read < items {
        return Err(format!("the scan read {read} of {items} items").into());
    }
    Ok(start.elapsed())
}

/// Writes the documents into an index of the same mapping, and refreshes it.
async fn write_raw(platform: &Platform, bulks: &[Arc<str>], documents: usize) -> Result<Duration, Failure> {
    let engine = &platform.engines().config.search;
    let index = format!("{engine}/{RAW}");
    search(platform, Method::PUT, &index, Parks.mapping().body.to_owned()).await?;
    search(platform, Method::PUT, &format!("{index}/_alias/{RAW_ALIAS}"), String::new()).await?;
    let bulk = format!("{engine}/{RAW_ALIAS}/_bulk?filter_path=items.*.status,items.*.error");
    let start = Instant::now();
    let send = async |lines: Arc<str>| pipeline::send(platform, &bulk, &lines).await;
    stream::iter(bulks.to_vec()).map(send).buffer_unordered(SEGMENTS).try_collect::<()>().await?;
    search(platform, Method::POST, &format!("{index}/_refresh"), String::new()).await?;
    let time = start.elapsed();
    let count = search(platform, Method::GET, &format!("{index}/_count"), String::new()).await?;
    if count.get("count").and_then(Value::as_u64) != Some(u64::try_from(documents)?) {
        return Err(format!("the index of the baseline has {count} of {documents} documents").into());
    }
    search(platform, Method::DELETE, &index, String::new()).await?;
    Ok(time)
}

async fn search(platform: &Platform, method: Method, url: &str, body: String) -> Result<Value, Failure> {
    let request = platform.gateway().client().request(method, url).header("content-type", "application/json");
    json_of(request.body(body).send().await?).await
}

/// Rebuilds the index, and returns the time in which it was filled and refreshed.
async fn rebuild(platform: &Platform) -> Result<Duration, Failure> {
    let parks = systems::named("parks").ok_or("no parks")?;
    let times = Arc::new(Mutex::new((None, None)));
    let note = Arc::clone(&times);
    let progress = move |progress| {
        let Ok(mut times) = note.lock() else { return };
        match progress {
            Progress::Published => times.0 = Some(Instant::now()),
            Progress::Filled => times.1 = Some(Instant::now()),
            _ => {}
        }
    };
    // Nothing is written meanwhile, so there is no invocation to wait for.
    let serve = Rebuild { begins: true, ..Rebuild::WITHOUT_WAIT };
    (parks.rebuild)(Arc::clone(platform.engines()), serve, Box::new(progress)).await?;
    let finish = Rebuild { goal: Order::Finish, ..Rebuild::WITHOUT_WAIT };
    (parks.rebuild)(Arc::clone(platform.engines()), finish, Box::new(|_| ())).await?;
    let times = times.lock().map_err(|_| "the progress panicked")?;
    match *times {
        (Some(published), Some(filled)) => Ok(filled - published),
        _ => Err("the rebuild filled no index".into()),
    }
}

async fn audit(platform: &Platform, documents: usize) -> Result<Duration, Failure> {
    let parks = systems::named("parks").ok_or("no parks")?;
    let start = Instant::now();
    let audits = (parks.audit)(Arc::clone(platform.engines()), AuditOptions::DAILY, Box::new(|_| ())).await?;
    let time = start.elapsed();
    let audited: u64 = audits.generations.iter().flat_map(|audit| &audit.tables).map(|table| table.documents).sum();
    let found: usize =
        audits.generations.iter().flat_map(|audit| &audit.tables).map(|table| table.findings.len()).sum();
    if audited < u64::try_from(documents)? || found > 0 {
        return Err(format!("the audit compared {audited} documents and found {found} differences").into());
    }
    Ok(time)
}
