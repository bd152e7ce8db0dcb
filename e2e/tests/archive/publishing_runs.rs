//! The runs of publishing: readers see their records all at once, whatever happens in between.

use std::time::Duration;

use ::archive::keys::HiddenRunsKey;
use ::archive::schema::{ARCHIVE, QUEUE};
use aws_sdk_sqs::types::QueueAttributeName;
use reqwest::Method;
use serde_json::{Map, Value, json};
use table::EntityKey;

use super::outages::{begin, by_hand};
use super::publishing::{
    CENSUS, LEASE, assert_nothing_is_left, ids, long_file, mapping, post, publish, published, settled, upload,
};
use super::stage::{Archive, attribute, id, listed, until};
use crate::harness::stopper::Moment;
use crate::harness::table::{Item, stored};
use crate::harness::{Setup, User, sized};
use crate::tests;

tests! { archive_publishing_runs:
    ten_requests_at_once_start_one_run,
    #[long] publishing_killed_at_each_write_ends_with_the_same_records,
    #[long] deletion_killed_at_each_write_leaves_nothing,
    #[long] run_whose_message_is_lost_is_found_by_the_schedule,
    checked_draft_is_deleted_by_its_message_without_the_schedule,
    run_of_a_handler_without_time_is_continued_by_another_message,
    #[long] readers_see_no_record_of_a_file_or_all,
    #[long] publishing_and_unpublishing_at_once_end_in_one_state,
    #[long] dry_run_of_a_refused_file_leaves_the_post_as_it_was,
    published_file_that_needs_no_run_ends_the_last_error,
    report_of_a_run_that_has_not_read_its_file_is_not_found,
    report_of_a_post_that_is_being_deleted_is_not_found,
    no_more_than_100_runs_write_records_at_once,
    #[long] household_with_long_names_is_published_with_the_beginnings_of_them,
    #[long] household_with_more_than_its_item_can_hold_is_refused,
    #[long] household_that_corrections_make_too_large_is_refused,
    household_shows_the_beginnings_of_long_dates_and_places,
    #[long] run_goes_by_the_closed_years_of_its_beginning,
}

async fn ten_requests_at_once_start_one_run() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    let path = format!("{post}/publish");
    let requests = (0..10).map(|_| async { archive.volunteer.post(&path, json!({})).await.status });
    let statuses = futures::future::join_all(requests).await;
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 202, 409].contains(status)), "{statuses:?}");
    until(&archive.volunteer, &format!("{post}/runs/1"), |run| run["phase"] == "ended").await;
    assert_eq!(archive.volunteer.get(&format!("{post}/runs")).await.is(200).each("run"), [&json!(1)]);
    archive.publishing_agrees().await;
}

/// What a run has written, without what differs between two runs of the same file.
async fn written(archive: &Archive) -> Vec<(u64, Item)> {
    let records = archive.records().await;
    let first: u64 = attribute(&records[&1], "PK").parse().unwrap();
    let plain = |record: Item| {
        let id: u64 = attribute(&record, "PK").parse().unwrap();
        let differs = ["PK", "SK", "GSISK", "permanentId", "rev", "createdAt", "updatedAt", "collectionId", "run"];
        (id - first, record.into_iter().filter(|(name, _)| !differs.contains(&name.as_str())).collect())
    };
    records.into_values().map(plain).collect()
}

async fn publishing_killed_at_each_write_ends_with_the_same_records() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    archive.cairn.engines().wind_down();
    let run = async |dies: Option<(usize, Moment)>| {
        archive.volunteer.post(&format!("{post}/publish"), json!({ "resolve": true })).await.is(202);
        let writes = archive.work(dies).await;
        let more = archive.finish().await;
        assert_eq!(archive.volunteer.get(&post).await.is(200).text("status"), "published", "{dies:?}");
        archive.publishing_agrees().await;
        if dies.is_none() { writes + more } else { 0 }
    };
    run(None).await;
    let expected = written(&archive).await;
    let permanent = ids(&archive.records().await, "permanentId");
    // The second run also retires the first.
    let writes = run(None).await;
    for number in (0..writes).step_by(sized(17, 1)) {
        for moment in Moment::BOTH {
            run(Some((number, moment))).await;
            assert_eq!(written(&archive).await, expected, "{number} {moment:?}");
            assert_eq!(ids(&archive.records().await, "permanentId"), permanent, "{number} {moment:?}");
        }
    }
}

