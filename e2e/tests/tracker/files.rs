//! Issues from a file: what it may be, and what its work tells.

use std::time::Duration;

use ::tracker::schema::INDEX;
use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::fixture::{Fixture, PROJECT, TENANT, is_open, numbers, person};
use crate::harness::missed_read::MissedRead;
use crate::harness::{Answer, User, fetch, send_file};
use crate::tests;

tests! { tracker_files:
    bad_cells_are_reported_by_line_and_column,
    all_faults_of_a_record_are_reported_together,
    import_allocates_its_numbers_at_once,
    rows_with_an_issue_number_update_it,
    upsert_waits_for_an_index_that_lags,
    column_mapping_of_the_client_is_honoured,
    file_is_read_as_spreadsheets_write_it,
    dates_of_a_file_have_the_order_that_the_client_says,
    unknown_columns_are_left_out_on_request,
    file_that_is_not_csv_is_refused,
    tracker_import_over_the_limits_is_refused,
    oversized_row_is_found_before_any_write,
    #[long] import_without_a_file_ends,
    import_accepts_a_late_file,
    import_whose_creator_has_lost_the_role_writes_nothing,
    worker_finds_a_file_whose_event_was_lost,
    repeated_or_early_import_event_changes_nothing,
    imports_and_exports_can_be_cancelled,
}

/// The id of no job.
pub const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

pub fn new(mode: &str, on_error: &str) -> Value {
    json!({ "mode": mode, "onError": on_error })
}

pub async fn announce(user: &User, project: &str, mut new: Value, file: &(impl AsRef<[u8]> + ?Sized)) -> Answer {
    new["bytes"] = json!(file.as_ref().len());
    let announced = user.post(&format!("{project}/imports"), new).await.is(201);
    assert_eq!((announced.text("status"), announced.text("kind")), ("queued", "import"));
    announced
}

/// Announces a file, sends it and waits for the end of its work.
pub async fn import(user: &User, project: &str, new: Value, file: &(impl AsRef<[u8]> + ?Sized)) -> Answer {
    let announced = announce(user, project, new, file).await;
    assert_eq!(send_file(&announced, file).await, 200);
    ended(user, announced.header("location")).await
}

/// Longer than a lease: a worker that was killed holds its work for two minutes.
pub const STALLED: Duration = Duration::from_secs(180);

pub async fn ended(user: &User, work: &str) -> Answer {
    let (mut counts, mut since) = (Value::Null, Instant::now());
    loop {
        let read = user.get(work).await.is(200);
        if !["queued", "running"].contains(&read.text("status")) {
            return read;
        }
        assert_eq!(read.header("retry-after"), "1");
        if read["counts"] != counts {
            (counts, since) = (read["counts"].clone(), Instant::now());
        }
        assert!(since.elapsed() < STALLED, "it does not go on: {}", read.told());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

pub fn counts(total: u64, created: u64, changed: u64, failed: u64) -> Value {
    json!({ "total": total, "done": total - failed, "created": created, "updated": changed, "failed": failed })
}

async fn bad_cells_are_reported_by_line_and_column() {
    let fixture = Fixture::new().await;
    let file = "Name,Num Items,Start,Sign Off\r\n\
                First,1,2023-05-01,\"two\r\nlines\"\r\n\
                \"Second\",x,2023-02-30,\"\"\r\n\
                ,3,,\r\n\
                Fourth,4\r\n\
                Fifth,5,,ok\r\n";
    let stopped = import(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    assert_eq!(stopped.text("status"), "failed", "{}", stopped.told());
    let place = |record: u64, line: u64, column: &str| (json!(record), json!(line), json!(column));
    let whole = (json!(4), json!(6), Value::Null);
    let expected = [place(2, 4, "Num Items"), place(2, 4, "Start"), place(3, 5, "Name"), whole];
    let told = |faults: &Value| -> Vec<(Value, Value, Value)> {
        let place = |fault: &Value| (fault["record"].clone(), fault["line"].clone(), fault["column"].clone());
        faults.as_array().unwrap().iter().map(place).collect()
    };
    assert_eq!(told(&stopped["faults"]), expected, "{}", stopped.told());
    assert_eq!(
        stopped["faults"][0]["detail"],
        "must be a whole number from -9223372036854775808 to 9223372036854775807"
    );
    let all = fetch(stopped.text("faultsLink")).await.is(200);
    assert_eq!((told(&all["faults"]), &all["faultCount"]), (expected.to_vec(), &json!(4)));
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3], "nothing was written");

    let skipped = import(&fixture.ann, PROJECT, new("create", "skip"), file).await;
    assert_eq!((skipped.text("status"), &skipped["counts"]), ("succeeded", &counts(5, 2, 0, 3)), "{}", skipped.told());
    assert_eq!(told(&skipped["faults"]), expected);
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 4, 5]);
    let first = fixture.ann.get(&format!("{PROJECT}/numbers/4")).await.is(200);
    assert_eq!(
        first["values"],
        json!({ "xattrib-3fe6": "1", "xattrib-3812": "2023-05-01", "xattrib-47e5": "two\r\nlines" })
    );
    assert_eq!((first.text("name"), first.text("createdBy")), ("First", "local:ann"));
    fixture.holds().await;
}

