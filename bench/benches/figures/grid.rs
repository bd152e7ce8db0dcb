//! A page of 50 issues with 10 columns out of 10^5, beside the same out of 10^3 of another project in the same table; and
//! walks over all of them, with nobody writing and with eight who do.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::{try_join, try_join_all};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::Failure;
use crate::backlog::fill;
use crate::bare_tracker::BareTracker;
use crate::columns::{DECIMAL, decimal, hundredths};
use crate::figure::{Figure, Goal, Table, milliseconds, per_second};
use crate::gateway::json_of;
use crate::tenant::{Project, Tenant};
use crate::timing::Times;

const FEW: usize = 1_000;
const MANY: usize = 100_000;
const COLUMNS: usize = 10;
const PAGE: usize = 50;

/// The largest page there is, by which projects are walked through.
const LARGEST: usize = 100;

const WARM_UP: usize = 50;
const ROUNDS: usize = 300;

const MOST: f64 = 1.2;

/// What a page is specified to read: membership, project, entries, 50 issues of up to 4 KB.
const READ_UNITS: f64 = 27.5;

/// Every so many issues have no value in the column by which is sorted.
const WITHOUT: usize = 50;

const WRITERS: usize = 8;

/// One of so many issues may be changed during a walk.
const CHANGEABLE: usize = 10;

struct Size {
    project: Project,
    /// The ids of the issues, from number 1 on.
    ids: Vec<String>,
    /// Where the second half of the issues begins, in the order of the decimals.
    middle: String,
    /// How long a walk takes with nobody writing.
    quiet: Duration,
}

