//! Published records as readers see them, corrections by hand, and reports of readers. The register is written to the table
//! as a run leaves it, since publishing has tests of its own.

use std::time::Duration;

use ::archive::keys::{PostRunKey, RecordAddressKey, RecordHouseholdKey, RecordKey};
use ::archive::names::{Household, PostId, RecordId, RunNumber};
use ::archive::schema::ARCHIVE;
use local::identity::Person;
use serde_json::{Value, json};
use table::{EntityKey, item};

use super::publishing::{self, CENSUS};
use super::stage::{Archive, attribute, id, listed};
use crate::harness::Answer;
use crate::harness::table::{Item, stored, text};
use crate::tests;

tests! { archive_records:
    record_shows_its_household_in_the_order_of_rows_with_citation_and_image,
    records_of_a_post_are_listed_in_the_order_of_rows,
    closed_record_is_shown_to_staff_only_and_leaves_no_short_page,
    unpublished_post_shows_no_records,
    record_of_a_later_run_answers_under_its_permanent_id_only,
    record_that_a_later_file_lacks_is_gone,
    record_that_is_gone_is_none_for_the_public_unless_it_is_known_to_be_open,
    id_of_a_post_with_many_households_is_no_record,
    corrected_name_changes_the_household_and_the_relatives,
    correction_back_to_the_text_of_the_file_ends_it,
    correction_of_a_household_or_an_unknown_column_is_refused,
    record_of_another_volunteer_is_corrected_by_editors_only,
    record_that_is_taken_down_leaves_household_and_counts,
    #[long] record_that_was_taken_down_stays_down_when_its_file_is_published_again,
    report_of_a_reader_is_listed_and_settled_by_an_editor,
    first_request_of_an_editor_may_be_any_change,
    reports_of_one_source_are_limited_in_each_hour,
    keys_of_readers_without_a_token_are_those_of_their_networks,
}

const FIRST: u64 = 2_000_000_001;
const HEADERS: [&str; 7] = ["House", "Surname", "Forenames", "Rel", "Sex", "Born", "Birthplace"];
const ROWS: [[&str; 7]; 5] = [
    ["14", "Pugh", "Evan", "Head", "M", "abt 1838", "Dolgellau, Wales"],
    ["14", "Pugh", "Margaret", "Wife", "F", "1841", "Bala, Wales"],
    ["14", "Pugh", "Griffith", "Son", "M", "Mar 1868", "Dolgellau, Wales"],
    ["15", "Müller", "Johann", "Head", "M", "1850-1855", "Zürich, Switzerland"],
    ["", "Jones", "Wm.", "Lodger", "M", "", ""],
];

/// An archive with one published register of five records.
pub struct Register {
    pub archive: Archive,
    collection: String,
    post: String,
}

fn record_id(row: usize) -> RecordId {
    RecordId::new(FIRST + row as u64 - 1).unwrap()
}

/// Returns the path of the record of this row.
pub fn path(row: usize) -> String {
    format!("/archive/records/{}", record_id(row))
}

fn mapping() -> Value {
    let fields = ["household", "surname", "given", "relation", "sex", "birthDate", "birthPlace"];
    let column = |(header, field): (&str, &str)| json!({ "header": header, "role": "principal", "field": field });
    let mut columns: Vec<Value> = HEADERS.into_iter().zip(fields).map(column).collect();
    columns[2]["label"] = "Given names".into();
    columns.into()
}

