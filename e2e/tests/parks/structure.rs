//! What goes along when an item is deleted, restored or given another type.

use futures::future::join_all;
use serde_json::{Value, json};

use super::relationships::{counted, relate, seen, with_camps};
use crate::harness::{Cairn, User};
use crate::tests;

tests! { structure:
    deleted_facility_is_restored_with_its_relationships,
    deleting_a_collection_deletes_its_descendants,
    restore_returns_only_what_the_cascade_deleted,
    related_items_deleted_together_are_restored_together,
    deleting_racing_relating_leaves_no_dangling_relationship,
    deleting_both_ends_at_once_detaches_the_relationship_once,
    restoring_both_ends_at_once_restores_the_relationship_once,
    retype_keeps_number_and_relationships,
    item_with_too_many_relationships_keeps_its_type,
    activity_with_products_cannot_be_retyped,
    retyped_item_is_found_under_its_new_key,
    restore_leaves_out_a_relationship_to_an_item_that_the_table_lost,
}

const ZONE: &str = "/parks/geozones/bcparks_1/1";
const CAMP: &str = "/parks/facilities/bcparks_1/campground/1";
const ZONE_END: &str = "geozone::bcparks_1/1";
const CAMP_END: &str = "facility::bcparks_1/campground::1";

async fn restore(admin: &User, path: &str) {
    admin.post(&format!("{path}/restore"), json!({})).await.is(200);
}

async fn deleted_facility_is_restored_with_its_relationships() {
    let (cairn, admin, visitor) = with_camps(1).await;
    relate(&admin, CAMP_END, ZONE_END).await.is(201);
    let refused = admin.delete(ZONE).await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "relationships": 1 }));
    admin.delete(&format!("{ZONE}?cascade=true")).await.is(204);
    visitor.get(ZONE).await.refused(404, "not-found");
    visitor.search("q=bedwell").await.is_nothing();
    assert!(seen(&admin, CAMP_END).await.is_empty());
    admin.delete(CAMP).await.is(204);

    restore(&admin, ZONE).await;
    for user in [&admin, &visitor] {
        assert!(seen(user, ZONE_END).await.is_empty());
    }
    restore(&admin, CAMP).await;
    for user in [&admin, &visitor] {
        assert_eq!(seen(user, ZONE_END).await, ["campground::1"]);
        assert_eq!(seen(user, CAMP_END).await, ["campground::1"]);
    }
    for end in ["geozone::bcparks_1::1", "facility::bcparks_1::campground::1"] {
        assert_eq!(counted(&cairn, end).await, 1);
    }
    let partitions = cairn.table().partitions().await;
    assert!(!partitions.iter().any(|pk| pk.starts_with("detached::")), "{partitions:?}");
    visitor.search("q=bedwell").await.are(&["Bedwell Lakes"]);
}

/// `bcparks_1` with geozone 1, two campgrounds, an activity with two products, and relationships among them and to the
/// geozone of another collection.
async fn with_tree() -> (Cairn, User, User) {
    let (cairn, admin, visitor) = with_camps(2).await;
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    for name in ["Summer", "Winter"] {
        let product = json!({
            "displayName": name, "rangeStart": "2026-01-01", "rangeEnd": "2026-12-31", "isVisible": true
        });
        admin.post("/parks/products/bcparks_1/dayuse/1", product).await.is(201);
    }
    cairn.collection("other", "Garibaldi").await;
    let zone = json!({ "displayName": "Rubble Creek", "location": [-123, 49.9], "isVisible": true });
    admin.post("/parks/geozones/other", zone).await.is(201);
    for (one, other) in TREE {
        relate(&admin, one, other).await.is(201);
    }
    (cairn, admin, visitor)
}

