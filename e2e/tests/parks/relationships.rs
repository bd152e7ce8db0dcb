//! `/parks/relationships`.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { relationships:
    relationship_is_created_read_and_deleted_from_both_ends,
    visitor_pages_of_relationships_are_never_short,
    either_order_of_ends_is_the_same_relationship,
    unsupported_kinds_cannot_be_related,
    relationship_to_an_absent_or_deleted_item_is_refused,
    relationships_of_item_1_exclude_those_of_item_10,
    relationship_is_visible_while_both_ends_are,
    relationship_pages_list_forward_then_reverse,
    repeated_put_keeps_one_relationship,
    deleting_a_relationship_twice_returns_404,
    hiding_racing_relating_hides_the_relationship,
    hiding_racing_showing_ends_consistent,
}

const LIST: &str = "/parks/relationships";
const ZONE: &str = "geozone::bcparks_1/1";
const CAMP: &str = "facility::bcparks_1/campground::1";

/// Geozone 1 and campgrounds 1 to so many in `bcparks_1`, all visible.
pub async fn with_camps(count: usize) -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    for number in 1..=count {
        camp(&admin, &format!("Camp {number}")).await;
    }
    (cairn, admin, visitor)
}

async fn camp(admin: &User, name: &str) -> Answer {
    let new = json!({
        "facilityType": "campground", "displayName": name, "location": [-125.5, 49.5], "isVisible": true
    });
    admin.post("/parks/facilities/bcparks_1", new).await.is(201)
}

pub async fn relate(admin: &User, one: &str, other: &str) -> Answer {
    admin.call(Method::PUT, &format!("{LIST}/{one}/{other}")).await
}

fn camp_number(number: usize) -> String {
    format!("facility::bcparks_1/campground::{number}")
}

/// Returns the sort keys of the second ends that a user sees at an item.
pub async fn seen(user: &User, item: &str) -> Vec<String> {
    let pages = user.pages(&format!("{LIST}/{item}"), 100).await;
    pages.iter().flat_map(|page| page.each("sk2")).map(|sk| sk.as_str().unwrap().to_owned()).collect()
}

async fn hide(admin: &User, path: &str) -> Answer {
    admin.patch(path, json!({ "isVisible": false })).await
}

async fn relationship_is_created_read_and_deleted_from_both_ends() {
    let (_cairn, admin, visitor) = with_camps(1).await;
    let made = relate(&admin, CAMP, ZONE).await.is(201);
    assert_eq!(made.header("location"), format!("{LIST}/{ZONE}/{CAMP}"));
    assert_eq!((made.text("pk1"), made.text("sk1"), made.text("entity1")), ("geozone::bcparks_1", "1", "geozone"));
    assert_eq!((made.text("pk2"), made.text("sk2")), ("facility::bcparks_1", "campground::1"));
    let again = relate(&admin, ZONE, CAMP).await.is(200);
    assert_eq!((again.tag(), &again.body), (made.tag(), &made.body));

    for (item, direction, name) in [(ZONE, "forward", "Camp 1"), (CAMP, "reverse", "Bedwell Lakes")] {
        for user in [&visitor, &admin] {
            let listed = user.get(&format!("{LIST}/{item}?expand=true")).await.is(200);
            assert_eq!(listed.each("sk2"), ["campground::1"], "{}", listed.told());
            assert_eq!(listed["items"][0]["direction"], direction);
            assert_eq!(listed["items"][0]["item"]["displayName"], name);
            let plain = user.get(&format!("{LIST}/{item}")).await.is(200);
            assert_eq!(plain.each("item"), [&Value::Null]);
        }
    }
    relate(&admin, ZONE, ZONE).await.faulty(&["pk2"]);
}

async fn visitor_pages_of_relationships_are_never_short() {
    let (_cairn, admin, visitor) = with_camps(30).await;
    for number in 1..=30 {
        relate(&admin, ZONE, &camp_number(number)).await.is(201);
    }
    for number in [1, 2, 3, 11, 12, 15, 20, 21, 29, 30] {
        hide(&admin, &format!("/parks/facilities/bcparks_1/campground/{number}")).await.is(200);
    }
    let listed = format!("{LIST}/{ZONE}");
    let pages = visitor.pages(&listed, 10).await;
    assert_eq!(pages.iter().map(|page| page.each("sk2").len()).collect::<Vec<_>>(), [10, 10]);
    assert!(pages[1].next().is_none());
    assert_eq!(seen(&admin, ZONE).await.len(), 30);

    hide(&admin, "/parks/facilities/bcparks_1/campground/4").await.is(200);
    assert_eq!(seen(&visitor, ZONE).await.len(), 19);
    assert!(seen(&visitor, &camp_number(4)).await.is_empty());
    assert_eq!(seen(&admin, &camp_number(4)).await.len(), 1);
    assert_eq!(admin.get(&format!("{listed}?view=public&limit=100")).await.is(200).each("sk2").len(), 19);
}

