//! Corrections by hand and records that were taken down, over all that may happen to a post: it is unpublished, or its file
//! lacks a row for a time or is refused.

use serde_json::{Value, json};

use super::publishing::{CENSUS, ids, mapping, publish, published, settled, upload};
use super::stage::{Archive, listed};
use crate::harness::stopper::Moment;
use crate::harness::{User, sized};
use crate::tests;

tests! { archive_corrected:
    #[long] correction_stands_in_a_post_that_was_unpublished_for_a_time,
    #[long] correction_conflicts_with_the_next_file_of_a_post_that_was_unpublished,
    conflict_with_a_correction_is_reported_at_the_line_of_its_cell,
    #[long] correction_ends_with_the_text_of_the_file_although_its_header_is_spelled_otherwise,
    #[long] unpublishing_killed_at_each_write_keeps_the_correction,
    #[long] record_that_was_taken_down_stays_down_after_a_file_without_its_row,
    record_that_was_taken_down_is_known_after_another_row_had_its_place,
    record_that_was_taken_down_stays_down_when_other_columns_are_the_key,
    record_that_was_taken_down_is_found_by_its_key_however_its_row_changes,
    #[long] conflict_with_a_correction_refuses_a_file_of_which_bad_rows_are_skipped,
    file_without_a_mapped_column_is_refused_for_that_although_a_record_is_corrected,
}

/// Publishes [`CENSUS`], and corrects Evan to Ifan. Returns the paths of the post and of the record.
async fn corrected(archive: &Archive) -> [String; 2] {
    let post = published(archive, CENSUS).await;
    let evan = format!("/archive/records/{}", ids(&archive.records().await, "permanentId")[0]);
    correct(&archive.volunteer, &evan).await;
    [post, evan]
}

async fn correct(user: &User, record: &str) {
    user.patch(record, json!({ "values": { "Forenames": "Ifan" } })).await.is(200);
}

async fn unpublish(archive: &Archive, post: &str) {
    archive.volunteer.post(&format!("{post}/unpublish"), json!({})).await.is(202);
    assert_eq!(settled(&archive.volunteer, post).await.text("status"), "draft");
}

async fn given(archive: &Archive, record: &str) -> Value {
    archive.visitor.get(record).await.is(200)["people"][0]["given"].clone()
}

async fn correction_stands_in_a_post_that_was_unpublished_for_a_time() {
    let archive = Archive::new().await;
    let [post, evan] = corrected(&archive).await;
    for _ in 0..2 {
        unpublish(&archive, &post).await;
        let run = publish(&archive.volunteer, &post, json!({})).await;
        assert_eq!(run["status"], "published", "{}", run.told());
        assert_eq!(given(&archive, &evan).await, "Ifan");
    }
    let read = archive.volunteer.get(&evan).await.is(200);
    assert_eq!(read["values"][2]["correction"]["from"], "Evan", "{}", read.told());
    archive.publishing_agrees().await;
}

async fn correction_conflicts_with_the_next_file_of_a_post_that_was_unpublished() {
    let archive = Archive::new().await;
    let [post, evan] = corrected(&archive).await;
    unpublish(&archive, &post).await;
    upload(&archive.volunteer, &post, &CENSUS.replace("Evan", "Owen")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "1 row has an error"), "{}", run.told());
    // The refused run has not used the correction up.
    upload(&archive.volunteer, &post, CENSUS).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    assert_eq!(given(&archive, &evan).await, "Ifan");
    archive.publishing_agrees().await;
}

