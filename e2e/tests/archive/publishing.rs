//! Publishing: a file becomes records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::stage::{Archive, attribute, listed, until};
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::Item;
use crate::harness::{Answer, Setup, User, eventually, fetch, send_file, sized};
use crate::tests;

tests! { archive_publishing:
    published_file_has_records_households_and_relatives,
    file_with_errors_is_refused_or_published_without_its_bad_rows,
    row_with_only_some_columns_of_its_household_has_a_warning,
    dry_run_writes_no_record,
    publication_goes_on_by_messages_without_the_schedule,
    post_is_published_and_deleted_by_the_schedule_without_messages,
    #[long] file_that_is_published_again_keeps_its_permanent_ids,
    #[long] file_without_a_mapped_column_leaves_the_published_records,
    spreadsheet_is_refused_when_it_arrives,
    event_without_its_file_changes_nothing,
    cancelled_run_leaves_no_record,
    #[long] unpublished_post_has_no_record_and_can_be_published_again,
    #[long] deleted_post_leaves_nothing,
    #[long] long_file_is_published_in_chunks,
    #[long] correction_stands_in_a_new_file_and_a_conflict_is_refused,
    file_that_ends_inside_a_quote_is_refused,
    row_has_one_problem_of_its_dates_and_one_of_its_places,
    place_that_is_not_found_is_reported_at_its_cell,
    place_texts_without_a_place_are_listed_on_pages_the_most_frequent_first,
}

/// Two households and a lodger without one.
pub const CENSUS: &str = "House,Surname,Forenames,Rel,Sex,Born,Birthplace\n\
    14,Pugh,Evan,Head,M,abt 1838,\"Dolgellau, Wales\"\n\
    14,Pugh,Margaret,Wife,F,1841,\"Bala, Wales\"\n\
    14,Pugh,Griffith,Son,M,Mar 1868,\"Dolgellau, Wales\"\n\
    15,Müller,Johann,Head,M,1850-1855,\"Zürich, Switzerland\"\n\
    ,Jones,Wm.,Lodger,M,,\n";

/// The lease of a job, and some.
pub const LEASE: Duration = Duration::from_secs(150);

/// The mapping of [`CENSUS`].
pub fn mapping() -> Value {
    let columns = [
        ("House", "household"),
        ("Surname", "surname"),
        ("Forenames", "given"),
        ("Rel", "relation"),
        ("Sex", "sex"),
        ("Born", "birthDate"),
        ("Birthplace", "birthPlace"),
    ];
    columns.map(|(header, field)| json!({ "header": header, "field": field })).into_iter().collect()
}

/// Creates a post with the mapping of [`CENSUS`] in a collection of its own. Returns its path.
pub async fn post(archive: &Archive) -> String {
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    let new = json!({ "name": "Dolgellau", "collectionId": collection, "mapping": mapping() });
    archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned()
}

/// Uploads a file, and waits until it is the post's or refused.
pub async fn upload(user: &User, post: &str, csv: &str) -> Answer {
    upload_bytes(user, post, csv.as_bytes()).await
}

/// Uploads a file in any encoding, and waits until it is the post's or refused.
pub async fn upload_bytes(user: &User, post: &str, csv: &[u8]) -> Answer {
    let path = format!("{post}/file");
    let link = user.post(&path, json!({ "bytes": csv.len() })).await.is(201);
    assert_eq!(send_file(&link, csv).await, 200);
    until(user, &path, |file| file.body.get("waitsFor").is_none()).await
}

/// Returns the event that the file of an upload has arrived.
pub fn arrived(post: &str, upload: &str) -> Value {
    let post = post.rsplit('/').next().unwrap();
    let s3 = json!({ "bucket": { "name": "archive" }, "object": { "key": format!("incoming/{post}/{upload}") } });
    json!({ "Records": [{ "eventName": "ObjectCreated:Put", "s3": s3 }] })
}

/// Starts a run, and waits until it has ended.
pub async fn publish(user: &User, post: &str, how: Value) -> Answer {
    let begun = user.post(&format!("{post}/publish"), how).await.is(202);
    let run = begun.header("location").to_owned();
    until(user, &run, |run| run["phase"] == "ended").await
}

/// Publishes a file in a post of its own. Returns the post's path.
pub async fn published(archive: &Archive, csv: &str) -> String {
    let post = post(archive).await;
    upload(&archive.volunteer, &post, csv).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    post
}

