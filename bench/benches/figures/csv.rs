//! A CSV file of many rows and 30 columns, sent over HTTP to a tracker in a process of its own, becomes issues, and the
//! issues a file again; and a tenth of the rows.

use std::fmt::Write;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use reqwest::StatusCode;
use serde_json::{Value, json};
use table::{Engines, create_tables};

use crate::child::{Child, Memory, Service};
use crate::figure::{Figure, Goal, Table, megabytes, per_second};
use crate::gateway::json_of;
use crate::platform::Platform;
use crate::tenant::{Project, Tenant};
use crate::{Failure, columns};

const FEW: usize = 10_000;
const MANY: usize = 100_000;
const COLUMNS: usize = 30;

/// Items of an issue: itself, its state, its values. An import writes as many issues at once as a transaction takes.
const ITEMS: usize = COLUMNS + 2;
const TOGETHER: usize = 3 * ITEMS;

/// Transactions of the baseline.
const BARE: usize = 300;

const ABOVE_IDLE: f64 = 64e6;
const OVER_FEW: f64 = 1.1;

/// How often work is looked at.
const EVERY: Duration = Duration::from_millis(100);

#[derive(Clone, Copy)]
struct Measured {
    took: Duration,
    /// Of the platform, and of its DynamoDB.
    memory: Option<(Memory, Memory)>,
}

/// Each figure is told once it is measured: the large file takes long, and what comes after it may fail.
pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let small = Running::start(platform, "csv-few-").await?;
    let few = small.import(FEW).await?;
    let few_exported = small.export(FEW).await?;
    let bare = again(&small.child.engines(platform, "csv-few-"), &small.child.engines(platform, "bare-")).await?;
    small.child.stop().await?;

    let large = Running::start(platform, "csv-many-").await?;
    let many = large.import(MANY).await?;
    table.add(&Figure {
        name: &format!("csv: import of {MANY} rows of {COLUMNS} columns"),
        measured: per_second(MANY, many.took, "rows"),
        goal: Goal::None,
        baseline: format!("bare transactions of {TOGETHER}: {}", per_second(MANY, bare, "rows")),
        ratio: Some(bare.as_secs_f64() / many.took.as_secs_f64()),
    });
    memory("import", few, many, table);
    let exported = large.export(MANY).await?;
    table.add(&Figure {
        name: "csv: export of the same",
        measured: per_second(MANY, exported.took, "rows"),
        goal: Goal::None,
        baseline: format!("of {FEW} rows: {}", per_second(FEW, few_exported.took, "rows")),
        ratio: Some(few_exported.took.as_secs_f64() * (MANY / FEW) as f64 / exported.took.as_secs_f64()),
    });
    memory("export", few_exported, exported, table);
    large.child.stop().await
}

fn memory(what: &str, few: Measured, many: Measured, table: &mut Table) {
    let (Some((few, few_dynamodb)), Some((many, many_dynamodb))) = (few.memory, many.memory) else {
        return println!("Skipped: the memory of an {what}, which only Linux tells.");
    };
    let over_few = many.peak as f64 / few.peak as f64;
    table.add(&Figure {
        name: &format!("csv: {what}, most memory of the platform"),
        measured: megabytes(many.peak),
        goal: Goal::at_most(OVER_FEW, over_few, format!("≤ {OVER_FEW} × {FEW}")),
        baseline: format!("{FEW} rows: {}", megabytes(few.peak)),
        ratio: Some(over_few),
    });
    table.add(&Figure {
        name: &format!("csv: {what}, the same above an idle platform"),
        measured: megabytes(many.above_idle()),
        goal: Goal::at_most(ABOVE_IDLE, many.above_idle() as f64, format!("≤ {:.0} MB", ABOVE_IDLE / 1e6)),
        baseline: format!("idle: {}", megabytes(many.idle)),
        ratio: None,
    });
    table.add(&Figure {
        name: &format!("csv: {what}, most memory of dynoxide"),
        measured: megabytes(many_dynamodb.peak),
        goal: Goal::None,
        baseline: format!("{FEW} rows: {}", megabytes(few_dynamodb.peak)),
        ratio: Some(many_dynamodb.peak as f64 / few_dynamodb.peak as f64),
    });
}

/// A new platform, with a project of a tenant of its own.
struct Running {
    child: Child,
    tenant: Tenant,
    project: Project,
}

impl Running {
    async fn start(platform: &Platform, prefix: &str) -> Result<Self, Failure> {
        let child = Child::beside(platform, "tracker", prefix).await?;
        let tenant = child.tenant().await?;
        let project = tenant.project("Bolts", COLUMNS).await?;
        Ok(Self { child, tenant, project })
    }

    async fn import(&self, rows: usize) -> Result<Measured, Failure> {
        measured(&self.child, import(&self.tenant, &self.project, file(rows), rows)).await
    }

    async fn export(&self, rows: usize) -> Result<Measured, Failure> {
        measured(&self.child, export(&self.tenant, &self.project, rows)).await
    }
}

