//! The writers of the table: the platform with wrong clocks, and other programs that ignore the rules of revisions.

use fastrand::Rng;
use serde_json::{Value, json};
use table::Key;

use super::world::{Attributes, World};

pub(crate) fn keys() -> [Key; 2] {
    [Key::new("TREE#a", "LEAF#1"), Key::new("TREE#bb", "LEAF#1")]
}

/// The options of the writers of one schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriterOptions {
    pub(crate) keys: usize,
    pub(crate) slow_clocks: bool,
    pub(crate) foreign: bool,
    pub(crate) poison: bool,
    pub(crate) unknown_events: bool,
    /// Whether most items are deleted soon.
    pub(crate) short_lived: bool,
}

impl WriterOptions {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self {
            keys: rng.usize(1..=2),
            slow_clocks: rng.bool(),
            foreign: rng.bool(),
            poison: rng.u8(0..3) == 0,
            unknown_events: rng.u8(0..8) == 0,
            short_lived: false,
        }
    }
}

/// Carries out one write. Returns its description.
pub(crate) fn write(world: &mut World, rng: &mut Rng, options: WriterOptions) -> String {
    let key = keys()[rng.usize(0..options.keys)].clone();
    write_key(world, rng, options, &key)
}

/// Carries out one write of an item. Returns its description.
pub(crate) fn write_key(world: &mut World, rng: &mut Rng, options: WriterOptions, key: &Key) -> String {
    world.now += 1;
    let clock = match rng.u8(0..4) {
        0 if options.slow_clocks => world.now - rng.i64(1..6),
        1 if options.slow_clocks => world.now - 3_600_000_000,
        _ => world.now,
    };
    let item = world.table.get(key).cloned();
    let (what, new) = match item {
        None => create(rng, options, clock),
        Some(item) => match rng.u8(0..10) {
            5..9 if options.short_lived => ("delete".to_owned(), None),
            0..3 => ("delete".to_owned(), None),
            3..5 if options.foreign => foreign(rng, options, item),
            _ => update(rng, options, item, clock),
        },
    };
    let description = format!("{what} {} -> {}", key.document_id(), json!(new));
    let before = world.stream.len();
    world.put(key, new);
    if let (true, Some(record)) = (options.unknown_events && rng.u8(0..4) == 0, world.stream.get_mut(before)) {
        record.name = "EXPIRED";
    }
    // Sometimes a counter is written, too, which is never searchable.
    if rng.u8(0..8) == 0 {
        world.put(&Key::new("COUNTER", "leaves"), Some(attributes(json!({"value": {"N": world.now.to_string()}}))));
    }
    description
}

fn create(rng: &mut Rng, options: WriterOptions, clock: i64) -> (String, Option<Attributes>) {
    let rev = match rng.u8(0..6) {
        0 if options.foreign => None,
        1 if options.foreign => Some(invalid(rng)),
        _ => Some(json!({"N": (2 * clock).to_string()})),
    };
    ("create".to_owned(), Some(content(rng, options, rev)))
}

/// Updates the item as the platform does: the revision grows, or the condition fails and nothing is written.
fn update(rng: &mut Rng, options: WriterOptions, old: Attributes, clock: i64) -> (String, Option<Attributes>) {
    let present = old.get("rev").map(|rev| rev["N"].as_str().and_then(|rev| rev.parse::<i128>().ok()));
    let rev = match present {
        None => i128::from(2 * clock),
        Some(Some(number)) if number > 0 && number % 2 == 0 => i128::from(2 * clock).max(number + 2),
        Some(Some(number)) if number < i128::from(2 * clock) => i128::from(2 * clock),
        Some(_) => return ("refused update".to_owned(), Some(old)),
    };
    let rev = (rev < 1 << 53).then(|| json!({"N": rev.to_string()}));
    match rev {
        Some(rev) => ("update".to_owned(), Some(content(rng, options, Some(rev)))),
        None => ("refused update".to_owned(), Some(old)),
    }
}

/// Updates the item as a program that ignores the rules of revisions.
fn foreign(rng: &mut Rng, options: WriterOptions, old: Attributes) -> (String, Option<Attributes>) {
    let present = old.get("rev").cloned();
    let (what, rev) = match rng.u8(0..5) {
        0 | 1 => ("same rev", present),
        2 => ("lower rev", present.map(|rev| lower(&rev))),
        3 => ("no rev", None),
        _ => ("invalid rev", Some(invalid(rng))),
    };
    (format!("foreign write, {what},"), Some(content(rng, options, rev)))
}

fn lower(rev: &Value) -> Value {
    let number = rev["N"].as_str().and_then(|rev| rev.parse::<i64>().ok()).unwrap_or(8);
    json!({"N": (number - 4).to_string()})
}

fn invalid(rng: &mut Rng) -> Value {
    match rng.u8(0..5) {
        0 => json!({"N": "-1"}),
        1 => json!({"N": "7"}),
        2 => json!({"N": "3.5"}),
        3 => json!({"S": "new"}),
        _ => json!({"N": "36893488147419103232"}),
    }
}

fn content(rng: &mut Rng, options: WriterOptions, rev: Option<Value>) -> Attributes {
    let mut item = attributes(json!({"name": {"S": format!("n{}", rng.u32(..))}}));
    if rng.u8(0..5) == 0 {
        item.insert("hidden".to_owned(), json!({"BOOL": true}));
    }
    if rng.u8(0..4) == 0 {
        let area = ["aaaa", "aaxa", "axaa", "xaaa"][rng.usize(0..4)];
        item.insert("area".to_owned(), json!({"S": area}));
    }
    match rng.u8(0..8) {
        0 if options.poison => drop(item.insert("size".to_owned(), json!({"N": "3000000000"}))),
        1 if options.poison => drop(item.insert("name".to_owned(), json!({"N": "1"}))),
        _ => {}
    }
    item.extend(rev.map(|rev| ("rev".to_owned(), rev)));
    item
}

fn attributes(value: Value) -> Attributes {
    match value {
        Value::Object(attributes) => attributes,
        _ => panic!("an item is an object"),
    }
}
