//! The writers of the table: the platform with wrong clocks, and other programs that ignore the rules of revisions.

use serde_json::{Value, json};
use table::Key;

use super::choices::Random;
use super::toy::UNAVAILABLE;
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
    pub(crate) fn draw(random: &mut impl Random) -> Self {
        Self {
            keys: random.between(1, 2),
            slow_clocks: random.one_in(2),
            foreign: random.one_in(2),
            poison: random.one_in(3),
            unknown_events: random.one_in(8),
            short_lived: false,
        }
    }
}

/// Carries out one write. Returns its description.
pub(crate) fn write(world: &mut World, random: &mut impl Random, options: WriterOptions) -> String {
    let key = keys()[random.below(options.keys)].clone();
    write_key(world, random, options, &key)
}

/// Carries out one write of an item. Returns its description.
pub(crate) fn write_key(world: &mut World, random: &mut impl Random, options: WriterOptions, key: &Key) -> String {
    world.now += 1;
    let clock = match random.below(4) {
        2 if options.slow_clocks => world.now - 1 - i64::try_from(random.below(5)).unwrap(),
        3 if options.slow_clocks => world.now - 3_600_000_000,
        _ => world.now,
    };
    let lasting = world.has_lasting_faults;
    let item = world.table.get(key).cloned();
    let (what, new) = match item {
        None => create(random, options, clock, lasting),
        Some(item) => match random.below(10) {
            1..5 if options.short_lived => ("delete".to_owned(), None),
            7..10 => ("delete".to_owned(), None),
            5..7 if options.foreign => foreign(random, options, item, lasting),
            _ => update(random, options, item, clock, lasting),
        },
    };
    let description = format!("{what} {} -> {}", key.document_id(), json!(new));
    let before = world.stream.len();
    world.put(key, new);
    if let (true, Some(record)) = (options.unknown_events && random.one_in(4), world.stream.get_mut(before)) {
        record.name = "EXPIRED";
    }
    // Sometimes a counter is written, too, which is never searchable.
    if random.one_in(8) {
        world.put(&Key::new("COUNTER", "leaves"), Some(attributes(json!({"value": {"N": world.now.to_string()}}))));
    }
    description
}

fn create(random: &mut impl Random, options: WriterOptions, clock: i64, lasting: bool) -> (String, Option<Attributes>) {
    let rev = match random.below(6) {
        4 if options.foreign => None,
        5 if options.foreign => Some(invalid(random)),
        _ => Some(json!({"N": (2 * clock).to_string()})),
    };
    ("create".to_owned(), Some(content(random, options, rev, lasting)))
}

/// Updates the item as the platform does: the revision grows, or the condition fails and nothing is written.
fn update(
    random: &mut impl Random,
    options: WriterOptions,
    old: Attributes,
    clock: i64,
    lasting: bool,
) -> (String, Option<Attributes>) {
    let present = old.get("rev").map(|rev| rev["N"].as_str().and_then(|rev| rev.parse::<i128>().ok()));
    let rev = match present {
        None => i128::from(2 * clock),
        Some(Some(number)) if number > 0 && number % 2 == 0 => i128::from(2 * clock).max(number + 2),
        Some(Some(number)) if number < i128::from(2 * clock) => i128::from(2 * clock),
        Some(_) => return ("refused update".to_owned(), Some(old)),
    };
    let rev = (rev < 1 << 53).then(|| json!({"N": rev.to_string()}));
    match rev {
        Some(rev) => ("update".to_owned(), Some(content(random, options, Some(rev), lasting))),
        None => ("refused update".to_owned(), Some(old)),
    }
}

/// Updates the item as a program that ignores the rules of revisions.
fn foreign(
    random: &mut impl Random,
    options: WriterOptions,
    old: Attributes,
    lasting: bool,
) -> (String, Option<Attributes>) {
    let present = old.get("rev").cloned();
    let (what, rev) = match random.below(5) {
        0 | 1 => ("same rev", present),
        2 => ("lower rev", present.map(|rev| lower(&rev))),
        3 => ("no rev", None),
        _ => ("invalid rev", Some(invalid(random))),
    };
    (format!("foreign write, {what},"), Some(content(random, options, rev, lasting)))
}

fn lower(rev: &Value) -> Value {
    let number = rev["N"].as_str().and_then(|rev| rev.parse::<i64>().ok()).unwrap_or(8);
    json!({"N": (number - 4).to_string()})
}

fn invalid(random: &mut impl Random) -> Value {
    match random.below(5) {
        0 => json!({"N": "-1"}),
        1 => json!({"N": "7"}),
        2 => json!({"N": "3.5"}),
        3 => json!({"S": "new"}),
        _ => json!({"N": "36893488147419103232"}),
    }
}

/// Returns an item. If `lasting`, it may be one that only a later release can index, or whose shape S3 does not give.
fn content(random: &mut impl Random, options: WriterOptions, rev: Option<Value>, lasting: bool) -> Attributes {
    let mut item = attributes(json!({"name": {"S": format!("n{}", random.below(1_000_000))}}));
    if random.one_in(5) {
        item.insert("hidden".to_owned(), json!({"BOOL": true}));
    }
    if random.one_in(4) {
        let area = random.one_of(&["aaaa", "aaxa", "axaa", "xaaa"]);
        item.insert("area".to_owned(), json!({"S": area}));
    }
    match random.below(8) {
        7 if options.poison => drop(item.insert("size".to_owned(), json!({"N": "3000000000"}))),
        6 if options.poison => drop(item.insert("name".to_owned(), json!({"N": "1"}))),
        5 if lasting => drop(item.insert("area".to_owned(), json!({"S": random.one_of(&UNAVAILABLE)}))),
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