async fn measured(child: &Child, work: impl Future<Output = Result<Duration, Failure>>) -> Result<Measured, Failure> {
    let begin = |service: &Service| Memory::begin(service);
    let before = begin(child.platform()).zip(begin(child.dynamodb()));
    let took = work.await?;
    let memory =
        before.and_then(|(platform, dynamodb)| platform.end(child.platform()).zip(dynamodb.end(child.dynamodb())));
    Ok(Measured { took, memory })
}

/// From the request that announces the file to the end of its work.
async fn import(tenant: &Tenant, project: &Project, file: String, rows: usize) -> Result<Duration, Failure> {
    let new = json!({"mode": "create", "onError": "stop", "bytes": file.len()});
    let start = Instant::now();
    let announced = tenant.post(&format!("{}/imports", project.path), &new).await?;
    let text = |name: &str| announced.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut sending = tenant.client().put(text("link")).body(file);
    for (name, value) in announced.get("headers").and_then(Value::as_object).into_iter().flatten() {
        // The client counts the bytes itself.
        if !name.eq_ignore_ascii_case("content-length") {
            sending = sending.header(name, value.as_str().unwrap_or_default());
        }
    }
    sending.send().await?.error_for_status()?;
    let work = ended(tenant, &format!("{}/jobs/{}", tenant.path(), text("id"))).await?;
    match work.pointer("/counts/created") {
        Some(created) if *created == rows => Ok(start.elapsed()),
        _ => Err(format!("not all was imported: {work}").into()),
    }
}

/// From the request for a file to the whole of it.
async fn export(tenant: &Tenant, project: &Project, rows: usize) -> Result<Duration, Failure> {
    let start = Instant::now();
    let work = tenant.make(&format!("{}/exports", project.path), &json!({})).await?;
    let work = ended(tenant, &work).await?;
    let link = work.get("link").and_then(Value::as_str).ok_or("an export without a file")?;
    let file = tenant.client().get(link).send().await?.error_for_status()?.bytes().await?;
    let took = start.elapsed();
    // A row has one line break, and one more in a cell.
    let lines = file.iter().filter(|byte| **byte == b'\n').count();
    if work.pointer("/counts/done").is_some_and(|done| *done == rows) && lines == 2 * rows + 1 {
        return Ok(took);
    }
    Err(format!("not all was exported: {lines} lines, {work}").into())
}

async fn ended(tenant: &Tenant, path: &str) -> Result<Value, Failure> {
    loop {
        let answer = tenant.get(path).send().await?;
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            // It says that it is to be asked again.
            tokio::time::sleep(EVERY).await;
            continue;
        }
        let work = json_of(answer).await?;
        match work.get("status").and_then(Value::as_str) {
            Some("queued" | "running") => tokio::time::sleep(EVERY).await,
            Some("succeeded") => return Ok(work),
            _ => return Err(format!("it did not succeed: {work}").into()),
        }
    }
}

/// So many rows as spreadsheets write them: after a byte-order mark, one of the cells with a line end and quotes in it.
fn file(rows: usize) -> String {
    let names: Vec<String> = (0..COLUMNS).map(columns::name).collect();
    let mut file = format!("\u{feff}Name,State,{}\r\n", names.join(","));
    for row in 0..rows {
        // Writing to a text does not fail.
        let _ = write!(file, "Bolt {row},{}", if row % 3 == 0 { "closed" } else { "open" });
        for column in 0..COLUMNS {
            let value = columns::value(column, row);
            let _ = match column {
                columns::TEXT => write!(file, ",\"{value}\r\nand \"\"others\"\"\""),
                _ => write!(file, ",{value}"),
            };
        }
        file.push_str("\r\n");
    }
    file
}

/// Puts items that were made into a table with the same index, whose stream nobody reads: one transaction after the
/// other, of as many items as an import's. Returns what this would take for all rows.
async fn again(made: &Engines, bare: &Engines) -> Result<Duration, Failure> {
    create_tables(bare.dynamodb(), &bare.config, &tracker::SYSTEM).await?;
    let scan = made.dynamodb().scan().table_name(made.config.table("tracker"));
    let mut pages = scan.into_paginator().send();
    let mut items = Vec::new();
    while items.len() < BARE * TOGETHER
        && let Some(page) = pages.next().await
    {
        items.extend(page?.items.unwrap_or_default());
    }
    items.truncate(BARE * TOGETHER);
    let start = Instant::now();
    for together in items.chunks(TOGETHER) {
        let mut puts = Vec::new();
        for item in together {
            let put = Put::builder().table_name(bare.config.table("tracker")).set_item(Some(item.clone())).build()?;
            puts.push(TransactWriteItem::builder().put(put).build());
        }
        bare.dynamodb().transact_write_items().set_transact_items(Some(puts)).send().await?;
    }
    Ok(start.elapsed().mul_f64((MANY * ITEMS) as f64 / items.len() as f64))
}