const TREE: [(&str, &str); 5] = [
    ("geozone::bcparks_1/1", "facility::bcparks_1/campground::1"),
    ("facility::bcparks_1/campground::1", "facility::bcparks_1/campground::2"),
    ("activity::bcparks_1/dayuse::1", "facility::bcparks_1/campground::2"),
    ("product::bcparks_1::dayuse::1/1", "geozone::other/1"),
    ("product::bcparks_1::dayuse::1/2", "product::bcparks_1::dayuse::1/1"),
];

const BELOW: [&str; 6] = [
    "/parks/geozones/bcparks_1/1",
    "/parks/facilities/bcparks_1/campground/1",
    "/parks/facilities/bcparks_1/campground/2",
    "/parks/activities/bcparks_1/dayuse/1",
    "/parks/products/bcparks_1/dayuse/1/1",
    "/parks/products/bcparks_1/dayuse/1/2",
];

/// Counts the relationships of the tree that a user sees, each from both of its ends.
async fn related(user: &User) -> usize {
    let mut count = 0;
    for (one, other) in TREE {
        count += usize::from(user.get(&format!("/parks/relationships/{one}/{other}")).await.status == 200);
    }
    count
}

/// What the counters of a partition and of relationships say, where they do not say 0.
async fn counts(cairn: &Cairn) -> u64 {
    let mut sum = 0;
    for pk in cairn.table().partitions().await.iter().filter(|pk| pk.starts_with("counter::")) {
        if pk.contains("other") && !pk.contains("rel::") {
            continue;
        }
        let live = cairn.table().get(pk, "live").await;
        sum += live.map_or(0, |live| live["live"].as_n().unwrap().parse::<u64>().unwrap());
    }
    sum
}