/// Waits until the post is in no transit.
pub async fn settled(user: &User, post: &str) -> Answer {
    until(user, post, |read| !["publishing", "unpublishing", "deleting"].contains(&read.text("status"))).await
}

impl Archive {
    /// Returns the records by row, each as a part of its attributes.
    pub async fn records(&self) -> BTreeMap<u64, Item> {
        let items = self.items().await;
        let records = items.into_values().filter(|item| attribute(item, "SK").starts_with("record_post#"));
        records.map(|record| (record["row"].as_n().unwrap().parse().unwrap(), record)).collect()
    }

    /// Asserts that counts, records and households are those of the published runs.
    pub async fn publishing_agrees(&self) {
        self.agrees().await;
        let items = self.items().await;
        let of = |sk: &'static str| items.values().filter(move |item| attribute(item, "SK").starts_with(sk));
        for counts in of("collectionUse") {
            let collection = attribute(counts, "PK").replace("collectionUse#", "");
            let records = of("record_post#").filter(|record| attribute(record, "collectionId") == collection).count();
            assert_eq!(counts["records"].as_n().unwrap(), &records.to_string(), "the records of {collection}");
        }
        let hidden = items.get("hiddenRuns#hiddenRuns").map_or(0, |hidden| hidden.len() - 3);
        assert_eq!(hidden, 0, "no run is hidden");
        assert!(!items.keys().any(|key| key.starts_with("job#") && key.ends_with("#jobDue")), "no job is due");
    }

    /// Works until no job is due, while time passes. Returns the number of writes.
    pub async fn finish(&self) -> usize {
        let mut writes = 0;
        for _ in 0..100 {
            self.cairn.caught_up().await;
            self.cairn.clock.advance(LEASE);
            writes += self.work(None).await;
            if !self.items().await.keys().any(|key| key.ends_with("#jobDue")) {
                return writes;
            }
        }
        panic!("a job does not end");
    }

    /// Works on the due jobs, as a worker that dies at this write. Returns the number of writes.
    pub async fn work(&self, dies: Option<(usize, Moment)>) -> usize {
        let config = self.cairn.engines().config.clone();
        let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), dies).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::archive::app(Engines::new(config, self.cairn.clock.clone())).metrics_to(|_| {});
        let deadline = Instant::now() + Duration::from_secs(60);
        tokio::select! {
            done = app.event(::jobs::RUN_JOBS, "{}".into(), deadline) => drop(done.unwrap()),
            () = stopper.stopped() => {}
        }
        stopper.writes()
    }
}

/// Returns the ids of the records in the order of their rows.
pub fn ids(records: &BTreeMap<u64, Item>, name: &str) -> Vec<String> {
    records.values().map(|record| attribute(record, name)).collect()
}

async fn published_file_has_records_households_and_relatives() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.refused(409, "no-file");
    let file = upload(&archive.volunteer, &post, CENSUS).await;
    assert_eq!(
        (&file["inspection"]["delimiter"], &file["inspection"]["headers"][6]),
        (&json!(","), &json!("Birthplace"))
    );
    assert_eq!(file["inspection"]["sample"][3][1], "Müller");
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let totals = &run["totals"];
    assert_eq!((&totals["rows"], &totals["records"], &totals["households"]), (&json!(5), &json!(5), &json!(2)));
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!(
        (read.text("status"), &read["recordCount"], &read["householdCount"]),
        ("published", &json!(5), &json!(2))
    );
    let records = archive.records().await;
    let numbers: Vec<u64> = ids(&records, "PK").iter().map(|id| id.parse().unwrap()).collect();
    assert_eq!(numbers, (numbers[0]..numbers[0] + 5).collect::<Vec<_>>(), "consecutive ids");
    let relatives = |row: u64| {
        let relatives = records[&row]["relatives"].as_l().unwrap().iter().map(|relative| relative.as_m().unwrap());
        relatives
            .map(|relative| format!("{} {}", attribute(relative, "relation"), attribute(relative, "given")))
            .collect::<Vec<_>>()
    };
    assert_eq!(relatives(3), ["father Evan", "mother Margaret"]);
    assert_eq!(relatives(1), ["spouse Margaret", "child Griffith"]);
    assert!(!records[&5].contains_key("household"));
    archive.publishing_agrees().await;
    // The same again needs no run.
    let same = archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(200);
    assert_eq!(same["run"], 1);
}