/// Returns a record of a run as the table has it. Its id is that of the run, and its permanent id that of the first.
fn record(row: usize, run: u32, collection: &str) -> Value {
    let [house, surname, given, relation, sex, born, place] = ROWS[row - 1];
    let sex = if sex == "F" { "female" } else { "male" };
    let mut record = json!({
        "run": run, "row": row, "collectionId": collection, "permanentId": record_id(row), "values": ROWS[row - 1],
        "people": [{ "role": "principal", "given": given, "surname": surname, "sex": sex }],
        "events": [{ "type": "birth", "role": "principal", "dateText": born, "placeText": place }],
        "relatives": [], "keywords": [], "relation": relation, "createdAt": "2026-01-01T00:00:00.000000Z",
        "updatedAt": "2026-01-01T00:00:00.000000Z", "createdBy": "1000000000",
    });
    if !house.is_empty() {
        record["household"] = house.into();
    }
    if row == 3 {
        let parent = |relation: &str, given: &str| json!({ "relation": relation, "given": given, "surname": "Pugh" });
        record["relatives"] = json!([parent("father", "Evan"), parent("mother", "Margaret")]);
    }
    record
}

impl Register {
    pub async fn new() -> Self {
        let archive = Archive::new().await;
        let category = archive.category("Census").await;
        let new = json!({
            "name": "Census of 1871", "categoryIds": [category], "citationTemplate": "Census of 1871, house {House}.",
            "imageUrlTemplate": "https://images.example.org/{House}",
        });
        let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
        let post = archive.post("Dolgellau", &collection).await;
        archive.set_records(&collection, 5).await;
        let register = Self { archive, collection, post };
        for row in 1..=5 {
            let record = record(row, 1, &register.collection);
            register.put(&RecordKey { record: record_id(row), post: register.id() }.key(), &with_id(record, row)).await;
        }
        register.household("14", "run_1", &[1, 2, 3]).await;
        register.household("15", "run_1", &[4]).await;
        register.publish(1, FIRST).await;
        register
    }

    fn id(&self) -> PostId {
        self.post.parse().unwrap()
    }

    async fn put(&self, key: &table::Key, value: &Value) {
        self.archive.table().put(stored(&ARCHIVE, key, value)).await;
    }

    /// Writes the household of these rows, whose records have the ids of the first run.
    async fn household(&self, number: &str, run: &str, rows: &[usize]) {
        let member = |row: &usize| {
            let [_, surname, given, relation, ..] = ROWS[row - 1];
            let id = record_id(*row);
            json!({ "id": id, "permanentId": id, "name": format!("{given} {surname}"), "relation": relation })
        };
        let household = Household::new(number).unwrap();
        let members: Vec<Value> = rows.iter().map(member).collect();
        self.put(&RecordHouseholdKey { post: self.id(), household }.key(), &json!({ run: members })).await;
    }

    /// Makes a run public whose first row has this id.
    async fn publish(&self, run: u32, first: u64) {
        let totals = json!({
            "rows": 5, "records": 5, "households": 2, "new": 5, "unchanged": 0, "changed": 0, "gone": 0, "errors": 0,
            "warnings": 0,
        });
        let of_run = json!({
            "run": run, "job": "00000000-0000-7000-8000-000000000000", "status": "published", "phase": "ended",
            "file": "00", "bytes": 1, "format": { "encoding": "UTF-8", "delimiter": "," }, "headers": HEADERS,
            "mapping": mapping(), "collectionId": self.collection, "badRows": "refuse", "corrections": "refuse",
            "totals": totals, "firstId": first.to_string(), "lastId": (first + 4).to_string(), "problems": [],
            "createdAt": "2026-01-01T00:00:00.000000Z", "createdBy": "1000000000",
        });
        self.put(&PostRunKey { post: self.id(), run: RunNumber(run) }.key(), &of_run).await;
        let mut post = self.item(&self.post, "post").await;
        for (name, value) in [
            ("status", text("published")),
            ("run", item::number(run)),
            ("publishedRun", item::number(run)),
            ("lastPublished", item::number(run)),
            ("firstId", text(&first.to_string())),
            ("lastId", text(&(first + 4).to_string())),
            ("recordCount", item::number(5)),
            ("householdCount", item::number(2)),
        ] {
            post.insert(name.to_owned(), value);
        }
        self.archive.table().put(post).await;
    }

    async fn item(&self, pk: &str, sk: &str) -> Item {
        self.archive.table().get(pk, sk).await.unwrap()
    }

