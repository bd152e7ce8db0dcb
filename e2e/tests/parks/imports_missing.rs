//! Imports that hide the items of their layer that the file no longer has.

use std::time::Duration;

use serde_json::{Value, json};

use super::cascades::with_hub;
use super::cascades_stopped::{job, kept};
use super::imports::{TRAILS, collection, feature, import, import_of, import_with, point};
use super::imports_refused::faults;
use super::relationships::{relate, seen};
use crate::harness::stopper::Moment;
use crate::harness::{Answer, Cairn, User, send_file};
use crate::tests;

tests! { imports_missing:
    #[long] items_that_the_file_lacks_are_hidden_on_request,
    items_that_the_file_lacks_stay_visible_by_default,
    rows_with_faults_are_not_missing,
    nothing_is_hidden_after_a_file_that_cannot_be_read,
    #[long] import_killed_at_each_step_hides_what_is_missing_once,
    #[long] missing_item_with_many_relationships_is_hidden,
    missing_item_with_an_open_job_is_reported,
}

const ZONE: &str = "geozone::bcparks_1/1";

fn hide() -> Value {
    json!({ "missing": "hide" })
}

fn rows(numbers: impl IntoIterator<Item = u64>) -> String {
    let row = |number: u64| feature(&format!("row:{number}"), &format!("Trail {number}"), &point(-125.0, 49.0));
    collection(&numbers.into_iter().map(row).collect::<Vec<_>>())
}

/// The numbers of the trails that visitors see.
async fn shown(user: &User) -> Vec<u64> {
    let pages = user.pages(TRAILS, 100).await;
    pages.iter().flat_map(|page| page.each("number")).filter_map(Value::as_u64).collect()
}

async fn hidden(job: &Answer) -> Vec<(String, String)> {
    let told = faults(job).await;
    let listed = told["hidden"].as_array().unwrap();
    assert_eq!(told["hiddenCount"], listed.len(), "{told}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed.iter().map(|item| (text(&item["externalId"]), text(&item["path"]))).collect()
}

async fn items_that_the_file_lacks_are_hidden_on_request() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    import(&admin, "geojson", &rows(1..=200)).await;
    // Neither items of other kinds or collections are of the layer, nor those that never had an external id.
    let zone = json!({ "displayName": "Zone", "location": [1, 2], "isVisible": true, "externalId": "row:200" });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    let own = json!({ "displayName": "Own", "facilityType": "trail", "location": [1, 2], "isVisible": true });
    admin.post(TRAILS, own.clone()).await.is(201);
    let other = json!({ "collectionId": "bcparks_2", "displayName": "Other", "isVisible": true });
    admin.post("/parks/collections", other).await.is(201);
    let mut elsewhere = own;
    elsewhere["externalId"] = json!("row:200");
    admin.post("/parks/facilities/bcparks_2", elsewhere).await.is(201);
    // One is hidden already, and one is deleted.
    admin.patch(&format!("{TRAILS}/trail/199"), json!({ "isVisible": false })).await.is(200);
    admin.delete(&format!("{TRAILS}/trail/198")).await.is(204);

    let job = import_with(&admin, "geojson", hide(), &rows((1..=150).chain([1000]))).await;
    assert_eq!(job["counts"], json!({ "total": 151, "done": 151, "failed": 0 }), "{}", job.told());
    assert_eq!(job["status"], "succeeded");
    let mut told = hidden(&job).await;
    told.sort_by_key(|(_, path)| path.rsplit('/').next().unwrap().parse::<u64>().unwrap());
    let missing = (151..=197).chain([200]);
    let expected: Vec<_> =
        missing.map(|number| (format!("row:{number}"), format!("{TRAILS}/trail/{number}"))).collect();
    assert_eq!(told, expected);
    assert_eq!(shown(&visitor).await, (1..=150).chain([201, 202]).collect::<Vec<_>>());
    assert_eq!(visitor.search("entity=facility&limit=1").await.total(), 153);
    visitor.get("/parks/geozones/bcparks_1/1").await.is(200);
    visitor.get("/parks/facilities/bcparks_2/trail/1").await.is(200);
    let gone = admin.get(&format!("{TRAILS}/trail/151")).await.is(200);
    assert_eq!((&gone["isVisible"], gone.text("displayName")), (&json!(false), "Trail 151"));
    assert_eq!(gone["updatedBy"], job["createdBy"]);

    // A second time nothing is left to hide, and a row brings its item back.
    let job = import_with(&admin, "geojson", hide(), &rows((1..=150).chain([1000]))).await;
    assert!(job.body.get("faultsLink").is_none(), "{}", job.told());
    assert_eq!(admin.get(&format!("{TRAILS}/trail/151")).await.is(200).tag(), gone.tag());
    import_with(&admin, "geojson", hide(), &rows((1..=151).chain([1000]))).await;
    visitor.get(&format!("{TRAILS}/trail/151")).await.is(200);
    // A layer without rows has lost all of its items.
    let job = import_with(&admin, "geojson", hide(), &rows([])).await;
    assert_eq!(hidden(&job).await.len(), 152);
    assert_eq!(shown(&visitor).await, [201]);
}