async fn deletion_killed_at_each_write_leaves_nothing() {
    let archive = Archive::new().await;
    archive.cairn.engines().wind_down();
    let mut number = 0;
    loop {
        let category = archive.category(&format!("Census {number}")).await;
        let collection = archive.collection("Census of 1871", &[&category]).await;
        let new = json!({ "name": "Dolgellau", "collectionId": collection, "mapping": mapping() });
        let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
        upload(&archive.volunteer, &post, CENSUS).await;
        archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
        archive.finish().await;
        assert_eq!(archive.records().await.len(), 5);
        archive.volunteer.delete(&post).await.is(202);
        let writes = archive.work(Some((number, Moment::AfterItIsDone))).await;
        archive.finish().await;
        archive.volunteer.get(&post).await.refused(404, "not-found");
        assert_nothing_is_left(&archive, &post).await;
        if writes <= number {
            break;
        }
        number += sized(3, 1);
    }
}

async fn run_whose_message_is_lost_is_found_by_the_schedule() {
    let archive = Archive::with(Setup { without: vec!["runJob"], ..Setup::of("archive") }).await;
    let post = published(&archive, CENSUS).await;
    let evan = format!("/archive/records/{}", ids(&archive.records().await, "permanentId")[0]);
    archive.volunteer.patch(&evan, json!({ "values": { "Forenames": "Ifan" } })).await.is(200);
    upload(&archive.volunteer, &post, &CENSUS.replace("1841", "1842")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    assert_eq!(archive.visitor.get(&evan).await.is(200)["people"][0]["given"], "Ifan");
    archive.publishing_agrees().await;
}

async fn checked_draft_is_deleted_by_its_message_without_the_schedule() {
    let archive = Archive::with(Setup { without: vec![::jobs::RUN_JOBS], ..Setup::of("archive") }).await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    let run = publish(&archive.volunteer, &post, json!({ "dryRun": true })).await;
    assert_eq!(run["status"], "checked", "{}", run.told());
    archive.delete_post(&archive.volunteer, &post).await;
    assert_nothing_is_left(&archive, &post).await;
}

async fn run_of_a_handler_without_time_is_continued_by_another_message() {
    let without = vec!["runJob", ::jobs::RUN_JOBS];
    let archive = Archive::with(Setup { without, ..Setup::of("archive") }).await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    let waiting = async || {
        let sqs = archive.cairn.engines().sqs();
        let asked = sqs.get_queue_attributes().queue_url(archive.cairn.engines().config.queue_url(QUEUE).unwrap());
        let attributes = asked.attribute_names(QueueAttributeName::All).send().await.unwrap().attributes.unwrap();
        attributes[&QueueAttributeName::ApproximateNumberOfMessages].clone()
    };
    assert_eq!(waiting().await, "1");
    // A step needs two seconds, and the handler keeps some time for giving the job back.
    let (short, message) = (Duration::from_secs(2), archive.message_of_due_job().await);
    archive.cairn.event_within(short, "archive", "runJob", &message).await.unwrap();
    assert_eq!(waiting().await, "2");
    assert_eq!(archive.volunteer.get(&format!("{post}/runs/1")).await.is(200).text("phase"), "checking");
    archive.finish().await;
    assert_eq!(archive.volunteer.get(&post).await.is(200).text("status"), "published");
    archive.publishing_agrees().await;
}

async fn readers_see_no_record_of_a_file_or_all() {
    let rows = sized(600, 2_000);
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, &long_file(rows)).await;
    let begun = archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    let (run, records) = (begun.header("location").to_owned(), format!("{post}/records?limit=1"));
    let mut totals = Vec::new();
    loop {
        let ended = archive.volunteer.get(&run).await.is(200)["phase"] == "ended";
        let found = archive.visitor.get("/archive/search?surname=pugh&limit=1").await.is(200);
        totals.push(found["total"]["value"].as_u64().unwrap());
        let listed = archive.visitor.get(&records).await;
        assert!(listed.status == 404 || listed.status == 200, "{}", listed.told());
        if ended {
            break;
        }
    }
    let all = rows as u64;
    assert!(totals.iter().all(|total| [0, all].contains(total)), "{totals:?}");
    assert!(totals.is_sorted() && totals.last() == Some(&all), "{totals:?}");
    let walked = listed(&archive.visitor, &format!("{post}/records"), "id").await;
    assert_eq!(walked.len(), rows);
}

