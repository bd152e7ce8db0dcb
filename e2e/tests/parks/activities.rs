//! `/parks/activities/{collection}`.

use serde_json::{Value, json};

use super::shapes::rectangle;
use crate::harness::{Answer, Cairn};
use crate::tests;

tests! { activities:
    activity_is_created_read_updated_searched_and_restored,
    activities_list_by_type_then_number,
    activity_with_unknown_type_is_refused,
    activity_with_products_cannot_be_deleted,
    activity_is_found_by_its_shapes_without_a_location,
    external_id_belongs_to_one_activity,
}

const ACTIVITIES: &str = "/parks/activities/bcparks_1";

fn activity(of: &str, name: &str) -> Value {
    json!({ "activityType": of, "displayName": name, "isVisible": true })
}

async fn activity_is_created_read_updated_searched_and_restored() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let mut new = activity("canoeing", "Buttle Lake by canoe");
    (new["subType"], new["location"], new["adminNotes"]) = (json!("flatwater"), json!([-125.5, 49.6]), json!("rapids"));
    let made = admin.post(ACTIVITIES, new).await.is(201);
    let url = made.header("location").to_owned();
    assert_eq!(url, "/parks/activities/bcparks_1/canoeing/1");
    assert_eq!((made.text("pk"), made.text("sk")), ("activity::bcparks_1", "canoeing::1"));

    let seen = visitor.get(&url).await.is(200);
    assert_eq!(
        (&seen["activityType"], &seen["subType"], &seen["number"]),
        (&json!("canoeing"), &json!("flatwater"), &json!(1))
    );
    assert!(!seen.told().contains("rapids"), "{}", seen.told());
    let item = format!("/parks/items/{}", made.text("globalId"));
    assert_eq!(visitor.get(&item).await.is(200).body, seen.body);
    let found = visitor.search("q=buttle&type=canoeing&subType=flatwater&facets=type").await;
    found.are(&["Buttle Lake by canoe"]);
    assert_eq!((found[0]["type"].as_str(), found.count("type", "canoeing")), (Some("canoeing"), 1));
    visitor.search("q=rapids").await.is_nothing();
    admin.search("q=rapids").await.are(&["Buttle Lake by canoe"]);

    for field in ["activityType", "number", "collectionId", "boundary", "openRanges", "rangeStart"] {
        admin.patch(&url, json!({ (field): "dayuse" })).await.faulty(&[&format!("/{field}")]);
    }
    let changed =
        admin.patch(&url, json!({ "displayName": "Canoes", "location": null })).if_match(&made.tag()).await.is(200);
    assert_eq!((changed.text("displayName"), changed.body.get("location")), ("Canoes", None));
    admin.patch(&url, json!({ "displayName": "x" })).if_match(&made.tag()).await.refused(412, "stale");
    admin.patch(&url, json!({ "isVisible": false })).await.is(200);
    visitor.get(&url).await.refused(404, "not-found");
    visitor.search("entity=activity").await.is_nothing();

    admin.delete(&url).await.is(204);
    assert_eq!(admin.get(&format!("{ACTIVITIES}?deleted=true")).await.is(200).sks(), ["canoeing::1"]);
    admin.post(&format!("{url}/restore"), json!({})).await.is(200);
    assert_eq!(admin.get(ACTIVITIES).await.is(200).sks(), ["canoeing::1"]);
}

async fn activities_list_by_type_then_number() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=12 {
        let of = if number % 4 == 0 { "boating" } else { "hiking" };
        admin.post(ACTIVITIES, activity(of, "Activity")).await.is(201);
    }
    let boating = [4, 8, 12].map(|number| format!("boating::{number}"));
    let hiking = [1, 2, 3, 5, 6, 7, 9, 10, 11].map(|number| format!("hiking::{number}"));
    let pages = visitor.pages(ACTIVITIES, 5).await;
    assert_eq!(pages.iter().flat_map(Answer::sks).collect::<Vec<_>>(), [&boating[..], &hiking[..]].concat());
    let pages = visitor.pages(&format!("{ACTIVITIES}?type=hiking&order=desc"), 4).await;
    let backward: Vec<&str> = pages.iter().flat_map(Answer::sks).collect();
    assert_eq!(backward, hiking.iter().rev().collect::<Vec<_>>());
}