async fn items_that_the_file_lacks_stay_visible_by_default() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    import(&admin, "geojson", &rows(1..=3)).await;
    for more in [json!({}), json!({ "missing": "keep" }), json!({ "missing": "hide", "dryRun": true })] {
        let job = import_with(&admin, "geojson", more, &rows(1..=1)).await;
        assert_eq!(job["counts"]["done"], 1, "{}", job.told());
        assert!(job.body.get("faultsLink").is_none(), "{}", job.told());
        assert_eq!(shown(&visitor).await, [1, 2, 3]);
    }
    let bad = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "csv", "bytes": 5, "missing": "x" });
    admin.post("/parks/imports", bad).await.faulty(&["/missing"]);
}

async fn rows_with_faults_are_not_missing() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    import(&admin, "geojson", &rows(1..=4)).await;
    let mut nameless = feature("row:1", "", &point(1.0, 1.0));
    nameless["properties"]["OBJECTID"] = json!(7);
    let mut anonymous = feature("", "Anonymous", &point(1.0, 1.0));
    anonymous["properties"].as_object_mut().unwrap().remove("externalId");
    let layer = [nameless, anonymous, feature("row:2", "Null Island", &point(0.0, 0.0))];
    let job = import_with(&admin, "geojson", hide(), &collection(&layer)).await;
    assert_eq!(job["counts"], json!({ "total": 3, "done": 0, "failed": 3 }), "{}", job.told());
    let names: Vec<String> = hidden(&job).await.into_iter().map(|(id, _)| id).collect();
    assert_eq!(names, ["row:3", "row:4"]);
    assert_eq!(shown(&visitor).await, [1, 2]);
    assert_eq!(faults(&job).await["faultCount"], 4);

    // A file with other names of its attributes has the items that its mapped attribute names.
    let renamed = json!({ "missing": "hide", "mapping": { "id": "externalId" } });
    let csv = "id,displayName,type\nrow:2,Trail 2,trail\n";
    let job = import_with(&admin, "csv", renamed, csv).await;
    assert_eq!(hidden(&job).await, [("row:1".to_owned(), format!("{TRAILS}/trail/1"))]);
    assert_eq!(shown(&visitor).await, [2]);
}

async fn nothing_is_hidden_after_a_file_that_cannot_be_read() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    import(&admin, "geojson", &rows(1..=3)).await;
    let whole = rows(1..=2);
    for (format, file) in [
        ("geojson", &whole[..whole.len() - 2]),
        ("csv", "externalId,displayName\nrow:1,\"Trail"),
        ("csv", "externalId,displayName,price\nrow:1,Trail,7\n"),
    ] {
        let job = import_with(&admin, format, hide(), file).await;
        assert_eq!(job["status"], "failed", "{}", job.told());
        assert_eq!(shown(&visitor).await, [1, 2, 3]);
    }
    // A row that cannot be read may be one of the items.
    let numbered = json!({ "type": "Feature", "geometry": point(1.0, 1.0), "properties": {
        "externalId": 7, "displayName": "Seven", "facilityType": "trail"
    } });
    for unreadable in [json!(7), json!({ "type": "Feature", "properties": 7 }), numbered] {
        let first = feature("row:1", "Trail 1", &point(-125.0, 49.0));
        let job = import_with(&admin, "geojson", hide(), &collection(&[first, unreadable])).await;
        assert_eq!(job["counts"], json!({ "total": 2, "done": 1, "failed": 1 }), "{}", job.told());
        assert_eq!(shown(&visitor).await, [1, 2, 3]);
        let told = faults(&job).await;
        let last = told["faults"].as_array().unwrap().last().unwrap();
        assert!(last["detail"].as_str().unwrap().contains("feature 2"), "{told}");
        assert_eq!((last.get("feature"), &last["pointer"], &told["hiddenCount"]), (None, &json!(""), &json!(0)));
    }
    // With too many cells, another one is where the externalId should be.
    for unreadable in ["Trail 2", "Trail, the second,row:2,trail"] {
        let csv = format!("displayName,externalId,type\nTrail 1,row:1,trail\n{unreadable}\n");
        let job = import_with(&admin, "csv", hide(), csv.as_str()).await;
        assert_eq!(job["counts"], json!({ "total": 2, "done": 1, "failed": 1 }), "{}", job.told());
        assert_eq!(shown(&visitor).await, [1, 2, 3], "{unreadable}");
    }
}