async fn all_faults_of_a_record_are_reported_together() {
    let fixture = Fixture::new().await;
    for (mode, file, columns) in [
        ("create", "Name,Num Items\n,x\n", &["Num Items", "Name"][..]),
        ("upsert", "Number,Name,State\nx,,ajar\n", &["Number", "State", "Name"]),
        ("upsert", "Number,Num Items\nx,y\n", &["Number", "Num Items"]),
    ] {
        let rejected = import(&fixture.ann, PROJECT, new(mode, "stop"), file).await;
        let faults = rejected["faults"].as_array().unwrap();
        let found: Vec<&str> = faults.iter().map(|fault| fault["column"].as_str().unwrap()).collect();
        assert_eq!(found, columns, "{}", rejected.told());
    }
}

async fn import_allocates_its_numbers_at_once() {
    let fixture = Fixture::new().await;
    let taken = "Number,Name\n2,Two\n7,Seven\n7,Again\n,Any\n0,None\n1000004,Much\n";
    let rejected = import(&fixture.ann, PROJECT, new("create", "stop"), taken).await;
    assert_eq!(rejected.text("status"), "failed", "{}", rejected.told());
    let told: Vec<(&Value, &Value)> =
        rejected["faults"].as_array().unwrap().iter().map(|fault| (&fault["record"], &fault["column"])).collect();
    let number = json!("Number");
    let expected = [1, 3, 5, 6].map(|record| (json!(record), number.clone()));
    assert_eq!(told, expected.iter().map(|(record, column)| (record, column)).collect::<Vec<_>>());
    let file = "Number,Name\n7,Seven\n,Eleven\n10,Ten\n,Twelve\n";
    let done = import(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    assert_eq!(done["counts"], counts(4, 4, 0, 0), "{}", done.told());
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 7, 10, 11, 12]);
    for (number, name) in [(7, "Seven"), (10, "Ten"), (11, "Eleven"), (12, "Twelve")] {
        assert_eq!(fixture.ann.get(&format!("{PROJECT}/numbers/{number}")).await.is(200).text("name"), name);
    }
    assert_eq!(fixture.issue(PROJECT, "Next", json!({})).await["number"], 13);
    fixture.holds().await;
}

