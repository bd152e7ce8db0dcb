//! Imports that hide and show items: what visitors see of their relationships goes with them, as by a `PATCH`.

use std::time::Duration;

use serde_json::{Value, json};

use super::cascades::with_hub;
use super::cascades_stopped::{job, kept};
use super::imports::{collection, feature, import, import_of, point};
use super::imports_refused::faults;
use super::relationships::{relate, seen};
use crate::harness::stopper::Moment;
use crate::harness::{Cairn, User, send_file};
use crate::tests;

tests! { imports_visibility:
    imported_row_hides_and_shows_relationships,
    #[long] import_killed_while_hiding_leaves_no_visible_relationship,
    #[long] imported_row_hides_an_item_with_many_relationships,
    #[long] imported_row_hides_an_item_with_96_relationships_without_another_job,
    import_skips_an_item_with_an_open_job,
}

const ZONE: &str = "geozone::bcparks_1/1";

fn trail(number: u64) -> String {
    format!("facility::bcparks_1/trail::{number}")
}

/// A layer of so many trails, of which these are visible.
fn layer(trails: u64, visible: impl Fn(u64) -> bool) -> String {
    let row = |number: u64| {
        let mut row = feature(&format!("row-{number}"), &format!("Trail {number}"), &point(-125.0, 49.0));
        row["properties"]["isVisible"] = json!(visible(number));
        row
    };
    collection(&(1..=trails).map(row).collect::<Vec<_>>())
}

/// So many visible trails of a layer, of which 1 to 3 are related to geozone 1 and to each other.
async fn with_trails(trails: u64) -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    import(&admin, "geojson", &layer(trails, |_| true)).await;
    for (one, other) in [(ZONE, 1), (ZONE, 2), (ZONE, 3), (&trail(1), 2), (&trail(2), 3)] {
        relate(&admin, one, &trail(other)).await.is(201);
    }
    (cairn, admin, visitor)
}

async fn imported_row_hides_and_shows_relationships() {
    let (cairn, admin, visitor) = with_trails(40).await;
    let shown = kept(&cairn).await;
    for hidden in [vec![1], vec![1, 2], vec![2], vec![1, 2, 3, 40], vec![]] {
        let done = import(&admin, "geojson", &layer(40, |number| !hidden.contains(&number))).await;
        assert_eq!(done["counts"], json!({ "total": 40, "done": 40, "failed": 0 }), "{}", done.told());
        let visible = |number: &u64| !hidden.contains(number);
        let expected: Vec<String> = (1..=3).filter(visible).map(|number| format!("trail::{number}")).collect();
        assert_eq!(seen(&visitor, ZONE).await, expected, "{hidden:?}");
        assert_eq!(seen(&admin, ZONE).await.len(), 3);
        for number in 1..=3 {
            let neighbours = [(1, 2), (2, 3)].into_iter().filter(|(one, other)| visible(one) && visible(other));
            let of = neighbours.filter(|(one, other)| [*one, *other].contains(&number)).count();
            let expected = if visible(&number) { 1 + of } else { 0 };
            assert_eq!(seen(&visitor, &trail(number)).await.len(), expected, "{number} of {hidden:?}");
        }
        assert_eq!(visitor.search("entity=facility&limit=1").await.total(), 40 - hidden.len() as u64);
    }
    assert!(kept(&cairn).await == shown, "shown again, it is not what it was");
}