async fn file_with_errors_is_refused_or_published_without_its_bad_rows() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let long = "x".repeat(10_001);
    let csv = CENSUS
        .replace("1841,\"Bala, Wales\"", "1841,\"Bala, Wales\",extra,more")
        .replace("\"Zürich, Switzerland\"", &long);
    upload(&archive.volunteer, &post, &csv).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "the file has 2 errors"), "{}", run.told());
    let problems = |run: &Answer| {
        let errors = run["problems"].as_array().unwrap().iter().filter(|problem| problem["severity"] == "error");
        errors
            .map(|problem| format!("{} {} {}", problem["line"], problem["column"]["letter"], problem["code"]))
            .collect::<Vec<_>>()
    };
    let expected = ["3 \"H\" \"long-row\"", "5 \"G\" \"cell-too-long\""];
    assert_eq!(problems(&run), expected);
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!((read.text("status"), read.text("lastError")), ("error", "the file has 2 errors"));
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip" })).await;
    assert_eq!((run.text("status"), problems(&run)), ("published", expected.map(str::to_owned).to_vec()));
    assert_eq!(archive.volunteer.get(&post).await.is(200)["recordCount"], 3);
    assert_eq!(archive.records().await.keys().copied().collect::<Vec<_>>(), [1, 3, 5]);
    archive.publishing_agrees().await;
}

async fn row_with_only_some_columns_of_its_household_has_a_warning() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let columns = [("Parish", "household"), ("No", "household"), ("Name", "name")];
    let mapping: Value =
        columns.map(|(header, field)| json!({ "header": header, "field": field })).into_iter().collect();
    archive.volunteer.patch(&post, json!({ "mapping": mapping })).await.is(200);
    let csv = "Parish,No,Name\nBala,14,Ann Rees\nBala,,Huw Rees\n,,William Jones\n";
    upload(&archive.volunteer, &post, csv).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), &run["totals"]["households"]), ("published", &json!(1)), "{}", run.told());
    let [problem] = run["problems"].as_array().unwrap().as_slice() else { panic!("{}", run.told()) };
    assert_eq!((&problem["line"], &problem["column"]["letter"]), (&json!(3), &json!("B")));
    assert_eq!((&problem["code"], &problem["severity"]), (&json!("household-incomplete"), &json!("warning")));
}

async fn dry_run_writes_no_record() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    let run = publish(&archive.volunteer, &post, json!({ "dryRun": true })).await;
    assert_eq!((run.text("status"), &run["totals"]["new"]), ("checked", &json!(5)), "{}", run.told());
    assert_eq!(archive.volunteer.get(&post).await.is(200).text("status"), "draft");
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
}

async fn file_that_is_published_again_keeps_its_permanent_ids() {
    let archive = Archive::new().await;
    let post = published(&archive, CENSUS).await;
    let first = archive.records().await;
    let permanent = ids(&first, "permanentId");
    assert_eq!(permanent, ids(&first, "PK"));
    upload(&archive.volunteer, &post, &CENSUS.replace("Johann", "John")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((&run["totals"]["unchanged"], &run["totals"]["changed"]), (&json!(4), &json!(1)), "{}", run.told());
    let second = archive.records().await;
    assert_eq!(second.len(), 5);
    assert_eq!(ids(&second, "permanentId"), permanent);
    assert_ne!(ids(&second, "PK"), permanent);
    archive.publishing_agrees().await;
    // A row that the file has no more is gone.
    upload(&archive.volunteer, &post, &CENSUS.replace(",Jones,Wm.,Lodger,M,,\n", "")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["totals"]["gone"], 1, "{}", run.told());
    let third = archive.records().await;
    assert_eq!(ids(&third, "permanentId"), permanent[..4]);
    let address = archive.table().get(&permanent[4], "record_address").await.unwrap();
    assert_eq!(["goneIn", "visibleFrom"].map(|name| address[name].as_n().unwrap().as_str()), ["3", "0"]);
    archive.publishing_agrees().await;
}

async fn file_without_a_mapped_column_leaves_the_published_records() {
    let archive = Archive::new().await;
    let post = published(&archive, CENSUS).await;
    let before = archive.records().await;
    upload(&archive.volunteer, &post, "House,Forenames\n14,Evan\n").await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "missing-column"), "{}", run.told());
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!((read.text("status"), read.text("lastError")), ("published", "missing-column"));
    assert_eq!(archive.records().await, before);
    archive.publishing_agrees().await;
}