async fn publishing_and_unpublishing_at_once_end_in_one_state() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    let (publish, unpublish) = (format!("{post}/publish"), format!("{post}/unpublish"));
    for round in 0..sized(3, 100) {
        let both = futures::future::join(
            async { archive.volunteer.post(&publish, json!({ "resolve": true })).await.status },
            async { archive.editor.post(&unpublish, json!({})).await.status },
        );
        let (one, other) = both.await;
        assert!([202, 409].contains(&one) && [202, 409].contains(&other), "{one} {other}");
        let read = settled(&archive.volunteer, &post).await;
        let runs = archive.volunteer.get(&format!("{post}/runs?limit=1")).await.is(200);
        let last = runs.each("run").first().map(|run| format!("{post}/runs/{run}"));
        if let Some(last) = last {
            until(&archive.volunteer, &last, |run| run["phase"] == "ended").await;
        }
        let is_published = read.text("status") == "published";
        assert_eq!(archive.records().await.len(), if is_published { 5 } else { 0 }, "round {round}");
        archive.publishing_agrees().await;
    }
}

async fn dry_run_of_a_refused_file_leaves_the_post_as_it_was() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    let bad = CENSUS.replace("1841,\"Bala, Wales\"", "1841,\"Bala, Wales\",extra");
    let check = async |csv: &str, expected: &str, status: &str| {
        upload(&archive.volunteer, &post, csv).await;
        let run = publish(&archive.volunteer, &post, json!({ "dryRun": true })).await;
        assert_eq!(run.text("status"), expected, "{}", run.told());
        let read = archive.volunteer.get(&post).await.is(200);
        assert_eq!(read.text("status"), status, "{}", read.told());
        read.body.get("lastError").cloned()
    };
    assert_eq!(check(&bad, "failed", "draft").await, None);
    let refused = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(refused.text("status"), "failed", "{}", refused.told());
    for (csv, status) in [(bad.as_str(), "failed"), (CENSUS, "checked")] {
        assert_eq!(check(csv, status, "error").await, Some(json!("1 row has an error")));
    }
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run.text("status"), "published", "{}", run.told());
    assert_eq!(check(&bad, "failed", "published").await, None);
    archive.publishing_agrees().await;
}

async fn published_file_that_needs_no_run_ends_the_last_error() {
    let archive = Archive::new().await;
    let post = published(&archive, CENSUS).await;
    upload(&archive.volunteer, &post, "House,Forenames\n14,Evan\n").await;
    publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(archive.volunteer.get(&post).await.is(200).text("lastError"), "missing-column");
    upload(&archive.volunteer, &post, CENSUS).await;
    let same = archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(200);
    assert_eq!(same["run"], 1);
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!((read.text("status"), read.body.get("lastError")), ("published", None));
}

async fn report_of_a_run_that_has_not_read_its_file_is_not_found() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    archive.cairn.engines().wind_down();
    let not_found = async || {
        for of_run in ["report", "unresolved"] {
            archive.volunteer.get(&format!("{post}/runs/1/{of_run}")).await.refused(404, "not-found");
        }
    };
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    not_found().await;
    archive.volunteer.post(&format!("{post}/cancel"), json!({})).await.is(202);
    archive.finish().await;
    assert_eq!(archive.volunteer.get(&format!("{post}/runs/1")).await.is(200).text("status"), "cancelled");
    not_found().await;
}

