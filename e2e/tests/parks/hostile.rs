//! Requests that are not what they should be: each is refused, by name, with nothing done.

use bytes::Bytes;
use reqwest::Method;
use serde_json::{Value, json};

use super::dates::{seed, with_product};
use super::imports::{TRAILS, collection, feature, import, point};
use crate::harness::Cairn;
use crate::tests;

tests! { hostile:
    unknown_fields_are_refused_by_name,
    body_that_is_not_json_returns_400,
    deeply_nested_or_large_body_is_refused,
    body_may_have_the_longest_texts_of_escaped_emoji,
    unsupported_content_type_returns_415,
    body_where_none_is_expected_is_refused,
    malicious_paths_return_404,
    malformed_numbers_are_refused,
    integer_with_a_fraction_of_zero_is_an_integer,
    longest_ids_of_an_item_fit_its_key,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

fn lakes() -> Value {
    json!({ "displayName": "Lakes", "location": [1, 2] })
}

async fn unknown_fields_are_refused_by_name() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).await.is(201);
    for name in ["colour", "DisplayName", "display_name", "__proto__", "a/b", "a~b", "", "é"] {
        let mut new = lakes();
        new[name] = json!(1);
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        admin.post(ZONES, new.clone()).await.faulty(&[&pointer]);
        admin.patch(&format!("{ZONES}/1"), json!({ name: 1 })).await.faulty(&[&pointer]);
    }
    // A name of any length is cut before it is told.
    let mut new = lakes();
    new["x".repeat(10_000)] = json!(1);
    let refused = admin.post(ZONES, new).await.is(400);
    assert!(refused.bytes.len() < 1000, "{}", refused.told());
    admin
        .post("/parks/collections", json!({ "collectionId": "a", "displayName": "A", "number": 1 }))
        .await
        .faulty(&["/number"]);
    admin.post(&format!("{ZONES}/1/restore"), json!({ "cascade": true })).await.faulty(&[""]);
    admin.get(&format!("{ZONES}/1?lat=40.7")).await.faulty(&["lat"]);
    admin.delete(&format!("{ZONES}/1?force=true")).await.faulty(&["force"]);
    assert_eq!(admin.get(ZONES).await.is(200).sks(), ["1"]);
}

async fn body_that_is_not_json_returns_400() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let send = |body: Vec<u8>| admin.call(Method::POST, ZONES).bytes("application/json", body);
    let broken: [&[u8]; 12] = [
        b"",
        b"{",
        b"nonsense",
        b"{\"displayName\":}",
        b"{\"displayName\":\"a\",}",
        b"{} {}",
        b"\xff\xfe",
        b"{\"displayName\":\"\xff\xfe\"}",
        b"{\"displayName\":\"\\ud800\"}",
        b"{\"displayName\":\"a\nb\"}",
        b"{\"displayName\":NaN}",
        b"{\"displayName\":1e999}",
    ];
    for body in broken {
        send(body.to_vec()).await.faulty(&[""]);
    }
    for (body, type_) in [("null", "null"), ("[]", "an array"), ("\"a\"", "a string"), ("7", "a number")] {
        let refused = send(body.into()).await.faulty(&[""]);
        assert!(refused.fault("").contains("an object"), "{type_}: {}", refused.told());
    }
    // Null bytes and others that no text needs are text like any other, but in names.
    let odd = json!({
        "displayName": "a\u{200b}😀", "description": "a\u{0}b\u{1f}\u{200b}😀", "location": [1, 2]
    });
    let made = admin.post(ZONES, odd.clone()).await.is(201);
    let read = admin.get(made.header("location")).await.is(200);
    for member in ["displayName", "description"] {
        assert_eq!(read[member], odd[member]);
    }
    cairn.caught_up().await;
    send(b"{\"displayName\":\"a\",\"displayName\":\"b\",\"location\":[1,2]}".to_vec()).await.faulty(&[""]);
}