async fn spreadsheet_is_refused_when_it_arrives() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let refused = upload(&archive.volunteer, &post, "PK\u{3}\u{4}sheet").await;
    assert!(refused.text("refused").contains("CSV"), "{}", refused.told());
    archive.volunteer.post(&format!("{post}/file"), json!({ "bytes": 50_000_001 })).await.refused(413, "too-large");
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.refused(409, "no-file");
}

/// An event may be delivered again after the file was removed.
async fn event_without_its_file_changes_nothing() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let path = format!("{post}/file");
    let link = archive.volunteer.post(&path, json!({ "bytes": 10 })).await.is(201);
    let event = arrived(&post, link.text("uploadId"));
    archive.cairn.event("archive", "inspectFile", &event).await.unwrap();
    assert_eq!(archive.volunteer.get(&path).await.is(200).text("waitsFor"), link.text("uploadId"));
}

async fn cancelled_run_leaves_no_record() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    archive.volunteer.post(&format!("{post}/cancel"), json!({})).await.refused(409, "not-cancellable");
    upload(&archive.volunteer, &post, CENSUS).await;
    archive.cairn.engines().wind_down();
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    archive.volunteer.post(&format!("{post}/cancel"), json!({})).await.is(202);
    archive.work(None).await;
    assert_eq!(archive.volunteer.get(&post).await.is(200).text("status"), "draft");
    let run = archive.volunteer.get(&format!("{post}/runs/1")).await.is(200);
    assert_eq!(run.text("status"), "cancelled");
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
}

async fn unpublished_post_has_no_record_and_can_be_published_again() {
    let archive = Archive::new().await;
    let post = published(&archive, CENSUS).await;
    let permanent = ids(&archive.records().await, "permanentId");
    let path = format!("{post}/unpublish");
    archive.volunteer.post(&path, json!({})).await.is(202);
    assert_eq!(settled(&archive.volunteer, &post).await.text("status"), "draft");
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
    archive.volunteer.post(&path, json!({})).await.refused(409, "not-published");
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["totals"]["unchanged"], 5, "{}", run.told());
    assert_eq!(ids(&archive.records().await, "permanentId"), permanent);
    archive.publishing_agrees().await;
}

async fn deleted_post_leaves_nothing() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    // No run uses the first and the third file.
    for surname in ["Pughe", "Pugh", "Pue", "Puw"] {
        upload(&archive.volunteer, &post, &CENSUS.replace("Pugh", surname)).await;
        if ["Pugh", "Puw"].contains(&surname) {
            let run = publish(&archive.volunteer, &post, json!({})).await;
            assert_eq!(run["status"], "published", "{}", run.told());
        }
    }
    archive.volunteer.delete(&post).await.is(202);
    until(&archive.volunteer, &post, |read| read.status == 404).await;
    assert_nothing_is_left(&archive, &post).await;
}

pub async fn assert_nothing_is_left(archive: &Archive, post: &str) {
    let id = post.rsplit('/').next().unwrap();
    let left: Vec<String> = archive.items().await.into_keys().filter(|key| key.contains(id)).collect();
    assert_eq!(left, Vec::<String>::new());
    assert!(!archive.items().await.keys().any(|key| key.contains("record_")));
    let mut folders = vec![archive.cairn.bucket("archive")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                assert!(!entry.path().to_string_lossy().contains(id), "{:?}", entry.path());
            }
        }
    }
    archive.publishing_agrees().await;
}

/// Returns a file with this many rows of 20 columns, in households of five.
pub fn long_file(rows: usize) -> String {
    let more = (1..14).map(|column| format!(",Column {column}")).collect::<String>();
    let mut csv = format!("House,Surname,Forenames,Rel,Sex,Born,Birthplace{more}\n");
    let relations = [("Head", "M"), ("Wife", "F"), ("Son", "M"), ("Daughter", "F"), ("Lodger", "M")];
    let cells = (1..14).map(|column| format!(",a cell of text {column}")).collect::<String>();
    for row in 0..rows {
        let (relation, sex) = relations[row % 5];
        let born = 1800 + row % 90;
        csv.push_str(&format!("{},Pugh {row},Evan,{relation},{sex},{born},Place {}{cells}\n", row / 5, row % 50));
    }
    csv
}