async fn rows_with_an_issue_number_update_it() {
    let fixture = Fixture::new().await;
    fixture.ann.delete(&format!("{PROJECT}/issues/issue-67d1")).await.is(204);
    let former = "Number,State\n1,closed\n2,closed\n";
    let announced = announce(&fixture.ann, PROJECT, new("upsert", "stop"), former).await;
    assert_eq!(send_file(&announced, former).await, 200);
    // The index may lag, so it is read again after a minute.
    fixture.until(async || !is_open(&fixture.ann.get(announced.header("location")).await.is(200))).await;
    let gone = fixture.ann.get(announced.header("location")).await.is(200);
    assert_eq!((gone.text("status"), gone["faults"].as_array().unwrap().len()), ("failed", 1), "{}", gone.told());
    assert!(gone["faults"][0]["detail"].as_str().unwrap().contains("no issue has it"), "{}", gone.told());
    let file = "Number,Num Items,Start,State,Name\n\
                1,5,,Closed,Needs Painting\n\
                3,42,,,Girder needs paint\n\
                5,,2024-01-01,,Fifth\n\
                ,,,,Sixth\n";
    let done = import(&fixture.ann, PROJECT, new("upsert", "stop"), file).await;
    assert_eq!(done["counts"], counts(4, 2, 2, 0), "{}", done.told());
    let again = import(&fixture.ann, PROJECT, new("upsert", "stop"), &file.replace("\n,,,,Sixth", "")).await;
    assert_eq!(again["counts"], counts(3, 0, 0, 0), "{}", again.told());
    let first = fixture.ann.get(&format!("{PROJECT}/numbers/1")).await.is(200);
    // An empty cell says that there is no value; a column that the file has not says nothing.
    assert_eq!(first["values"], json!({ "xattrib-3fe6": "5", "xattrib-882a": "2023-06-01" }));
    assert_eq!((first.text("state"), first.text("updatedBy")), ("closed", "local:ann"));
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 3, 5, 6]);
    assert_eq!(fixture.numbers(PROJECT, "filter=state:eq:open").await, [3, 5, 6]);
    fixture.holds().await;
}