async fn import_killed_at_each_step_hides_what_is_missing_once() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    import(&admin, "geojson", &rows(1..=60)).await;
    for number in [1, 2, 3, 60] {
        relate(&admin, ZONE, &format!("facility::bcparks_1/trail::{number}")).await.is(201);
    }
    relate(&admin, "facility::bcparks_1/trail::2", "facility::bcparks_1/trail::3").await.is(201);
    // The platform's own worker lets go of whatever it takes.
    cairn.engines().wind_down();
    let begin = async |layer: String| {
        let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": layer.len(),
            "missing": "hide" });
        let announced = admin.post("/parks/imports", new).await.is(201);
        assert_eq!(send_file(&announced, &layer).await, 200);
        announced.header("location").to_owned()
    };
    // Trail 2 and 3 share a relationship, so they are hidden one after the other.
    let few = || rows([1, 60]);
    let before = kept(&cairn).await;
    let transactions = job(&cairn, &admin, &begin(few()).await, None).await;
    let gone = kept(&cairn).await;
    assert_eq!(shown(&visitor).await, [1, 60]);
    assert_eq!(seen(&visitor, ZONE).await, ["trail::1", "trail::60"]);
    assert!(transactions > 5, "{transactions}");
    job(&cairn, &admin, &begin(rows(1..=60)).await, None).await;
    assert!(kept(&cairn).await == before, "shown again, it is not what it was");
    for number in 0..transactions {
        for moment in Moment::of_write(number) {
            if (number, *moment) == (transactions - 1, Moment::AfterItIsDone) {
                // The job has ended.
                continue;
            }
            let path = begin(few()).await;
            job(&cairn, &admin, &path, Some((number, *moment))).await;
            assert!(kept(&cairn).await == gone, "stopped at {number} {moment:?}, it is not what it should be");
            let done = admin.get(&path).await.is(200);
            assert_eq!(done["counts"], json!({ "total": 2, "done": 2, "failed": 0 }), "{}", done.told());
            assert_eq!(hidden(&done).await.len(), 58, "stopped at {number} {moment:?}");
            job(&cairn, &admin, &begin(rows(1..=60)).await, None).await;
            assert!(kept(&cairn).await == before, "shown again, it is not what it was");
        }
    }
}

async fn missing_item_with_many_relationships_is_hidden() {
    let (_cairn, admin, visitor) = with_hub(120).await;
    admin.patch("/parks/geozones/bcparks_1/1", json!({ "externalId": "hub" })).await.is(200);
    let layer = collection(&[json!({ "type": "Feature", "geometry": point(-125.0, 49.0), "properties": {
        "externalId": "another", "displayName": "Another"
    } })]);
    let new = json!({ "collectionId": "bcparks_1", "entity": "geozone", "format": "geojson", "bytes": layer.len(),
        "missing": "hide" });
    let announced = admin.post("/parks/imports", new).await.is(201);
    assert_eq!(send_file(&announced, &layer).await, 200);
    let done = super::imports::ended(&admin, announced.header("location")).await;
    assert_eq!(done["counts"], json!({ "total": 1, "done": 1, "failed": 0 }), "{}", done.told());
    assert_eq!(hidden(&done).await, [("hub".to_owned(), "/parks/geozones/bcparks_1/1".to_owned())]);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while admin.get("/parks/geozones/bcparks_1/1").await.is(200).body.get("busy").is_some() {
        assert!(tokio::time::Instant::now() < deadline, "its job never ends");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(admin.get("/parks/geozones/bcparks_1/1").await.is(200)["isVisible"], false);
    assert!(seen(&visitor, ZONE).await.is_empty());
    let again = import_of(&admin, "geozone", "geojson", &layer).await;
    assert_eq!(again["counts"]["done"], 1);
}

async fn missing_item_with_an_open_job_is_reported() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    import(&admin, "geojson", &rows(1..=3)).await;
    let mut busy = cairn.table().get("facility::bcparks_1", "trail::2").await.unwrap();
    busy.insert("busy".to_owned(), aws_sdk_dynamodb::types::AttributeValue::Bool(true));
    cairn.table().put(busy).await;
    let job = import_with(&admin, "geojson", hide(), &rows([1])).await;
    assert_eq!(job["counts"], json!({ "total": 1, "done": 1, "failed": 0 }), "{}", job.told());
    assert_eq!(hidden(&job).await, [("row:3".to_owned(), format!("{TRAILS}/trail/3"))]);
    let told = faults(&job).await;
    assert_eq!(told["faultCount"], 1, "{told}");
    let fault = &told["faults"][0];
    assert_eq!((&fault["externalId"], &fault["pointer"]), (&json!("row:2"), &json!("/isVisible")), "{told}");
    assert_eq!(shown(&visitor).await, [1, 2]);
}