    /// Sets an attribute of the record of this row.
    async fn set(&self, row: usize, name: &str, value: u32) {
        let (pk, sk) = self.key(row);
        let mut record = self.item(&pk, &sk).await;
        record.insert(name.to_owned(), item::number(value));
        self.archive.table().put(record).await;
    }

    /// Returns the key of the record of this row.
    pub fn key(&self, row: usize) -> (String, String) {
        (record_id(row).to_string(), format!("record_post#{}", self.post))
    }

    pub fn records(&self) -> String {
        format!("/archive/posts/{}/records", self.post)
    }

    pub fn households(&self) -> String {
        format!("/archive/posts/{}/households", self.post)
    }
}

fn with_id(mut record: Value, row: usize) -> Value {
    record["GSISK"] = record_id(row).to_string().into();
    record
}

/// Returns the names of the members in a response.
fn members(household: &Value) -> Vec<&str> {
    household["members"].as_array().unwrap().iter().map(|member| member["name"].as_str().unwrap()).collect()
}

async fn record_shows_its_household_in_the_order_of_rows_with_citation_and_image() {
    let register = Register::new().await;
    let Archive { visitor, .. } = &register.archive;
    let griffith = visitor.get(&path(3)).await.is(200);
    assert_eq!(members(&griffith["household"]), ["Evan Pugh", "Margaret Pugh", "Griffith Pugh"]);
    assert_eq!(griffith["household"]["members"][1]["events"][0]["dateText"], "1841");
    assert_eq!(griffith["values"][2], json!({ "header": "Forenames", "label": "Given names", "value": "Griffith" }));
    assert_eq!(griffith.text("citation"), "Census of 1871, house 14.");
    assert_eq!(griffith.text("imageLink"), "https://images.example.org/14");
    let of = [&griffith["post"]["name"], &griffith["collection"]["name"]];
    assert_eq!(of, [&json!("Dolgellau"), &json!("Census of 1871")]);
    let jones = visitor.get(&path(5)).await.is(200);
    assert_eq!((&jones["household"], &jones["imageLink"]), (&Value::Null, &Value::Null));
    let households = visitor.get(&register.households()).await.is(200);
    assert_eq!(households.each("number"), [&json!("14"), &json!("15")]);
    assert_eq!(households["items"][0]["count"], 3);
    let first = visitor.get(&format!("{}/14", register.households())).await.is(200);
    assert_eq!(members(&first.body), ["Evan Pugh", "Margaret Pugh", "Griffith Pugh"]);
    visitor.get(&format!("{}/16", register.households())).await.refused(404, "not-found");
}

async fn records_of_a_post_are_listed_in_the_order_of_rows() {
    let register = Register::new().await;
    let all = register.archive.visitor.get(&register.records()).await.is(200);
    assert_eq!(all.each("row"), [1, 2, 3, 4, 5].map(Value::from).iter().collect::<Vec<_>>());
    for limit in 1..=5 {
        let pages = register.archive.visitor.pages(&register.records(), limit).await;
        let rows: Vec<&Value> = pages.iter().flat_map(|page| page.each("row")).collect();
        assert_eq!(rows, all.each("row"), "pages of {limit}");
    }
}

async fn closed_record_is_shown_to_staff_only_and_leaves_no_short_page() {
    let register = Register::new().await;
    let Archive { visitor, volunteer, .. } = &register.archive;
    register.set(3, "visibleFrom", 20_990_101).await;
    visitor.get(&path(3)).await.refused(404, "not-found");
    assert_eq!(volunteer.get(&path(3)).await.is(200)["visibleFrom"], 20_990_101);
    let page = visitor.get(&format!("{}?limit=3", register.records())).await.is(200);
    assert_eq!(page.each("row"), [&json!(1), &json!(2), &json!(4)]);
    let page = volunteer.get(&format!("{}?limit=3", register.records())).await.is(200);
    assert_eq!(page.each("row"), [&json!(1), &json!(2), &json!(3)]);
    let household = format!("{}/14", register.households());
    assert_eq!(members(&visitor.get(&household).await.is(200).body), ["Evan Pugh", "Margaret Pugh"]);
    assert_eq!(members(&volunteer.get(&household).await.is(200).body).len(), 3);
    assert_eq!(members(&visitor.get(&path(1)).await.is(200)["household"]), ["Evan Pugh", "Margaret Pugh"]);
    visitor.post(&format!("{}/reports", path(3)), json!({ "text": "Wrong." })).await.refused(404, "not-found");
}