async fn long_file_is_published_in_chunks() {
    let rows = sized(1_200, 100_000);
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, &long_file(rows)).await;
    let began = Instant::now();
    let begun = archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    let run = begun.header("location").to_owned();
    let end = began + Duration::from_mins(sized(5, 50));
    let run = loop {
        let run = archive.volunteer.get(&run).await.is(200);
        if run["phase"] == "ended" {
            break run;
        }
        assert!(Instant::now() < end, "{}", run.told());
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    println!("{rows} rows took {:.1} s", began.elapsed().as_secs_f64());
    assert_eq!(run["status"], "published", "{}", run.told());
    let households = rows / 5;
    assert_eq!((&run["totals"]["records"], &run["totals"]["households"]), (&json!(rows), &json!(households)));
    let records = archive.records().await;
    assert_eq!(records.keys().copied().collect::<Vec<_>>(), (1..=rows as u64).collect::<Vec<_>>());
    let numbers: Vec<u64> = ids(&records, "PK").iter().map(|id| id.parse().unwrap()).collect();
    assert_eq!(numbers, (numbers[0]..numbers[0] + rows as u64).collect::<Vec<_>>());
    let unresolved = archive.volunteer.get(&format!("{post}/runs/1/unresolved?limit=100")).await.is(200);
    assert_eq!((unresolved.each("text").len(), unresolved.each("count")[0]), (50, &json!(rows / 50)));
    archive.publishing_agrees().await;
}

async fn row_has_one_problem_of_its_dates_and_one_of_its_places() {
    let archive = Archive::new().await;
    let category = archive.category("Deaths").await;
    let collection = archive.collection("Deaths of 1871", &[&category]).await;
    let columns = [
        ("Surname", "surname"),
        ("Born", "birthDate"),
        ("Died", "deathDate"),
        ("Birthplace", "birthPlace"),
        ("Deathplace", "deathPlace"),
    ];
    let mapping: Value =
        columns.map(|(header, field)| json!({ "header": header, "field": field })).into_iter().collect();
    let new = json!({ "name": "Bala", "collectionId": collection, "mapping": mapping });
    let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    let long = "Erewhon ".repeat(50);
    let csv = format!("Surname,Born,Died,Birthplace,Deathplace\nRees,last spring,this winter,Atlantis,{long}\n");
    upload(&archive.volunteer, &post, &csv).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let problems = run["problems"].as_array().unwrap();
    let mut codes: Vec<&str> = problems.iter().map(|problem| problem["code"].as_str().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["date-not-understood", "place-not-found"]);
    let unresolved = archive.volunteer.get(&format!("{post}/runs/1/unresolved")).await.is(200);
    let lengths: BTreeSet<usize> = unresolved.each("text").iter().map(|text| text.as_str().unwrap().len()).collect();
    assert_eq!(lengths, BTreeSet::from([8, 200]));
}

async fn place_that_is_not_found_is_reported_at_its_cell() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let columns = [("Name", "name"), ("Village", "birthPlace"), ("County", "birthPlace")];
    let mapping: Value =
        columns.map(|(header, field)| json!({ "header": header, "field": field })).into_iter().collect();
    archive.volunteer.patch(&post, json!({ "mapping": mapping })).await.is(200);
    // The first row begins on line 2, and its places are on line 3. The second one has only the county.
    let csv = "Name,Note,Village,County\n\"Ann\nRees\",,Atlantis,Erewhon\nHuw Rees,,,Erewhon\n";
    upload(&archive.volunteer, &post, csv).await;
    let run = publish(&archive.volunteer, &post, json!({ "dryRun": true })).await;
    assert_eq!(run["status"], "checked", "{}", run.told());
    let problems = run["problems"].as_array().unwrap().iter();
    let cells: Vec<_> = problems.map(|problem| [&problem["code"], &problem["line"], &problem["column"]]).collect();
    let column = |letter: &str, header: &str| json!({ "letter": letter, "header": header });
    let (code, village, county) = (json!("place-not-found"), column("C", "Village"), column("D", "County"));
    assert_eq!(cells, [[&code, &json!(3), &village], [&code, &json!(4), &county]], "{}", run.told());
}

