//! Posts: their mapping, metadata and owner, and moves between collections.

use local::identity::Person;
use serde_json::{Value, json};

use super::publishing::{publish, upload, upload_bytes};
use super::stage::{Archive, attribute, id, listed};
use crate::harness::table::text;
use crate::tests;

tests! { archive_posts:
    post_without_a_mapping_has_that_of_its_collection,
    patch_merges_the_members_of_objects,
    post_in_an_unknown_collection_is_refused,
    metadata_must_be_declared_by_the_settings,
    moved_post_is_listed_in_its_new_collection_alone,
    published_post_cannot_be_moved,
    post_in_transit_cannot_be_updated_or_deleted,
    post_of_another_volunteer_is_changed_by_editors_only,
    options_that_follow_the_file_decide_how_it_is_read,
    headers_of_a_file_are_accepted_in_a_mapping,
    stated_encoding_counts_also_where_a_file_looks_like_utf_8,
    runs_of_an_unknown_post_are_not_found,
}

async fn post_without_a_mapping_has_that_of_its_collection() {
    let archive = Archive::new().await;
    let category = archive.category("Census").await;
    let mapping = json!([{ "header": "Surname", "role": "principal", "field": "surname" }]);
    let new = json!({ "name": "Census", "categoryIds": [category], "defaultMapping": mapping });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let post = archive.post("House 1", &collection).await;
    let path = format!("/archive/posts/{post}");
    let read = archive.volunteer.get(&path).await.is(200);
    assert_eq!((&read["mapping"], read.text("status"), &read["run"]), (&mapping, "draft", &json!(0)));
    let own = json!([{ "header": "Nachname", "field": "surname", "label": "Surname" }]);
    // The label `latin1` means this encoding.
    let options = json!({ "encoding": "windows-1252", "delimiter": ";" });
    let patch = json!({ "mapping": own, "csvOptions": options });
    let changed = archive.volunteer.patch(&path, patch).await.is(200);
    assert_eq!((&changed["mapping"][0]["label"], &changed["csvOptions"]), (&json!("Surname"), &options));
    let unknown = archive.volunteer.patch(&path, json!({ "csvOptions": { "encoding": "klingon" } })).await;
    unknown.faulty(&["/csvOptions/encoding"]);
}

/// Members that a patch does not have keep their values (RFC 7396).
async fn patch_merges_the_members_of_objects() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let years = json!({ "birth": 100, "marriage": 75, "death": 30 });
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": years });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let path = format!("/archive/collections/{collection}");
    let changed = archive.editor.patch(&path, json!({ "closedYears": { "birth": 110 } })).await.is(200);
    let kept = json!({
        "birth": 110, "baptism": 0, "marriage": 75, "residence": 0, "death": 30, "burial": 0, "other": 0,
    });
    assert_eq!(changed["closedYears"], kept);
    archive.editor.patch(&path, json!({ "closedYears": { "birth": 151 } })).await.faulty(&["/closedYears/birth"]);

    let fields = json!([{ "name": "Pages", "type": "number" }, { "name": "Office", "type": "string" }]);
    archive.administrator.put("/archive/settings", json!({ "title": "A", "postMetadata": fields })).await.is(200);
    let path = format!("/archive/posts/{}", archive.post("House 1", &collection).await);
    let patch = async |patch: Value| archive.volunteer.patch(&path, patch).await;
    patch(json!({ "metadata": { "Pages": 12, "Office": "County" } })).await.is(200);
    let changed = patch(json!({ "metadata": { "Pages": 13 }, "csvOptions": { "delimiter": ";" } })).await.is(200);
    assert_eq!(changed["metadata"], json!({ "Pages": 13, "Office": "County" }));
    let options = patch(json!({ "csvOptions": { "encoding": "windows-1252" } })).await.is(200);
    assert_eq!(options["csvOptions"], json!({ "encoding": "windows-1252", "delimiter": ";" }));
    let less = patch(json!({ "metadata": { "Office": null }, "csvOptions": { "delimiter": null } })).await.is(200);
    assert_eq!(less["metadata"], json!({ "Pages": 13 }));
    assert_eq!(less["csvOptions"], json!({ "encoding": "windows-1252" }));
    // DynamoDB stores no such number.
    for number in [1e126, -1e300, 1e-200] {
        let refused = patch(json!({ "metadata": { "Pages": number } })).await.refused(422, "unprocessable");
        assert_eq!(refused["errors"][0]["pointer"], "/metadata/Pages", "{}", refused.told());
    }
    patch(json!({ "metadata": { "Pages": -1e125 } })).await.is(200);
}

async fn post_in_an_unknown_collection_is_refused() {
    let archive = Archive::new().await;
    for new in [
        json!({ "name": "Births", "collectionId": "7999999999" }),
        json!({ "name": "Births", "collectionId": "7999999999", "mapping": [] }),
    ] {
        let refused = archive.volunteer.post("/archive/posts", new).await.refused(422, "unprocessable");
        refused.at(&["/collectionId"]);
    }
    archive.volunteer.post("/archive/posts", json!({ "name": "B", "collectionId": "12" })).await.is(400);
}