async fn import_killed_while_hiding_leaves_no_visible_relationship() {
    let (cairn, admin, visitor) = with_trails(4).await;
    // The platform's own worker lets go of whatever it takes.
    cairn.engines().wind_down();
    let begin = async |visible: bool| {
        let file = layer(4, |number| visible || number == 4);
        let new = json!({
            "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len()
        });
        let announced = admin.post("/parks/imports", new).await.is(201);
        assert_eq!(send_file(&announced, &file).await, 200);
        announced.header("location").to_owned()
    };
    let shown = kept(&cairn).await;
    let transactions = job(&cairn, &admin, &begin(false).await, None).await;
    let hidden = kept(&cairn).await;
    assert!(seen(&visitor, ZONE).await.is_empty() && hidden != shown);
    // The count of the rows, three batches, and the end.
    assert_eq!(transactions, 5, "rows that move one relationship are not of one batch");
    let mut visible = false;
    for number in 0..transactions {
        for moment in [Moment::BeforeItIsSent, Moment::AfterItIsDone] {
            if (number, moment) == (transactions - 1, Moment::AfterItIsDone) {
                // The job has ended.
                continue;
            }
            visible = !visible;
            job(&cairn, &admin, &begin(visible).await, Some((number, moment))).await;
            let expected = if visible { &shown } else { &hidden };
            assert!(kept(&cairn).await == *expected, "stopped at {number} {moment:?}, it is not what it should be");
        }
    }
}

/// A layer of the one geozone that everything is related to.
fn hub(visible: bool) -> String {
    collection(&[json!({ "type": "Feature", "geometry": point(-125.0, 49.0), "properties": {
        "externalId": "hub", "displayName": format!("Hub {visible}"), "isVisible": visible
    } })])
}

async fn imported_row_hides_an_item_with_many_relationships() {
    let (_cairn, admin, visitor) = with_hub(120).await;
    admin.patch("/parks/geozones/bcparks_1/1", json!({ "externalId": "hub" })).await.is(200);
    for visible in [false, true] {
        let done = import_of(&admin, "geozone", "geojson", &hub(visible)).await;
        assert_eq!(done["counts"], json!({ "total": 1, "done": 1, "failed": 0 }), "{}", done.told());
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        let zone = loop {
            let zone = admin.get("/parks/geozones/bcparks_1/1").await.is(200);
            if zone.body.get("busy").is_none() {
                break zone;
            }
            assert!(tokio::time::Instant::now() < deadline, "its job never ends: {}", zone.told());
            tokio::time::sleep(Duration::from_millis(25)).await;
        };
        let told = (&zone["isVisible"], zone.text("displayName"));
        assert_eq!(told, (&json!(visible), format!("Hub {visible}").as_str()));
        assert_eq!(seen(&visitor, ZONE).await.len(), if visible { 120 } else { 0 });
    }
}

async fn imported_row_hides_an_item_with_96_relationships_without_another_job() {
    let (_cairn, admin, visitor) = with_hub(96).await;
    admin.patch("/parks/geozones/bcparks_1/1", json!({ "externalId": "hub" })).await.is(200);
    let done = import_of(&admin, "geozone", "geojson", &hub(false)).await;
    assert_eq!(done["counts"], json!({ "total": 1, "done": 1, "failed": 0 }), "{}", done.told());
    assert_eq!(admin.get("/parks/jobs").await.is(200).each("kind"), ["import"]);
    assert!(seen(&visitor, ZONE).await.is_empty());
}

async fn import_skips_an_item_with_an_open_job() {
    let (cairn, admin, visitor) = with_trails(3).await;
    let mut busy = cairn.table().get("facility::bcparks_1", "trail::1").await.unwrap();
    busy.insert("busy".to_owned(), aws_sdk_dynamodb::types::AttributeValue::Bool(true));
    cairn.table().put(busy).await;
    let done = import(&admin, "geojson", &layer(3, |number| number > 2)).await;
    assert_eq!(done["counts"], json!({ "total": 3, "done": 2, "failed": 1 }), "{}", done.told());
    let told = faults(&done).await;
    let place = |name: &str| told["faults"][0].get(name).cloned().unwrap_or(Value::Null);
    assert_eq!((place("feature"), place("pointer")), (json!(1), json!("/properties/isVisible")));
    assert_eq!(seen(&visitor, ZONE).await, ["trail::1", "trail::3"]);
    // It is visible until a job that hides it ends.
    let done = import(&admin, "geojson", &layer(3, |_| true)).await;
    assert_eq!(done["counts"], json!({ "total": 3, "done": 2, "failed": 1 }), "{}", done.told());
}
