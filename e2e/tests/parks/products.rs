//! `/parks/products/{collection}/{activityType}/{activity}`.

use std::future::IntoFuture;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::held::Held;
use crate::harness::stopper::TRANSACTIONS;
use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { products:
    product_belongs_to_its_activity,
    products_of_activity_1_exclude_those_of_activity_10,
    product_range_reversed_or_too_long_is_refused,
    product_range_that_excludes_its_dates_is_refused,
    create_and_delete_of_its_activity_are_never_both_done,
    creates_racing_the_delete_of_their_activity_leave_no_orphan,
    longest_ids_of_a_product_fit_its_key,
}

const PRODUCTS: &str = "/parks/products/bcparks_1/dayuse/1";

pub fn product(name: &str) -> Value {
    json!({ "displayName": name, "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30", "isVisible": true })
}

async fn activity(admin: &User) -> String {
    let new = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", new).await.is(201).header("location").to_owned()
}

async fn product_belongs_to_its_activity() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for missing in [
        PRODUCTS,
        "/parks/products/nowhere/dayuse/1",
        "/parks/products/bcparks_1/day/1",
        "/parks/products/a::b/dayuse/1",
    ] {
        admin.post(missing, product("Pass")).await.refused(404, "not-found");
        assert!(visitor.get(missing).await.is(200).sks().is_empty());
    }
    let litter: Vec<String> = cairn.table().partitions().await;
    assert!(!litter.iter().any(|pk| pk.contains("product")), "{litter:?}");

    activity(&admin).await;
    admin.post("/parks/products/bcparks_1/hiking/1", product("Pass")).await.refused(404, "not-found");
    admin.post("/parks/products/bcparks_1/dayuse/01", product("Pass")).await.refused(404, "not-found");
    let mut new = product("Day pass");
    (new["minStayDays"], new["maxStayDays"], new["adminNotes"]) = (json!(1), json!(3), json!("parking is tight"));
    let made = admin.post(PRODUCTS, new).await.is(201);
    let url = made.header("location").to_owned();
    assert_eq!(url, format!("{PRODUCTS}/1"));
    assert_eq!((made.text("pk"), made.text("sk")), ("product::bcparks_1::dayuse::1", "1"));
    let seen = visitor.get(&url).await.is(200);
    for (name, value) in [("collectionId", "bcparks_1"), ("activityType", "dayuse"), ("rangeStart", "2025-12-01")] {
        assert_eq!(seen[name], value);
    }
    assert!(!seen.told().contains("tight"), "{}", seen.told());
    assert_eq!(visitor.get(&format!("/parks/items/{}", made.text("globalId"))).await.is(200).body, seen.body);
    let found = visitor.search("q=pass&entity=product&type=dayuse").await;
    assert_eq!(found.ids(), ["product::bcparks_1::dayuse::1#1"]);
    visitor.search("q=tight").await.is_nothing();
    for field in ["activityType", "number", "location", "boundary", "externalId", "openRanges", "openDates"] {
        admin.patch(&url, json!({ (field): "x" })).await.faulty(&[&format!("/{field}")]);
    }
    visitor.get(&format!("{url}/geometry/boundary")).await.is(404);
    admin.delete(&url).await.is(204);
    visitor.get(&url).await.refused(404, "not-found");
    admin.post(&format!("{url}/restore"), json!({})).await.is(200);
    visitor.search("entity=product").await.are(&["Day pass"]);
}

async fn products_of_activity_1_exclude_those_of_activity_10() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for _ in 0..10 {
        activity(&admin).await;
    }
    admin.post("/parks/products/bcparks_1/dayuse/10", product("Tenth")).await.is(201);
    assert!(visitor.get(PRODUCTS).await.is(200).sks().is_empty());
    for number in 1..=12 {
        let mut new = product("Pass");
        new["isVisible"] = json!(number % 3 != 0);
        assert_eq!(admin.post(PRODUCTS, new).await.is(201)["number"], number);
    }
    let numbers = |pages: &[Answer]| pages.iter().flat_map(Answer::sks).map(str::to_owned).collect::<Vec<_>>();
    let seen = [1, 2, 4, 5, 7, 8, 10, 11].map(|number| number.to_string());
    assert_eq!(numbers(&visitor.pages(PRODUCTS, 3).await), seen);
    let backward: Vec<String> = (1..=12).rev().map(|number: u32| number.to_string()).collect();
    assert_eq!(numbers(&admin.pages(&format!("{PRODUCTS}?order=desc"), 5).await), backward);
    visitor.get(&format!("{PRODUCTS}?type=dayuse")).await.faulty(&["type"]);
}

async fn product_range_reversed_or_too_long_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    activity(&admin).await;
    let ranged = |start: &str, end: &str| json!({ "displayName": "Pass", "rangeStart": start, "rangeEnd": end });
    for (start, end) in [("2025-12-01", "2025-12-01"), ("2024-02-29", "2028-04-07"), ("1900-01-01", "1900-12-31")] {
        admin.post(PRODUCTS, ranged(start, end)).await.is(201);
    }
    for (start, end, places) in [
        ("2025-12-02", "2025-12-01", vec!["/rangeEnd"]),
        ("2024-02-29", "2028-04-08", vec!["/rangeEnd"]),
        ("2026-02-29", "2026-03-01", vec!["/rangeStart"]),
        ("2026-2-1", "1899-12-31", vec!["/rangeStart", "/rangeEnd"]),
        ("2026-02-01T00:00:00Z", "2200-01-01", vec!["/rangeStart", "/rangeEnd"]),
    ] {
        admin.post(PRODUCTS, ranged(start, end)).await.faulty(&places);
    }
    admin.post(PRODUCTS, json!({ "displayName": "Pass" })).await.faulty(&["/rangeStart", "/rangeEnd"]);
    let mut stays = product("Pass");
    (stays["minStayDays"], stays["maxStayDays"]) = (json!(5), json!(4));
    admin.post(PRODUCTS, stays.clone()).await.faulty(&["/minStayDays"]);
    (stays["minStayDays"], stays["maxStayDays"]) = (json!(0), json!(366));
    admin.post(PRODUCTS, stays).await.faulty(&["/minStayDays", "/maxStayDays"]);
    let url = format!("{PRODUCTS}/1");
    admin.patch(&url, json!({ "rangeStart": null })).await.faulty(&["/rangeStart"]);
    admin.patch(&url, json!({ "rangeStart": "2025-12-02" })).await.faulty(&["/rangeEnd"]);
}