async fn activity_with_unknown_type_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(ACTIVITIES, activity("camping", "Camp")).await.is(201);
    for bad in ["camp", "campground", "Camping", "camping::1", ""] {
        admin.get(&format!("{ACTIVITIES}?type={bad}")).await.faulty(&["type"]);
        admin.post(ACTIVITIES, activity(bad, "Camp")).await.faulty(&["/activityType"]);
    }
    admin.post(ACTIVITIES, json!({ "displayName": "Camp" })).await.faulty(&["/activityType"]);
    admin.get(&format!("{ACTIVITIES}/camp/1")).await.refused(404, "not-found");
    admin.post("/parks/activities/nowhere", activity("camping", "Camp")).await.refused(404, "not-found");
}

async fn activity_with_products_cannot_be_deleted() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let url = admin.post(ACTIVITIES, activity("dayuse", "Day use")).await.is(201).header("location").to_owned();
    let refused = admin.delete("/parks/collections/bcparks_1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "activities": 1 }));
    let pass = json!({ "displayName": "Pass", "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30" });
    let products = "/parks/products/bcparks_1/dayuse/1";
    admin.post(products, pass.clone()).await.is(201);
    admin.post(products, pass.clone()).await.is(201);
    let refused = admin.delete(&url).await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "products": 2 }));

    admin.delete(&format!("{products}/1")).await.is(204);
    admin.delete(&format!("{products}/2")).await.is(204);
    admin.delete(&url).await.is(204);
    admin.post(products, pass).await.refused(404, "not-found");
    admin.post(&format!("{products}/1/restore"), json!({})).await.refused(409, "parent-deleted");
    admin.delete("/parks/collections/bcparks_1").await.is(204);
    admin.post(&format!("{url}/restore"), json!({})).await.refused(409, "parent-deleted");
    admin.post("/parks/collections/bcparks_1/restore", json!({})).await.is(200);
    admin.post(&format!("{url}/restore"), json!({})).await.is(200);
    admin.post(&format!("{products}/2/restore"), json!({})).await.is(200);
    let refused = admin.delete(&url).await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "products": 1 }));
}

async fn activity_is_found_by_its_shapes_without_a_location() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let mut new = activity("hiking", "Ridge");
    new["boundary"] = rectangle(10.0, 10.0, 12.0, 12.0);
    let made = admin.post(ACTIVITIES, new).await.is(201);
    let url = made.header("location").to_owned();
    assert_eq!((made.body.get("location"), &made["envelope"]), (None, &json!([10, 10, 12, 12])));
    let path = json!({ "type": "LineString", "coordinates": [[20, 20], [21, 21]] });
    admin.put(&format!("{url}/geometry/path"), path).await.is(200);
    assert_eq!(visitor.get(&format!("{url}/geometry/path")).await.is(200)["geometry"]["type"], "LineString");
    visitor.search("bbox=10.4,10.4,10.6,10.6").await.are(&["Ridge"]);
    visitor.search("near=11,11&radius=1").await.are(&["Ridge"]);
    admin.delete(&format!("{url}/geometry/boundary")).await.is(204);
    visitor.search("bbox=10.4,10.4,10.6,10.6").await.is_nothing();
}

async fn external_id_belongs_to_one_activity() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let mut new = activity("hiking", "Ridge");
    new["externalId"] = json!("A::1");
    admin.post(ACTIVITIES, new.clone()).await.is(201);
    admin.post(ACTIVITIES, new).await.refused(409, "taken").at(&["/externalId"]);
}
