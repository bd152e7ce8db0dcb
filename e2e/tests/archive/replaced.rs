//! A published register that is replaced by a later state of its file: which records keep their permanent ids, and what
//! becomes of corrections by hand.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::publishing::{ids, publish, upload};
use super::stage::{Archive, listed};
use crate::harness::{seed, sized};
use crate::tests;

tests! { archive_replaced:
    #[long] keyed_rows_of_a_replaced_file_keep_their_ids_and_corrections,
    #[long] rows_without_a_key_keep_their_ids_if_their_cells_are_unique,
}

const HEADERS: [&str; 8] = ["Entry", "House", "Surname", "Forenames", "Rel", "Sex", "Born", "Birthplace"];
const FIELDS: [&str; 8] = ["key", "household", "surname", "given", "relation", "sex", "birthDate", "birthPlace"];
const FORENAMES: usize = 3;
const BORN: usize = 6;

type Row = [String; 8];

/// A row of a file, and what has become of it since the first file.
#[derive(Clone)]
struct Entry {
    cells: Row,
    became: Became,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Became {
    Same,
    /// It has another year of birth.
    Changed,
    /// It has other forenames.
    Renamed,
    /// It is at another place in the file.
    Moved,
    New,
}

/// The two states of a file.
struct Files {
    first: Vec<Row>,
    second: Vec<Entry>,
    gone: Vec<Row>,
}

impl Files {
    /// Creates a register in households of five, and a later state: of 5 000 rows 200 are changed, half of them by
    /// forenames, 50 are new, 50 are removed, and 300 are moved.
    fn new(rows: usize, random: &mut Rng) -> Self {
        let share = |of_5_000: usize| (rows * of_5_000).div_ceil(5_000);
        let first: Vec<Row> = (0..rows).map(|row| row_of(row, random)).collect();
        let mut order: Vec<usize> = (0..rows).collect();
        random.shuffle(&mut order);
        let mut chosen = order.into_iter();
        let mut take = |of_5_000| chosen.by_ref().take(share(of_5_000)).collect::<BTreeSet<usize>>();
        let (changed, renamed, removed, moved) = (take(100), take(100), take(50), take(300));
        let (mut second, mut on_the_move) = (Vec::new(), Vec::new());
        for (row, cells) in first.iter().enumerate().filter(|(row, _)| !removed.contains(row)) {
            let mut cells = cells.clone();
            if changed.contains(&row) {
                cells[BORN] = (cells[BORN].parse::<u32>().unwrap() + 1).to_string();
                second.push(Entry { cells, became: Became::Changed });
            } else if renamed.contains(&row) {
                cells[FORENAMES] = format!("{} Rhys", cells[FORENAMES]);
                second.push(Entry { cells, became: Became::Renamed });
            } else if moved.contains(&row) {
                on_the_move.push(Entry { cells, became: Became::Moved });
            } else {
                second.push(Entry { cells, became: Became::Same });
            }
        }
        on_the_move
            .extend((rows..rows + share(50)).map(|row| Entry { cells: row_of(row, random), became: Became::New }));
        for entry in on_the_move {
            second.insert(random.usize(..=second.len()), entry);
        }
        let gone = removed.iter().map(|row| first[*row].clone()).collect();
        Self { first, second, gone }
    }

    fn second_rows(&self) -> Vec<Row> {
        self.second.iter().map(|entry| entry.cells.clone()).collect()
    }

    /// Returns these entries' keys.
    fn that_became(&self, became: Became) -> Vec<&str> {
        let entries = self.second.iter().filter(|entry| entry.became == became);
        entries.map(|entry| entry.cells[0].as_str()).collect()
    }
}

fn row_of(row: usize, random: &mut Rng) -> Row {
    let mut one = |of: &[&str]| random.choice(of.to_vec()).unwrap().to_owned();
    let given = one(&["Evan", "Owen", "Huw", "Gwen", "Margaret", "Catrin", "Griffith", "Lowri", "Dafydd", "Mair"]);
    let second = one(&["", " Wyn", " Lloyd", " Ann", " Mai"]);
    let surname = one(&["Pugh", "Jones", "Davies", "Roberts", "Lewis"]);
    let place = one(&["Dolgellau", "Bala", "Harlech", "Corwen"]);
    let sex = one(&["M", "F"]);
    let relation = ["Head", "Wife", "Son", "Daughter", "Lodger"][row % 5].to_owned();
    let (house, born) = ((row / 5 + 1).to_string(), random.u32(1790..1870).to_string());
    [format!("E{row:05}"), house, surname, format!("{given}{second}"), relation, sex, born, place]
}

/// Returns a file with the columns from this one on.
fn csv<'a>(rows: impl IntoIterator<Item = &'a Row>, from: usize) -> String {
    let lines = rows.into_iter().map(|cells| cells[from..].join(","));
    let lines: Vec<String> = std::iter::once(HEADERS[from..].join(",")).chain(lines).collect();
    lines.join("\n")
}

/// Creates a post for files with the columns from this one on.
async fn post(archive: &Archive, from: usize) -> String {
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    let columns = HEADERS.into_iter().zip(FIELDS).skip(from);
    let mapping: Value = columns.map(|(header, field)| json!({ "header": header, "field": field })).collect();
    let new = json!({ "name": "Register", "collectionId": collection, "mapping": mapping });
    archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned()
}

/// Returns the permanent ids of all rows as readers list them, by the keys of the rows.
async fn listed_ids<'a>(
    archive: &Archive,
    post: &str,
    rows: impl IntoIterator<Item = &'a Row>,
) -> BTreeMap<String, String> {
    let ids = listed(&archive.visitor, &format!("{post}/records"), "id").await;
    let keys: Vec<String> = rows.into_iter().map(|cells| cells[0].clone()).collect();
    assert_eq!(ids.len(), keys.len(), "the list has a record for each row");
    keys.into_iter().zip(ids).collect()
}

