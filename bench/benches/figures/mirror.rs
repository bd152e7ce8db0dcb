//! What the mirror computes: from an event's bytes to those of its bulk requests, on one core.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hint::black_box;

use futures::executor::block_on;
use mirror::NoShapes;
use parks::documents::Parks;
use serde::Deserialize;
use table::Config;

use crate::Failure;
use crate::event::{event, modified};
use crate::figure::{Figure, Goal, Table, per_second};
use crate::timing::shortest;

/// What the event source hands over at once.
const RECORDS: usize = 1000;

const ROUNDS: usize = 100;

/// Microseconds since 1970; nothing depends on it.
const NOW: i64 = 1_767_225_600_000_000;

pub fn run(table: &mut Table) -> Result<(), Failure> {
    let event = event((0..RECORDS).map(|number| modified(number, 4)));
    let config = config();
    let mut lines = 0;
    transform(&event, &config, |request| lines += request.lines().count())?;
    if lines != 2 * RECORDS {
        return Err(format!("{RECORDS} records became {lines} lines of bulk requests").into());
    }
    let [transforming, parsing] = shortest(
        ROUNDS,
        [&mut || drop(black_box(transform(&event, &config, |request| _ = black_box(request)))), &mut || {
            drop(black_box(parse(&event)))
        }],
    );
    let rate = RECORDS as f64 / transforming.as_secs_f64();
    table.add(&Figure {
        name: "mirror: event to bulk bytes, 1 KB items, MODIFY",
        measured: per_second(RECORDS, transforming, "records"),
        goal: Goal::at_least(200_000.0, rate, "≥ 200 000/s"),
        baseline: format!("serde_json, borrowed: {}", per_second(RECORDS, parsing, "records")),
        ratio: Some(parsing.as_secs_f64() / transforming.as_secs_f64()),
    });
    Ok(())
}

fn transform(event: &str, config: &Config, request: impl FnMut(&str)) -> Result<(), mirror::Failure> {
    block_on(mirror::transform(&Parks, &NoShapes, config, event.as_bytes(), 5_000_000, NOW, request))
}

/// The tables' names of the made-up events.
fn config() -> Config {
    Config::new("local", "")
}

/// The baseline: the same bytes as a structure that borrows from them.
#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(rename = "Records", borrow)]
    _records: Vec<Record<'a>>,
}

#[derive(Debug, Deserialize)]
struct Record<'a> {
    #[serde(rename = "eventName")]
    _name: &'a str,
    #[serde(rename = "eventSourceARN")]
    _source: &'a str,
    #[serde(rename = "dynamodb", borrow)]
    _change: Change<'a>,
}

#[derive(Debug, Deserialize)]
struct Change<'a> {
    #[serde(rename = "Keys", borrow)]
    _keys: Image<'a>,
    #[serde(rename = "OldImage", borrow)]
    _old: Image<'a>,
    #[serde(rename = "NewImage", borrow)]
    _new: Image<'a>,
    #[serde(rename = "SequenceNumber")]
    _sequence: &'a str,
}

type Image<'a> = HashMap<&'a str, Attribute<'a>>;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only its making is measured")]
enum Attribute<'a> {
    #[serde(borrow)]
    S(Cow<'a, str>),
    N(&'a str),
    #[serde(rename = "BOOL")]
    Bool(bool),
    L(Vec<Self>),
}

fn parse(event: &str) -> serde_json::Result<Event<'_>> {
    serde_json::from_str(event)
}
