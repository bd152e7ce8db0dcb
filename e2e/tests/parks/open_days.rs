//! Search for what is open on some days: products, and activities through them.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;

use crate::harness::table::{Item, text};
use crate::harness::{Cairn, User};
use crate::tests;

tests! { open_days:
    search_by_day_finds_open_activities,
    activity_is_open_by_its_visible_products,
    activity_is_found_by_its_own_products,
    #[long] search_over_too_many_activities_is_refused,
    unreadable_open_ranges_quarantine_their_item_alone,
}

const PRODUCTS: &str = "/parks/products/bcparks_1/dayuse/1";

/// Activity dayuse 1 with product 1, open in December 2025 and January 2026 but for the 25th of December.
async fn with_season() -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let new =
        json!({ "activityType": "dayuse", "displayName": "Day use", "location": [-125.5, 49.6], "isVisible": true });
    admin.post("/parks/activities/bcparks_1", new).await.is(201);
    product(&admin, 1, "Day pass").await;
    admin.patch(&format!("{PRODUCTS}/1/dates/2025-12-25"), json!({ "status": "closed" })).await.is(200);
    (cairn, admin, visitor)
}

/// A product of an activity, open in December 2025 and January 2026.
async fn product(admin: &User, activity: u32, name: &str) -> String {
    let new = json!({ "displayName": name, "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30", "isVisible": true });
    let made = admin.post(&format!("/parks/products/bcparks_1/dayuse/{activity}"), new).await.is(201);
    let url = made.header("location").to_owned();
    let seed = json!({ "from": "2025-12-01", "to": "2026-01-31", "status": "open" });
    admin.post(&format!("{url}/dates"), seed).await.is(200);
    url
}

async fn search_by_day_finds_open_activities() {
    let (_cairn, admin, visitor) = with_season().await;
    visitor.search("open=2025-12-24/2025-12-26").await.is_nothing();
    visitor.search("open=2025-12-24/2025-12-26&openMatch=any").await.are(&["Day use", "Day pass"]);
    let found = visitor.search("entity=activity&near=-125.51,49.6&open=2025-12-26/2025-12-27").await;
    found.are(&["Day use"]);
    let metres = found[0]["distanceMetres"].as_f64().unwrap();
    assert!((metres - 721.0).abs() < 4.0, "{metres}");
    visitor.get("/parks/search?entity=product&near=-125.51,49.6").await.faulty(&["entity"]);

    visitor.search("open=2025-12-25/2025-12-25").await.is_nothing();
    visitor.search("open=2026-01-31/2026-02-01").await.is_nothing();
    visitor.search("open=2026-01-31/2026-02-01&openMatch=any&entity=product").await.are(&["Day pass"]);
    let found = visitor.search("open=2025-12-26/2025-12-27&facets=entity,type").await;
    let counts =
        [("entity", "activity"), ("entity", "product"), ("type", "dayuse")].map(|(of, value)| found.count(of, value));
    assert_eq!(counts, [1, 1, 2]);
    // A facet counts without the filter of its own field.
    for chosen in ["entity=product&facets=entity", "type=hiking&facets=type"] {
        let found = visitor.search(&format!("open=2025-12-26/2025-12-27&{chosen}")).await;
        let counts = [("entity", "activity"), ("entity", "product"), ("type", "dayuse")]
            .map(|(of, value)| found.count(of, value));
        assert_eq!(counts, if chosen.starts_with("entity") { [1, 1, 0] } else { [0, 0, 2] }, "{chosen}");
    }
    for bad in ["2026-02-29/2026-03-01", "2025-12-26/2025-12-24", "2025-12-24", "2025-01-01/2025-02-01"] {
        visitor.get(&format!("/parks/search?open={bad}")).await.faulty(&["open"]);
    }
    let by_post = json!({ "open": "2025-12-26/2025-12-27", "entity": ["product"] });
    visitor.search_by(by_post).await.are(&["Day pass"]);
    // The days follow the dates.
    admin.delete(&format!("{PRODUCTS}/1/dates?from=2025-12-26&to=2025-12-27")).await.is(200);
    visitor.search("open=2025-12-26/2025-12-27&openMatch=any").await.is_nothing();
}

async fn activity_is_open_by_its_visible_products() {
    let (_cairn, admin, visitor) = with_season().await;
    let (days, url) = ("open=2025-12-26/2025-12-27", format!("{PRODUCTS}/1"));
    admin.patch(&url, json!({ "isVisible": false })).await.is(200);
    visitor.search(days).await.is_nothing();
    admin.search(days).await.are(&["Day use", "Day pass"]);
    admin.search(&format!("{days}&view=public")).await.is_nothing();
    admin.patch(&url, json!({ "isVisible": true })).await.is(200);
    admin.patch("/parks/activities/bcparks_1/dayuse/1", json!({ "isVisible": false })).await.is(200);
    visitor.search(days).await.are(&["Day pass"]);
    admin.delete(&url).await.is(204);
    admin.search(days).await.is_nothing();
    admin.post(&format!("{url}/restore"), json!({})).await.is(200);
    admin.search(days).await.are(&["Day use", "Day pass"]);
}