async fn deeply_nested_or_large_body_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let send = |path: &str, body: String| admin.call(Method::POST, path).bytes("application/json", body);
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [100, 10_000] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            send("/parks/collections", deep.clone()).await.refused(400, "bad-request");
            let within = format!("{{\"displayName\":\"a\",\"location\":[1,2],\"boundary\":{deep}}}");
            // A shape that nests too deeply exceeds a limit. A list is no shape, and no body nests 10 000 levels.
            match (open, depth) {
                ("{\"a\":", 100) => send(ZONES, within).await.refused(413, "too-large"),
                _ => send(ZONES, within).await.refused(400, "bad-request"),
            };
            send("/parks/search", format!("{{\"shape\":{deep}}}")).await.refused(400, "bad-request");
        }
    }
    let huge = |bytes: usize| format!("{{\"displayName\":\"{}\"}}", "x".repeat(bytes));
    send("/parks/collections", huge(1024 * 1024)).await.refused(413, "too-large");
    send(ZONES, huge(4 * 1024 * 1024)).await.refused(413, "too-large");
    send(ZONES, huge(3 * 1024 * 1024)).await.faulty(&["/displayName"]);
    let wide = format!("{{{}}}", (0..5000).map(|number| format!("\"f{number}\":1")).collect::<Vec<_>>().join(","));
    let refused = send("/parks/collections", wide).await.refused(400, "bad-request");
    assert_eq!(
        (refused.places().len(), refused["errorCount"].as_u64().is_some_and(|count| count >= 5000)),
        (100, true)
    );
    let long = format!("{ZONES}?{}", "x".repeat(6000));
    admin.get(&long).await.is(400);
}

async fn body_may_have_the_longest_texts_of_escaped_emoji() {
    let (_cairn, admin, _) = with_product().await;
    let emoji = |count: usize| r"\ud83d\ude00".repeat(count);
    let text = |name: &str, count: usize| format!("\"{name}\":\"{}\"", emoji(count));
    let list =
        |name: &str, count: usize, text: &str| format!("\"{name}\":[{}]", vec![format!("\"{text}\""); count].join(","));
    let fields = [
        text("displayName", 200),
        text("description", 10_000),
        text("adminNotes", 10_000),
        list("searchTerms", 50, &emoji(100)),
        list("imageUrls", 20, &format!("https://{}", emoji(2040))),
    ];
    let fields = fields.join(",");
    let new = format!("{{\"collectionId\":\"long\",{fields}}}");
    admin.call(Method::POST, "/parks/collections").bytes("application/json", new).await.is(201);
    let patch = async |path: &str, fields: &str| {
        let body = format!("{{{fields}}}");
        admin.call(Method::PATCH, path).bytes("application/merge-patch+json", body).await.is(200)
    };
    for path in
        ["/parks/collections/long", "/parks/activities/bcparks_1/dayuse/1", "/parks/products/bcparks_1/dayuse/1/1"]
    {
        let long = patch(path, &fields).await;
        assert_eq!(long.text("description").chars().count(), 10_000, "{path}");
    }
    let dates = "/parks/products/bcparks_1/dayuse/1/1/dates";
    admin.post(dates, seed("2026-01-01", "2026-01-02", "open")).await.is(200);
    let fields = [text("displayName", 200), text("reason", 500), text("adminNotes", 10_000)].join(",");
    patch(&format!("{dates}/2026-01-01"), &fields).await;
    let changed = patch(&format!("{dates}?from=2026-01-01&to=2026-01-02"), &fields).await;
    assert_eq!(changed["changed"], 1);
}

async fn unsupported_content_type_returns_415() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).await.is(201);
    let body = Bytes::from(lakes().to_string());
    for wrong in
        ["text/plain", "application/xml", "application/geo+json", "", "application/jsonx", "multipart/form-data"]
    {
        let call = admin.call(Method::POST, ZONES).bytes(wrong, body.clone());
        call.await.refused(415, "wrong-content-type");
    }
    for right in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;charset=UTF-8"] {
        admin.call(Method::POST, ZONES).bytes(right, body.clone()).await.is(201);
    }
    let coded =
        admin.call(Method::POST, ZONES).bytes("application/json", body.clone()).header("content-encoding", "gzip");
    coded.await.refused(415, "wrong-content-type");
    let patch = admin.call(Method::PATCH, &format!("{ZONES}/1")).bytes("application/json-patch+json", "[]");
    patch.await.refused(415, "wrong-content-type");
    for wrong in ["text/html", "application/geo+json;q=0", "image/png, text/*"] {
        admin.get("/parks/collections/bcparks_1").header("accept", wrong).await.refused(406, "not-acceptable");
    }
    admin.get(ZONES).header("accept", "text/html, */*;q=0.1").await.is(200);
}

async fn body_where_none_is_expected_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).await.is(201);
    let with = |method: Method, path: &str| admin.call(method, path).bytes("application/json", "{\"a\":1}");
    with(Method::DELETE, &format!("{ZONES}/1")).await.faulty(&[""]);
    with(Method::POST, &format!("{ZONES}/1/restore")).await.faulty(&[""]);
    with(Method::GET, ZONES).await.is(200);
}