async fn either_order_of_ends_is_the_same_relationship() {
    let (_cairn, admin, visitor) = with_camps(2).await;
    let (first, second) = (camp_number(1), camp_number(2));
    let made = relate(&admin, &second, &first).await.is(201);
    assert_eq!((made.text("sk1"), made.text("sk2")), ("campground::1", "campground::2"));
    for path in [format!("{LIST}/{first}/{second}"), format!("{LIST}/{second}/{first}")] {
        for user in [&admin, &visitor] {
            let read = user.get(&path).await.is(200);
            assert_eq!(
                (read.text("sk1"), read.text("sk2"), read.rev()),
                ("campground::1", "campground::2", made.rev())
            );
        }
        assert_eq!(admin.get(&path).await.is(200)["createdBy"], "local:ada");
        assert!(!visitor.get(&path).await.told().contains("created"));
    }
    visitor.call(Method::PUT, &format!("{LIST}/{first}/{second}")).await.refused(401, "not-signed-in");
    visitor.delete(&format!("{LIST}/{first}/{second}")).await.refused(401, "not-signed-in");
}

async fn unsupported_kinds_cannot_be_related() {
    let (_cairn, admin, _) = with_camps(1).await;
    relate(&admin, CAMP, CAMP).await.faulty(&["pk2"]);
    relate(&admin, "collection/bcparks_1", CAMP).await.faulty(&["pk1"]);
    relate(&admin, CAMP, "collection/bcparks_1").await.faulty(&["pk2"]);
    relate(&admin, "collection/bcparks_1", "collection/bcparks_1").await.faulty(&["pk1", "pk2"]);
    let (product, activity) = ("product::bcparks_1::dayuse::1/1", "activity::bcparks_1/dayuse::1");
    relate(&admin, product, activity).await.faulty(&["pk2"]);
    relate(&admin, activity, product).await.faulty(&["pk2"]);
    // Another activity's product may be: here neither is there.
    relate(&admin, "product::bcparks_1::dayuse::10/1", activity).await.refused(404, "not-found");
    admin.get(&format!("{LIST}/{CAMP}?entity=house")).await.faulty(&["entity"]);
    admin.get(&format!("{LIST}/{CAMP}?direction=up")).await.faulty(&["direction"]);
    admin.get(&format!("{LIST}/{CAMP}?deleted=true")).await.faulty(&["deleted"]);
}

async fn relationship_to_an_absent_or_deleted_item_is_refused() {
    let (cairn, admin, visitor) = with_camps(2).await;
    for absent in [
        "geozone::bcparks_1/2",
        "geozone::nowhere/1",
        "geozone::bcparks_1/01",
        "facility::bcparks_1/camp::1",
        "rel::geozone::bcparks_1::1/1",
        "x/y",
        "counter::geozone::bcparks_1/live",
    ] {
        let (pk, sk) = absent.split_once('/').unwrap();
        for (one, other) in [(absent, CAMP), (CAMP, absent)] {
            let refused = relate(&admin, one, other).await.refused(404, "not-found");
            let told = refused.text("detail");
            assert!(told.contains(pk) && told.contains(sk) && !told.contains("campground::1`"), "{told}");
        }
        admin.get(&format!("{LIST}/{CAMP}/{absent}")).await.refused(404, "not-found");
        admin.delete(&format!("{LIST}/{CAMP}/{absent}")).await.refused(404, "not-found");
        assert_eq!(visitor.get(&format!("{LIST}/{absent}")).await.is(200).body, json!({ "items": [] }));
    }
    assert_eq!(visitor.get(&format!("{LIST}/collection/bcparks_1")).await.is(200).body, json!({ "items": [] }));
    admin.delete("/parks/facilities/bcparks_1/campground/2").await.is(204);
    relate(&admin, ZONE, &camp_number(2)).await.refused(404, "not-found");
    // What was refused has left nothing behind.
    let partitions = cairn.table().partitions().await;
    assert!(!partitions.iter().any(|pk| pk.starts_with("rel::") || pk.starts_with("counter::rel::")), "{partitions:?}");
}