/// In either pass, the index does not list the issue yet when it is read first.
async fn upsert_waits_for_an_index_that_lags() {
    let fixture = Fixture::new().await;
    for (on_error, pass) in [("stop", 0), ("skip", 0), ("stop", 1), ("skip", 1)] {
        let project = fixture.project("Lagging").await;
        fixture.issue(&project, "Old", json!({})).await;
        let file = "Number,Name\n1,Renamed\n,New\n";
        let announced = announce(&fixture.ann, &project, new("upsert", on_error), file).await;
        put_by_hand(&fixture, &announced, file);
        let config = fixture.cairn.engines().config.clone();
        let of_index = |query: &Value| query["IndexName"] == INDEX;
        let lag = MissedRead::before(config.dynamodb.clone().unwrap(), "Query", of_index, pass).await;
        let config = Config { dynamodb: Some(lag.url.clone()), ..config };
        let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
        let arrived = arrived(announced.text("id")).to_string();
        app.event("startImport", arrived.into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
        let job = announced.header("location");
        let waiting = fixture.ann.get(job).await.is(200);
        assert_eq!(waiting.text("status"), "running", "{}", waiting.told());
        let grid = async || fixture.ann.get(&format!("{project}/grid")).await.is(200);
        assert_eq!(grid().await.each("name"), ["Old"], "nothing was written");
        // Once: a lease that ends during a step would let another worker repeat it.
        fixture.cairn.clock.advance(Duration::from_secs(61));
        let done = ended(&fixture.ann, job).await;
        assert_eq!((done.text("status"), &done["counts"]), ("succeeded", &counts(2, 1, 1, 0)), "{}", done.told());
        assert_eq!(grid().await.each("name"), ["Renamed", "New"]);
    }
    fixture.holds().await;
}

async fn column_mapping_of_the_client_is_honoured() {
    let fixture = Fixture::new().await;
    let mut mapped = new("create", "stop");
    mapped["columns"] = json!({ "Titel": "name", "Anzahl": "xattrib-3fe6", "Notiz": null });
    // A byte-order mark, as spreadsheets write it.
    let file = "\u{feff}Titel,ANZAHL,Anzahl,Notiz,sign off\nEins,x,7,=egal,Ja\n";
    let unknown = import(&fixture.ann, PROJECT, mapped.clone(), file).await;
    assert_eq!(unknown.text("status"), "failed");
    assert_eq!((&unknown["faults"][0]["record"], &unknown["faults"][0]["column"]), (&json!(0), &json!("ANZAHL")));
    let numbered = file.replace(",ANZAHL", ",Number").replace(",x,", ",9,");
    let done = import(&fixture.ann, PROJECT, mapped.clone(), &numbered).await;
    assert_eq!(done["counts"], counts(1, 1, 0, 0));
    let issue = fixture.ann.get(&format!("{PROJECT}/numbers/9")).await.is(200);
    assert_eq!((issue.text("name"), &issue["values"]), ("Eins", &json!({ "xattrib-3fe6": "7", "xattrib-47e5": "Ja" })));

    mapped["columns"] = json!({ "A/b": "xattrib-0000", "C": "nothing" });
    mapped["bytes"] = json!(10);
    let refused = fixture.ann.post(&format!("{PROJECT}/imports"), mapped.clone()).await.refused(422, "unmapped-column");
    refused.at(&["/columns/A~1b", "/columns/C"]);
    // The first column of a table that counts its rows has no header.
    mapped["columns"] = json!({ "": null });
    let without_header = import(&fixture.ann, PROJECT, mapped, ",Name\n1,Zwei\n").await;
    assert_eq!(without_header["counts"], counts(1, 1, 0, 0), "{}", without_header.told());
    let twice = import(&fixture.ann, PROJECT, new("create", "stop"), "Name,name\na,b\n").await;
    assert!(twice["faults"][0]["detail"].as_str().unwrap().contains("another column"), "{}", twice.told());
}

async fn file_is_read_as_spreadsheets_write_it() {
    let fixture = Fixture::new().await;
    let text = "Name{d}State{d}Num Items{d}{d}\r\nGröße{d} closed {d} 7{d}{d}\r\n{d}{d}{d}{d}\r\n\r\n\"a, b; c\"{d}{d}{d}{d}\r\n";
    let wide = |text: &str, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
    };
    // Of the text, only two letters are no ASCII.
    let windows =
        |text: &str| -> Vec<u8> { text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect() };
    for delimiter in [",", ";", "\t"] {
        let text = text.replace("{d}", delimiter);
        let files = [
            text.clone().into_bytes(),
            text.replace("\r\n", "\r").into_bytes(),
            windows(&text),
            wide(&text, u16::to_le_bytes),
            wide(&text, u16::to_be_bytes),
        ];
        for file in files {
            let project = fixture.project("Sheet").await;
            let items = fixture.attribute(&project, "Num Items", "int").await;
            let done = import(&fixture.ann, &project, new("create", "stop"), &file).await;
            let told = format!("{delimiter:?} {file:?}: {}", done.told());
            assert_eq!((done.text("status"), &done["counts"]), ("succeeded", &counts(2, 2, 0, 0)), "{told}");
            let first = fixture.ann.get(&format!("{project}/numbers/1")).await.is(200);
            assert_eq!((first.text("name"), first.text("state")), ("Größe", "closed"), "{told}");
            assert_eq!(first["values"], json!({ items: "7" }), "{told}");
            let second = fixture.ann.get(&format!("{project}/numbers/2")).await.is(200);
            assert_eq!(second.text("name"), "a, b; c", "{told}");
        }
    }
    // What is not empty after the last column has no place.
    let beyond = import(&fixture.ann, PROJECT, new("create", "stop"), "Name;;\nOne;;\nTwo;;2\n").await;
    assert_eq!(beyond["faults"][0]["detail"], "has 3 fields, and the header has 1", "{}", beyond.told());
    // A file without a byte-order mark that begins in UTF-8 stays so, wherever it is wrong.
    for lines in [0, 1_100_000] {
        let mixed = [b"Name\nGr\xc3\xb6\xc3\x9fe\n".as_slice(), &vec![b'\n'; lines], b"Gr\xf6\xdfe\n"].concat();
        let mixed = import(&fixture.ann, PROJECT, new("create", "stop"), &mixed).await;
        assert_eq!(mixed["faults"][0]["detail"], "is not UTF-8 from byte 2 on; save the file as UTF-8");
    }
}