async fn conflict_with_a_correction_is_reported_at_the_line_of_its_cell() {
    let archive = Archive::new().await;
    // The surname has two lines, so the cells after it begin on the second one of the row.
    let csv = CENSUS.replacen("Pugh", "\"Pugh\nthe elder\"", 1);
    let post = published(&archive, &csv).await;
    let evan = format!("/archive/records/{}", ids(&archive.records().await, "permanentId")[0]);
    archive.volunteer.patch(&evan, json!({ "values": { "Born": "1840" } })).await.is(200);
    upload(&archive.volunteer, &post, &csv.replace("abt 1838", "abt 1839")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    // An error is before the warnings, such as those of places.
    let problem = &run["problems"][0];
    let place = (&problem["line"], &problem["column"]["letter"], &problem["column"]["header"]);
    assert_eq!(problem["code"], "correction-conflict", "{}", run.told());
    assert_eq!(place, (&json!(3), &json!("F"), &json!("Born")), "{}", run.told());
}

async fn correction_ends_with_the_text_of_the_file_although_its_header_is_spelled_otherwise() {
    let archive = Archive::new().await;
    let [post, evan] = corrected(&archive).await;
    upload(&archive.volunteer, &post, &CENSUS.replace("Forenames", "FORENAMES")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let read = archive.volunteer.get(&evan).await.is(200);
    let cell = &read["values"][2];
    let told = (&cell["header"], &cell["value"], &cell["correction"]["from"]);
    assert_eq!(told, (&json!("FORENAMES"), &json!("Ifan"), &json!("Evan")), "{}", read.told());
    let back = archive.volunteer.patch(&evan, json!({ "values": { "forenames": "Evan" } })).await.is(200);
    assert_eq!(back["values"][2].get("correction"), None, "{}", back.told());
    let run = publish(&archive.volunteer, &post, json!({ "resolve": true })).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    assert_eq!(given(&archive, &evan).await, "Evan");
    archive.publishing_agrees().await;
}

async fn unpublishing_killed_at_each_write_keeps_the_correction() {
    let archive = Archive::new().await;
    archive.cairn.engines().wind_down();
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    let new = json!({ "name": "Dolgellau", "collectionId": collection, "mapping": mapping() });
    let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    upload(&archive.volunteer, &post, CENSUS).await;
    let publish = async || {
        archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
        archive.finish().await;
    };
    publish().await;
    let evan = format!("/archive/records/{}", ids(&archive.records().await, "permanentId")[0]);
    correct(&archive.volunteer, &evan).await;
    let mut number = 0;
    loop {
        let mut writes = 0;
        for moment in Moment::of_write(number) {
            archive.volunteer.post(&format!("{post}/unpublish"), json!({})).await.is(202);
            writes = archive.work(Some((number, *moment))).await;
            archive.finish().await;
            assert!(archive.records().await.is_empty(), "{number} {moment:?}");
            publish().await;
            assert_eq!(given(&archive, &evan).await, "Ifan", "{number} {moment:?}");
        }
        if writes <= number {
            break;
        }
        number += sized(3, 1);
    }
    archive.publishing_agrees().await;
}

async fn record_that_was_taken_down_stays_down_after_a_file_without_its_row() {
    let archive = Archive::new().await;
    let Archive { visitor, volunteer, editor, .. } = &archive;
    let post = published(&archive, CENSUS).await;
    let permanent = ids(&archive.records().await, "permanentId");
    let of = |row: usize| format!("/archive/records/{}", permanent[row - 1]);
    for row in [1, 5] {
        editor.delete(&of(row)).await.is(204);
    }
    let evan = CENSUS.lines().nth(1).unwrap();
    let jones = CENSUS.lines().nth(5).unwrap();
    // Two files lack the rows, one has other rows in their places, and then the first file is back.
    let without = CENSUS.replace(&format!("{evan}\n"), "").replace(&format!("{jones}\n"), "");
    let instead = CENSUS.replace(evan, "14,Pugh,Robert,Head,M,1830,").replace(jones, ",Rees,Ann,Lodger,F,,");
    let moved = format!("{without}{jones}\n{evan}\n");
    for (csv, gone) in [(&without, 2), (&without.replace("Johann", "John"), 0)] {
        upload(volunteer, &post, csv).await;
        let run = publish(volunteer, &post, json!({})).await;
        assert_eq!((run.text("status"), &run["totals"]["gone"]), ("published", &json!(gone)), "{}", run.told());
        assert_eq!(listed(visitor, &format!("{post}/records"), "id").await, permanent[1..4]);
    }
    upload(volunteer, &post, &instead).await;
    let run = publish(volunteer, &post, json!({})).await;
    assert_eq!((&run["totals"]["new"], &run["totals"]["records"]), (&json!(2), &json!(5)), "{}", run.told());
    for csv in [CENSUS, &moved] {
        upload(volunteer, &post, csv).await;
        let run = publish(volunteer, &post, json!({})).await;
        assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(3)), "{}", run.told());
        assert_eq!(listed(visitor, &format!("{post}/records"), "id").await, permanent[1..4]);
        for row in [1, 5] {
            visitor.get(&of(row)).await.refused(410, "withdrawn");
        }
        let found = visitor.get("/archive/search?surname=jones&match=exact").await.is(200);
        assert_eq!(found["total"]["value"], 0);
    }
    archive.publishing_agrees().await;
}

/// The row in its place is left out as well, since it may be the same person in another spelling.
async fn record_that_was_taken_down_is_known_after_another_row_had_its_place() {
    let archive = Archive::new().await;
    let file = |surnames: &[&str]| {
        let rows: String = surnames.iter().map(|surname| format!(",{surname},Ann,Lodger,F,,\n")).collect();
        format!("House,Surname,Forenames,Rel,Sex,Born,Birthplace\n{rows}")
    };
    let post = published(&archive, &file(&["Adams", "Rees", "Clark"])).await;
    let records = format!("{post}/records");
    let before = listed(&archive.visitor, &records, "id").await;
    archive.editor.delete(&format!("/archive/records/{}", before[1])).await.is(204);
    for surnames in [&["Adams", "Rice", "Clark"][..], &["Adams", "Rice", "Rees", "Clark"], &["Adams", "Rees", "Clark"]]
    {
        upload(&archive.volunteer, &post, &file(surnames)).await;
        let run = publish(&archive.volunteer, &post, json!({})).await;
        assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(2)), "{}", run.told());
        assert_eq!(run["problems"][0]["code"], "taken-down", "{}", run.told());
        assert_eq!(listed(&archive.visitor, &records, "id").await, [before[0].as_str(), &before[2]]);
    }
    archive.publishing_agrees().await;
}