async fn product_range_that_excludes_its_dates_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    activity(&admin).await;
    let url = admin.post(PRODUCTS, product("Pass")).await.is(201).header("location").to_owned();
    // Another product's dates are no hindrance.
    for _ in 0..9 {
        admin.post(PRODUCTS, product("Other")).await.is(201);
    }
    let seed = json!({ "from": "2025-12-01", "to": "2025-12-01", "status": "closed" });
    admin.post(&format!("{PRODUCTS}/10/dates"), seed).await.is(200);
    let seed = json!({ "from": "2026-01-10", "to": "2026-01-20", "status": "closed" });
    admin.post(&format!("{url}/dates"), seed).await.is(200);
    for narrow in [
        json!({ "rangeStart": "2026-01-11" }),
        json!({ "rangeEnd": "2026-01-19" }),
        json!({ "rangeEnd": "2026-01-01" }),
    ] {
        let refused = admin.patch(&url, narrow).await.refused(409, "dates-outside");
        let detail = refused.text("detail");
        assert!(detail.contains(", such as 2026-01-") && !detail.contains('/'), "{detail}");
    }
    admin.patch(&url, json!({ "rangeStart": "2026-01-10", "rangeEnd": "2026-01-20" })).await.is(200);
    admin.patch(&url, json!({ "rangeStart": "2025-01-10", "rangeEnd": "2027-01-20" })).await.is(200);
    admin.delete(&format!("{url}/dates?from=2026-01-11&to=2026-01-20")).await.is(200);
    admin.patch(&url, json!({ "rangeEnd": "2026-01-10" })).await.is(200);
}

async fn create_and_delete_of_its_activity_are_never_both_done() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let url = activity(&admin).await;
    let held = Held::first_of(&cairn, TRANSACTIONS).await;
    let (created, deleted) = held.request(Method::POST, PRODUCTS, &product("Racer"), admin.delete(&url)).await;
    deleted.is(204);
    assert_eq!(created, 404);

    let url = activity(&admin).await;
    let held = Held::first_of(&cairn, TRANSACTIONS).await;
    let create = admin.post("/parks/products/bcparks_1/dayuse/2", product("Racer"));
    let (deleted, created) = held.request(Method::DELETE, &url, &Value::Null, create).await;
    created.is(201);
    assert_eq!(deleted, 409);
}

async fn creates_racing_the_delete_of_their_activity_leave_no_orphan() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    for round in 1..=3 {
        let url = activity(&admin).await;
        let products = format!("/parks/products/bcparks_1/dayuse/{round}");
        let create = || admin.post(&products, product("Racer")).into_future();
        let delete = async {
            tokio::time::sleep(std::time::Duration::from_millis(15 * (round - 1))).await;
            admin.delete(&url).await
        };
        let (creates, delete) = tokio::join!(join_all((0..20).map(|_| create())), delete);
        let made = creates.iter().filter(|create| create.status == 201).count();
        let missed = creates.iter().filter(|create| create.status == 404).count();
        match delete.status {
            204 => assert_eq!((made, missed), (0, 20), "a child of a deleted parent, or a create that failed"),
            409 => {
                assert_eq!(missed, 0, "a create was answered 404 though its activity is there");
                assert_eq!(admin.pages(&products, 100).await.iter().flat_map(Answer::sks).count(), made);
            }
            _ => panic!("{}", delete.told()),
        }
    }
}

async fn longest_ids_of_a_product_fit_its_key() {
    let cairn = Cairn::start().await;
    let admin = cairn.administrator().await;
    let longest = "a".repeat(63);
    cairn.collection(&longest, "Longest").await;
    let new = json!({ "activityType": "backcountryCamping", "displayName": "Activity", "isVisible": true });
    admin.post(&format!("/parks/activities/{longest}"), new).await.is(201);
    let products = format!("/parks/products/{longest}/backcountryCamping/1");
    let url = admin.post(&products, product("Pass")).await.is(201).header("location").to_owned();
    let seed = json!({ "from": "2025-12-01", "to": "2025-12-02", "status": "open" });
    admin.post(&format!("{url}/dates"), seed).await.is(200);
    let date = admin.get(&format!("{url}/dates/2025-12-01")).await.is(200);
    // With numbers as long as numbers can be, and the keys of their counters and relationships.
    let room = 2 * "18446744073709551615".len();
    assert!(date.text("pk").len() + date.text("sk").len() + 1 + room < 512, "{}", date.told());
    cairn.visitor().search("open=2025-12-01/2025-12-02").await.are(&["Pass", "Activity"]);
    let most = "18446744073709551615";
    admin
        .get(&format!("/parks/products/{longest}/backcountryCamping/{most}/{most}/dates"))
        .await
        .refused(404, "not-found");
}
