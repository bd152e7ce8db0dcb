//! `/parks/facilities/{collection}`.

use serde_json::{Value, json};

use std::future::IntoFuture;

use crate::harness::{Answer, Cairn};
use crate::tests;

tests! { facilities:
    hidden_facility_is_absent_for_visitors,
    patch_with_stale_if_match_returns_412,
    facilities_list_by_type_then_number,
    prefix_of_a_facility_type_is_refused,
    facility_numbers_continue_across_types,
    external_id_belongs_to_one_facility,
    two_creates_with_one_external_id_at_once_create_one,
    removed_attribute_leaves_the_search_document,
    patch_of_a_read_only_field_names_the_right_operation,
}

const FACILITIES: &str = "/parks/facilities/bcparks_1";

fn facility(of: &str, name: &str) -> Value {
    json!({ "facilityType": of, "displayName": name, "location": [-125.594, 49.489], "isVisible": true })
}

async fn hidden_facility_is_absent_for_visitors() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let mut bear = facility("campground", "Bear Camp");
    (bear["isVisible"], bear["adminNotes"]) = (json!(false), json!("den nearby"));
    let url = admin.post(FACILITIES, bear).await.is(201).header("location").to_owned();

    let hidden = visitor.get(&url).await.refused(404, "not-found");
    let absent = visitor.get("/parks/facilities/bcparks_1/campground/99").await.refused(404, "not-found");
    assert_eq!(without_instance(&hidden), without_instance(&absent));
    assert!(visitor.get(FACILITIES).await.is(200).sks().is_empty());
    let found = visitor.search("q=bear&facets=type").await;
    found.is_nothing();
    assert_eq!(visitor.search("facets=type").await.count("type", "campground"), 0);
    admin.search("q=den").await.are(&["Bear Camp"]);

    admin.patch(&url, json!({ "isVisible": true })).await.is(200);
    visitor.search("q=bear").await.are(&["Bear Camp"]);
    visitor.search("q=den").await.is_nothing();
    let seen = visitor.get(&url).await.is(200);
    assert!(!seen.told().contains("den nearby"), "{}", seen.told());
}

/// The problem and its headers without what differs from request to request.
fn without_instance(answer: &Answer) -> (Value, Vec<String>) {
    let mut body = answer.body.clone();
    body["instance"] = Value::Null;
    let changing = ["date", "apigw-requestid"];
    let names = answer.headers.keys().map(ToString::to_string).filter(|name| !changing.contains(&name.as_str()));
    (body, names.map(|name| format!("{name}: {}", answer.header(&name))).collect())
}

async fn patch_with_stale_if_match_returns_412() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let made = admin.post(FACILITIES, facility("campground", "Nobody")).await.is(201);
    let (url, tag) = (made.header("location").to_owned(), made.tag());
    let rename = |name: &'static str| admin.patch(&url, json!({ "displayName": name })).if_match(&tag).into_future();
    let (first, second) = tokio::join!(rename("Alder"), rename("Birch"));
    let (won, lost) = if first.status == 200 { (first, second) } else { (second, first) };
    let won = won.is(200);
    lost.refused(412, "stale");
    assert!(won.rev() > made.rev());

    let read = visitor.get(&url).await.is(200);
    assert_eq!((&read["displayName"], read.rev()), (&won["displayName"], won.rev()));
    let names = visitor.search("type=campground").await;
    names.are(&[won.text("displayName")]);
    admin.delete(&url).if_match(&tag).await.refused(412, "stale");
    admin.delete(&url).if_match(&won.tag()).await.is(204);
}

async fn facilities_list_by_type_then_number() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=12 {
        let of = if number % 3 == 0 { "trail" } else { "campground" };
        admin.post(FACILITIES, facility(of, &format!("Place {number}"))).await.is(201);
    }
    let campgrounds = [1, 2, 4, 5, 7, 8, 10, 11].map(|number| format!("campground::{number}"));
    let trails = [3, 6, 9, 12].map(|number| format!("trail::{number}"));
    let pages = visitor.pages(FACILITIES, 5).await;
    let all: Vec<&str> = pages.iter().flat_map(Answer::sks).collect();
    assert_eq!(all, [&campgrounds[..], &trails[..]].concat());
    let pages = visitor.pages(&format!("{FACILITIES}?type=trail&order=desc"), 3).await;
    let backward: Vec<&str> = pages.iter().flat_map(Answer::sks).collect();
    assert_eq!(backward, trails.iter().rev().collect::<Vec<_>>());

    let features = visitor.get(&format!("{FACILITIES}?type=trail")).geojson().await.is(200);
    assert_eq!(features["type"], "FeatureCollection");
    assert_eq!(features["features"][0]["geometry"], json!({ "type": "Point", "coordinates": [-125.594, 49.489] }));
    assert_eq!(features["features"][0]["properties"]["sk"], "trail::3");
}