async fn unpublished_post_shows_no_records() {
    let register = Register::new().await;
    let Archive { visitor, volunteer, editor, .. } = &register.archive;
    let mut post = register.item(&register.post, "post").await;
    post.insert("status".to_owned(), text("draft"));
    post.remove("publishedRun");
    register.archive.table().put(post).await;
    for path in [register.records(), register.households(), format!("{}/14", register.households()), path(1)] {
        visitor.get(&path).await.refused(404, "not-found");
        volunteer.get(&path).await.refused(404, "not-found");
    }
    let values = json!({ "values": { "Forenames": "Ifan" } });
    volunteer.patch(&path(1), values).await.refused(409, "not-published");
    editor.delete(&path(1)).await.refused(409, "not-published");
}

async fn record_of_a_later_run_answers_under_its_permanent_id_only() {
    let register = Register::new().await;
    let Archive { visitor, .. } = &register.archive;
    let later = RecordId::new(FIRST + 100).unwrap();
    let mut evan = record(1, 2, &register.collection);
    evan["GSISK"] = later.to_string().into();
    register.put(&RecordKey { record: later, post: register.id() }.key(), &evan).await;
    let address = json!({ "postId": register.post, "run_2": later });
    register.put(&RecordAddressKey { record: record_id(1) }.key(), &address).await;
    visitor.get(&format!("/archive/records/{later}")).await.refused(404, "not-found");
    assert_eq!(visitor.get(&path(1)).await.is(200).text("id"), record_id(1).to_string());
    register.publish(2, FIRST + 100).await;
    let read = visitor.get(&path(1)).await.is(200);
    assert_eq!((read.text("id"), &read["household"]), (record_id(1).to_string().as_str(), &Value::Null));
    visitor.get(&format!("/archive/records/{later}")).await.refused(404, "not-found");
}

async fn record_that_a_later_file_lacks_is_gone() {
    let register = Register::new().await;
    register.publish(2, FIRST + 100).await;
    let address = json!({ "postId": register.post, "goneIn": 2 });
    register.put(&RecordAddressKey { record: record_id(5) }.key(), &address).await;
    let gone = register.archive.visitor.get(&path(5)).await.refused(410, "withdrawn");
    assert_eq!(gone.text("detail"), "A later file of its post does not have the record any more.");
}

async fn record_that_is_gone_is_none_for_the_public_unless_it_is_known_to_be_open() {
    let register = Register::new().await;
    let Archive { visitor, volunteer, .. } = &register.archive;
    let key = RecordAddressKey { record: record_id(6) }.key();
    // An earlier version did not write the day.
    let days = [(None, false), (Some(20_990_101), false), (Some(0), true), (Some(20_000_101), true)];
    for (visible_from, is_told) in days {
        let mut address = json!({ "postId": register.post, "goneIn": 1 });
        if let Some(day) = visible_from {
            address["visibleFrom"] = json!(day);
        }
        register.put(&key, &address).await;
        volunteer.get(&path(6)).await.refused(410, "withdrawn");
        let (status, kind) = if is_told { (410, "withdrawn") } else { (404, "not-found") };
        visitor.get(&path(6)).await.refused(status, kind);
    }
}