async fn report_of_a_post_that_is_being_deleted_is_not_found() {
    let archive = by_hand(None).await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    archive.volunteer.post(&format!("{post}/publish"), json!({ "dryRun": true })).await.is(202);
    archive.finish().await;
    let paths = ["report", "unresolved"].map(|of_run| format!("{post}/runs/1/{of_run}"));
    let not_found = async || {
        for path in &paths {
            archive.volunteer.get(path).await.refused(404, "not-found");
        }
    };
    for path in &paths {
        archive.volunteer.get(path).await.is(200);
    }
    archive.volunteer.delete(&post).await.is(202);
    not_found().await;
    // The worker dies after it has deleted the report, and before it deletes the run.
    archive.work(Some((1, Moment::BeforeItIsSent))).await;
    archive.volunteer.get(&format!("{post}/runs/1")).await.is(200);
    not_found().await;
    archive.finish().await;
    not_found().await;
    assert_nothing_is_left(&archive, &post).await;
}

async fn no_more_than_100_runs_write_records_at_once() {
    let archive = by_hand(None).await;
    let first = post(&archive).await;
    let collection = archive.volunteer.get(&first).await.is(200).text("collectionId").to_owned();
    let new = json!({ "name": "Bala", "collectionId": collection, "mapping": mapping() });
    let second = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    for post in [&first, &second] {
        upload(&archive.volunteer, post, CENSUS).await;
    }
    let others = (0..99).map(|number| (format!("{}-1", 7_000_000_000_u64 + number), json!("coming")));
    let others: Map<String, Value> = others.collect();
    archive.table().put(stored(&ARCHIVE, &HiddenRunsKey {}.key(), &others)).await;
    // Both have counted 99 before either begins.
    let (stopper, refused) = archive.held(Method::POST, &format!("{first}/publish"), json!({})).await;
    archive.volunteer.post(&format!("{second}/publish"), json!({})).await.is(202);
    stopper.resume();
    let refused = refused.await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"60".parse().unwrap()));
    archive.volunteer.post(&format!("{first}/publish"), json!({ "dryRun": true })).await.is(202);
}

/// Returns a file with one household of this many members, and the long texts of their given names and relations.
fn long_names(members: usize, given: usize, relation: usize) -> String {
    let row = |row: usize| format!("14,Pugh,{row} {},{}\n", "x".repeat(given), "y".repeat(relation));
    let rows: String = (1..=members).map(row).collect();
    format!("House,Surname,Forenames,Rel,Sex,Born,Birthplace\n{rows}")
}

async fn household_with_long_names_is_published_with_the_beginnings_of_them() {
    let archive = Archive::new().await;
    // The second run writes its members beside those of the first.
    let post = published(&archive, &long_names(60, 9_980, 9_990)).await;
    upload(&archive.volunteer, &post, &long_names(61, 9_980, 9_990)).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(61)), "{}", run.told());
    let household = archive.visitor.get(&format!("{post}/households/14")).await.is(200);
    let member = &household["members"][60];
    assert_eq!((household["count"].as_u64(), member["name"].as_str().unwrap().len()), (Some(61), 200));
    assert!(member["name"].as_str().unwrap().starts_with("61 xxx"));
    let record = archive.visitor.get(&format!("/archive/records/{}", member["id"].as_str().unwrap())).await.is(200);
    assert_eq!(record["people"][0]["given"].as_str().unwrap().len(), 9_983);
    archive.publishing_agrees().await;
}

async fn household_with_more_than_its_item_can_hold_is_refused() {
    let archive = Archive::new().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, &long_names(700, 300, 300)).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run.text("status"), "failed", "{}", run.told());
    assert_eq!(run["problems"][0]["code"], "household-too-large", "{}", run.told());
    // The members that its item can hold twice.
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip" })).await;
    assert_eq!(run.text("status"), "published", "{}", run.told());
    let records = run["totals"]["records"].as_u64().unwrap();
    assert!((300..700).contains(&records), "{records}");
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip", "resolve": true })).await;
    assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(records)), "{}", run.told());
    archive.publishing_agrees().await;
}