async fn metadata_must_be_declared_by_the_settings() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let fields = json!([{ "name": "Source", "type": "string" }, { "name": "Pages", "type": "number" }]);
    let settings = json!({ "title": "County Archive", "postMetadata": fields });
    archive.administrator.put("/archive/settings", settings).await.is(200);
    let new = |metadata| json!({ "name": "Births", "collectionId": collection, "metadata": metadata });
    let created =
        archive.volunteer.post("/archive/posts", new(json!({ "Source": "Office", "Pages": 12 }))).await.is(201);
    assert_eq!(created["metadata"], json!({ "Source": "Office", "Pages": 12 }));
    let refused = archive.volunteer.post("/archive/posts", new(json!({ "Source": 1, "Weight": 2 }))).await;
    refused.refused(422, "unprocessable").at(&["/metadata/Source", "/metadata/Weight"]);
    let path = format!("/archive/posts/{}", id(&created));
    let refused = archive.volunteer.patch(&path, json!({ "metadata": { "Pages": "many" } })).await;
    refused.refused(422, "unprocessable").at(&["/metadata/Pages"]);
}

async fn moved_post_is_listed_in_its_new_collection_alone() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let from = archive.collection("From", &[&category]).await;
    let to = archive.collection("To", &[&category]).await;
    let post = archive.post("Births 1837", &from).await;
    let path = format!("/archive/posts/{post}");
    let moved = archive.volunteer.patch(&path, json!({ "collectionId": to, "name": "Births 1838" })).await.is(200);
    assert_eq!((moved.text("collectionId"), moved.text("name")), (to.as_str(), "Births 1838"));
    let of = async |collection: &str| {
        listed(&archive.volunteer, &format!("/archive/collections/{collection}/posts"), "id").await
    };
    assert_eq!((of(&from).await, of(&to).await), (Vec::new(), vec![post]));
    let nowhere = archive.volunteer.patch(&path, json!({ "collectionId": "7999999999" })).await;
    nowhere.refused(422, "unprocessable").at(&["/collectionId"]);
    archive.agrees().await;
}

async fn published_post_cannot_be_moved() {
    let archive = Archive::new().await;
    let path = with_status(&archive, "published").await;
    let other = archive.collection("Other", &[&archive.category("Deaths").await]).await;
    archive.volunteer.patch(&path, json!({ "collectionId": other })).await.refused(409, "not-movable");
    archive.volunteer.patch(&path, json!({ "name": "Births 1838" })).await.is(200);
    archive.agrees().await;
}

async fn post_in_transit_cannot_be_updated_or_deleted() {
    let archive = Archive::new().await;
    let path = with_status(&archive, "publishing").await;
    archive.volunteer.patch(&path, json!({ "name": "Births 1838" })).await.refused(409, "in-transit");
    archive.volunteer.delete(&path).await.refused(409, "in-transit");
}

/// Creates a post and stores this status on it. Returns its path.
async fn with_status(archive: &Archive, status: &str) -> String {
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let post = archive.post("Births 1837", &collection).await;
    let mut item = archive.table().get(&post, "post").await.unwrap();
    assert_eq!(attribute(&item, "status"), "draft");
    item.insert("status".to_owned(), text(status));
    archive.table().put(item).await;
    format!("/archive/posts/{post}")
}

async fn post_of_another_volunteer_is_changed_by_editors_only() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let path = format!("/archive/posts/{}", archive.post("Births 1837", &collection).await);
    let other = Person { roles: &["archive-volunteer"], ..Person::new("vic") };
    let other = archive.cairn.person("another volunteer", other).await;
    other.get(&path).await.is(200);
    other.patch(&path, json!({ "name": "Mine" })).await.refused(403, "forbidden");
    other.delete(&path).await.refused(403, "forbidden");
    other.get("/archive/me").await.is(200);
    other.delete(&path).await.refused(403, "forbidden");
    let owner = archive.volunteer.get("/archive/me").await.is(200);
    let changed = archive.editor.patch(&path, json!({ "name": "Births 1838" })).await.is(200);
    assert_eq!(changed.text("ownerId"), owner.text("id"));
    archive.delete_post(&archive.editor, &path).await;
    archive.agrees().await;
}