async fn id_of_a_post_with_many_households_is_no_record() {
    let register = Register::new().await;
    let Archive { visitor, volunteer, .. } = &register.archive;
    let household = |number: usize| {
        let key = RecordHouseholdKey { post: register.id(), household: Household::new(&number.to_string()).unwrap() };
        stored(&ARCHIVE, &key.key(), &json!({ "run_1": [] }))
    };
    register.archive.table().put_all((100..400).map(household).collect()).await;
    let of_post = format!("/archive/records/{}", register.post);
    visitor.get(&of_post).await.refused(404, "not-found");
    volunteer.patch(&of_post, json!({ "values": { "Forenames": "Ifan" } })).await.refused(404, "not-found");
    visitor.get(&path(1)).await.is(200);
}

/// Returns the relatives of a record as `relation given`.
fn relatives(record: &Answer) -> Vec<String> {
    let relatives = record["relatives"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    relatives.map(|relative| format!("{} {}", text(&relative["relation"]), text(&relative["given"]))).collect()
}

async fn corrected_name_changes_the_household_and_the_relatives() {
    let register = Register::new().await;
    let Archive { visitor, volunteer, .. } = &register.archive;
    let before = volunteer.get(&path(1)).await.is(200);
    let values = json!({ "values": { "forenames": " Ifan ", "Born": "1839" } });
    let stale = volunteer.patch(&path(1), values.clone()).if_match("\"2\"").await;
    stale.refused(412, "stale");
    let corrected = volunteer.patch(&path(1), values.clone()).if_match(&before.tag()).await.is(200);
    assert_eq!(corrected["people"][0]["given"], "Ifan");
    assert_eq!(corrected["values"][2]["correction"]["from"], "Evan");
    assert_eq!(corrected["events"][0]["from"], 18_390_101);
    assert_eq!(members(&corrected["household"]), ["Ifan Pugh", "Margaret Pugh", "Griffith Pugh"]);
    let griffith = visitor.get(&path(3)).await.is(200);
    assert_eq!(relatives(&griffith), ["father Ifan", "mother Margaret"]);
    // Readers see the text alone.
    let read = visitor.get(&path(1)).await.is(200);
    assert_eq!(read["values"][2], json!({ "header": "Forenames", "label": "Given names", "value": "Ifan" }));
    let run = register.item(&register.post, "post_run#a1").await;
    assert_eq!(run["corrected"].as_l().unwrap().len(), 1);
    // The same correction once more writes nothing.
    assert_eq!(volunteer.patch(&path(1), values).await.is(200).tag(), corrected.tag());
}

async fn correction_back_to_the_text_of_the_file_ends_it() {
    let register = Register::new().await;
    let Archive { volunteer, .. } = &register.archive;
    volunteer.patch(&path(4), json!({ "values": { "Forenames": "John" } })).await.is(200);
    let back = volunteer.patch(&path(4), json!({ "values": { "Forenames": "Johann" } })).await.is(200);
    assert_eq!((&back["people"][0]["given"], &back["values"][2]["correction"]), (&json!("Johann"), &Value::Null));
    assert!(!register.item(&register.post, "post_run#a1").await.contains_key("corrected"));
}

async fn correction_of_a_household_or_an_unknown_column_is_refused() {
    let register = Register::new().await;
    let Archive { volunteer, .. } = &register.archive;
    let refused = async |values: Value, at: &str| {
        let answer = volunteer.patch(&path(1), json!({ "values": values })).await;
        answer.refused(422, "unprocessable").at(&[at]);
    };
    refused(json!({ "house": "15" }), "/values/house").await;
    refused(json!({ "Age": "33" }), "/values/Age").await;
    let faulty = volunteer.patch(&path(1), json!({ "values": { "Born": "x".repeat(10_001) } })).await;
    faulty.faulty(&["/values/Born"]);
    volunteer.patch("/archive/records/7999999999", json!({})).await.refused(404, "not-found");
}

async fn record_of_another_volunteer_is_corrected_by_editors_only() {
    let register = Register::new().await;
    let Archive { cairn, visitor, volunteer, editor, .. } = &register.archive;
    let person = Person { roles: &["archive-volunteer"], ..Person::new("vic") };
    let other = cairn.person("other", person).await;
    let values = json!({ "values": { "Forenames": "Ifan" } });
    visitor.patch(&path(1), values.clone()).await.refused(401, "not-signed-in");
    other.patch(&path(1), values.clone()).await.refused(403, "forbidden");
    editor.patch(&path(1), values).await.is(200);
    volunteer.delete(&path(1)).await.refused(403, "forbidden");
}

async fn record_that_is_taken_down_leaves_household_and_counts() {
    let register = Register::new().await;
    let Archive { visitor, editor, .. } = &register.archive;
    editor.delete(&path(1)).await.is(204);
    let gone = visitor.get(&path(1)).await.refused(410, "withdrawn");
    assert_eq!(gone.text("detail"), "An editor has taken the record down.");
    editor.delete(&path(1)).await.refused(410, "withdrawn");
    assert_eq!(listed(visitor, &register.records(), "id").await.len(), 4);
    let griffith = visitor.get(&path(3)).await.is(200);
    assert_eq!(members(&griffith["household"]), ["Margaret Pugh", "Griffith Pugh"]);
    assert_eq!(relatives(&griffith), ["mother Margaret"]);
    editor.delete(&path(4)).await.is(204);
    visitor.get(&format!("{}/15", register.households())).await.refused(404, "not-found");
    let post = register.item(&register.post, "post").await;
    let counts = [&post["recordCount"], &post["householdCount"]].map(|count| count.as_n().unwrap().as_str());
    assert_eq!(counts, ["3", "1"]);
    let collection = register.item(&format!("collectionUse#{}", register.collection), "collectionUse").await;
    assert_eq!(collection["records"].as_n().unwrap(), "3");
    let run = register.item(&register.post, "post_run#a1").await;
    assert_eq!(run["totals"].as_m().unwrap()["records"].as_n().unwrap(), "3");
    assert_eq!(run["takenDown"].as_l().unwrap().len(), 2);
}

async fn record_that_was_taken_down_stays_down_when_its_file_is_published_again() {
    let archive = Archive::new().await;
    let Archive { visitor, volunteer, editor, .. } = &archive;
    let post = publishing::post(&archive).await;
    publishing::upload(volunteer, &post, CENSUS).await;
    publishing::publish(volunteer, &post, json!({})).await;
    let records = format!("{post}/records");
    let before = listed(visitor, &records, "id").await;
    let of = |row: usize| format!("/archive/records/{}", before[row - 1]);
    editor.delete(&of(1)).await.is(204);
    volunteer.patch(&of(4), json!({ "values": { "Forenames": "John" } })).await.is(200);
    for born in ["1842", "1843"] {
        publishing::upload(volunteer, &post, &CENSUS.replace("1841", born)).await;
        let run = publishing::publish(volunteer, &post, json!({})).await;
        assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(4)), "{}", run.told());
        assert_eq!(listed(visitor, &records, "id").await, before[1..]);
        visitor.get(&of(1)).await.refused(410, "withdrawn");
        let griffith = visitor.get(&of(3)).await.is(200);
        assert_eq!(members(&griffith["household"]), ["Margaret Pugh", "Griffith Pugh"]);
        assert_eq!(relatives(&griffith), ["mother Margaret"]);
        assert_eq!(visitor.get(&of(4)).await.is(200)["people"][0]["given"], "John");
    }
}