async fn deleting_a_collection_deletes_its_descendants() {
    let (cairn, admin, visitor) = with_tree().await;
    assert_eq!((related(&admin).await, related(&visitor).await), (5, 5));
    let before: Vec<Value> =
        join_all(BELOW.map(|path| visitor.get(path).into_future())).await.into_iter().map(|read| read.body).collect();
    let counted = counts(&cairn).await;
    let refused = admin.delete("/parks/collections/bcparks_1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "geozones": 1, "facilities": 2, "activities": 1 }));
    let refused = admin.delete("/parks/activities/bcparks_1/dayuse/1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "products": 2, "relationships": 1 }));

    admin.delete("/parks/collections/bcparks_1?cascade=true").await.is(204);
    for path in BELOW {
        visitor.get(path).await.refused(404, "not-found");
        let deleted = admin.get(path).await.is(200);
        assert_eq!(deleted["isDeleted"], true);
        assert!(deleted["deletedWith"].is_string(), "{}", deleted.told());
        admin.post(&format!("{path}/restore"), json!({})).await.refused(409, "parent-deleted");
    }
    assert_eq!((related(&admin).await, counts(&cairn).await), (0, 0));
    visitor.search("collectionId=bcparks_1").await.is_nothing();
    let zone = json!({ "displayName": "Late", "location": [1, 2] });
    admin.post("/parks/geozones/bcparks_1", zone).await.refused(404, "not-found");

    restore(&admin, "/parks/collections/bcparks_1").await;
    let after: Vec<Value> =
        join_all(BELOW.map(|path| visitor.get(path).into_future())).await.into_iter().map(|read| read.body).collect();
    assert_eq!(after, before);
    assert_eq!((related(&admin).await, related(&visitor).await, counts(&cairn).await), (5, 5, counted));
    assert!(admin.get(BELOW[0]).await.is(200).body.get("deletedWith").is_none());
    visitor.search("collectionId=bcparks_1&entity=product").await.are(&["Summer", "Winter"]);
}

async fn restore_returns_only_what_the_cascade_deleted() {
    let (_cairn, admin, visitor) = with_tree().await;
    admin.delete(&format!("{}?cascade=true", BELOW[1])).await.is(204);
    admin.delete("/parks/activities/bcparks_1/dayuse/1?cascade=true").await.is(204);
    admin.delete("/parks/collections/bcparks_1?cascade=true").await.is(204);
    restore(&admin, "/parks/collections/bcparks_1").await;
    for (path, status) in BELOW.into_iter().zip([200, 404, 200, 404, 404, 404]) {
        visitor.get(path).await.is(status);
    }
    // Products come with their activity, and each relationship with the later of its ends.
    admin.post(&format!("{}/restore", BELOW[4]), json!({})).await.refused(409, "parent-deleted");
    restore(&admin, BELOW[3]).await;
    assert_eq!(related(&visitor).await, 3);
    restore(&admin, BELOW[1]).await;
    assert_eq!((related(&visitor).await, related(&admin).await), (5, 5));
}

async fn related_items_deleted_together_are_restored_together() {
    let (cairn, admin, visitor) = with_tree().await;
    let counted = counts(&cairn).await;
    for _ in 0..3 {
        admin.delete("/parks/collections/bcparks_1?cascade=true").await.is(204);
        // The end that stays has another end deleted, and none of its own.
        admin.delete("/parks/geozones/other/1").await.is(204);
        restore(&admin, "/parks/collections/bcparks_1").await;
        assert_eq!(related(&visitor).await, 4);
        restore(&admin, "/parks/geozones/other/1").await;
        assert_eq!((related(&visitor).await, counts(&cairn).await), (5, counted));
    }
}

async fn deleting_racing_relating_leaves_no_dangling_relationship() {
    let (cairn, admin, _) = with_camps(6).await;
    for round in 0..6 {
        let cascade = round % 2 == 0;
        let path = if cascade { format!("{ZONE}?cascade=true") } else { ZONE.to_owned() };
        let relating = join_all((1..=6).map(|number| {
            let (admin, camp) = (admin.clone(), format!("facility::bcparks_1/campground::{number}"));
            async move { relate(&admin, ZONE_END, &camp).await.status }
        }));
        let deleting = async { admin.delete(&path).await.status };
        let (statuses, deleted) = futures::join!(relating, deleting);
        assert!(statuses.iter().all(|status| [201, 404].contains(status)), "{statuses:?}");
        let made = statuses.iter().filter(|status| **status == 201).count();
        if deleted == 204 {
            assert!(cascade || made == 0, "{statuses:?}");
            assert!(seen(&admin, ZONE_END).await.is_empty());
            for number in 1..=6 {
                assert_eq!(counted(&cairn, &format!("facility::bcparks_1::campground::{number}")).await, 0);
            }
            restore(&admin, ZONE).await;
        } else {
            assert_eq!((deleted, cascade), (409, false));
        }
        assert_eq!(seen(&admin, ZONE_END).await.len(), made);
        assert_eq!(counted(&cairn, "geozone::bcparks_1::1").await, made as u64);
        for number in 1..=6 {
            let relationship = format!("/parks/relationships/{ZONE_END}/facility::bcparks_1/campground::{number}");
            let ended = admin.delete(&relationship).await.status;
            assert_eq!(ended == 204, statuses[number - 1] == 201);
        }
    }
}

async fn deleting_both_ends_at_once_detaches_the_relationship_once() {
    let (cairn, admin, visitor) = with_camps(1).await;
    for _ in 0..5 {
        relate(&admin, ZONE_END, CAMP_END).await;
        let delete = |path: &str| admin.delete(&format!("{path}?cascade=true")).into_future();
        let (zone, camp) = futures::join!(delete(ZONE), delete(CAMP));
        assert_eq!((zone.status, camp.status), (204, 204));
        for end in ["geozone::bcparks_1::1", "facility::bcparks_1::campground::1"] {
            assert_eq!(counted(&cairn, end).await, 0);
        }
        restore(&admin, ZONE).await;
        assert!(seen(&admin, ZONE_END).await.is_empty());
        restore(&admin, CAMP).await;
        assert_eq!(seen(&visitor, ZONE_END).await, ["campground::1"]);
    }
}

async fn restoring_both_ends_at_once_restores_the_relationship_once() {
    let (cairn, admin, visitor) = with_camps(1).await;
    relate(&admin, ZONE_END, CAMP_END).await.is(201);
    for round in 0..6 {
        let (first, second) = if round % 2 == 0 { (ZONE, CAMP) } else { (CAMP, ZONE) };
        admin.delete(&format!("{first}?cascade=true")).await.is(204);
        admin.delete(&format!("{second}?cascade=true")).await.is(204);
        futures::join!(restore(&admin, ZONE), restore(&admin, CAMP));
        assert_eq!(seen(&visitor, ZONE_END).await, ["campground::1"]);
        assert_eq!(seen(&visitor, CAMP_END).await, ["campground::1"]);
        let partitions = cairn.table().partitions().await;
        assert!(!partitions.iter().any(|pk| pk.starts_with("detached::")), "{partitions:?}");
    }
}

async fn retype_keeps_number_and_relationships() {
    let (cairn, admin, visitor) = with_camps(2).await;
    let tag = admin.patch(CAMP, json!({ "externalId": "A-1" })).await.is(200).tag();
    let before = admin.get(CAMP).await.is(200);
    relate(&admin, ZONE_END, CAMP_END).await.is(201);
    // The smaller key of two facilities stands first: here that changes with the type.
    relate(&admin, CAMP_END, "facility::bcparks_1/campground::2").await.is(201);
    let trail = "/parks/facilities/bcparks_1/trail/1";
    let to = |to: &str| json!({ "facilityType": to });
    let retype = format!("{CAMP}/retype");
    visitor.post(&retype, to("trail")).await.refused(401, "not-signed-in");
    admin.post(&retype, to("camp")).await.faulty(&["/facilityType"]);
    admin.post(&retype, json!({ "activityType": "hiking" })).await.refused(400, "bad-request");
    admin.post(&retype, to("trail")).if_match("\"2\"").await.refused(412, "stale");
    let moved = admin.post(&retype, to("trail")).if_match(&tag).await.is(200);
    assert_eq!(moved.header("location"), trail);
    assert_eq!((moved.text("sk"), moved.text("facilityType")), ("trail::1", "trail"));
    assert_eq!((&moved["globalId"], &moved["number"]), (&before["globalId"], &before["number"]));
    assert!(moved.rev() > before.rev());

    for user in [&admin, &visitor] {
        user.get(CAMP).await.refused(404, "not-found");
        assert_eq!(user.get(trail).await.is(200)["displayName"], "Camp 1");
        assert_eq!(seen(user, ZONE_END).await, ["trail::1"]);
        assert_eq!(seen(user, "facility::bcparks_1/trail::1").await, ["trail::1", "trail::1"]);
        assert_eq!(seen(user, "facility::bcparks_1/campground::2").await, ["trail::1"]);
        assert!(seen(user, CAMP_END).await.is_empty());
        let by_id = user.get(&format!("/parks/items/{}", before.text("globalId"))).await.is(200);
        assert_eq!(by_id.text("sk"), "trail::1");
    }
    assert_eq!(counted(&cairn, "facility::bcparks_1::trail::1").await, 2);
    assert!(cairn.table().get("counter::rel::facility::bcparks_1::campground::1", "live").await.is_none());
    let gone = cairn.document("parks", "facility::bcparks_1#campground::1").await.unwrap();
    assert_eq!(gone["deleted"], true);
    let found = cairn.document("parks", "facility::bcparks_1#trail::1").await.unwrap();
    assert_eq!((&found["name"], &found["type"]), (&json!("Camp 1"), &json!("trail")));

    // Its external id is still held, and by the new key.
    let other = "/parks/facilities/bcparks_1/campground/2";
    admin.patch(other, json!({ "externalId": "A-1" })).await.refused(409, "taken");
    admin.patch(trail, json!({ "externalId": null })).await.is(200);
    admin.patch(other, json!({ "externalId": "A-1" })).await.is(200);
    // There and back; to its own type changes nothing.
    let same = admin.post(&format!("{trail}/retype"), to("trail")).await.is(200);
    assert_eq!(same.tag(), admin.get(trail).await.is(200).tag());
    admin.post(&format!("{trail}/retype"), to("campground")).await.is(200);
    assert_eq!(seen(&visitor, ZONE_END).await, ["campground::1"]);
    visitor.search("q=camp&type=trail").await.is_nothing();
    visitor.search("q=camp").await.are(&["Camp 1", "Camp 2"]);
}

async fn item_with_too_many_relationships_keeps_its_type() {
    let (_cairn, admin, _) = with_camps(42).await;
    let camp = |number: usize| format!("facility::bcparks_1/campground::{number}");
    for number in 2..=42 {
        relate(&admin, CAMP_END, &camp(number)).await.is(201);
    }
    let retype = || admin.post(&format!("{CAMP}/retype"), json!({ "facilityType": "trail" }));
    retype().await.refused(409, "too-many-dependents");
    admin.delete(&format!("/parks/relationships/{CAMP_END}/{}", camp(42))).await.is(204);
    retype().await.is(200);
    assert_eq!(seen(&admin, "facility::bcparks_1/trail::1").await.len(), 40);
}

async fn activity_with_products_cannot_be_retyped() {
    let (_cairn, admin, _) = with_tree().await;
    let retype = |number: u8, to: &str| {
        admin.post(&format!("/parks/activities/bcparks_1/dayuse/{number}/retype"), json!({ "activityType": to }))
    };
    retype(1, "hiking").await.refused(409, "has-had-products");
    for product in [1, 2] {
        admin.delete(&format!("/parks/products/bcparks_1/dayuse/1/{product}?cascade=true")).await.is(204);
    }
    retype(1, "hiking").await.refused(409, "has-had-products");
    let activity = json!({ "activityType": "dayuse", "displayName": "Another", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    retype(2, "hiking").await.is(200);
    // Products are numbered under the new type, and no longer under the old one.
    let product = json!({ "displayName": "Walk", "rangeStart": "2026-01-01", "rangeEnd": "2026-12-31" });
    admin.post("/parks/products/bcparks_1/dayuse/2", product.clone()).await.refused(404, "not-found");
    assert_eq!(admin.post("/parks/products/bcparks_1/hiking/2", product).await.is(201).text("sk"), "1");
}

async fn retyped_item_is_found_under_its_new_key() {
    let (_cairn, admin, visitor) = with_camps(1).await;
    relate(&admin, ZONE_END, CAMP_END).await.is(201);
    admin.delete(&format!("{ZONE}?cascade=true")).await.is(204);
    admin.post(&format!("{CAMP}/retype"), json!({ "facilityType": "trail" })).await.is(200);
    admin.delete("/parks/facilities/bcparks_1/trail/1").await.is(204);
    restore(&admin, ZONE).await;
    restore(&admin, "/parks/facilities/bcparks_1/trail/1").await;
    assert_eq!(seen(&visitor, ZONE_END).await, ["trail::1"]);
}

async fn restore_leaves_out_a_relationship_to_an_item_that_the_table_lost() {
    let (cairn, admin, _) = with_camps(2).await;
    for camp in [CAMP_END, "facility::bcparks_1/campground::2"] {
        relate(&admin, ZONE_END, camp).await.is(201);
    }
    admin.delete(&format!("{ZONE}?cascade=true")).await.is(204);
    cairn.table().delete("facility::bcparks_1", "campground::1").await;
    restore(&admin, ZONE).await;
    assert_eq!(seen(&admin, ZONE_END).await, ["campground::2"]);
    let partitions = cairn.table().partitions().await;
    assert!(!partitions.iter().any(|pk| pk.starts_with("detached::")), "{partitions:?}");
}