async fn options_that_follow_the_file_decide_how_it_is_read() {
    let archive = Archive::new().await;
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    let post = format!("/archive/posts/{}", archive.post("Katowice", &collection).await);
    let volunteer = &archive.volunteer;
    volunteer.patch(&post, json!({ "mapping": [{ "header": "Surname", "field": "surname" }] })).await.is(200);
    let file = upload_bytes(volunteer, &post, b"Surname;Note\n\xa3ucz;a,b,c\nNowak;a,b,c\n").await;
    assert_eq!(file["inspection"]["encoding"], "windows-1252");
    let options = json!({ "csvOptions": { "encoding": "latin2", "delimiter": ";" } });
    let patched = volunteer.patch(&post, options.clone()).await.is(200);
    let file = volunteer.get(&format!("{post}/file")).await.is(200);
    let inspection = &file["inspection"];
    assert_eq!((&inspection["encoding"], &inspection["delimiter"]), (&json!("ISO-8859-2"), &json!(";")));
    assert_eq!((&inspection["headers"], &inspection["sample"][0][0]), (&json!(["Surname", "Note"]), &json!("Łucz")));
    // The same options once more change nothing.
    assert_eq!(volunteer.patch(&post, options).await.is(200).tag(), patched.tag());
    let run = publish(volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let records = volunteer.get(&format!("{post}/records")).await.is(200);
    assert_eq!(records["items"][0]["people"][0]["surname"], "Łucz");
    // With these options it is no text.
    let refused = volunteer.patch(&post, json!({ "csvOptions": { "encoding": "euc-jp" } })).await;
    refused.refused(422, "unprocessable").at(&["/csvOptions"]);
    volunteer.patch(&post, json!({ "csvOptions": null })).await.is(200);
    assert_eq!(volunteer.get(&format!("{post}/file")).await.is(200)["inspection"]["encoding"], "windows-1252");
}

async fn headers_of_a_file_are_accepted_in_a_mapping() {
    let archive = Archive::new().await;
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    let post = format!("/archive/posts/{}", archive.post("Dolgellau", &collection).await);
    let volunteer = &archive.volunteer;
    let long = format!("Notes {}", "x".repeat(9_000));
    let csv = format!("Surname,\"Date of\nbirth\",\"{long}\",\"{long}\",,Sur\tname 2\nPugh,1841,a,b,c,d\n");
    let file = upload(volunteer, &post, &csv).await;
    let headers = file["inspection"]["headers"].as_array().unwrap();
    assert_eq!(headers.len(), 6, "{}", file.told());
    let field = |index: usize| ["surname", "birthDate"].get(index).copied().unwrap_or("none");
    let column = |(index, header): (usize, &Value)| json!({ "header": header, "field": field(index) });
    let mapping: Vec<Value> = headers.iter().enumerate().map(column).collect();
    volunteer.patch(&post, json!({ "mapping": mapping })).await.is(200);
    let run = publish(volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let records = volunteer.get(&format!("{post}/records")).await.is(200);
    assert_eq!(records["items"][0]["events"][0]["dateText"], "1841");
    let label = json!([{ "header": "Born", "label": "Date of\nbirth", "field": "birthDate" }]);
    volunteer.patch(&post, json!({ "mapping": label })).await.faulty(&["/mapping/0/label"]);
    let many: Vec<Value> =
        (0..4).map(|number| json!({ "header": format!("{long}{number}"), "field": "none" })).collect();
    volunteer.patch(&post, json!({ "mapping": many })).await.faulty(&["/mapping"]);
}

async fn stated_encoding_counts_also_where_a_file_looks_like_utf_8() {
    let archive = Archive::new().await;
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    let volunteer = &archive.volunteer;
    // Without a byte-order mark.
    let utf_16: Vec<u8> = "Surname,Note\nPugh,a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (file, label, encoding, surname) in [
        (b"Surname,Note\n\x1b$B@+\x1b(B,a\n".to_vec(), "iso-2022-jp", "ISO-2022-JP", "姓"),
        (utf_16, "utf-16le", "UTF-16LE", "Pugh"),
    ] {
        let post = format!("/archive/posts/{}", archive.post(surname, &collection).await);
        let mapping = json!([{ "header": "Surname", "field": "surname" }]);
        let options = json!({ "csvOptions": { "encoding": label }, "mapping": mapping });
        volunteer.patch(&post, options).await.is(200);
        let read = upload_bytes(volunteer, &post, &file).await;
        let inspection = &read["inspection"];
        let found = (&inspection["encoding"], &inspection["headers"][0], &inspection["sample"][0][0]);
        assert_eq!(found, (&json!(encoding), &json!("Surname"), &json!(surname)), "{}", read.told());
        let run = publish(volunteer, &post, json!({})).await;
        assert_eq!(run["status"], "published", "{}", run.told());
        let records = volunteer.get(&format!("{post}/records")).await.is(200);
        assert_eq!(records["items"][0]["people"][0]["surname"], surname);
    }
}

async fn runs_of_an_unknown_post_are_not_found() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let post = archive.post("Births", &collection).await;
    let runs = archive.volunteer.get(&format!("/archive/posts/{post}/runs")).await.is(200);
    assert_eq!(runs["items"], json!([]));
    archive.volunteer.get("/archive/posts/7999999999/runs").await.refused(404, "not-found");
}