async fn dates_of_a_file_have_the_order_that_the_client_says() {
    let fixture = Fixture::new().await;
    let file = "Name,Start Date\nOne,3/4/2026\nTwo,2026-12-31\nThree,30.4.26\n";
    let date = async |order: Option<&str>, name: &str| {
        let project = fixture.project(name).await;
        let start = fixture.attribute(&project, "Start Date", "date").await;
        let mut new = new("create", "skip");
        if let Some(order) = order {
            new["dateOrder"] = json!(order);
        }
        let done = import(&fixture.ann, &project, new, file).await;
        let page = fixture.ann.get(&format!("{project}/grid")).await.is(200);
        let dates =
            page["items"].as_array().unwrap().iter().map(|row| row["values"][&start].clone()).collect::<Vec<_>>();
        if let Some(order) = order {
            let detail = done["faults"][0]["detail"].as_str().unwrap();
            let named = if order == "dmy" { "(day, month, year)" } else { "(month, day, year)" };
            assert!(detail.contains(named), "{detail}");
        }
        (dates, done["counts"]["failed"].clone())
    };
    assert_eq!(date(Some("dmy"), "A").await, (vec![json!("2026-04-03"), json!("2026-12-31")], json!(1)));
    assert_eq!(date(Some("mdy"), "B").await, (vec![json!("2026-03-04"), json!("2026-12-31")], json!(1)));
    assert_eq!(date(None, "C").await, (vec![json!("2026-12-31")], json!(2)));
}

async fn unknown_columns_are_left_out_on_request() {
    let fixture = Fixture::new().await;
    let file = "Name,OBJECTID,Num Items\nOne,17,5\n";
    let refused = import(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    let detail = refused["faults"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("unknownColumns: ignore"), "{detail}");
    let mut ignoring = new("create", "stop");
    ignoring["unknownColumns"] = json!("ignore");
    let done = import(&fixture.ann, PROJECT, ignoring.clone(), file).await;
    assert_eq!(done["counts"], counts(1, 1, 0, 0), "{}", done.told());
    // A mapping that fits no header is a mistake in any case.
    ignoring["columns"] = json!({ "Nmae": "name" });
    let misspelt = import(&fixture.ann, PROJECT, ignoring, file).await;
    assert_eq!(misspelt.text("status"), "failed", "{}", misspelt.told());
}

async fn file_that_is_not_csv_is_refused() {
    let fixture = Fixture::new().await;
    for (file, told) in [
        ("\n", "no header"),
        ("Num Items\n1\n", "a column with names"),
        ("Name\n\"open\n", "never closed"),
        ("Name\na\"b\"c\n", "has a quote in a field"),
        ("PK\u{3}\u{4}\u{14}\0", "save the sheet as CSV"),
        (&format!("Name,{}\n", "a".repeat(500_000)), "of more than 200 characters"),
        (&format!("Name{}\n", format!(",{}", "\u{1f600}".repeat(200)).repeat(300)), "of more than 100000 bytes"),
        (&format!("Name,{}\n", ",".repeat(100_000)), "has more than 400 fields"),
    ] {
        let rejected = import(&fixture.ann, PROJECT, new("create", "stop"), file).await;
        assert_eq!(rejected.text("status"), "failed", "{told}: {}", rejected.told());
        assert!(rejected.body.to_string().contains(told), "{told}: {}", rejected.told());
    }
    // What spoils a record spoils no other.
    let stray = format!("Name,Num Items\n5\" pipe,1\nSound,2\n{}\n6\" pipe,3\n", ",".repeat(3_000_000));
    let done = import(&fixture.ann, PROJECT, new("create", "skip"), &stray).await;
    assert_eq!((done.text("status"), &done["counts"]), ("succeeded", &counts(4, 1, 0, 3)), "{}", done.told());
    fixture.ann.delete(&format!("{PROJECT}/issues/{}", done_issue(&fixture, 4).await)).await.is(204);
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3]);
}