fn path(id: &str) -> String {
    format!("/archive/records/{id}")
}

async fn keyed_rows_of_a_replaced_file_keep_their_ids_and_corrections() {
    let rows = sized(250, 5_000);
    let mut random = seed::random("archive_replaced::keyed");
    let files = Files::new(rows, &mut random);
    let archive = Archive::new().await;
    let post = post(&archive, 0).await;
    let began = Instant::now();
    upload(&archive.volunteer, &post, &csv(&files.first, 0)).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(rows)), "{}", run.told());
    let before = listed_ids(&archive, &post, &files.first).await;

    let mut corrected = Vec::new();
    for (became, count) in [(Became::Same, 8), (Became::Moved, 4), (Became::Changed, 4), (Became::Renamed, 4)] {
        corrected.extend(files.that_became(became).into_iter().take(count).map(|key| (key, became)));
    }
    assert_eq!(corrected.len(), 20);
    for (key, _) in &corrected {
        let correction = json!({ "values": { "Forenames": "Ifan" } });
        archive.volunteer.patch(&path(&before[*key]), correction).await.is(200);
    }

    upload(&archive.volunteer, &post, &csv(&files.second_rows(), 0)).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "the file has 4 errors"), "{}", run.told());
    let conflicts =
        run["problems"].as_array().unwrap().iter().filter(|problem| problem["code"] == "correction-conflict");
    let lines: BTreeSet<u64> = conflicts.map(|conflict| conflict["line"].as_u64().unwrap()).collect();
    let renamed = corrected.iter().filter(|(_, became)| *became == Became::Renamed);
    let line = |key: &str| files.second.iter().position(|entry| entry.cells[0] == key).unwrap() as u64 + 2;
    assert_eq!(lines, renamed.map(|(key, _)| line(key)).collect());
    assert_eq!(listed_ids(&archive, &post, &files.first).await, before, "the refused file has changed nothing");

    let run = publish(&archive.volunteer, &post, json!({ "corrections": "keep" })).await;
    println!("{rows} rows were published twice in {:.1} s", began.elapsed().as_secs_f64());
    assert_eq!(run.text("status"), "published", "{}", run.told());
    let count = |became| files.that_became(became).len();
    for (total, expected) in [
        ("new", count(Became::New)),
        ("gone", files.gone.len()),
        ("changed", count(Became::Changed) + count(Became::Renamed)),
        ("unchanged", count(Became::Same) + count(Became::Moved)),
    ] {
        assert_eq!(run["totals"][total], expected, "{total}: {}", run.told());
    }
    let after = listed_ids(&archive, &post, &files.second_rows()).await;
    let taken: BTreeSet<&String> = before.values().collect();
    for (key, id) in &after {
        match before.get(key) {
            Some(kept) => assert_eq!(id, kept, "{key} keeps its id"),
            None => assert!(!taken.contains(id), "{key} has the id of another row"),
        }
    }
    for row in &files.gone {
        archive.visitor.get(&path(&before[&row[0]])).await.refused(410, "withdrawn");
    }
    for (key, _) in &corrected {
        let read = archive.volunteer.get(&path(&before[*key])).await.is(200);
        assert_eq!(read["people"][0]["given"], "Ifan", "{}", read.told());
    }
    let found = async |query: &str| -> Value {
        let found = archive.visitor.get(&format!("/archive/search?match=exact&{query}")).await.is(200);
        found["total"]["value"].clone()
    };
    assert_eq!(found("given=Ifan").await, 20);
    assert_eq!(found("date=1700-1900").await, files.second.len());
    archive.publishing_agrees().await;
}

async fn rows_without_a_key_keep_their_ids_if_their_cells_are_unique() {
    let rows = sized(250, 5_000);
    let mut random = seed::random("archive_replaced::unkeyed");
    let files = Files::new(rows, &mut random);
    let archive = Archive::new().await;
    let post = post(&archive, 1).await;
    upload(&archive.volunteer, &post, &csv(&files.first, 1)).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let before = listed_ids(&archive, &post, &files.first).await;
    upload(&archive.volunteer, &post, &csv(&files.second_rows(), 1)).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let after = listed_ids(&archive, &post, &files.second_rows()).await;
    assert_eq!(after.values().collect::<BTreeSet<_>>().len(), after.len(), "no two rows have one id");
    let all_rows: Vec<Row> = files.first.iter().cloned().chain(files.second_rows()).collect();
    let mut kept = BTreeMap::<Became, (usize, usize)>::new();
    for Entry { cells, became } in &files.second {
        let is_kept = before.get(&cells[0]) == Some(&after[&cells[0]]);
        let (count, of) = kept.entry(*became).or_default();
        *count += usize::from(is_kept);
        *of += 1;
        let same = all_rows.iter().filter(|other| other[1..] == cells[1..]).count();
        if matches!(became, Became::Same | Became::Moved) && same == 2 {
            assert!(is_kept, "{cells:?}");
        }
    }
    println!("of {rows} rows without a key, these keep their ids: {kept:?}");
    assert_eq!(kept[&Became::New].0, 0);
    let records = archive.records().await;
    let given: BTreeSet<String> = ids(&records, "permanentId").into_iter().collect();
    let gone = files.gone.iter().filter(|row| given.contains(&before[&row[0]]));
    println!("{} ids of {} removed rows are those of other rows", gone.count(), files.gone.len());
    archive.publishing_agrees().await;
}
