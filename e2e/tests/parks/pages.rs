//! Lists in pages, and their cursors.

use serde_json::json;

use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { pages:
    #[long] only_the_last_page_is_short,
    page_has_at_most_its_limit,
    cursor_of_another_route_or_caller_is_refused,
    cursor_of_a_caller_who_has_another_role_since_is_refused,
    changed_cursor_is_refused,
    writes_in_other_collections_do_not_shift_pages,
    items_deleted_by_a_cascade_are_listed_as_deleted,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

/// So many geozones; those whose number divides by three are hidden, by five deleted.
async fn with_zones(count: usize) -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=count {
        let new = json!({ "displayName": "Zone", "location": [1, 2], "isVisible": number % 3 != 0 });
        admin.post(ZONES, new).await.is(201);
        if number % 5 == 0 {
            admin.delete(&format!("{ZONES}/{number}")).await.is(204);
        }
    }
    (cairn, admin, visitor)
}

async fn only_the_last_page_is_short() {
    let (_cairn, admin, visitor) = with_zones(40).await;
    for limit in [1, 7, 8, 100] {
        for (user, path, count) in [
            (&visitor, ZONES.to_owned(), 21),
            (&admin, ZONES.to_owned(), 32),
            (&admin, format!("{ZONES}?deleted=true"), 8),
        ] {
            for order in ["asc", "desc"] {
                let path = format!("{path}{}order={order}", if path.contains('?') { '&' } else { '?' });
                let pages = user.pages(&path, limit).await;
                assert_eq!(pages.len(), usize::div_ceil(count, limit), "{path} by {limit}");
                let mut numbers: Vec<u64> =
                    pages.iter().flat_map(Answer::sks).map(|number| number.parse().unwrap()).collect();
                if order == "desc" {
                    numbers.reverse();
                }
                assert_eq!(numbers.len(), count);
                assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
            }
        }
    }
}

async fn page_has_at_most_its_limit() {
    let (_cairn, _admin, visitor) = with_zones(40).await;
    assert_eq!(visitor.get(ZONES).await.is(200).sks().len(), 21);
    for bad in ["0", "101", "-1", "1.5", "ten", ""] {
        visitor.get(&format!("{ZONES}?limit={bad}")).await.faulty(&["limit"]);
    }
    for (query, names) in [
        ("page=2", vec!["page"]),
        ("order=up", vec!["order"]),
        ("type=campground", vec!["type"]),
        ("deleted=maybe", vec!["deleted"]),
        ("limit=5&limit=6", vec!["limit"]),
        ("order=up&page=2", vec!["order", "page"]),
    ] {
        visitor.get(&format!("{ZONES}?{query}")).await.faulty(&names);
    }
}

async fn cursor_of_another_route_or_caller_is_refused() {
    let (cairn, admin, visitor) = with_zones(12).await;
    cairn.collection("other", "Other").await;
    let cursor = visitor.get(&format!("{ZONES}?limit=3")).await.is(200).next().unwrap().to_owned();
    // Another page size is no other question.
    assert_eq!(visitor.get(&format!("{ZONES}?limit=2&cursor={cursor}")).await.is(200).sks().len(), 2);
    let stranger = cairn.user("stranger", &format!("Bearer {}", cairn.token("eve", &[]).await));
    for (user, path) in [
        (&admin, ZONES.to_owned()),
        (&stranger, ZONES.to_owned()),
        (&visitor, "/parks/geozones/other".to_owned()),
        (&visitor, "/parks/facilities/bcparks_1".to_owned()),
        (&visitor, "/parks/collections".to_owned()),
        (&visitor, "/parks/search".to_owned()),
        (&visitor, format!("{ZONES}?order=desc")),
        (&visitor, format!("{ZONES}?order=asc")),
        (&visitor, format!("{ZONES}?view=public")),
    ] {
        let separator = if path.contains('?') { '&' } else { '?' };
        let refused = user.get(&format!("{path}{separator}cursor={cursor}")).await.faulty(&["cursor"]);
        assert!(!refused.told().contains("geozone::"), "{}", refused.told());
    }
    // The other way round, too.
    cairn.caught_up().await;
    let found = visitor.get("/parks/search?limit=2").await.is(200);
    let cursor = found.next().unwrap();
    visitor.get(&format!("/parks/search?limit=2&cursor={cursor}")).await.is(200);
    for query in ["q=zone", "sort=number", "entity=geozone", "collectionId=bcparks_1"] {
        visitor.get(&format!("/parks/search?limit=2&{query}&cursor={cursor}")).await.faulty(&["cursor"]);
    }
    visitor.post("/parks/search", json!({ "limit": 2, "cursor": cursor })).await.faulty(&["/cursor"]);
    visitor.get(&format!("{ZONES}?cursor={cursor}")).await.faulty(&["cursor"]);
}