/// The new file has room for its own names, but not for the longer ones of the corrections.
async fn household_that_corrections_make_too_large_is_refused() {
    let archive = Archive::new().await;
    let short = long_names(30, 1, 1);
    let post = published(&archive, &short).await;
    let ids = listed(&archive.volunteer, &format!("{post}/records"), "id").await;
    let record = |row: usize| format!("/archive/records/{}", ids[row - 1]);
    // Characters of four bytes.
    let longest = json!({ "values": { "Surname": "𝒜".repeat(200), "Rel": "𝒜".repeat(100) } });
    for row in 2..=30 {
        archive.volunteer.patch(&record(row), longest.clone()).await.is(200);
    }
    let long = long_names(460, 300, 300);
    let (_, rows) = long.split_once('\n').unwrap();
    upload(&archive.volunteer, &post, &format!("{short}{rows}")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run.text("status"), "failed", "{}", run.told());
    let problems = run["problems"].as_array().unwrap();
    assert!(problems.iter().any(|problem| problem["code"] == "household-too-large"), "{}", run.told());
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip" })).await;
    assert_eq!(run.text("status"), "published", "{}", run.told());
    let records = run["totals"]["records"].as_u64().unwrap();
    assert!((300..490).contains(&records), "{records}");
    // One correction more does not fit, and a shorter name does.
    archive.volunteer.patch(&record(1), longest).await.refused(422, "unprocessable").at(&["/values"]);
    archive.volunteer.patch(&record(2), json!({ "values": { "Surname": "Pugh" } })).await.is(200);
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip", "resolve": true })).await;
    assert_eq!(run.text("status"), "published", "{}", run.told());
    archive.publishing_agrees().await;
}

async fn household_shows_the_beginnings_of_long_dates_and_places() {
    let archive = Archive::new().await;
    let (born, place) = ("y".repeat(3_000), "z".repeat(3_000));
    let csv = format!(
        "House,Surname,Forenames,Rel,Sex,Born,Birthplace\n14,Pugh,Evan,Head,M,{born},{place}\n\
        14,Pugh,Ann,Wife,F,{born},{place}\n"
    );
    let post = published(&archive, &csv).await;
    let lengths = |event: &Value| ["dateText", "placeText"].map(|name| event[name].as_str().unwrap().len());
    let household = archive.visitor.get(&format!("{post}/households/14")).await.is(200);
    let ann = &household["members"][1];
    assert_eq!(lengths(&ann["events"][0]), [200, 200]);
    let record = archive.visitor.get(&format!("/archive/records/{}", ann["id"].as_str().unwrap())).await.is(200);
    assert_eq!(lengths(&record["events"][0]), [3_000, 3_000]);
    assert_eq!(lengths(&record["household"]["members"][0]["events"][0]), [200, 200]);
}

async fn run_goes_by_the_closed_years_of_its_beginning() {
    let archive = by_hand(None).await;
    let category = archive.category("Census").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let new = json!({ "name": "Transcription", "collectionId": collection, "mapping": mapping() });
    let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    let csv = "House,Surname,Forenames,Rel,Sex,Born,Birthplace\n\
        1,Rees,Huw,Head,M,1850,\n1,Rees,Nia,Daughter,F,1990,\n";
    let run = begin(&archive, &post, csv).await;
    let phase = async || archive.volunteer.get(&run).await.is(200).text("phase").to_owned();
    for _ in 0..5 {
        if phase().await == "numbering" {
            break;
        }
        // The worker dies after one step.
        archive.work(Some((2, Moment::BeforeItIsSent))).await;
        archive.cairn.clock.advance(LEASE);
    }
    assert_eq!(phase().await, "numbering");
    let path = format!("/archive/collections/{collection}");
    archive.editor.patch(&path, json!({ "closedYears": null })).await.is(200);
    archive.finish().await;
    let seen = async |user: &User| {
        let records = listed(user, &format!("{post}/records"), "id").await;
        let household = user.get(&format!("{post}/households/1")).await.is(200);
        let huw = user.get(&format!("/archive/records/{}", records[0])).await.is(200);
        let lists = [&household["members"], &huw["household"]["members"], &huw["relatives"]];
        (records.len(), lists.map(|list| list.as_array().unwrap().len()))
    };
    assert_eq!(seen(&archive.visitor).await, (1, [1, 1, 0]));
    assert_eq!(seen(&archive.volunteer).await, (2, [2, 2, 1]));
    // The next run has the new years.
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    archive.finish().await;
    assert_eq!(seen(&archive.visitor).await, (2, [2, 2, 1]));
    archive.publishing_agrees().await;
}
