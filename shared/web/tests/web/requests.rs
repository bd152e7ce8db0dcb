//! What a client of a system meets: answers, problems with all faults at once, and never a 5xx by its own doing.

use std::collections::BTreeMap;

use crate::zoo::{Zoo, json};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use web::RequestId;

/// `place detail` of each fault of a problem, sorted.
fn faults(response: &Response<Bytes>) -> Vec<String> {
    let body = json(response);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fault = |fault: &Value| {
        let place: BTreeMap<String, Value> = serde_json::from_value(fault.clone()).unwrap();
        let at = place.iter().find(|(name, _)| *name != "detail").map(|(_, value)| text(value)).unwrap();
        format!("{at} {}", text(&fault["detail"]))
    };
    let mut faults: Vec<String> = body["errors"].as_array().into_iter().flatten().map(fault).collect();
    faults.sort();
    faults
}

#[tokio::test]
async fn the_declarations_can_be_served() {
    assert_eq!(Zoo::open().app.misdeclared(), Vec::<String>::new());
}

#[tokio::test]
async fn parameters_come_typed() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/avi%61ry?diet=plants,meat&diet=meat&near=1.5,-2&isTame=true&limit=1").await;
    assert_eq!(response.status(), StatusCode::OK, "{response:?}");
    assert_eq!(json(&response)["items"][0]["species"], "3 Some([1.5, -2.0]) Some(true)");
    assert_eq!(response.headers()["cache-control"], "public, max-age=30");
    assert_eq!(response.headers()["vary"], "Authorization, Accept");
}

#[tokio::test]
async fn every_fault_of_path_and_query_is_told_at_once() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/a%23b?lat=40.7&diet=fish&near=1,x&limit=0&cursor=a&cursor=b&isTame=yes").await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let expected = [
        "cursor is given more than once",
        "diet must be one of `plants`, `meat` (entry 1)",
        "enclosure must be text without `#`, `::` or control characters",
        "isTame must be true or false",
        "lat is not a parameter here; known are `cursor`, `diet`, `isTame`, `limit`, `near`",
        "limit must be at least 1",
        "near must be a number (entry 2)",
    ];
    assert_eq!(faults(&response), expected);
}

#[tokio::test]
async fn every_fault_of_a_body_is_told_at_once() {
    let zoo = Zoo::open();
    let body = json!({ "name": "", "species": "Ara", "keepers": [{ "name": 1, "since": 70000, "age": 3 }], "legs": 2 });
    let response = zoo.post("/zoo/animals/aviary", body.to_string()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let expected = [
        "/diet is missing",
        "/keepers/0/age is not known here",
        "/keepers/0/name must be text",
        "/legs is not known here",
        "/name must not be empty",
        "/species must be a genus and a species",
    ];
    assert_eq!(faults(&response), expected);
}

#[tokio::test]
async fn a_problem_has_every_member_of_the_standard() {
    let zoo = Zoo::open();
    let response = zoo.send(
        Request::get("/zoo/animals/aviary?lat=1").extension(RequestId("id-1".into())).body(Bytes::new()).unwrap(),
    );
    let response = response.await;
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(response.headers()["cache-control"], "private, no-store");
    let expected = json!({
        "type": "urn:cairn:problem:bad-request",
        "title": "The request is not well formed",
        "status": 400,
        "detail": "`lat` is not a parameter here; known are `cursor`, `diet`, `isTame`, `limit`, `near`.",
        "instance": "id-1",
        "errors": [{
            "parameter": "lat",
            "detail": "is not a parameter here; known are `cursor`, `diet`, `isTame`, `limit`, `near`",
        }],
    });
    assert_eq!(json(&response), expected);
}

#[tokio::test]
async fn what_a_type_refuses_beyond_its_schema_is_told_at_its_place() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/aviary-0/1").await;
    assert_eq!(faults(&response), ["enclosure is not right: there is no such number"]);

    let body = json!({ "name": "Polly", "diet": "meat", "keepers": [{ "name": "Kim", "since": 70000 }] });
    let response = zoo.post("/zoo/animals/aviary", body.to_string()).await;
    let expected =
        "/keepers/0/since is not right: invalid value: integer `70000`, expected a whole number from 0 to 65535";
    assert_eq!((response.status(), faults(&response)), (StatusCode::BAD_REQUEST, vec![expected.to_owned()]));
}

