//! The most memory that an event of 6 MB takes, above what the process holds when idle. The event itself is in it.

use geometry::{Kind, Limits, check, sha256};
use parks::schema::BUCKET;
use parks::shapes::{PREFIX, object};
use peakmem_alloc::PeakMemAllocTrait;
use serde_json::{Value, json};

use crate::event::{SOURCE, change, event, facility, full, modified, with};
use crate::figure::{Figure, Goal, Table, megabytes};
use crate::platform::Platform;
use crate::shapes::ellipse;
use crate::{ALLOCATOR, Failure};

const USUAL: f64 = 40e6;
const WORST: f64 = 80e6;

/// An event with its name, and the most that it may take.
type Case = (&'static str, f64, String);

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let function = platform.function("mirror")?;
    // Clients and connections are made once.
    platform.mirror(&function, &event([modified(0, 4)])).await?;
    let shape = store_shape(platform).await?;
    for (name, most, event) in cases(&shape) {
        ALLOCATOR.reset_peak_memory();
        platform.mirror(&function, &event).await?;
        let peak = ALLOCATOR.get_peak_memory() + event.len();
        table.add(&Figure {
            name: &format!("memory: 6 MB event, {name}"),
            measured: megabytes(peak),
            goal: Goal::at_most(most, peak as f64, format!("≤ {:.0} MB", most / 1e6)),
            baseline: format!("the event alone: {}", megabytes(event.len())),
            ratio: Some(peak as f64 / event.len() as f64),
        });
    }
    Ok(())
}

/// A usual event, and hostile ones. What is quarantined comes last: its markers stay.
fn cases(shape: &Value) -> [Case; 7] {
    let shaped_first = |number| if number < 8 { shaped(number, shape) } else { modified(number, 10) };
    [
        ("1 KB items, MODIFY", USUAL, full(|number| modified(number, 8))),
        ("records as small as they get", WORST, full(tiny)),
        ("one key again and again", WORST, full(again)),
        ("items of long lists", WORST, full(long_list)),
        ("items of escaped text", WORST, full(escaped)),
        ("shapes of 50 000 positions", WORST, full(shaped_first)),
        ("all to quarantine", WORST, full(unfit)),
    ]
}

fn tiny(number: usize) -> String {
    created(&json!({"pk": {"S": "collection"}, "sk": {"S": format!("c{number}")}, "rev": {"N": "2"}}))
}

fn again(number: usize) -> String {
    let rev = 12 + 2 * number as u64;
    change(number, &facility(0, rev - 2), &facility(0, rev))
}

/// As many elements as DynamoDB's 400 KB have room for.
fn long_list(number: usize) -> String {
    let terms = vec![json!({"S": "a"}); 190_000];
    created(&json!({
        "pk": {"S": "collection"}, "sk": {"S": format!("l{number}")}, "rev": {"N": "2"}, "searchTerms": {"L": terms}
    }))
}

/// A text that is six times as long in JSON as it is.
fn escaped(number: usize) -> String {
    created(&json!({
        "pk": {"S": "collection"}, "sk": {"S": format!("e{number}")}, "rev": {"N": "2"},
        "description": {"S": "\u{1}".repeat(90_000)}
    }))
}

fn shaped(number: usize, shape: &Value) -> String {
    let old = facility(number, 8);
    change(number, &old, &with(facility(number, 10), "boundaryRef", shape.clone()))
}

fn unfit(number: usize) -> String {
    let old = facility(number, 12);
    change(number, &old, &with(facility(number, 14), "displayName", json!({"N": "1"})))
}

/// A record of a new item with nothing in it that the mirror does not read.
fn created(item: &Value) -> String {
    let keys = json!({"pk": item.get("pk"), "sk": item.get("sk")});
    json!({
        "eventName": "INSERT", "eventSourceARN": SOURCE,
        "dynamodb": {"Keys": keys, "NewImage": item, "SequenceNumber": "1"}
    })
    .to_string()
}

/// Puts the largest shape that search holds whole into the bucket; returns its reference as items have it.
async fn store_shape(platform: &Platform) -> Result<Value, Failure> {
    let shape = check(ellipse(geometry::MAX_FULL_POSITIONS - 1).as_bytes(), Kind::Boundary, &Limits::UPLOAD)?.shape;
    let canonical = shape.canonical();
    let sha256 = sha256(canonical.as_bytes());
    let envelope: [f64; 4] = shape.envelope().into();
    let number = |number: &dyn ToString| json!({"N": number.to_string()});
    let reference = json!({"M": {
        "sha256": {"S": sha256}, "bytes": number(&canonical.len()), "positions": number(&shape.positions()),
        "envelope": {"L": envelope.map(|degrees| number(&degrees))}, "tolerances": {"M": {"coarse": {"N": "0"}}}
    }});
    let engines = platform.engines();
    let put =
        engines.s3().put_object().bucket(engines.config.bucket(BUCKET)).key(format!("{PREFIX}{}", object(&sha256)));
    put.body(canonical.into_bytes().into()).send().await?;
    Ok(reference)
}