async fn activity_is_found_by_its_own_products() {
    let (cairn, admin, visitor) = with_season().await;
    for number in 2..=10 {
        let new = json!({ "activityType": "dayuse", "displayName": format!("Activity {number}"), "location": [1, number], "isVisible": true });
        admin.post("/parks/activities/bcparks_1", new).await.is(201);
    }
    product(&admin, 10, "Tenth pass").await;
    visitor.search("open=2025-12-25/2025-12-25").await.are(&["Activity 10", "Tenth pass"]);
    visitor.search("open=2025-12-26/2025-12-26&entity=activity").await.are(&["Day use", "Activity 10"]);
    visitor.search("open=2025-12-26/2025-12-26&bbox=0,9,2,11").await.are(&["Activity 10"]);
    visitor.search("open=2025-12-26/2025-12-26&entity=activity&q=activity").await.are(&["Activity 10"]);
    visitor.search("open=2025-12-26/2025-12-26&type=hiking").await.is_nothing();
    cairn.collection("other", "Other").await;
    visitor.search("open=2025-12-26/2025-12-26&collectionId=other").await.is_nothing();
}

/// A product of an activity of its own, as the table keeps it.
fn stored(number: usize, ranges: AttributeValue) -> Item {
    Item::from([
        ("pk".to_owned(), text(&format!("product::many::dayuse::{number}"))),
        ("sk".to_owned(), text("1")),
        ("rev".to_owned(), AttributeValue::N("3534508800000000".to_owned())),
        ("entity".to_owned(), text("product")),
        ("globalId".to_owned(), text(&format!("many-{number}"))),
        ("collectionId".to_owned(), text("many")),
        ("activityType".to_owned(), text("dayuse")),
        ("displayName".to_owned(), text(&format!("Pass {number}"))),
        ("isVisible".to_owned(), AttributeValue::Bool(true)),
        ("isDeleted".to_owned(), AttributeValue::Bool(false)),
        ("openRanges".to_owned(), ranges),
    ])
}

fn ranges(range: &str) -> AttributeValue {
    AttributeValue::L(vec![text(range)])
}

async fn search_over_too_many_activities_is_refused() {
    let (cairn, admin, visitor) = with_season().await;
    let open = "2025-12-01/2025-12-02";
    cairn.table().put_all((1..=10_000).map(|number| stored(number, ranges(open))).collect()).await;
    visitor.search("open=2025-12-02/2025-12-02&collectionId=many&entity=activity").await.is_nothing();
    let query = "/parks/search?open=2025-12-02/2025-12-02&entity=activity";
    for user in [&admin, &visitor] {
        let refused = user.get(query).await.refused(400, "narrow-search");
        assert!(refused.text("detail").contains("collectionId"), "{}", refused.told());
    }
    // Narrowed, and where no activity is asked for, it is answered.
    visitor.search("open=2025-12-02/2025-12-02&entity=activity&collectionId=bcparks_1").await.are(&["Day use"]);
    assert_eq!(visitor.search("open=2025-12-02/2025-12-02&entity=product").await.total(), 10_000);
}

async fn unreadable_open_ranges_quarantine_their_item_alone() {
    let (cairn, _admin, visitor) = with_season().await;
    let table = cairn.table();
    let wrong: [AttributeValue; 5] = [
        ranges("2026-02-29/2026-03-01"),
        ranges("1900-01-01/2199-12-31"),
        text("2025-12-01/2025-12-02"),
        AttributeValue::N("1".to_owned()),
        AttributeValue::L(vec![AttributeValue::Bool(true)]),
    ];
    let many: Vec<Item> = wrong.into_iter().enumerate().map(|(at, wrong)| stored(at + 1, wrong)).collect();
    table.put_all(many).await;
    table.put(stored(9, ranges("2025-12-25/2025-12-25"))).await;
    visitor.search("open=2025-12-25/2025-12-25").await.are(&["Pass 9"]);
    assert_eq!(cairn.quarantined().await.len(), 5);
    // The next good write clears it.
    let mut mended = stored(1, ranges("2025-12-25/2025-12-25"));
    mended.insert("rev".to_owned(), AttributeValue::N("3534508800000010".to_owned()));
    table.put(mended).await;
    visitor.search("open=2025-12-25/2025-12-25").await.are(&["Pass 1", "Pass 9"]);
    assert_eq!(cairn.quarantined().await.len(), 4);
}