async fn prefix_of_a_facility_type_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    admin.post(FACILITIES, facility("campground", "Camp")).await.is(201);
    for bad in ["camp", "Campground", "campground::", "", "campground,trail"] {
        visitor.get(&format!("{FACILITIES}?type={bad}")).await.faulty(&["type"]);
    }
    visitor.search("q=camp&type=campground").await.are(&["Camp"]);
    visitor.get("/parks/search?type=camp").await.faulty(&["type"]);
    admin.post(FACILITIES, facility("camp", "Camp")).await.faulty(&["/facilityType"]);
    admin.post(FACILITIES, facility("camp::1", "Camp")).await.faulty(&["/facilityType"]);
    visitor.get(&format!("{FACILITIES}/camp/1")).await.refused(404, "not-found");
    let mut odd = facility("campground", "Camp");
    odd["subType"] = json!("Rustic#1");
    admin.post(FACILITIES, odd).await.faulty(&["/subType"]);
}

async fn facility_numbers_continue_across_types() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    for (of, number) in [("campground", 1), ("trail", 2), ("campground", 3)] {
        let made = admin.post(FACILITIES, facility(of, "Place")).await.is(201);
        assert_eq!(made.header("location"), format!("{FACILITIES}/{of}/{number}"));
        assert_eq!(made["number"], number);
    }
    admin.get(&format!("{FACILITIES}/trail/1")).await.refused(404, "not-found");
}

async fn external_id_belongs_to_one_facility() {
    let cairn = Cairn::with_strathcona().await;
    cairn.collection("other", "Other").await;
    let admin = cairn.administrator().await;
    let with = |id: &str| {
        let mut new = facility("campground", "Camp");
        new["externalId"] = json!(id);
        new
    };
    admin.post(FACILITIES, with("A::1#/%")).await.is(201);
    let taken = admin.post(FACILITIES, with("A::1#/%")).await.refused(409, "taken").at(&["/externalId"]);
    assert_eq!(taken.header("location"), format!("{FACILITIES}/campground/1"), "it is told who holds it");
    // Another spelling, another collection, another kind: another id.
    admin.post(FACILITIES, with("A~3a~3a1#/%")).await.is(201);
    admin.post("/parks/facilities/other", with("A::1#/%")).await.is(201);
    let zone = json!({ "displayName": "Zone", "location": [1, 2], "externalId": "A::1#/%" });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);

    let url = format!("{FACILITIES}/campground/1");
    let second = format!("{FACILITIES}/campground/2");
    admin.patch(&second, json!({ "externalId": "A::1#/%" })).await.refused(409, "taken").at(&["/externalId"]);
    admin.patch(&url, json!({ "externalId": null })).await.is(200);
    admin.patch(&second, json!({ "externalId": "A::1#/%" })).await.is(200);
    // It is kept through a delete.
    admin.delete(&second).await.is(204);
    admin.patch(&url, json!({ "externalId": "A::1#/%" })).await.refused(409, "taken");
    let visitor = cairn.visitor().get(&url).await.is(200);
    assert_eq!(visitor.body.get("externalId"), None);
}

async fn two_creates_with_one_external_id_at_once_create_one() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let mut new = facility("campground", "Camp");
    new["externalId"] = json!("same");
    let calls = (0..8).map(|_| admin.post(FACILITIES, new.clone()).into_future());
    let answers = futures::future::join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 201) {
        answer.refused(409, "taken");
    }
    assert_eq!(admin.get(FACILITIES).await.is(200).sks().len(), 1);
}

async fn removed_attribute_leaves_the_search_document() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let mut new = facility("campground", "Camp");
    (new["description"], new["address"], new["isOpen"]) = (json!("heronry"), json!("1 Lake Road"), json!(true));
    let url = admin.post(FACILITIES, new).await.is(201).header("location").to_owned();
    visitor.search("q=heronry&isOpen=true").await.are(&["Camp"]);
    admin.patch(&url, json!({ "description": null, "address": null, "isOpen": null })).await.is(200);
    visitor.search("q=heronry").await.is_nothing();
    visitor.search("q=lake%20road").await.is_nothing();
    visitor.search("isOpen=true").await.is_nothing();
    visitor.search("isOpen=false").await.is_nothing();
    let document = cairn.document("parks", "facility::bcparks_1#campground::1").await.unwrap();
    for field in ["description", "address", "isOpen"] {
        assert_eq!(document.get(field), None);
    }
}

async fn patch_of_a_read_only_field_names_the_right_operation() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let url = admin.post(FACILITIES, facility("campground", "Camp")).await.is(201).header("location").to_owned();
    for (member, value, told) in [
        ("facilityType", json!("trail"), "/retype`"),
        ("boundary", json!(null), "/geometry/boundary`"),
        ("path", json!({}), "/geometry/path`"),
        ("isDeleted", json!(true), "/restore`"),
        ("collectionId", json!("other"), "never changes"),
        ("activityType", json!("dayuse"), "is not a known field"),
        ("colour", json!("red"), "is not a known field"),
    ] {
        let mut patch = json!({});
        patch[member] = value;
        let refused = admin.patch(&url, patch).await.faulty(&[&format!("/{member}")]);
        assert!(refused.fault(&format!("/{member}")).contains(told), "{}", refused.told());
    }
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use" });
    let url = admin.post("/parks/activities/bcparks_1", activity).await.is(201).header("location").to_owned();
    let refused = admin.patch(&url, json!({ "activityType": "hiking" })).await.faulty(&["/activityType"]);
    assert!(refused.fault("/activityType").contains("/retype`"), "{}", refused.told());
}
