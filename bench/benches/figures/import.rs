//! A file of 50 000 points, sent over HTTP to a platform in a process of its own, becomes items; and one of 5 000.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use serde_json::Value;
use table::{Engines, create_tables};

use crate::Failure;
use crate::child::{Child, Memory};
use crate::figure::{Figure, Goal, Table, megabytes, milliseconds, per_second};
use crate::gateway::{COLLECTION, json_of};
use crate::layer::Grid;
use crate::platform::Platform;
use crate::write::{until, word};

const FEW: usize = 5_000;
const MANY: usize = 50_000;

/// How many items a transaction of an import makes, and so one of the baseline.
const TOGETHER: usize = 30;

const ABOVE_IDLE: f64 = 150e6;
const OVER_FEW: f64 = 1.2;

/// An item as the table has it.
type Stored = HashMap<String, AttributeValue>;

#[derive(Debug)]
struct Imported {
    took: Duration,
    /// From the job's end until search found the last feature.
    found: Duration,
    bare: Duration,
    /// Of the platform and of its DynamoDB, where the system tells it.
    memory: Option<Memory>,
    dynamodb: Option<Memory>,
}

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let few = import(platform, "few-", FEW).await?;
    let many = import(platform, "many-", MANY).await?;
    table.add(&Figure {
        name: "import: 50 000 points over HTTP",
        measured: per_second(MANY, many.took, "items"),
        goal: Goal::None,
        baseline: format!("bare transactions of {TOGETHER}: {}", per_second(MANY, many.bare, "items")),
        ratio: Some(many.bare.as_secs_f64() / many.took.as_secs_f64()),
    });
    table.add(&Figure {
        name: "import: from the job's end to the last point found",
        measured: milliseconds(many.found),
        goal: Goal::None,
        baseline: format!("after 5 000: {}", milliseconds(few.found)),
        ratio: Some(many.found.as_secs_f64() / few.found.as_secs_f64()),
    });
    match [few.memory, many.memory, few.dynamodb, many.dynamodb] {
        [Some(few), Some(many), Some(dynamodb_few), Some(dynamodb_many)] => {
            memory(few, many, table);
            table.add(&Figure {
                name: "import: most memory of dynoxide, 50 000 points",
                measured: megabytes(dynamodb_many.peak),
                goal: Goal::None,
                baseline: format!("5 000 points: {}", megabytes(dynamodb_few.peak)),
                ratio: Some(dynamodb_many.peak as f64 / dynamodb_few.peak as f64),
            });
        }
        _ => println!("Skipped: the memory of an import, which only Linux tells."),
    }
    Ok(())
}

/// What the platform itself holds while it imports.
fn memory(few: Memory, many: Memory, table: &mut Table) {
    let (over_few, above_idle) = (many.peak as f64 / few.peak as f64, many.above_idle());
    table.add(&Figure {
        name: "import: most memory of the platform, 50 000 points",
        measured: megabytes(many.peak),
        goal: Goal::at_most(OVER_FEW, over_few, format!("≤ {OVER_FEW} × 5 000")),
        baseline: format!("5 000 points: {}", megabytes(few.peak)),
        ratio: Some(over_few),
    });
    table.add(&Figure {
        name: "import: the same above an idle platform",
        measured: megabytes(above_idle),
        goal: Goal::at_most(ABOVE_IDLE, above_idle as f64, format!("≤ {:.0} MB", ABOVE_IDLE / 1e6)),
        baseline: format!("idle: {}", megabytes(many.idle)),
        ratio: None,
    });
}

/// Imports so many points into a new platform.
async fn import(platform: &Platform, prefix: &str, points: usize) -> Result<Imported, Failure> {
    let child = Child::beside(platform, "parks", prefix).await?;
    let gateway = child.gateway().await?;
    let last = word();
    let name = |number| if number + 1 == points { last.clone() } else { format!("Camp {number}") };
    let file = Grid::of(points).features(0..points, name);
    let platform_memory = Memory::begin(child.platform());
    let dynamodb_memory = Memory::begin(child.dynamodb());
    let took = gateway.import(file, points).await?;
    let found = until(Instant::now(), || async {
        let found = json_of(gateway.get(&format!("/parks/search?q={last}")).send().await?).await?;
        Ok(found.pointer("/total/value").and_then(Value::as_u64) == Some(1))
    })
    .await?;
    let memory = platform_memory.and_then(|memory| memory.end(child.platform()));
    let dynamodb = dynamodb_memory.and_then(|memory| memory.end(child.dynamodb()));
    let bare = again(&child.engines(platform, prefix), &child.engines(platform, "bare-")).await?;
    child.stop().await?;
    Ok(Imported { took, found, bare, memory, dynamodb })
}

/// Puts the items that were made into tables with the same indexes, whose stream nobody reads; one transaction after
/// the other, as an import does.
async fn again(made: &Engines, bare: &Engines) -> Result<Duration, Failure> {
    create_tables(bare.dynamodb(), &bare.config, &parks::SYSTEM).await?;
    let items = facilities(made).await?;
    let start = Instant::now();
    for together in items.chunks(TOGETHER) {
        let put = |item: &Stored| {
            let put = Put::builder().table_name(bare.config.table("parks")).set_item(Some(item.clone()));
            Ok(TransactWriteItem::builder().put(put.build()?).build())
        };
        let puts: Result<Vec<_>, Failure> = together.iter().map(put).collect();
        bare.dynamodb().transact_write_items().set_transact_items(Some(puts?)).send().await?;
    }
    Ok(start.elapsed())
}

async fn facilities(made: &Engines) -> Result<Vec<Stored>, Failure> {
    let query = made.dynamodb().query().table_name(made.config.table("parks")).key_condition_expression("pk = :pk");
    let query = query.expression_attribute_values(":pk", AttributeValue::S(format!("facility::{COLLECTION}")));
    let mut pages = query.into_paginator().send();
    let mut items = Vec::new();
    while let Some(page) = pages.next().await {
        items.extend(page?.items.unwrap_or_default());
    }
    Ok(items)
}
