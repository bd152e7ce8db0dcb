//! `/parks/items/{globalId}`, and what all reads have in common.

use serde_json::{Value, json};

use super::shapes::rectangle;
use crate::harness::{Answer, Cairn};
use crate::tests;

tests! { items:
    item_is_found_by_its_global_id,
    several_items_are_found_in_the_order_of_their_ids,
    #[long] items_beyond_the_size_of_a_response_are_named,
    hidden_deleted_and_absent_items_respond_alike,
    matching_if_none_match_returns_304,
    response_with_a_signed_link_is_never_304,
    public_responses_are_cacheable,
    update_with_wrong_if_match_returns_412,
    visitor_view_has_no_administrator_fields,
}

const CAMP: &str = "/parks/facilities/bcparks_1/campground/1";

/// A platform with a visible campground 1, and the answer to its creation.
async fn with_camp() -> (Cairn, Answer) {
    let cairn = Cairn::with_strathcona().await;
    let new = json!({
        "facilityType": "campground", "displayName": "Bear Camp", "location": [-125.5, 49.5], "isVisible": true,
        "adminNotes": "den", "externalId": "A-1", "boundary": rectangle(-125.6, 49.4, -125.4, 49.6)
    });
    let made = cairn.administrator().await.post("/parks/facilities/bcparks_1", new).await.is(201);
    (cairn, made)
}

async fn item_is_found_by_its_global_id() {
    let (cairn, camp) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let id = format!("/parks/items/{}", camp.text("globalId"));
    let read = visitor.get(&id).await.is(200);
    assert_eq!(read.body, visitor.get(CAMP).await.is(200).body);
    let collection = visitor.get("/parks/collections/bcparks_1").await.is(200);
    let by_id = visitor.get(&format!("/parks/items/{}", collection.text("globalId"))).await.is(200);
    assert_eq!((by_id.text("entity"), by_id.text("sk")), ("collection", "bcparks_1"));

    let feature = visitor.get(&format!("{id}?geometry=none")).geojson().await.is(200);
    assert_eq!((feature["type"].as_str(), &feature["id"]), (Some("Feature"), &camp["globalId"]));
    assert_eq!(feature["geometry"], json!({ "type": "Point", "coordinates": [-125.5, 49.5] }));
    assert_eq!(feature["bbox"], json!([-125.6, 49.4, -125.4, 49.6]));
    assert_eq!(feature["properties"]["displayName"], "Bear Camp");

    admin.delete(CAMP).await.is(204);
    visitor.get(&id).await.refused(404, "not-found");
    assert_eq!(admin.get(&id).await.is(200)["isDeleted"], true);
    admin.post(&format!("{CAMP}/restore"), json!({})).await.is(200);
    assert_eq!(visitor.get(&id).await.is(200)["globalId"], camp["globalId"]);
}

async fn several_items_are_found_in_the_order_of_their_ids() {
    let (cairn, camp) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let collection = visitor.get("/parks/collections/bcparks_1").await.is(200).text("globalId").to_owned();
    let new = json!({
        "facilityType": "trail", "displayName": "Elk Loop", "location": [-125.4, 49.6], "isVisible": true,
        "description": "é".repeat(400), "imageUrls": ["https://example.org/1.jpg", "https://example.org/2.jpg"],
        "address": "Gold River", "isOpen": false
    });
    let trail = admin.post("/parks/facilities/bcparks_1", new).await.is(201);
    let (camp, trail) = (camp.text("globalId"), trail.text("globalId"));
    let absent = "01890a5d-ac96-774b-bcce-b302099a8057";
    let ids = format!("/parks/items?ids={trail},{absent},{collection},{camp},{trail}");
    let found = visitor.get(&ids).await.is(200);
    assert_eq!(found.each("globalId"), [trail, &collection, camp]);
    assert_eq!((&found["missing"], found.body.get("omitted")), (&json!([absent]), None));
    for (place, id) in [trail, &collection, camp].into_iter().enumerate() {
        assert_eq!(found["items"][place], visitor.get(&format!("/parks/items/{id}")).await.is(200).body);
    }
    let cards = visitor.get(&format!("{ids}&fields=card")).await.is(200);
    let card = &cards["items"][0];
    assert_eq!(card["description"].as_str().unwrap().chars().count(), 300);
    assert_eq!((&card["imageUrls"], &card["address"]), (&json!(["https://example.org/1.jpg"]), &json!("Gold River")));
    assert_eq!((&card["isOpen"], &card["displayName"]), (&json!(false), &json!("Elk Loop")));
    assert_eq!(cards["items"][2].get("boundary"), None);

    // A hidden item is missing to visitors, as it is without a list.
    admin.patch(CAMP, json!({ "isVisible": false })).await.is(200);
    let both = format!("/parks/items?ids={camp},{trail}");
    for found in [visitor.get(&both).await.is(200), admin.get(&format!("{both}&view=public")).await.is(200)] {
        assert_eq!((found.each("globalId"), &found["missing"]), (vec![&json!(trail)], &json!([camp])));
    }
    let seen = admin.get(&both).await.is(200);
    assert_eq!(
        (seen.each("globalId"), &seen["items"][0]["adminNotes"]),
        (vec![&json!(camp), &json!(trail)], &json!("den"))
    );

    visitor.get("/parks/items").await.faulty(&["ids"]);
    // What no id can be is missing like the id of no item.
    let long = "9".repeat(2049);
    for (ids, missing) in [("", json!([""])), (long.as_str(), json!([long]))] {
        let none = visitor.get(&format!("/parks/items?ids={ids}")).await.is(200);
        assert_eq!(none.body, json!({ "items": [], "missing": missing }));
    }
    visitor.get(&format!("/parks/items?ids={}", vec![absent; 101].join(","))).await.faulty(&["ids"]);
    visitor.get(&format!("{both}&fields=all")).await.faulty(&["fields"]);
}