#[tokio::test]
async fn bodies_that_are_no_json_are_told_where() {
    let zoo = Zoo::open();
    let deep = "[".repeat(10_000);
    let cases: [(&[u8], &str); 6] = [
        (b"", " is empty; JSON is expected"),
        (b"{\"name\": \"\xff\"}", " is not UTF-8 from byte 10 on"),
        (b"{\"name\"", " is not JSON at line 1, column 7: EOF while parsing an object"),
        (b"{\"name\": 1e999}", " is not JSON at line 1, column 14: number out of range"),
        (deep.as_bytes(), " is not JSON at line 1, column 128: recursion limit exceeded"),
        (b"[]", " must be an object"),
    ];
    for (body, expected) in cases {
        let response = zoo.post("/zoo/animals/aviary", body.to_vec()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(faults(&response), [expected]);
    }
}

#[tokio::test]
async fn a_member_given_twice_is_refused() {
    let zoo = Zoo::open();
    let response = zoo.post("/zoo/animals/aviary", r#"{"name": "Polly", "name": "Molly", "diet": "meat"}"#).await;
    assert_eq!(faults(&response), [" is not right: duplicate field `name`"]);
}

#[tokio::test]
async fn sizes_and_content_types_are_refused_before_anything_is_read() {
    let zoo = Zoo::open();
    let response = zoo.post("/zoo/animals/aviary", vec![b'x'; 10_001]).await;
    assert_eq!(
        (response.status(), &json(&response)["type"]),
        (StatusCode::PAYLOAD_TOO_LARGE, &json!("urn:cairn:problem:too-large"))
    );

    let send = async |content_type: Option<&str>| {
        let mut request =
            Request::post("/zoo/animals/aviary").header("authorization", format!("Bearer {}", zoo.keeper()));
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        zoo.send(request.body(Bytes::from(r#"{"name": "Polly", "diet": "meat"}"#)).unwrap()).await.status()
    };
    for taken in ["application/json", "Application/JSON; charset=UTF-8", "application/json;v=1"] {
        assert_eq!(send(Some(taken)).await, StatusCode::CREATED, "{taken}");
    }
    for refused in
        [None, Some("text/plain"), Some("application/json; charset=latin1"), Some("application/merge-patch+json")]
    {
        assert_eq!(send(refused).await, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{refused:?}");
    }
}

#[tokio::test]
async fn accept_chooses_among_what_the_route_has() {
    let zoo = Zoo::open();
    let ask = async |accept: &str| {
        let request = Request::get("/zoo/animals/aviary").header("accept", accept).body(Bytes::new()).unwrap();
        let response = zoo.send(request).await;
        (response.status().as_u16(), response.headers()["content-type"].to_str().unwrap().to_owned())
    };
    assert_eq!(ask("*/*").await, (200, "application/json".into()));
    assert_eq!(ask("text/csv").await, (200, "text/csv".into()));
    assert_eq!(ask("text/*, application/json;q=0.5").await, (200, "text/csv".into()));
    assert_eq!(ask("text/csv;q=0, */*").await, (200, "application/json".into()));
    assert_eq!(ask("image/png").await, (406, "application/problem+json".into()));
}

#[tokio::test]
async fn what_was_created_says_where_it_is() {
    let zoo = Zoo::open();
    let response = zoo.post("/zoo/animals/aviary", r#"{"name": "Polly", "diet": "meat"}"#).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], "/zoo/animals/aviary/1");
    assert_eq!(response.headers()["etag"], "\"8\"");
    assert_eq!(response.headers()["cache-control"], "private, no-store");
}

#[tokio::test]
async fn an_idempotency_key_tells_requests_apart() {
    let zoo = Zoo::open();
    let once = async |key: &str, path: &str, body: &str| {
        let request = Request::post(path).header("content-type", "application/json").header("idempotency-key", key);
        let request = request.header("authorization", format!("Bearer {}", zoo.keeper()));
        let response = zoo.send(request.body(Bytes::from(body.to_owned())).unwrap()).await;
        let told = response.headers().get("x-once").map(|value| value.to_str().unwrap().to_owned());
        told.ok_or_else(|| faults(&response))
    };
    let (polly, molly) = (r#"{"name": "Polly", "diet": "meat"}"#, r#"{"name": "Molly", "diet": "meat"}"#);
    let first = once("a key", "/zoo/animals/aviary", polly).await.unwrap();
    assert!(first.starts_with("local:user~231 createAnimal a key "), "{first}");
    assert_eq!(once("a key", "/zoo/animals/aviary", polly).await.unwrap(), first);
    assert_ne!(once("a key", "/zoo/animals/pond", polly).await.unwrap(), first);
    assert_ne!(once("a key", "/zoo/animals/aviary", molly).await.unwrap(), first);
    for wrong in ["", &"x".repeat(65), "a\tb"] {
        let expected = "idempotency-key must be 1 to 64 printable ASCII characters, sent once";
        assert_eq!(once(wrong, "/zoo/animals/aviary", polly).await, Err(vec![expected.to_owned()]));
    }
}

#[tokio::test]
async fn a_cursor_continues_where_it_was_given_and_nowhere_else() {
    let zoo = Zoo::open();
    let page = async |target: String| json(&zoo.get(&target).await);
    let first = page("/zoo/animals/aviary?limit=40&diet=meat".into()).await;
    let cursor = first["nextCursor"].as_str().unwrap().to_owned();
    let second = page(format!("/zoo/animals/aviary?limit=50&diet=meat&cursor={cursor}")).await;
    assert_eq!((&second["items"][0]["number"], second["items"].as_array().unwrap().len()), (&json!(41), 50));
    let cursor_of_last = second["nextCursor"].as_str().unwrap();
    let last = page(format!("/zoo/animals/aviary?limit=9&diet=meat&cursor={cursor_of_last}")).await;
    assert_eq!(last["nextCursor"], Value::Null);

    let mut changed = cursor.clone();
    changed.replace_range(0..1, if cursor.starts_with('A') { "B" } else { "A" });
    for target in [
        format!("/zoo/animals/aviary?diet=meat&cursor={changed}"),
        format!("/zoo/animals/aviary?diet=plants&cursor={cursor}"),
        format!("/zoo/animals/pond?diet=meat&cursor={cursor}"),
    ] {
        let response = zoo.get(&target).await;
        assert_eq!((response.status(), faults(&response).len()), (StatusCode::BAD_REQUEST, 1), "{target}");
        assert!(faults(&response)[0].starts_with("cursor is not a cursor of this route"));
    }
    let request = Request::get(format!("/zoo/animals/aviary?diet=meat&cursor={cursor}"));
    let request = request.header("authorization", format!("Bearer {}", zoo.keeper()));
    assert_eq!(zoo.send(request.body(Bytes::new()).unwrap()).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_link_to_the_next_page_asks_for_the_same() {
    let zoo = Zoo::open();
    let first = zoo.get("/zoo/animals/sea%20lions?near=1,2.0&diet=meat&diet=plants&limit=40").await;
    let link = first.headers()["link"].to_str().unwrap();
    let target = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).unwrap();
    assert!(target.starts_with("/zoo/animals/sea%20lions?"), "{target}");
    let second = zoo.get(target).await;
    assert_eq!(second.status(), StatusCode::OK, "{target}");
    assert_eq!(json(&second)["items"][0]["number"], 41);
}

#[tokio::test]
async fn entity_tags_decide() {
    let zoo = Zoo::open();
    let read = async |tags: &str| {
        let request = Request::get("/zoo/animals/aviary/1").header("if-none-match", tags).body(Bytes::new()).unwrap();
        zoo.send(request).await.status().as_u16()
    };
    for (tags, expected) in
        [("\"6\"", 200), ("\"8\"", 304), ("W/\"8\"", 304), ("\"6\", \"8\"", 304), ("*", 304), ("8", 400)]
    {
        assert_eq!(read(tags).await, expected, "{tags}");
    }
    let write = async |tags: &str| {
        let request = Request::patch("/zoo/animals/aviary/1").header("if-match", tags);
        let request = request.header("authorization", format!("Bearer {}", zoo.keeper()));
        let request = request.header("content-type", "application/merge-patch+json");
        zoo.send(request.body(Bytes::from("{}")).unwrap()).await.status().as_u16()
    };
    for (tags, expected) in
        [("\"6\"", 412), ("\"8\"", 200), ("W/\"8\"", 412), ("\"6\", \"8\"", 200), ("*", 200), ("\"8", 400)]
    {
        assert_eq!(write(tags).await, expected, "{tags}");
    }
}

#[tokio::test]
async fn a_merge_patch_tells_absent_null_and_value_apart() {
    let zoo = Zoo::open();
    let patch = async |body: Value| {
        let request = Request::patch("/zoo/animals/aviary/1").header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", zoo.keeper()));
        zoo.send(request.body(Bytes::from(body.to_string())).unwrap()).await
    };
    let species = async |body| json(&patch(body).await)["species"].clone();
    assert_eq!(species(json!({})).await, "Ara ararauna");
    assert_eq!(species(json!({ "species": null })).await, Value::Null);
    assert_eq!(species(json!({ "species": "Ara macao" })).await, "Ara macao");
    assert_eq!(faults(&patch(json!({ "species": "Ara" })).await), ["/species must be a genus and a species"]);
    assert_eq!(faults(&patch(json!({ "name": null })).await), ["/name must be text"]);
}

#[tokio::test]
async fn what_no_route_matches_gets_what_the_gateway_answers() {
    let zoo = Zoo::open();
    for (method, path) in [("GET", "/zoo/plants"), ("GET", "/zoo/animals/aviary/"), ("GET", "/zoo/animals/%ff")] {
        let response = zoo.send(Request::builder().method(method).uri(path).body(Bytes::new()).unwrap()).await;
        assert_eq!(
            (response.status(), response.body().as_ref()),
            (StatusCode::NOT_FOUND, br#"{"message":"Not Found"}"#.as_slice())
        );
        assert_eq!(response.headers()["content-type"], "application/json");
    }
}

/// API Gateway lets no such request through; a function URL does.
#[tokio::test]
async fn a_known_path_with_another_method_is_405_and_head_is_get_without_the_body() {
    let zoo = Zoo::open();
    let path = "/zoo/animals/aviary/1";
    let send = async |method: &str| {
        let request = || Request::builder().method(method).uri(path).body(Bytes::new()).unwrap();
        assert_eq!(zoo.app.has_route(&request()), method == "GET");
        zoo.send(request()).await
    };
    let (whole, head) = (send("GET").await, send("HEAD").await);
    assert_eq!((head.status(), head.headers()), (whole.status(), whole.headers()));
    assert!(head.body().is_empty() && !whole.body().is_empty());
    for method in ["DELETE", "BREW"] {
        let refused = send(method).await;
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
        let allowed = refused.headers()["allow"].to_str().unwrap();
        assert!(allowed.contains("GET") && allowed.contains("HEAD") && !allowed.contains(method), "{allowed}");
        assert_eq!(json(&refused)["type"], "urn:cairn:problem:method-not-allowed");
    }
}

#[tokio::test]
async fn a_panic_is_a_problem_that_tells_nothing() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/aviary/500").await;
    assert_eq!(
        (response.status(), &json(&response)["type"]),
        (StatusCode::INTERNAL_SERVER_ERROR, &json!("urn:cairn:problem:internal"))
    );
    assert!(!String::from_utf8_lossy(response.body()).contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_stopped_before_its_functions_timeout() {
    let zoo = Zoo::open();
    let started = tokio::time::Instant::now();
    let request = Request::post("/zoo/feedings").header("authorization", format!("Bearer {}", zoo.keeper()));
    let response = zoo.send(request.body(Bytes::new()).unwrap()).await;
    assert_eq!(
        (response.status(), &json(&response)["type"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("urn:cairn:problem:out-of-time"))
    );
    assert_eq!(started.elapsed().as_millis(), 400);
}