async fn report_of_a_reader_is_listed_and_settled_by_an_editor() {
    let register = Register::new().await;
    let Archive { visitor, volunteer, editor, .. } = &register.archive;
    let reports = format!("{}/reports", path(5));
    visitor.post(&reports, json!({ "text": " " })).await.faulty(&["/text"]);
    let new = json!({ "text": "The name is William.", "contact": "ann@example.org" });
    let first = id(&visitor.post(&reports, new).await.is(201));
    let second = id(&visitor.post(&reports, json!({ "text": "He was a miner." })).await.is(201));
    volunteer.get("/archive/reports").await.refused(403, "forbidden");
    assert_eq!(listed(editor, "/archive/reports?status=open", "id").await, [first.clone(), second.clone()]);
    let patch = json!({ "status": "accepted", "note": "Corrected." });
    let settled = editor.patch(&format!("/archive/reports/{first}"), patch).await.is(200);
    assert_eq!((settled.text("status"), settled.text("note")), ("accepted", "Corrected."));
    assert!(settled["settledBy"].is_string());
    assert_eq!(listed(editor, "/archive/reports?status=open", "id").await, [second]);
    assert_eq!(listed(editor, "/archive/reports?status=accepted", "id").await, [first]);
}

/// Each needs the editor's user, which the request creates.
async fn first_request_of_an_editor_may_be_any_change() {
    let register = Register::new().await;
    let Archive { cairn, visitor, .. } = &register.archive;
    let editor =
        async |subject| cairn.person("editor", Person { roles: &["archive-editor"], ..Person::new(subject) }).await;
    let report = id(&visitor.post(&format!("{}/reports", path(5)), json!({ "text": "Wrong." })).await.is(201));
    let settled = json!({ "status": "declined" });
    editor("eva").await.patch(&format!("/archive/reports/{report}"), settled).await.is(200);
    let values = json!({ "values": { "Forenames": "Ifan" } });
    editor("evi").await.patch(&path(1), values).await.is(200);
    editor("eve").await.delete(&path(2)).await.is(204);
}