/// The items of a response have at most 4 MB.
async fn items_beyond_the_size_of_a_response_are_named() {
    let (cairn, _) = with_camp().await;
    let admin = cairn.administrator().await;
    let mut ids = Vec::new();
    for number in 0..80 {
        let new = json!({
            "facilityType": "trail", "displayName": format!("Trail {number}"), "location": [-125.4, 49.6],
            "description": "水".repeat(10_000), "adminNotes": "水".repeat(10_000)
        });
        let made = admin.post("/parks/facilities/bcparks_1", new).await.is(201);
        ids.push(made.text("globalId").to_owned());
    }
    let first = admin.get(&format!("/parks/items?ids={}", ids.join(","))).await.is(200);
    let (found, omitted) = (first.each("globalId"), first["omitted"].as_array().unwrap());
    let all: Vec<&str> = found.into_iter().chain(omitted).map(|id| id.as_str().unwrap()).collect();
    assert_eq!(all, ids);
    assert!(first.bytes.len() < 4_100_000, "{}", first.bytes.len());
    let rest: Vec<&str> = omitted.iter().map(|id| id.as_str().unwrap()).collect();
    let second = admin.get(&format!("/parks/items?ids={}", rest.join(","))).await.is(200);
    assert_eq!((second.each("globalId"), second.body.get("omitted")), (omitted.iter().collect(), None));
}

async fn hidden_deleted_and_absent_items_respond_alike() {
    let (cairn, camp) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let id = format!("/parks/items/{}", camp.text("globalId"));
    let told = |answer: Answer| {
        let mut body = answer.refused(404, "not-found").body;
        body["instance"] = Value::Null;
        body
    };
    let absent = told(visitor.get("/parks/facilities/bcparks_1/campground/99").await);
    assert_eq!(told(visitor.get("/parks/items/01890a5d-ac96-774b-bcce-b302099a8057").await), absent);
    assert_eq!(told(visitor.get("/parks/facilities/not::there/campground/1").await), absent);
    admin.patch(CAMP, json!({ "isVisible": false })).await.is(200);
    for path in [CAMP, &id, &format!("{CAMP}/geometry/boundary")] {
        assert_eq!(told(visitor.get(path).await), absent);
        assert_eq!(told(visitor.get(path).if_none_match("*").await), absent);
        assert_eq!(told(admin.get(&format!("{path}?view=public")).await), absent);
    }
    admin.delete(CAMP).await.is(204);
    for path in [CAMP, &id] {
        assert_eq!(told(visitor.get(path).await), absent);
    }
    // An unknown collection lists nothing, as an empty one does.
    assert_eq!(visitor.get("/parks/facilities/nowhere").await.is(200).body, json!({ "items": [] }));
    assert_eq!(visitor.get("/parks/facilities/bcparks_1").await.is(200).body, json!({ "items": [] }));
}

async fn matching_if_none_match_returns_304() {
    let (cairn, camp) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let tag = visitor.get(CAMP).await.is(200).tag();
    for path in [CAMP.to_owned(), format!("/parks/items/{}", camp.text("globalId"))] {
        let same = visitor.get(&path).if_none_match(&tag).await.is(304);
        assert_eq!((same.tag(), same.bytes.len()), (tag.clone(), 0));
        visitor.get(&path).if_none_match(&format!("\"1\", W/{tag}")).await.is(304);
        visitor.get(&path).if_none_match("*").await.is(304);
        visitor.get(&path).if_none_match("\"1\"").await.is(200);
        visitor.get(&path).if_none_match("1").await.faulty(&["if-none-match"]);
    }
    admin.patch(CAMP, json!({ "description": "Quiet." })).await.is(200);
    visitor.get(CAMP).if_none_match(&tag).await.is(200);
}

