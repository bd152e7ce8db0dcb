//! What an answer costs among 10^5 items, beside the same among 10^3: two platforms in one run, asked in turns.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Failure;
use crate::figure::{Figure, Goal, Table, milliseconds};
use crate::gateway::{COLLECTION, json_of};
use crate::layer::{CORNER, Grid, STEP};
use crate::platform::Platform;
use crate::timing::Times;

const FEW: usize = 1_000;
const MANY: usize = 100_000;

/// The most rows that one file may have.
const FILE: usize = 50_000;

/// The items of a page, of each word, and of each box: five rows of five.
const PAGE: usize = 25;
const SIDE: usize = 5;

/// Of a word: so many that no other is within two typos.
const LETTERS: usize = 8;

const WARM_UP: usize = 100;
const ROUNDS: usize = 500;

const MOST: f64 = 1.2;

/// A platform with so many items.
struct Size {
    platform: Platform,
    grid: Grid,
    /// Each is in the names of 25 items, which lie anywhere.
    words: Vec<String>,
    /// Where the second half of the list begins.
    middle: String,
}

/// What is asked, each time of another item, word or place.
struct Question {
    name: &'static str,
    path: fn(&Size) -> String,
    /// How many items its answer has, and of how many hits, where it is a page.
    page: Option<Option<usize>>,
    goal: bool,
}

const QUESTIONS: [Question; 7] = [
    Question { name: "get", path: item, page: None, goal: true },
    Question { name: "list, the first 25", path: |_| list("limit=25"), page: Some(None), goal: true },
    Question { name: "list, 25 from the middle", path: |size| list(&size.middle), page: Some(None), goal: true },
    Question { name: "search, a word that 25 have", path: a_word, page: Some(Some(PAGE)), goal: true },
    Question { name: "search, a box that holds 25", path: a_box, page: Some(Some(PAGE)), goal: true },
    Question { name: "search, everything", path: |_| search("limit=25"), page: Some(None), goal: false },
    Question { name: "search, everything by type", path: |_| search("facets=type"), page: Some(None), goal: false },
];

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let (few, many) = (fill(platform, "small-", FEW).await?, fill(platform, "large-", MANY).await?);
    let mut times = QUESTIONS.map(|question| (question, Times::default(), Times::default()));
    for round in 0..WARM_UP + ROUNDS {
        forget(platform).await?;
        for (question, among_few, among_many) in &mut times {
            let mut turns = [(&few, among_few), (&many, among_many)];
            turns.rotate_left(round % 2);
            for (size, all) in turns {
                let time = question.ask(size).await?;
                if round >= WARM_UP {
                    all.add(time);
                }
            }
        }
    }
    for (question, among_few, among_many) in &times {
        let (few, many) = (among_few.percentile(50), among_many.percentile(50));
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        table.add(&Figure {
            name: &format!("scaling: {}, p50", question.name),
            measured: milliseconds(many),
            goal: if question.goal { Goal::at_most(MOST, ratio, format!("≤ {MOST} × 10^3")) } else { Goal::None },
            baseline: format!("among 10^3 items: {}", milliseconds(few)),
            ratio: Some(ratio),
        });
    }
    few.platform.stop().await;
    many.platform.stop().await;
    Ok(())
}

impl Question {
    /// How long its answer takes; fails if that is not what is expected.
    async fn ask(&self, size: &Size) -> Result<Duration, Failure> {
        let request = size.platform.gateway().get(&(self.path)(size));
        let start = Instant::now();
        let answer = request.send().await?.error_for_status()?.bytes().await?;
        let time = start.elapsed();
        if let Some(hits) = self.page {
            let answer: Value = serde_json::from_slice(&answer)?;
            let items = answer.get("items").and_then(Value::as_array).map_or(0, Vec::len);
            let total = answer.pointer("/total/value").and_then(Value::as_u64);
            if items != PAGE || hits.is_some_and(|hits| total != Some(hits as u64)) {
                return Err(format!("{}: {items} items of {total:?} were answered", self.name).into());
            }
        }
        Ok(time)
    }
}

/// A new platform with so many items, all of which search has.
async fn fill(beside: &Platform, prefix: &str, items: usize) -> Result<Size, Failure> {
    let platform = beside.beside(prefix).await?;
    let word = || std::iter::repeat_with(fastrand::lowercase).take(LETTERS).collect();
    let words: Vec<String> = std::iter::repeat_with(word).take(FEW / PAGE).collect();
    let grid = Grid::of(items);
    let apart = items / FEW;
    let name = |number: usize| match words.get(number / apart % words.len()) {
        Some(word) if number.is_multiple_of(apart) => format!("Camp {number} {word}"),
        _ => format!("Camp {number}"),
    };
    for begin in (0..items).step_by(FILE) {
        let numbers = begin..items.min(begin + FILE);
        let count = numbers.len();
        platform.gateway().import(grid.features(numbers, name), count).await?;
    }
    platform.caught_up().await;
    merge(&platform).await?;
    let middle = middle(&platform, items / 2).await?;
    Ok(Size { platform, grid, words, middle })
}

/// Makes one segment of the index, whatever its history, and shows all of it.
async fn merge(platform: &Platform) -> Result<(), Failure> {
    let index = format!("{}/{}", platform.engines().config.search, platform.write_alias().await?);
    for step in ["_forcemerge?max_num_segments=1", "_refresh"] {
        json_of(platform.gateway().client().post(format!("{index}/{step}")).send().await?).await?;
    }
    Ok(())
}

/// Lets OpenSearch forget what it kept of earlier queries, which it does for large segments only.
async fn forget(platform: &Platform) -> Result<(), Failure> {
    let clear = format!("{}/_cache/clear?query=true", platform.engines().config.search);
    json_of(platform.gateway().client().post(clear).send().await?).await.map(drop)
}

/// Pages through the list up to this place; what asks for the next page.
async fn middle(platform: &Platform, place: usize) -> Result<String, Failure> {
    const LARGEST: usize = 100;
    let mut query = format!("limit={LARGEST}");
    for _ in 0..place.div_ceil(LARGEST) {
        let page = json_of(platform.gateway().get(&list(&query)).send().await?).await?;
        let cursor = page.get("nextCursor").and_then(Value::as_str).ok_or("the list is too short")?;
        query = format!("limit={LARGEST}&cursor={cursor}");
    }
    Ok(query.replacen(&format!("limit={LARGEST}"), &format!("limit={PAGE}"), 1))
}

fn list(query: &str) -> String {
    format!("/parks/facilities/{COLLECTION}?{query}")
}

fn search(query: &str) -> String {
    format!("/parks/search?{query}")
}

fn item(size: &Size) -> String {
    format!("/parks/facilities/{COLLECTION}/campground/{}", fastrand::usize(1..=size.grid.points))
}

fn a_word(size: &Size) -> String {
    search(&format!("q={}", fastrand::choice(&size.words).map_or("", String::as_str)))
}

/// Somewhere in the grid, with its edges between points.
fn a_box(size: &Size) -> String {
    let rows = size.grid.points / size.grid.width;
    let [west, south] = CORNER;
    let edge = |begin: f64, steps: usize| begin + (steps as f64 - 0.5) * STEP;
    let (column, row) = (fastrand::usize(0..=size.grid.width - SIDE), fastrand::usize(0..=rows - SIDE));
    let (east, north) = (edge(west, column + SIDE), edge(south, row + SIDE));
    search(&format!("bbox={},{},{east},{north}", edge(west, column), edge(south, row)))
}