async fn place_texts_without_a_place_are_listed_on_pages_the_most_frequent_first() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let rows: String = (0..1_010).map(|row| format!(",Pugh,Evan,,,,Atlantis {row}\n")).collect();
    let csv = format!("House,Surname,Forenames,Rel,Sex,Born,Birthplace\n{rows},Rees,Ann,,,,Atlantis 7\n");
    upload(&archive.volunteer, &post, &csv).await;
    let run = publish(&archive.volunteer, &post, json!({ "dryRun": true })).await;
    assert_eq!(run["status"], "checked", "{}", run.told());
    let path = format!("{post}/runs/1/unresolved");
    let first = archive.volunteer.get(&path).await.is(200);
    assert_eq!((first.each("text").len(), first.each("count")[0]), (25, &json!(2)), "{}", first.told());
    let texts = listed(&archive.volunteer, &path, "text").await;
    assert_eq!((texts.len(), texts[0].as_str()), (1_010, "Atlantis 7"));
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len());
    archive.volunteer.get(&format!("{path}?cursor=7")).await.faulty(&["cursor"]);
}

/// Its job waits until search has the records.
async fn publication_goes_on_by_messages_without_the_schedule() {
    let archive = Archive::with(Setup { without: vec!["runJobs"], ..Setup::of("archive") }).await;
    published(&archive, CENSUS).await;
    archive.publishing_agrees().await;
}

async fn post_is_published_and_deleted_by_the_schedule_without_messages() {
    let archive = Archive::with(Setup { without: vec!["runJob"], ..Setup::of("archive") }).await;
    let post = published(&archive, CENSUS).await;
    archive.volunteer.delete(&post).await.is(202);
    eventually("the post is deleted", async || archive.volunteer.get(&post).await.status == 404).await;
    assert_nothing_is_left(&archive, &post).await;
}

async fn file_that_ends_inside_a_quote_is_refused() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    // Its short rows have more problems than a run keeps.
    let csv = format!("Surname,House,Forenames,Rel,Sex,Born,Birthplace\n{}\"B", "A\n".repeat(60));
    upload(&archive.volunteer, &post, &csv).await;
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip" })).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "unclosed-quote"), "{}", run.told());
    assert!(archive.records().await.is_empty());
    let report = archive.volunteer.get(&format!("{post}/runs/1/report")).await.is(200);
    let report = fetch(report.text("link")).await.is(200);
    let text = String::from_utf8(report.bytes.to_vec()).unwrap();
    assert!(text.starts_with("line,column,code,text") && text.contains("62,A Surname,unclosed-quote,"), "{text}");
    archive.publishing_agrees().await;
}

async fn correction_stands_in_a_new_file_and_a_conflict_is_refused() {
    let archive = Archive::new().await;
    let post = published(&archive, CENSUS).await;
    let evan = format!("/archive/records/{}", ids(&archive.records().await, "permanentId")[0]);
    archive.volunteer.patch(&evan, json!({ "values": { "Forenames": "Ifan" } })).await.is(200);
    let given = async || archive.visitor.get(&evan).await.is(200)["people"][0]["given"].clone();
    let again = async |csv: &str, how: Value| {
        upload(&archive.volunteer, &post, csv).await;
        publish(&archive.volunteer, &post, how).await
    };
    let run = again(&CENSUS.replace("1841", "1842"), json!({})).await;
    assert_eq!((run.text("status"), given().await), ("published", json!("Ifan")), "{}", run.told());
    let owen = CENSUS.replace("Evan", "Owen");
    let run = again(&owen, json!({})).await;
    assert_eq!((run.text("status"), given().await), ("failed", json!("Ifan")), "{}", run.told());
    let conflicts: Vec<_> =
        run["problems"].as_array().unwrap().iter().filter(|problem| problem["code"] == "correction-conflict").collect();
    assert_eq!(
        (conflicts.len(), &conflicts[0]["line"], &conflicts[0]["column"]["letter"]),
        (1, &json!(2), &json!("C"))
    );
    let run = again(&owen, json!({ "corrections": "keep" })).await;
    assert_eq!((run.text("status"), given().await), ("published", json!("Ifan")), "{}", run.told());
    let run = again(&CENSUS.replace("Evan", "Huw"), json!({ "corrections": "file" })).await;
    assert_eq!((run.text("status"), given().await), ("published", json!("Huw")), "{}", run.told());
    archive.publishing_agrees().await;
}