async fn malicious_paths_return_404() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    admin.post(ZONES, lakes()).await.is(201);
    for collection in
        ["..", "%2e%2e", "a%2Fb", "a%00b", "a::b", "a%23b", "%3A%3A", "%F0%9F%98%80", "$ne", "'", "a%0Ab", "*"]
    {
        for user in [&admin, &visitor] {
            user.get(&format!("/parks/collections/{collection}")).await.is(404);
            let listed = user.get(&format!("/parks/geozones/{collection}")).await;
            // A name that no collection can have is listed as that of one that does not exist.
            match collection {
                ".." | "%2e%2e" | "a%2Fb" => drop(listed.is(404)),
                _ => assert_eq!(listed.is(200)["items"], json!([])),
            }
            user.get(&format!("/parks/geozones/{collection}/1")).await.is(404);
        }
        admin.post(&format!("/parks/geozones/{collection}"), lakes()).await.is(404);
    }
    for broken in ["%FF", "%C3%28"] {
        admin.get(&format!("/parks/collections/{broken}")).await.is(404);
    }
}

async fn malformed_numbers_are_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let with = |field: &str, number: &str| {
        let body = format!("{{\"displayName\":\"a\",\"location\":[1,2],\"{field}\":{number}}}");
        admin.call(Method::POST, ZONES).bytes("application/json", body)
    };
    for number in ["-1", "23", "1.5", "1e2", "-0", "99999999999999999999", "\"5\"", "true", "[5]"] {
        with("minMapZoom", number).await.faulty(&["/minMapZoom"]);
    }
    for number in ["5", "0", "5.0"] {
        with("minMapZoom", number).await.is(201);
    }
    let at = |location: &str| {
        let body = format!("{{\"displayName\":\"a\",\"location\":{location}}}");
        admin.call(Method::POST, ZONES).bytes("application/json", body)
    };
    for (index, location) in ["[1e308,1]", "[1,1e-320]", "[1,2,1e30]"].into_iter().enumerate() {
        at(location).await.faulty(&[&format!("/location/{index}")]);
    }
    // No double holds it.
    at("[-1e400,0]").await.faulty(&[""]);
    at("[0.0000000000000000000001,0]").await.is(201);
    // Every digit that a double holds is kept.
    let made = at("[-125.12345678901234,49.000000000000007]").await.is(201);
    let read = admin.get(made.header("location")).await.is(200);
    assert!(read.told().contains("[-125.12345678901234,49.00000000000001]"), "{}", read.told());
}

async fn integer_with_a_fraction_of_zero_is_an_integer() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let zone = json!({ "displayName": "a", "location": [1, 2], "minMapZoom": 3 });
    let zone = admin.post(ZONES, zone).await.is(201).header("location").to_owned();
    for (written, stored) in [("5.0", 5), ("-0", 0), ("7e0", 7)] {
        let body = format!("{{\"minMapZoom\":{written}}}");
        admin.call(Method::PATCH, &zone).bytes("application/merge-patch+json", body).await.is(200);
        assert_eq!(admin.get(&zone).await.is(200)["minMapZoom"], stored, "{written}");
    }
    admin.patch(&zone, json!({ "maxMapZoom": 3.0 })).await.faulty(&["/minMapZoom"]);
    // An exporter writes a column of decimals.
    let mut camp = feature("camp", "Camp", &point(1.0, 2.0));
    camp["properties"]["maxMapZoom"] = json!(12.0);
    for name in ["Camp", "Camp again"] {
        camp["properties"]["displayName"] = json!(name);
        assert_eq!(import(&admin, "geojson", &collection(&[camp.clone()])).await["counts"]["done"], 1);
        let read = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
        assert_eq!((read.text("displayName"), &read["maxMapZoom"]), (name, &json!(12)));
    }
}

async fn longest_ids_of_an_item_fit_its_key() {
    let cairn = Cairn::start().await;
    let admin = cairn.administrator().await;
    let longest = "c".repeat(63);
    cairn.collection(&longest, "Longest").await;
    let camp = json!({
        "displayName": "Camp", "location": [1, 2], "facilityType": "naturalFeature",
        "externalId": "\u{1f}".repeat(128), "isVisible": true
    });
    // 128 characters of control take 384 bytes once escaped.
    let made = admin.post(&format!("/parks/facilities/{longest}"), camp).await.is(201);
    assert_eq!(admin.get(made.header("location")).await.is(200)["externalId"], "\u{1f}".repeat(128));
    cairn.visitor().search("q=camp").await.are(&["Camp"]);
    let too_long = json!({
        "displayName": "Camp", "location": [1, 2], "facilityType": "trail", "externalId": "😀".repeat(101)
    });
    admin.post(&format!("/parks/facilities/{longest}"), too_long).await.faulty(&["/externalId"]);
}