/// A mapping in which the columns of these headers are the key.
fn keyed(keys: &[&str]) -> Value {
    let people = [("Surname", "surname"), ("Forenames", "given")];
    let columns = keys.iter().map(|header| (*header, "key")).chain(people);
    columns.map(|(header, field)| json!({ "header": header, "field": field })).collect()
}

/// Publishes rows with the key of these headers, of which an editor takes down the second. Returns the post and the ids.
async fn second_of_keyed_rows_taken_down(archive: &Archive, keys: &[&str], csv: &str) -> (String, Vec<String>) {
    let category = archive.category("Births").await;
    let collection = archive.collection("Births of 1871", &[&category]).await;
    let new = json!({ "name": "Bala", "collectionId": collection, "mapping": keyed(keys) });
    let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    upload(&archive.volunteer, &post, csv).await;
    publish(&archive.volunteer, &post, json!({})).await;
    let ids = listed(&archive.visitor, &format!("{post}/records"), "id").await;
    archive.editor.delete(&format!("/archive/records/{}", ids[1])).await.is(204);
    (post, ids)
}

async fn record_that_was_taken_down_stays_down_when_other_columns_are_the_key() {
    let archive = Archive::new().await;
    // Swapped, the numbers of the first row are those of the second one.
    let csv = "Year,Entry,Page,Surname,Forenames\n1,2,5,Pugh,Evan\n2,1,6,Rees,Ann\n3,4,1,Jones,Wm.\n";
    let (post, before) = second_of_keyed_rows_taken_down(&archive, &["Year", "Entry"], csv).await;
    for keys in [&["Entry", "Year"][..], &["Year", "Entry", "Page"], &["Page"], &["Entry"], &[]] {
        archive.volunteer.patch(&post, json!({ "mapping": keyed(keys) })).await.is(200);
        let run = publish(&archive.volunteer, &post, json!({})).await;
        assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(2)), "{}", run.told());
        let listed = listed(&archive.visitor, &format!("{post}/records"), "id").await;
        assert_eq!(listed, [before[0].as_str(), &before[2]], "{keys:?}");
    }
    archive.publishing_agrees().await;
}

async fn record_that_was_taken_down_is_found_by_its_key_however_its_row_changes() {
    let archive = Archive::new().await;
    let rows = ["1,Pugh,Evan", "2,Rees,Ann", "3,Jones,Wm.", "4,Price,Jane"];
    let csv = |rows: &[&str]| format!("Entry,Surname,Forenames\n{}\n", rows.join("\n"));
    let (post, before) = second_of_keyed_rows_taken_down(&archive, &["Entry"], &csv(&rows)).await;
    for changed in ["2,Rees,Anne", "2,Rice,Hannah"] {
        for rows in [[rows[0], changed, rows[2], rows[3]], [rows[2], rows[3], rows[0], changed]] {
            upload(&archive.volunteer, &post, &csv(&rows)).await;
            let run = publish(&archive.volunteer, &post, json!({})).await;
            assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(3)), "{}", run.told());
            let mut listed = listed(&archive.visitor, &format!("{post}/records"), "id").await;
            listed.sort_unstable();
            assert_eq!(listed, [before[0].as_str(), &before[2], &before[3]]);
        }
    }
    archive.publishing_agrees().await;
}

async fn conflict_with_a_correction_refuses_a_file_of_which_bad_rows_are_skipped() {
    let archive = Archive::new().await;
    let [post, evan] = corrected(&archive).await;
    let csv = CENSUS.replace("Evan", "Owen").replace("\"Zürich, Switzerland\"", "\"Zürich, Switzerland\",extra");
    upload(&archive.volunteer, &post, &csv).await;
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip" })).await;
    let reason = "1 correction by hand conflicts with the file";
    assert_eq!((run.text("status"), run.text("reason")), ("failed", reason), "{}", run.told());
    assert_eq!(given(&archive, &evan).await, "Ifan");
    let run = publish(&archive.volunteer, &post, json!({ "badRows": "skip", "corrections": "keep" })).await;
    assert_eq!((run.text("status"), &run["totals"]["records"]), ("published", &json!(4)), "{}", run.told());
    assert_eq!(given(&archive, &evan).await, "Ifan");
    archive.publishing_agrees().await;
}

async fn file_without_a_mapped_column_is_refused_for_that_although_a_record_is_corrected() {
    let archive = Archive::new().await;
    let [post, evan] = corrected(&archive).await;
    upload(&archive.volunteer, &post, "House,Forenames\n14,Evan\n").await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "missing-column"), "{}", run.told());
    assert_eq!(archive.volunteer.get(&post).await.is(200).text("lastError"), "missing-column");
    assert_eq!(given(&archive, &evan).await, "Ifan");
    archive.volunteer.get(&format!("{post}/runs/2/report")).await.is(200);
    archive.publishing_agrees().await;
}