async fn response_with_a_signed_link_is_never_304() {
    let (cairn, _) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let ring: Value = serde_json::from_str(&super::shapes::ellipse([-125.5, 49.6], [0.4, 0.25], 1000, 7)).unwrap();
    let large = json!({ "type": "Polygon", "coordinates": [ring] });
    admin.put(&format!("{CAMP}/geometry/boundary"), large.clone()).await.is(200);
    let read = visitor.get(CAMP).await.is(200);
    let link = read["boundary"]["link"].as_str().unwrap().to_owned();
    assert!(link.contains("X-Amz-Expires=300"), "{link}");
    visitor.get(CAMP).if_none_match(&read.tag()).await.is(200);
    let without = visitor.get(&format!("{CAMP}?geometry=none")).await.is(200);
    visitor.get(&format!("{CAMP}?geometry=none")).if_none_match(&without.tag()).await.is(304);
    let full = visitor.get(&format!("{CAMP}?geometry=full")).await.is(200);
    assert_eq!(full["boundary"]["geometry"], large);
    visitor.get(&format!("{CAMP}?geometry=full")).if_none_match(&full.tag()).await.is(304);
    let stored = crate::harness::fetch(&link).await;
    assert_eq!((stored.status, stored.body), (200, large.clone()));
    let several = visitor.get(&format!("/parks/items?ids={}", read.text("globalId"))).await.is(200);
    let link = several["items"][0]["boundary"]["link"].as_str().unwrap();
    assert_eq!(crate::harness::fetch(link).await.body, large);
}

async fn public_responses_are_cacheable() {
    let (cairn, camp) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    cairn.caught_up().await;
    let id = format!("/parks/items/{}", camp.text("globalId"));
    let boundary = format!("{CAMP}/geometry/boundary");
    let paths = [CAMP, &id, &boundary, "/parks/facilities/bcparks_1", "/parks/search?q=bear", "/parks/suggest?q=bear"];
    for path in paths {
        for (user, kept) in [(&visitor, "public, max-age=30"), (&admin, "private, no-store")] {
            let answer = user.get(path).await.is(200);
            assert_eq!(
                (answer.header("cache-control"), answer.header("vary")),
                (kept, "Authorization, Accept"),
                "{path}"
            );
        }
    }
}

async fn update_with_wrong_if_match_returns_412() {
    let (cairn, camp) = with_camp().await;
    let admin = cairn.administrator().await;
    let boundary = format!("{CAMP}/geometry/boundary");
    let change = |tag: &str| admin.patch(CAMP, json!({ "description": "x" })).if_match(tag);
    change("\"2\"").await.refused(412, "stale");
    change(&format!("W/{}", camp.tag())).await.refused(412, "stale");
    change("nonsense").await.faulty(&["if-match"]);
    change(&format!("\"2\", {}", camp.tag())).await.is(200);
    change(&camp.tag()).await.refused(412, "stale");
    admin.delete(CAMP).if_match(&camp.tag()).await.refused(412, "stale");
    admin.put(&boundary, rectangle(1.0, 1.0, 2.0, 2.0)).if_match(&camp.tag()).await.refused(412, "stale");
    admin.delete(&boundary).if_match(&camp.tag()).await.refused(412, "stale");
    admin.patch(CAMP, json!({ "description": "y" })).if_match("*").await.is(200);
    let tag = admin.get(CAMP).await.is(200).tag();
    let put = admin.put(&boundary, rectangle(1.0, 1.0, 2.0, 2.0)).if_match(&tag).await.is(200);
    admin.delete(&boundary).if_match(&put.tag()).await.is(204);
}

async fn visitor_view_has_no_administrator_fields() {
    let (cairn, _) = with_camp().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let read = admin.get(CAMP).await.is(200);
    for field in ["adminNotes", "externalId", "createdAt", "createdBy", "updatedAt", "updatedBy", "isDeleted"] {
        assert!(read.body.get(field).is_some(), "{field}");
    }
    assert_eq!(read["createdBy"], "local:ada");
    for user in [&visitor, &cairn.user("stranger", &format!("Bearer {}", cairn.token("eve", &[]).await))] {
        for path in [CAMP, "/parks/facilities/bcparks_1", "/parks/collections/bcparks_1"] {
            let told = user.get(path).await.is(200).told();
            for word in
                ["adminNotes", "externalId", "createdAt", "createdBy", "updatedAt", "updatedBy", "isDeleted", "local:"]
            {
                assert!(!told.contains(word), "{word} in {told}");
            }
        }
    }
    let as_visitor = admin.get(&format!("{CAMP}?view=public")).await.is(200);
    assert_eq!(as_visitor.body, visitor.get(CAMP).await.is(200).body);
}