async fn relationships_of_item_1_exclude_those_of_item_10() {
    let (_cairn, admin, visitor) = with_camps(12).await;
    for number in 2..=12 {
        let zone = json!({ "displayName": "Zone", "location": [1, 2], "isVisible": true });
        admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
        relate(&admin, &format!("geozone::bcparks_1/{number}"), &camp_number(number)).await.is(201);
    }
    for user in [&admin, &visitor] {
        for item in [ZONE.to_owned(), camp_number(1)] {
            assert!(seen(user, &item).await.is_empty());
        }
        for item in ["geozone::bcparks_1/10".to_owned(), camp_number(10)] {
            assert_eq!(seen(user, &item).await, ["campground::10"]);
        }
        user.get(&format!("{LIST}/{ZONE}/{}", camp_number(10))).await.refused(404, "not-found");
    }
    // Nor does the beginning of an entity stand for it.
    admin.get(&format!("{LIST}/geozone::bcparks_1/10?entity=fac")).await.faulty(&["entity"]);
    // Hiding 1 hides nothing of 10.
    hide(&admin, "/parks/geozones/bcparks_1/1").await.is(200);
    assert_eq!(seen(&visitor, "geozone::bcparks_1/10").await, ["campground::10"]);
}

async fn relationship_is_visible_while_both_ends_are() {
    let (_cairn, admin, visitor) = with_camps(1).await;
    relate(&admin, ZONE, CAMP).await.is(201);
    let (zone, camp) = ("/parks/geozones/bcparks_1/1", "/parks/facilities/bcparks_1/campground/1");
    let show = |path: &'static str, visible: bool| {
        let admin = admin.clone();
        async move { admin.patch(path, json!({ "isVisible": visible })).await.is(200) }
    };
    let seen_by_visitor = || async {
        let (forward, reverse) = (seen(&visitor, ZONE).await.len(), seen(&visitor, CAMP).await.len());
        let one = visitor.get(&format!("{LIST}/{ZONE}/{CAMP}")).await.status;
        assert_eq!((forward, forward == 1), (reverse, one == 200));
        forward == 1
    };
    assert!(seen_by_visitor().await);
    for (path, visible, expected) in [
        (zone, false, false),
        (camp, false, false),
        (zone, true, false),
        (camp, true, true),
        (camp, false, false),
        (zone, false, false),
        (camp, true, false),
        (zone, true, true),
    ] {
        show(path, visible).await;
        assert_eq!(seen_by_visitor().await, expected, "{path} {visible}");
        assert_eq!((seen(&admin, ZONE).await.len(), seen(&admin, CAMP).await.len()), (1, 1));
    }
    // Related while one is hidden, it is hidden from the beginning.
    show(camp, false).await;
    admin.delete(&format!("{LIST}/{ZONE}/{CAMP}")).await.is(204);
    relate(&admin, ZONE, CAMP).await.is(201);
    assert!(!seen_by_visitor().await);
    show(camp, true).await;
    assert!(seen_by_visitor().await);
}

async fn relationship_pages_list_forward_then_reverse() {
    let (_cairn, admin, visitor) = with_camps(9).await;
    let middle = camp_number(5);
    relate(&admin, ZONE, &middle).await.is(201);
    for number in [1, 2, 3, 4, 6, 7, 8, 9] {
        relate(&admin, &middle, &camp_number(number)).await.is(201);
    }
    for user in [&admin, &visitor] {
        for limit in 1..=10 {
            let pages = user.pages(&format!("{LIST}/{middle}"), limit).await;
            assert_eq!(pages.len(), usize::div_ceil(9, limit), "{limit}");
            let directions: Vec<&Value> = pages.iter().flat_map(|page| page.each("direction")).collect();
            assert_eq!(directions, [vec!["forward"; 4], vec!["reverse"; 5]].concat());
        }
        for (query, count) in [
            ("direction=forward", 4),
            ("direction=reverse", 5),
            ("entity=facility", 8),
            ("entity=geozone", 1),
            ("entity=geozone&direction=forward", 0),
            ("entity=activity", 0),
        ] {
            let listed = user.get(&format!("{LIST}/{middle}?{query}")).await.is(200);
            assert_eq!(listed.each("sk1").len(), count, "{query}");
        }
        let first = user.get(&format!("{LIST}/{middle}?limit=2")).await.is(200);
        let cursor = first.next().unwrap();
        for other in [format!("{LIST}/{ZONE}?"), format!("{LIST}/{middle}?direction=forward&")] {
            user.get(&format!("{other}cursor={cursor}")).await.faulty(&["cursor"]);
        }
    }
}