async fn reports_of_one_source_are_limited_in_each_hour() {
    let register = Register::new().await;
    let Archive { cairn, visitor, .. } = &register.archive;
    // The first second of an hour, so that the hour does not end in between.
    let rest = 3_600 - cairn.clock.seconds().rem_euclid(3_600);
    cairn.clock.advance(Duration::from_secs(u64::try_from(rest).unwrap()));
    let reader = cairn.person("reader", Person::new("rea")).await;
    let reports = format!("{}/reports", path(5));
    let report = || json!({ "text": "The name is William." });
    let from = |address: &str| visitor.post(&reports, report()).header("x-forwarded-for", address);
    for _ in 0..20 {
        from("203.0.113.1").await.is(201);
    }
    let refused = from("203.0.113.1").await.refused(429, "too-many-requests");
    assert!(refused.header("retry-after").parse::<u32>().unwrap() <= 3_600);
    from("198.51.100.7, 203.0.113.1").await.refused(429, "too-many-requests");
    from("203.0.113.2").await.is(201);
    reader.post(&reports, report()).header("x-forwarded-for", "203.0.113.1").await.is(201);
    cairn.clock.advance(Duration::from_secs(3_600));
    from("203.0.113.1").await.is(201);
    let counts = register.archive.items().await.into_keys().filter(|key| key.starts_with("reportCount#")).count();
    assert_eq!(counts, 4);
    let report = register.archive.items().await.into_values().find(|item| attribute(item, "SK") == "report").unwrap();
    assert!(!report.contains_key("createdBy"));
}

async fn keys_of_readers_without_a_token_are_those_of_their_networks() {
    let register = Register::new().await;
    let Archive { visitor, .. } = &register.archive;
    let report = |row: usize, address: &'static str| {
        let path = format!("{}/reports", path(row));
        visitor.post(&path, json!({ "text": "Wrong." })).once("1").header("x-forwarded-for", address)
    };
    let first = id(&report(4, "203.0.113.1").await.is(201));
    assert_eq!(id(&report(4, "203.0.113.1").await.is(201)), first);
    report(5, "203.0.113.1").await.refused(422, "key-reused");
    assert_ne!(id(&report(4, "203.0.113.2").await.is(201)), first);
    report(5, "203.0.113.3").await.is(201);
    // A repeated request needs its rights again.
    register.set(4, "visibleFrom", 20_990_101).await;
    report(4, "203.0.113.1").await.refused(404, "not-found");
}