/// Those who have the role read another index.
async fn cursor_of_a_caller_who_has_another_role_since_is_refused() {
    let (cairn, ..) = with_zones(3).await;
    let with = async |roles: &[&str]| cairn.user("ada", &format!("Bearer {}", cairn.token("ada", roles).await));
    let users = [with(&["parks-admin"]).await, with(&[]).await];
    for (one, other) in [(0, 1), (1, 0)] {
        let cursor = users[one].get(&format!("{ZONES}?limit=1")).await.is(200).next().unwrap().to_owned();
        users[other].get(&format!("{ZONES}?limit=1&cursor={cursor}")).await.faulty(&["cursor"]);
    }
}

async fn changed_cursor_is_refused() {
    let (_cairn, _admin, visitor) = with_zones(12).await;
    let cursor = visitor.get(&format!("{ZONES}?limit=3")).await.is(200).next().unwrap().to_owned();
    for at in 0..cursor.len() {
        let mut bytes = cursor.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        visitor.get(&format!("{ZONES}?cursor={changed}")).await.faulty(&["cursor"]);
    }
    for forged in ["", "a", &cursor[1..], &cursor[..cursor.len() - 1], &format!("{cursor}A"), "null", "%00", "e30"] {
        visitor.get(&format!("{ZONES}?cursor={forged}")).await.faulty(&["cursor"]);
    }
}

async fn writes_in_other_collections_do_not_shift_pages() {
    let (_cairn, admin, visitor) = with_zones(20).await;
    let expected: Vec<String> =
        visitor.pages(ZONES, 100).await.iter().flat_map(Answer::sks).map(str::to_owned).collect();
    let mut seen: Vec<String> = Vec::new();
    let mut page = visitor.get(&format!("{ZONES}?limit=3")).await.is(200);
    loop {
        seen.extend(page.sks().into_iter().map(str::to_owned));
        // What was seen goes, what comes lies behind.
        if let Some(last) = seen.last() {
            admin.delete(&format!("{ZONES}/{last}")).await.is(204);
        }
        let Some(cursor) = page.next().map(str::to_owned) else { break };
        page = visitor.get(&format!("{ZONES}?limit=3&cursor={cursor}")).await.is(200);
    }
    assert_eq!(seen, expected);
}

async fn items_deleted_by_a_cascade_are_listed_as_deleted() {
    let (_cairn, admin, visitor) = with_zones(24).await;
    for (of, count) in [("trail", 3), ("campground", 4)] {
        for _ in 0..count {
            let new = json!({ "facilityType": of, "displayName": "Place", "location": [1, 2], "isVisible": true });
            admin.post("/parks/facilities/bcparks_1", new).await.is(201);
        }
    }
    let deleted = async |path: &str, limit: usize| -> Vec<String> {
        let pages = admin.pages(path, limit).await;
        pages.iter().flat_map(Answer::sks).map(str::to_owned).collect()
    };
    let numbers = |from: usize, step: usize| (from..=24).step_by(step).map(|number| number.to_string());
    let one_by_one: Vec<String> = numbers(5, 5).collect();
    assert_eq!(deleted(&format!("{ZONES}?deleted=true"), 100).await, one_by_one);
    admin.delete("/parks/collections/bcparks_1?cascade=true").await.is(204);
    for limit in [1, 7, 100] {
        assert_eq!(deleted(&format!("{ZONES}?deleted=true"), limit).await, numbers(1, 1).collect::<Vec<_>>());
        let mut backward = deleted(&format!("{ZONES}?deleted=true&order=desc"), limit).await;
        backward.reverse();
        assert_eq!(backward, numbers(1, 1).collect::<Vec<_>>());
        let trails = deleted("/parks/facilities/bcparks_1?deleted=true&type=trail", limit).await;
        assert_eq!(trails, ["trail::1", "trail::2", "trail::3"]);
        assert_eq!(deleted("/parks/facilities/bcparks_1?deleted=true", limit).await.len(), 7);
    }
    assert_eq!(deleted("/parks/collections?deleted=true", 10).await, ["bcparks_1"]);
    assert!(admin.get(ZONES).await.is(200).sks().is_empty());
    visitor.get(&format!("{ZONES}?deleted=true")).await.refused(401, "not-signed-in");

    admin.post("/parks/collections/bcparks_1/restore", json!({})).await.is(200);
    assert_eq!(deleted(&format!("{ZONES}?deleted=true"), 3).await, one_by_one);
    assert!(deleted("/parks/facilities/bcparks_1?deleted=true", 3).await.is_empty());
    assert_eq!(admin.get("/parks/facilities/bcparks_1").await.is(200).sks().len(), 7);
}