async fn repeated_put_keeps_one_relationship() {
    let (cairn, admin, _) = with_camps(1).await;
    let answers = join_all((0..12).map(|turn| {
        let (one, other) = if turn % 2 == 0 { (ZONE, CAMP) } else { (CAMP, ZONE) };
        let admin = admin.clone();
        async move { relate(&admin, one, other).await }
    }))
    .await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((made, answers.iter().filter(|answer| answer.status == 200).count()), (1, 11));
    assert_eq!(counted(&cairn, "geozone::bcparks_1::1").await, 1);
    assert_eq!(counted(&cairn, "facility::bcparks_1::campground::1").await, 1);
}

/// What the counter of an item's relationships says.
pub async fn counted(cairn: &Cairn, end: &str) -> u64 {
    let counter = cairn.table().get(&format!("counter::rel::{end}"), "live").await;
    counter.map_or(0, |counter| counter["live"].as_n().unwrap().parse().unwrap())
}

async fn deleting_a_relationship_twice_returns_404() {
    let (cairn, admin, _) = with_camps(1).await;
    let made = relate(&admin, ZONE, CAMP).await.is(201);
    let path = format!("{LIST}/{CAMP}/{ZONE}");
    admin.delete(&path).if_match("\"2\"").await.refused(412, "stale");
    admin.delete(&path).if_match(&format!("\"2\", {}", made.tag())).await.is(204);
    relate(&admin, ZONE, CAMP).await.is(201);
    let ends = join_all((0..6).map(|_| async { admin.delete(&path).await.status })).await;
    assert_eq!(ends.iter().filter(|status| **status == 204).count(), 1);
    assert_eq!(ends.iter().filter(|status| **status == 404).count(), 5);
    for end in ["geozone::bcparks_1::1", "facility::bcparks_1::campground::1"] {
        assert_eq!(counted(&cairn, end).await, 0);
    }
    admin.delete("/parks/geozones/bcparks_1/1").await.is(204);
}

async fn hiding_racing_relating_hides_the_relationship() {
    let (cairn, admin, visitor) = with_camps(8).await;
    for round in 0..4 {
        let visible = round % 2 == 1;
        let hide = async { admin.patch("/parks/geozones/bcparks_1/1", json!({ "isVisible": visible })).await.is(200) };
        let relating = join_all((1..=8).map(|number| {
            let (admin, camp) = (admin.clone(), camp_number(number));
            async move { relate(&admin, ZONE, &camp).await.is(201) }
        }));
        futures::join!(hide, relating);
        cairn.caught_up().await;
        assert_eq!(seen(&visitor, ZONE).await.len(), if visible { 8 } else { 0 });
        for number in 1..=8 {
            let camp = camp_number(number);
            assert_eq!(seen(&visitor, &camp).await.len(), usize::from(visible));
            admin.delete(&format!("{LIST}/{ZONE}/{camp}")).await.is(204);
        }
        assert_eq!(counted(&cairn, "geozone::bcparks_1::1").await, 0);
    }
}

async fn hiding_racing_showing_ends_consistent() {
    let (_cairn, admin, visitor) = with_camps(1).await;
    relate(&admin, ZONE, CAMP).await.is(201);
    let set = |path: &'static str, visible: bool| {
        let admin = admin.clone();
        async move { admin.patch(path, json!({ "isVisible": visible })).await.is(200) }
    };
    let (zone, camp) = ("/parks/geozones/bcparks_1/1", "/parks/facilities/bcparks_1/campground/1");
    for (zone_visible, camp_visible) in [(false, false), (true, true), (false, true), (true, false), (true, true)] {
        futures::join!(set(zone, zone_visible), set(camp, camp_visible));
        let expected = usize::from(zone_visible && camp_visible);
        assert_eq!((seen(&visitor, ZONE).await.len(), seen(&visitor, CAMP).await.len()), (expected, expected));
    }
}
