//! What a program that scans the local DynamoDB costs everybody else: `GetItem` of another table, beside it and alone.

use std::time::Instant;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures::future::{Either, select, try_join_all};
use local::engine::dynoxide::Dynoxide;
use local::platform::CREDENTIALS;
use table::schema::{System, Table};
use table::{Clock, Config, Engines, create_tables};
use tokio::runtime::Runtime;

use crate::Failure;
use crate::event::prose;
use crate::figure::{Figure, Goal, Table as Figures, milliseconds, per_second};
use crate::timing::Times;

static LARGE: Table = Table { name: "large", pk: "pk", sk: Some("sk"), indexes: &[], entities: &[], stream: false };
static PLAIN: Table = Table { name: "plain", ..LARGE };
static SMALL: Table = Table { name: "small", ..LARGE };
static SYSTEM: System =
    System { name: "scanned", tables: &[&LARGE, &PLAIN, &SMALL], buckets: &[], secrets: &[], sources: &[] };

/// The large table has 400 MB.
const ITEMS: usize = 50_000;
const ITEM: usize = 8000;

/// Items of a partition.
const PARTITION: usize = 500;

/// In one `BatchWriteItem`.
const BATCH: usize = 25;

const GETS: usize = 2000;

/// Puts that are timed, of 1 KB, in turns with those into a table without the index of scans.
const PUTS: usize = 2000;

const SEGMENTS: i32 = 4;

pub fn run(table: &mut Figures) -> Result<(), Failure> {
    Runtime::new()?.block_on(measure(table))
}

async fn measure(table: &mut Figures) -> Result<(), Failure> {
    let state = tempfile::tempdir()?;
    let dynoxide = Dynoxide::start(Some(&state.path().join("dynamodb.sqlite"))).await?;
    let (direct, fronted) = (engines(&dynoxide.endpoint), engines(&dynoxide.front));
    create_tables(direct.dynamodb(), &direct.config, &SYSTEM).await?;
    for indexed in [&LARGE, &SMALL] {
        dynoxide.index_scans(&direct.config.table(indexed.name)).await?;
    }
    let text = prose(ITEM);
    for from in (0..ITEMS).step_by(BATCH) {
        write(direct.dynamodb(), &LARGE, from..from + BATCH, &text).await?;
    }
    write(direct.dynamodb(), &SMALL, 0..BATCH, "small").await?;

    let alone = gets(direct.dynamodb(), std::future::pending()).await?;
    let beside = gets(direct.dynamodb(), scan(fronted.dynamodb(), None)).await?;
    let segments = try_join_all((0..SEGMENTS).map(|segment| scan(fronted.dynamodb(), Some(segment))));
    let segments = gets(direct.dynamodb(), async { segments.await.map(drop) }).await?;
    let past_front = gets(direct.dynamodb(), scan(direct.dynamodb(), None)).await?;
    let baseline = format!("alone: {}", milliseconds(alone.percentile(99)));
    let mut add = |name: &str, times: &Times, goal: bool| {
        let p99 = times.percentile(99);
        let ratio = p99.as_secs_f64() / alone.percentile(99).as_secs_f64();
        let most = (2.0 * alone.percentile(99).as_secs_f64()).max(0.05);
        let goal = if goal { Goal::at_most(most, p99.as_secs_f64(), "≤ 2 × or 50 ms") } else { Goal::None };
        let (measured, baseline) = (milliseconds(p99), baseline.clone());
        table.add(&Figure { name, measured, goal, baseline, ratio: Some(ratio) });
    };
    add("scan: GetItem beside a scan of 400 MB, p99", &beside, true);
    add("scan: the same beside one in four segments", &segments, true);
    add("scan: the same beside one without a limit", &past_front, false);

    let (indexed, plain) = puts(direct.dynamodb()).await?;
    table.add(&Figure {
        name: "scan: puts of 1 KB into a table with the index of scans",
        measured: per_second(PUTS, indexed, "items"),
        goal: Goal::at_least(0.9, plain.as_secs_f64() / indexed.as_secs_f64(), "≥ 0.9"),
        baseline: format!("without the index: {}", per_second(PUTS, plain, "items")),
        ratio: Some(plain.as_secs_f64() / indexed.as_secs_f64()),
    });
    dynoxide.stop().await;
    Ok(state.close()?)
}

fn engines(endpoint: &str) -> std::sync::Arc<Engines> {
    let config = Config {
        dynamodb: Some(endpoint.to_owned()),
        credentials: Some((CREDENTIALS.0.to_owned(), CREDENTIALS.1.to_owned())),
        ..Config::new("local", "http://127.0.0.1:1")
    };
    Engines::new(config, Clock::system())
}

fn item(number: usize, text: &str) -> [(String, AttributeValue); 3] {
    let text_of = |text: String| AttributeValue::S(text);
    [
        ("pk".to_owned(), text_of(format!("partition#{}", number / PARTITION))),
        ("sk".to_owned(), text_of(format!("{number:07}"))),
        ("text".to_owned(), text_of(text.to_owned())),
    ]
}

async fn write(client: &Client, table: &Table, numbers: std::ops::Range<usize>, text: &str) -> Result<(), Failure> {
    let put = |number| {
        let put = PutRequest::builder().set_item(Some(item(number, text).into())).build()?;
        Ok::<_, Failure>(WriteRequest::builder().put_request(put).build())
    };
    let puts = numbers.map(put).collect::<Result<Vec<_>, _>>()?;
    client.batch_write_item().request_items(table.name, puts).send().await?;
    Ok(())
}

/// Scans the large table over and over, as a program does that follows `LastEvaluatedKey`.
async fn scan(client: &Client, segment: Option<i32>) -> Result<(), Failure> {
    loop {
        let scan = client.scan().table_name(LARGE.name).set_segment(segment);
        let mut pages = scan.set_total_segments(segment.map(|_| SEGMENTS)).into_paginator().send();
        while let Some(page) = pages.next().await {
            page?;
        }
    }
}

/// Times of reads of the small table, each after the other, while something else is done.
async fn gets(client: &Client, meanwhile: impl Future<Output = Result<(), Failure>>) -> Result<Times, Failure> {
    let reads = async {
        let mut times = Times::default();
        let begun = Instant::now();
        let mut number = 0;
        // The slowest baseline would take minutes for all of them.
        while number < GETS && begun.elapsed().as_secs() < 30 {
            let [pk, sk, _] = item(number % BATCH, "");
            let get = client.get_item().table_name(SMALL.name).key(pk.0, pk.1).key(sk.0, sk.1);
            let start = Instant::now();
            get.send().await?.item.ok_or("an item is gone")?;
            times.add(start.elapsed());
            number += 1;
        }
        Ok(times)
    };
    match select(std::pin::pin!(reads), std::pin::pin!(meanwhile)).await {
        Either::Left((times, _)) => times,
        Either::Right((ended, _)) => Err(ended.err().unwrap_or_else(|| "the scan ended".into())),
    }
}

async fn puts(client: &Client) -> Result<(std::time::Duration, std::time::Duration), Failure> {
    let text = prose(1000);
    let mut times = [std::time::Duration::ZERO; 2];
    for number in ITEMS..ITEMS + PUTS {
        for (table, time) in [&SMALL, &PLAIN].into_iter().zip(&mut times) {
            let start = Instant::now();
            client.put_item().table_name(table.name).set_item(Some(item(number, &text).into())).send().await?;
            *time += start.elapsed();
        }
    }
    let [indexed, plain] = times;
    Ok((indexed, plain))
}
