//! What each access pattern consumes of DynamoDB's capacity, with items of ordinary sizes: a category and a user of half
//! a KB, a collection of 2 KB, a post of 3 KB.

use std::time::Duration;

use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};

use super::publishing::{CENSUS, arrived, publish, upload};
use super::records::{Register, path};
use super::stage::{Archive, id, until};
use crate::harness::measured::Measured;
use crate::harness::proxy::Proxy;
use crate::harness::{Cairn, Setup, engines, send_file};
use crate::tests;

tests! { archive_costs: #[long] each_access_pattern_costs_what_is_recorded }

/// Returns a text of this many characters.
fn text(length: usize) -> String {
    "registers of births and deaths ".chars().cycle().take(length).collect()
}

fn category(name: &str) -> Value {
    json!({ "name": name, "description": text(330) })
}

fn collection(name: &str, categories: &[String]) -> Value {
    json!({ "name": name, "description": text(1740), "categoryIds": categories })
}

fn post(name: &str, collection: &str) -> Value {
    let column = |number: usize| json!({ "header": format!("Column number {number}"), "field": "keywords" });
    let mapping: Vec<Value> = (0..47).map(column).collect();
    json!({ "name": name, "collectionId": collection, "mapping": mapping })
}

/// Publishes 26 records of 2 KB, each in a household of its own.
async fn register_of_26_households(archive: &Archive, collection: &str) {
    let column = |header: &str, field: &str| json!({ "header": header, "field": field });
    let mapping = json!([column("House", "household"), column("Surname", "surname"), column("Notes", "none")]);
    let new = json!({ "name": "Register", "collectionId": collection, "mapping": mapping });
    let path = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    let rows: String = (0..26).map(|number| format!("{number},Pugh,{}\n", text(1500))).collect();
    upload(&archive.volunteer, &path, &format!("House,Surname,Notes\n{rows}")).await;
    let run = publish(&archive.volunteer, &path, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    archive.cairn.caught_up().await;
}

/// The time limit of the whole. On an engine on which no job comes to its end, the test fails instead of waiting.
const TIME_LIMIT: Duration = Duration::from_secs(100);

async fn each_access_pattern_costs_what_is_recorded() {
    tokio::time::timeout(TIME_LIMIT, measure()).await.expect("the measured calls come to an end");
}

async fn measure() {
    let archive = Archive::new().await;
    let Archive { cairn, visitor, volunteer, editor, administrator } = &archive;
    let mut measured = Measured::default();
    // The first request creates the sequence.
    administrator.get("/archive/me").await.is(200);
    let person = Person { name: Some("Ann Field"), address: Some("ann@example.org"), ..Person::new("ann") };
    let ann = cairn.person("ann", person).await;
    let of_ann = measured.of("a person at first sight", ann.get("/archive/me"), 200).await;
    measured.of("a person who is known", ann.get("/archive/me"), 200).await;
    measured.of("update one's name", ann.patch("/archive/me", json!({ "name": "Ann Hill" })), 200).await;
    for user in [volunteer, editor] {
        user.get("/archive/me").await.is(200);
    }
    let first = measured.of("create a category", editor.post("/archive/categories", category("Births")), 201).await;
    let mut categories = vec![id(&first)];
    for number in 1..26 {
        categories.push(id(&editor.post("/archive/categories", category(&format!("Category {number}"))).await.is(201)));
    }
    let of_first = format!("/archive/categories/{}", categories[0]);
    measured.of("a category", visitor.get(&of_first), 200).await;
    measured.of("25 categories by name", visitor.get("/archive/categories"), 200).await;
    measured.of("rename a category", editor.patch(&of_first, json!({ "name": "Baptisms" })), 200).await;
    measured.of("describe a category", editor.patch(&of_first, json!({ "description": text(335) })), 200).await;
    let last = format!("/archive/categories/{}", categories[25]);
    measured.of("delete a category", editor.delete(&last), 204).await;
    let new = collection("Collection 0", &categories[..3]);
    let new = measured.of("create a collection in 3 categories", editor.post("/archive/collections", new), 201).await;
    let of_collection = format!("/archive/collections/{}", id(&new));
    for number in 1..27 {
        let new = collection(&format!("Collection {number}"), &categories[..1]);
        editor.post("/archive/collections", new).await.is(201);
    }
    measured.of("a collection in 3 categories", visitor.get(&of_collection), 200).await;
    measured.of("25 collections by name", visitor.get("/archive/collections"), 200).await;
    measured.of("25 collections of a category", visitor.get(&format!("{of_first}/collections")), 200).await;
    let described = json!({ "description": text(1750) });
    measured.of("describe a collection", editor.patch(&of_collection, described), 200).await;
    let swapped = json!({ "categoryIds": [categories[0], categories[1], categories[3]] });
    measured.of("swap one category of a collection", editor.patch(&of_collection, swapped), 200).await;
    let new = measured.of("create a post", volunteer.post("/archive/posts", post("Post 0", &id(&new))), 201).await;
    let of_post = format!("/archive/posts/{}", id(&new));
    let busy = id(&editor.post("/archive/collections", collection("Busy", &categories[1..2])).await.is(201));
    for number in 1..27 {
        volunteer.post("/archive/posts", post(&format!("Post {number}"), &busy)).await.is(201);
    }
    measured.of("a post", volunteer.get(&of_post), 200).await;
    measured.of("25 posts", volunteer.get("/archive/posts"), 200).await;
    measured.of("25 posts of a collection", volunteer.get(&format!("/archive/collections/{busy}/posts")), 200).await;
    places(&archive, &mut measured).await;
    measured.of("rename a post", volunteer.patch(&of_post, json!({ "name": "Post A" })), 200).await;
    let moved = volunteer.patch(&of_post, json!({ "collectionId": busy }));
    measured.of("move a post to another collection", moved, 200).await;
    measured.of("delete a post", volunteer.delete(&of_post), 202).await;
    until(volunteer, &of_post, |read| read.status == 404).await;
    measured.of("delete a collection in 3 categories", editor.delete(&of_collection), 204).await;
    let settings = json!({ "title": "County Archive", "postMetadata": [{ "name": "Source", "type": "string" }] });
    measured.of("put the settings", administrator.put("/archive/settings", settings), 200).await;
    measured.of("the settings", visitor.get("/archive/settings"), 200).await;
    let places = json!({ "abbreviations": { "Glos": "Gloucestershire" }, "noiseWords": ["near"] });
    measured.of("put the settings of places", administrator.put("/archive/place-settings", places), 200).await;
    measured.of("the settings of places", visitor.get("/archive/place-settings"), 200).await;
    cairn.caught_up().await;
    measured.of("search the catalog, with 25 hits", visitor.get("/archive/search/catalog?q=collection"), 200).await;
    measured.of("search the posts, with 25 hits", volunteer.get("/archive/search/posts?q=post"), 200).await;
    register_of_26_households(&archive, &busy).await;
    measured.of("search the records, with 25 hits of a post", visitor.get("/archive/search?surname=pugh"), 200).await;
    let in_place = visitor.get("/archive/search?surname=pugh&place=Nowhere,%20Wales");
    measured.of("search the records in a place, without a hit", in_place, 200).await;
    for number in 0..26 {
        let subject = format!("person{number}");
        let (name, address) = (format!("Many {}", text(175)), format!("many@{}.example.org", "x".repeat(63)));
        let person = Person { name: Some(&name), address: Some(&address), ..Person::new(&subject) };
        cairn.person("many", person).await.get("/archive/me").await.is(200);
    }
    measured.of("25 users", administrator.get("/archive/users"), 200).await;
    cairn.caught_up().await;
    measured.of("search the users, with 25 hits", administrator.get("/archive/search/users?q=many"), 200).await;
    let of_ann = format!("/archive/users/{}", id(&of_ann));
    measured.of("a user", administrator.get(&of_ann), 200).await;
    measured.of("a user's role", administrator.patch(&of_ann, json!({ "role": "volunteer" })), 200).await;
    measured.of("delete a user", administrator.delete(&of_ann), 204).await;
    of_publishing(&mut measured).await;
    of_records(&mut measured).await;
    measured.of("the health of the system", visitor.get("/archive/health"), 200).await;
    measured.match_record("archive");
}

/// A place of half a KB with three names, in another place.
async fn places(Archive { cairn, visitor, administrator, .. }: &Archive, measured: &mut Measured) {
    let wales = id(&administrator.post("/archive/places", json!({ "name": "Wales" })).await.is(201));
    let place = |name: &str| json!({ "name": name, "altNames": ["Llan", "Y Llan"], "parentId": wales });
    let new = administrator.post("/archive/places", place("Llanfair"));
    let of_first = format!("/archive/places/{}", id(&measured.of("create a place", new, 201).await));
    for number in 1..26 {
        administrator.post("/archive/places", place(&format!("Llanfair {number}"))).await.is(201);
    }
    measured.of("a place", visitor.get(&of_first), 200).await;
    measured.of("25 places by prefix", visitor.get("/archive/places?prefix=llan"), 200).await;
    let resolve = visitor.get("/archive/places/resolve?text=Llanfair%203,%20Wales");
    measured.of("the place that a text means", resolve, 200).await;
    cairn.caught_up().await;
    measured.of("10 completions", visitor.get("/archive/places/autocomplete?q=llan"), 200).await;
    let renamed = administrator.patch(&of_first, json!({ "name": "Llanddewi" }));
    measured.of("rename a place", renamed, 200).await;
    let moved = administrator.patch(&of_first, json!({ "name": "Aberdaron" }));
    measured.of("rename a place so that its first two letters change", moved, 200).await;
    measured.of("delete a place", administrator.delete(&of_first), 204).await;
}

/// Publishes a small register, and takes it back. The platform leaves the work to the measured calls, and search is held
/// until a job has looked at it, so that the number of looks is always the same.
async fn of_publishing(measured: &mut Measured) {
    let proxy = Proxy::before(engines::search().await).await;
    let without = vec!["inspectFile", "runJob", "runJobs"];
    let archive = Archive::with(Setup { search: Some(proxy.url.clone()), without, ..Setup::of("archive") }).await;
    let Archive { cairn, volunteer, editor, .. } = &archive;
    for user in [volunteer, editor] {
        user.get("/archive/me").await.is(200);
    }
    let post = super::publishing::post(&archive).await;
    let (file, publish) = (format!("{post}/file"), format!("{post}/publish"));
    let (app, now, later) = (::archive::app, Duration::ZERO, Duration::from_secs(5));
    let announced = volunteer.post(&file, json!({ "bytes": CENSUS.len() }));
    let link = measured.of("create a link for a file", announced, 201).await;
    assert_eq!(send_file(&link, CENSUS).await, 200);
    let number = post.rsplit('/').next().unwrap();
    let arrived = arrived(&post, link.text("uploadId"));
    measured.of_event("inspect a file", cairn, app, ("inspectFile", &arrived), now).await;
    measured.of("a file with its sample rows", volunteer.get(&file), 200).await;

    measured.of("start a run", volunteer.post(&publish, json!({})), 202).await;
    let cancel = volunteer.call(Method::POST, &format!("{post}/cancel"));
    measured.of("cancel a run", cancel, 202).await;
    let run = ("runJob", &archive.message_of_due_job().await);
    measured.of_event("undo a run that has written nothing", cairn, app, run, now).await;

    let sequence = archive.table().get("sequence", "sequence").await.unwrap();
    let first: u64 = sequence["value"].as_n().unwrap().parse::<u64>().unwrap() + 1;
    let first = format!("{first}#record_post#{number}");
    proxy.hold(&first);
    let href = volunteer.post(&publish, json!({})).await.is(202).header("location").to_owned();
    let run = ("runJob", &archive.message_of_due_job().await);
    measured.of_event("write 5 records of 2 households", cairn, app, run, now).await;
    search_catches_up(&proxy, cairn).await;
    measured.of_event("let readers see 5 records that search holds", cairn, app, run, later).await;
    let ended = measured.of("a run", volunteer.get(&href), 200).await;
    assert_eq!((ended.text("status"), ended.text("phase")), ("published", "ended"), "{}", ended.told());
    measured.of("2 runs of a post", volunteer.get(&format!("{post}/runs")), 200).await;
    measured.of("a link to the report of a run", volunteer.get(&format!("{href}/report")), 200).await;
    measured.of("the place texts without a place", volunteer.get(&format!("{href}/unresolved")), 200).await;

    proxy.hold(&first);
    let unpublish = volunteer.call(Method::POST, &format!("{post}/unpublish"));
    measured.of("unpublish a post", unpublish, 202).await;
    let run = ("runJob", &archive.message_of_due_job().await);
    measured.of_event("delete 5 records of 2 households", cairn, app, run, now).await;
    search_catches_up(&proxy, cairn).await;
    measured.of_event("end the publication of 5 records that search has lost", cairn, app, run, later).await;
    assert_eq!(volunteer.get(&post).await.is(200).text("status"), "draft");
    measured.of("delete a post with 2 runs", volunteer.delete(&post), 202).await;
    let run = ("runJob", &archive.message_of_due_job().await);
    measured.of_event("delete a post that is not published", cairn, app, run, now).await;
    volunteer.get(&post).await.refused(404, "not-found");
    let look = ("runJobs", &json!({}));
    measured.of_event("look for due jobs, none there", cairn, app, look, now).await;
}

/// Continues what the proxy holds, and waits until search shows it.
async fn search_catches_up(proxy: &Proxy, cairn: &Cairn) {
    proxy.holds().await;
    proxy.release();
    cairn.caught_up().await;
}

/// Measures what readers and editors do with the records of a small register.
async fn of_records(measured: &mut Measured) {
    let register = Register::new().await;
    let Archive { visitor, volunteer, editor, .. } = &register.archive;
    for user in [volunteer, editor] {
        user.get("/archive/me").await.is(200);
    }
    // A job or a stamp of the mirror that is still under way could change an item that a request has read.
    register.archive.cairn.caught_up().await;
    measured.of("5 records of a post", visitor.get(&register.records()), 200).await;
    measured.of("2 households of a post", visitor.get(&register.households()), 200).await;
    let household = format!("{}/14", register.households());
    measured.of("a household of 3", visitor.get(&household), 200).await;
    measured.of("a record with a household of 3", visitor.get(&path(3)), 200).await;
    measured.of("a record without a household", visitor.get(&path(5)), 200).await;
    let name = json!({ "values": { "Forenames": "Ifan" } });
    measured.of("correct a name in a household of 3", volunteer.patch(&path(1), name), 200).await;
    let report = json!({ "text": text(500) });
    let new = measured.of("create a report", visitor.post(&format!("{}/reports", path(5)), report), 201).await;
    measured.of("an open report", editor.get("/archive/reports"), 200).await;
    let settled = editor.patch(&format!("/archive/reports/{}", id(&new)), json!({ "status": "accepted" }));
    measured.of("accept a report", settled, 200).await;
    measured.of("take down a record in a household of 3", editor.delete(&path(1)), 204).await;
}