/// What is asked for: a name, and the parameters beside the limit.
type Question = (&'static str, fn(&Size) -> String);

const QUESTIONS: [Question; 4] = [
    ("the first by number", |_| "sort=number".to_owned()),
    ("the last by number", |_| "sort=number&order=desc".to_owned()),
    ("the first by a decimal", |size| size.by_decimal("asc")),
    ("50 from the middle by a decimal", |size| format!("{}&cursor={}", size.by_decimal("asc"), size.middle)),
];

pub fn run(table: &mut Table) -> Result<(), Failure> {
    Runtime::new()?.block_on(measure(table))
}

async fn measure(table: &mut Table) -> Result<(), Failure> {
    let tracker = BareTracker::start().await?;
    let few = Size::of(&tracker, "Few", FEW).await?;
    let many = Size::of(&tracker, "Many", MANY).await?;
    pages(&tracker, &few, &many, table).await?;
    let mut other = HashSet::new();
    for order in ["asc", "desc"] {
        walk_among_writers(&tracker.tenant, &many, order, &mut other, table).await?;
    }
    tracker.stop().await
}

/// Pages of both in turns.
async fn pages(tracker: &BareTracker, few: &Size, many: &Size, table: &mut Table) -> Result<(), Failure> {
    let mut times = QUESTIONS.map(|question| (question, Times::default(), Times::default()));
    let (mut units_few, mut units_many) = (0.0_f64, 0.0_f64);
    for round in 0..WARM_UP + ROUNDS {
        for (question, among_few, among_many) in &mut times {
            let mut turns = [(few, among_few, &mut units_few), (many, among_many, &mut units_many)];
            turns.rotate_left(round % 2);
            for (size, all, units) in turns {
                let time = size.ask(&tracker.tenant, *question).await?;
                *units = units.max(tracker.read_units()?);
                if round >= WARM_UP {
                    all.add(time);
                }
            }
        }
    }
    for ((name, _), among_few, among_many) in &times {
        let (few, many) = (among_few.percentile(50), among_many.percentile(50));
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        table.add(&Figure {
            name: &format!("grid: {name}, p50"),
            measured: milliseconds(many),
            goal: Goal::at_most(MOST, ratio, format!("≤ {MOST} × 10^3")),
            baseline: format!("among 10^3 issues: {}", milliseconds(few)),
            ratio: Some(ratio),
        });
    }
    table.add(&Figure {
        name: "grid: the most that such a page consumed",
        measured: format!("{units_many} RU"),
        goal: Goal::at_most(READ_UNITS, units_many, format!("≤ {READ_UNITS} RU")),
        baseline: format!("among 10^3 issues: {units_few} RU"),
        ratio: Some(units_many / units_few),
    });
    Ok(())
}

/// Fails unless every issue that nobody changed is met exactly once, and in its order. `other` are those that are not as
/// they were made.
async fn walk_among_writers(
    tenant: &Tenant,
    size: &Size,
    order: &str,
    other: &mut HashSet<usize>,
    table: &mut Table,
) -> Result<(), Failure> {
    let (over, writes, changed) = (Cell::new(false), Cell::new(0), RefCell::new(HashSet::new()));
    let writer = async |_| {
        let decimals = size.project.attributes.get(DECIMAL).ok_or("no decimals")?;
        while !over.get() {
            let place = fastrand::usize(0..size.ids.len() / CHANGEABLE) * CHANGEABLE;
            let id = size.ids.get(place).ok_or("no issue")?;
            changed.borrow_mut().insert(place + 1);
            let path = format!("{}/issues/{id}/values/{decimals}", size.project.path);
            let value = hundredths(fastrand::i64(-1_000_000..1_000_000));
            json_of(tenant.put(&path, &json!({"value": value})).send().await?).await?;
            writes.set(writes.get() + 1);
        }
        Ok::<_, Failure>(())
    };
    let walk = async {
        let start = Instant::now();
        let walked = size.walk(tenant, order).await;
        over.set(true);
        Ok((walked?.numbers, start.elapsed()))
    };
    let ((numbers, took), _) = try_join(walk, try_join_all((0..WRITERS).map(writer))).await?;
    let changed = changed.into_inner();
    other.extend(&changed);
    size.check(&numbers, order, |number| !other.contains(number))?;
    table.add(&Figure {
        name: &format!("grid: a walk, {order}, while {WRITERS} change {} issues", changed.len()),
        measured: per_second(MANY, took, "issues"),
        goal: Goal::None,
        baseline: format!("nobody writes: {}", per_second(MANY, size.quiet, "issues")),
        ratio: Some(size.quiet.as_secs_f64() / took.as_secs_f64()),
    });
    println!("  during it {} writes, {}", writes.get(), per_second(writes.get(), took, "writes"));
    Ok(())
}

/// What a walk met, in its order.
struct Walked {
    numbers: Vec<usize>,
    middle: String,
}

impl Size {
    async fn of(tracker: &BareTracker, name: &str, issues: usize) -> Result<Self, Failure> {
        let project = tracker.tenant.project(name, COLUMNS).await?;
        let ids = fill(tracker, &project, issues, has).await?;
        let mut size = Self { project, ids, middle: String::new(), quiet: Duration::ZERO };
        let start = Instant::now();
        let walked = size.walk(&tracker.tenant, "asc").await?;
        size.quiet = start.elapsed();
        size.check(&walked.numbers, "asc", |_| true)?;
        size.middle = walked.middle;
        Ok(size)
    }

    fn by_decimal(&self, order: &str) -> String {
        let decimals = self.project.attributes.get(DECIMAL).map_or("", String::as_str);
        format!("sort={decimals}&order={order}")
    }

    /// How long a page takes.
    async fn ask(&self, tenant: &Tenant, (name, parameters): Question) -> Result<Duration, Failure> {
        let request = tenant.get(&self.project.grid(&format!("{}&limit={PAGE}", parameters(self))));
        let start = Instant::now();
        let answer = request.send().await?.error_for_status()?.bytes().await?;
        let time = start.elapsed();
        let page: Value = serde_json::from_slice(&answer)?;
        match items(&page).len() {
            PAGE => Ok(time),
            other => Err(format!("{name}: a page of {other} issues").into()),
        }
    }

    /// All pages in the order of the decimals.
    async fn walk(&self, tenant: &Tenant, order: &str) -> Result<Walked, Failure> {
        let first = self.project.grid(&format!("{}&limit={LARGEST}", self.by_decimal(order)));
        let (mut numbers, mut middle, mut path) = (Vec::new(), String::new(), first.clone());
        loop {
            let page = tenant.read(&path).await?;
            let number = |item: &Value| item.get("number").and_then(Value::as_u64);
            for number in items(&page).iter().filter_map(number) {
                numbers.push(usize::try_from(number)?);
            }
            let Some(next) = page.get("nextCursor").and_then(Value::as_str) else {
                return Ok(Walked { numbers, middle });
            };
            if numbers.len() <= self.ids.len() / 2 {
                next.clone_into(&mut middle);
            }
            path = format!("{first}&cursor={next}");
        }
    }

    /// Fails unless those that are as they were made were met once each, in order: by value and number, then those
    /// without a value.
    fn check(&self, walked: &[usize], order: &str, as_made: impl Fn(&usize) -> bool) -> Result<(), Failure> {
        let numbers = (1..=self.ids.len()).filter(&as_made);
        let (mut with, mut without): (Vec<usize>, Vec<usize>) = numbers.partition(|number| has(DECIMAL, *number));
        with.sort_by_key(|number| (decimal(DECIMAL, *number), *number));
        if order == "desc" {
            with.reverse();
            without.reverse();
        }
        with.append(&mut without);
        let met: Vec<usize> = walked.iter().copied().filter(as_made).collect();
        if met == with {
            return Ok(());
        }
        let place = met.iter().zip(&with).take_while(|(met, expected)| met == expected).count();
        let told = |numbers: &[usize]| format!("{} issues, there {:?}", numbers.len(), numbers.get(place));
        Err(format!("a walk ({order}) met {} and not {} at place {place}", told(&met), told(&with)).into())
    }
}

fn items(page: &Value) -> &[Value] {
    page.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether an issue is made with a value in a column.
fn has(column: usize, number: usize) -> bool {
    column != DECIMAL || !number.is_multiple_of(WITHOUT)
}