async fn tracker_import_over_the_limits_is_refused() {
    let fixture = Fixture::new().await;
    let path = format!("{PROJECT}/imports");
    let with = |bytes: u64| json!({ "mode": "create", "onError": "stop", "bytes": bytes });
    fixture.ann.post(&path, with(0)).await.faulty(&["/bytes"]);
    fixture.ann.post(&path, with(200_000_001)).await.refused(413, "too-large");
    fixture.ann.post(&path, json!({ "bytes": 1, "mode": "merge" })).await.is(400);
    let columns: serde_json::Map<String, Value> = (0..201).map(|place| (place.to_string(), Value::Null)).collect();
    let mut many = with(1);
    many["columns"] = Value::from(columns);
    fixture.ann.post(&path, many.clone()).await.faulty(&["/columns"]);
    many["columns"] = json!({ "a".repeat(201): null });
    fixture.ann.post(&path, many).await.faulty(&[&format!("/columns/{}", "a".repeat(201))]);
    let one = fixture.ann.post(&path, with(5)).once("k").await.is(201);
    assert_eq!(fixture.ann.post(&path, with(5)).once("k").await.is(201).body, one.body);
    let vic = person(&fixture.cairn, "vic").await;
    vic.post(&path, with(5)).await.refused(403, "forbidden");
    let exports = format!("{PROJECT}/exports");
    vic.post(&exports, json!({ "sort": "nothing" })).await.faulty(&["/sort"]);
    vic.post(&exports, json!({ "filter": ["state:lt:open"] })).await.faulty(&["/filter/0"]);
    let unknown = vic.post(&exports, json!({ "columns": ["xattrib-3812", "xattrib-0000"] })).await;
    unknown.refused(422, "unmapped-column").at(&["/columns/1"]);
    let begun = vic.post(&exports, json!({})).once("e").await.is(202);
    assert_eq!(vic.post(&exports, json!({})).once("e").await.is(202).header("location"), begun.header("location"));
}

async fn import_without_a_file_ends() {
    let fixture = Fixture::new().await;
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), "Name\na\n").await;
    let work = announced.header("location");
    fixture.cairn.clock.advance(Duration::from_secs(10 * 60));
    assert_eq!(fixture.ann.get(work).await.is(200).text("status"), "queued");
    fixture.cairn.clock.advance(Duration::from_hours(6));
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "failed").await;
    let stopped = fixture.ann.get(work).await.is(200);
    assert_eq!(stopped.text("reason"), "no file arrived");
    assert!(stopped.body.get("faultsLink").is_none());
}

/// What the link takes may be sent for longer than it takes it.
async fn import_accepts_a_late_file() {
    let fixture = Fixture::new().await;
    let file = "Name\nLate\n";
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    let work = announced.header("location");
    fixture.cairn.clock.advance(Duration::from_secs(21 * 60));
    fixture.cairn.event("tracker", "runJobs", &json!({})).await.unwrap();
    // For a moment it may be in the hands of the platform's own worker.
    fixture.until_still(async || fixture.ann.get(work).await.is(200).text("status") == "queued").await;
    put_by_hand(&fixture, &announced, file);
    fixture.cairn.event("tracker", "startImport", &arrived(announced.text("id"))).await.unwrap();
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 4]);
    // Otherwise a client that asks for what is new since its last request would miss the issue.
    let page = fixture.ann.get(&format!("{PROJECT}/grid")).await.is(200);
    let created = page["items"][3]["createdAt"].as_str().unwrap();
    assert!(created > announced.text("createdAt"), "{}", page.told());
}

async fn import_whose_creator_has_lost_the_role_writes_nothing() {
    let fixture = Fixture::new().await;
    let file = "Name\nLate\n";
    let demoted = announce(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    let removed = announce(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    let fails = async |announced: &Answer| {
        assert_eq!(send_file(announced, file).await, 200);
        let failed = ended(&fixture.ada, announced.header("location")).await;
        assert_eq!(failed.text("status"), "failed", "{}", failed.told());
        let reason = "the person who created it is no longer an editor or an administrator of the tenant";
        assert_eq!(failed.text("reason"), reason);
    };
    let member = format!("{TENANT}/members/local:ann");
    fixture.ada.patch(&member, json!({ "role": "viewer" })).await.is(200);
    fails(&demoted).await;
    fixture.ada.delete(&member).await.is(204);
    fails(&removed).await;
    let grid = fixture.ada.get(&format!("{PROJECT}/grid")).await.is(200);
    assert_eq!(numbers(&grid), [1, 2, 3]);
}

async fn done_issue(fixture: &Fixture, number: u64) -> String {
    fixture.ann.get(&format!("{PROJECT}/numbers/{number}")).await.is(200).text("id").to_owned()
}

/// Texts are kept as they were sent: a syllable of three letters is one character, and has nine bytes.
async fn oversized_row_is_found_before_any_write() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Wide").await;
    let names: Vec<String> = (0..46).map(|place| format!("Text {place}")).collect();
    for name in &names {
        fixture.attribute(&project, name, "text").await;
    }
    let mut file = format!("Name,{}\n", names.join(","));
    (0..200).for_each(|row| file += &format!("Row {row}{}\n", ",".repeat(46)));
    file += &format!("Large{}\n", format!(",{}", "\u{1100}\u{1161}\u{11a8}".repeat(1024)).repeat(46));
    let rejected = import(&fixture.ann, &project, new("create", "stop"), &file).await;
    assert_eq!(rejected.text("status"), "failed", "{}", rejected.told());
    assert_eq!(rejected["faults"][0]["record"], 201, "{}", rejected.told());
    assert_eq!(fixture.numbers(&project, "").await, [0; 0]);
}

async fn worker_finds_a_file_whose_event_was_lost() {
    let fixture = Fixture::new().await;
    let file = "Number,Name\n4,Late\n";
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    put_by_hand(&fixture, &announced, file);
    let work = announced.header("location");
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 4]);
}

/// Puts a file where its link would, so that no event begins its import.
pub fn put_by_hand(fixture: &Fixture, announced: &Answer, file: &str) {
    let folder = fixture.cairn.bucket("tracker").join("imports");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(announced.text("id")), file).unwrap();
}

/// What S3 tells of the file of an import.
pub fn arrived(work: &str) -> Value {
    let s3 = json!({ "bucket": { "name": "tracker" }, "object": { "key": format!("imports/{work}") } });
    json!({ "Records": [{ "eventName": "ObjectCreated:Put", "s3": s3 }] })
}

async fn repeated_or_early_import_event_changes_nothing() {
    let fixture = Fixture::new().await;
    let file = "Name\nOnce\n";
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    assert_eq!(send_file(&announced, file).await, 200);
    ended(&fixture.ann, announced.header("location")).await;
    for id in [announced.text("id"), UNKNOWN, "nothing"] {
        fixture.cairn.event("tracker", "startImport", &arrived(id)).await.unwrap();
    }
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 4]);

    let lost = announce(&fixture.ann, PROJECT, new("create", "stop"), file).await;
    fixture.cairn.event("tracker", "startImport", &arrived(lost.text("id"))).await.unwrap();
    let rejected = fixture.ann.get(lost.header("location")).await.is(200);
    assert_eq!(rejected.text("status"), "failed");
    assert_eq!(rejected.text("reason"), "the file was deleted before all of it was read");
}

async fn imports_and_exports_can_be_cancelled() {
    let fixture = Fixture::new().await;
    let done = import(&fixture.ann, PROJECT, new("create", "stop"), "Name\na\n").await;
    let path = format!("{TENANT}/jobs/{}", done.text("id"));
    fixture.ann.delete(&path).await.refused(409, "not-cancellable");
    // The platform's own worker would be done with the export at once.
    fixture.cairn.engines().wind_down();
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), "Name\na\n").await;
    let vic = person(&fixture.cairn, "vic").await;
    vic.delete(announced.header("location")).await.refused(403, "forbidden");
    let export = vic.post(&format!("{PROJECT}/exports"), json!({})).await.is(202);
    // Each by whoever began it.
    for (user, begun) in [(&fixture.ann, &announced), (&vic, &export)] {
        let work = begun.header("location");
        user.delete(work).await.is(204);
        user.delete(work).await.is(204);
        assert_eq!(fixture.ann.get(work).await.is(200).text("status"), "cancelled");
    }
    // The file comes all the same.
    assert_eq!(send_file(&announced, "Name\na\n").await, 200);
    fixture.cairn.event("tracker", "runJobs", &json!({})).await.unwrap();
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 4]);
    let other = fixture.ada.delete(&format!("{PROJECT}/attributes/xattrib-3fe6")).await.is(202);
    fixture.ann.delete(other.header("location")).await.refused(409, "not-cancellable");
    fixture.ann.delete(&format!("{TENANT}/jobs/{UNKNOWN}")).await.refused(404, "not-found");
}
