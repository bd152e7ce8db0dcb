//! Requests and responses: checks, problems with all faults together, conditions, cursors and content types.

use std::collections::BTreeMap;

use crate::zoo::{Zoo, json};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use web::{MAX_QUERY, RequestId};

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
async fn declarations_have_no_errors() {
    assert_eq!(Zoo::open().app.misdeclared(), Vec::<String>::new());
}

#[tokio::test]
async fn parameters_are_converted_to_their_types() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/avi%61ry?diet=plants,meat&diet=meat&near=1.5,-2&isTame=true&limit=1").await;
    assert_eq!(response.status(), StatusCode::OK, "{response:?}");
    assert_eq!(json(&response)["items"][0]["species"], "3 Some([1.5, -2.0]) Some(true)");
    assert_eq!(response.headers()["cache-control"], "public, max-age=30");
    assert_eq!(response.headers()["vary"], "Authorization, Accept");
}

#[tokio::test]
async fn id_in_the_path_that_does_not_fit_its_schema_names_nothing() {
    let zoo = Zoo::open();
    for path in ["/zoo/animals/a%23b?lat=40.7", "/zoo/animals/aviary/one", "/zoo/animals/aviary/404"] {
        let response = zoo.get(path).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(json(&response)["type"], "urn:cairn:problem:not-found", "{path}");
    }
}

#[tokio::test]
async fn all_faults_of_a_query_are_reported_together() {
    let zoo = Zoo::open();
    let response =
        zoo.get("/zoo/animals/aviary?lat=40.7&diet=fish&near=1,x&limit=0&cursor=a&cursor=b&isTame=yes").await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let expected = [
        "cursor must be sent only once",
        "diet must be one of `plants`, `meat` (element 1)",
        "isTame must be a boolean",
        "lat is not a known parameter; this operation takes `cursor`, `diet`, `isTame`, `limit`, `near`",
        "limit must be at least 1",
        "near must be a number (element 2)",
    ];
    assert_eq!(faults(&response), expected);
}

#[tokio::test]
async fn query_above_its_maximum_size_is_refused_and_its_cursor_does_not_count() {
    let zoo = Zoo::open();
    let diets = |count: usize| vec!["diet=meat"; count].join("&");
    let longest = diets(MAX_QUERY / 10);
    let response = zoo.get(&format!("/zoo/animals/aviary?{longest}")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let response = zoo.get(&format!("/zoo/animals/aviary?{longest}&diet=meat")).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let expected = "The query string has more than 5000 bytes. Send fewer or shorter parameters.";
    assert_eq!(json(&response)["detail"], expected);
    let response = zoo.get(&format!("/zoo/animals/aviary?{longest}&cursor={}", "x".repeat(1000))).await;
    assert!(faults(&response)[0].starts_with("cursor is not a cursor of this route"));
}

#[tokio::test]
async fn all_faults_of_a_body_are_reported_together() {
    let zoo = Zoo::open();
    let body = json!({ "name": "", "species": "Ara", "keepers": [{ "name": 1, "since": 70000, "age": 3 }], "legs": 2 });
    let response = zoo.post("/zoo/animals/aviary", body.to_string()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let expected = [
        "/diet is required",
        "/keepers/0/age is not a known field",
        "/keepers/0/name must be a string",
        "/legs is not a known field",
        "/name must not be empty",
        "/species must be a genus and a species",
    ];
    assert_eq!(faults(&response), expected);
}

#[tokio::test]
async fn problem_has_all_standard_members() {
    let zoo = Zoo::open();
    let response = zoo.send(
        Request::get("/zoo/animals/aviary?lat=1").extension(RequestId("id-1".into())).body(Bytes::new()).unwrap(),
    );
    let response = response.await;
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(response.headers()["cache-control"], "private, no-store");
    let expected = json!({
        "type": "urn:cairn:problem:bad-request",
        "title": "Bad request",
        "status": 400,
        "detail": "`lat` is not a known parameter; this operation takes `cursor`, `diet`, `isTame`, `limit`, `near`.",
        "instance": "id-1",
        "errors": [{
            "parameter": "lat",
            "detail": "is not a known parameter; this operation takes `cursor`, `diet`, `isTame`, `limit`, `near`",
        }],
    });
    assert_eq!(json(&response), expected);
}

#[tokio::test]
async fn value_that_only_its_type_refuses_has_a_fault_with_a_pointer() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/aviary-0/1").await;
    assert_eq!((response.status(), faults(&response).len()), (StatusCode::NOT_FOUND, 0), "an id that does not parse");

    let body = json!({ "name": "Polly", "diet": "meat", "keepers": [{ "name": "Kim", "since": 70000 }] });
    let response = zoo.post("/zoo/animals/aviary", body.to_string()).await;
    let expected = "/keepers/0/since is invalid: invalid value: integer `70000`, expected an integer from 0 to 65535";
    assert_eq!((response.status(), faults(&response)), (StatusCode::BAD_REQUEST, vec![expected.to_owned()]));
}

#[tokio::test]
async fn body_that_is_not_json_has_a_fault_with_its_position() {
    let zoo = Zoo::open();
    let deep = "[".repeat(10_000);
    let cases: [(&[u8], &str); 6] = [
        (b"", " is required: this operation takes a JSON body"),
        (b"{\"name\": \"\xff\"}", " is not UTF-8: invalid at byte 10"),
        (b"{\"name\"", " is not JSON: EOF while parsing an object at line 1, column 7"),
        (b"{\"name\": 1e999}", " is not JSON: number out of range at line 1, column 14"),
        (deep.as_bytes(), " is not JSON: recursion limit exceeded at line 1, column 128"),
        (b"[]", " must be an object"),
    ];
    for (body, expected) in cases {
        let response = zoo.post("/zoo/animals/aviary", body.to_vec()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(faults(&response), [expected]);
    }
}

#[tokio::test]
async fn duplicate_member_is_refused() {
    let zoo = Zoo::open();
    let response = zoo.post("/zoo/animals/aviary", r#"{"name": "Polly", "name": "Molly", "diet": "meat"}"#).await;
    assert_eq!(faults(&response), [" is invalid: duplicate field `name`"]);
}

#[tokio::test]
async fn body_of_wrong_size_or_content_type_is_refused() {
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
    for accepted in ["application/json", "Application/JSON; charset=UTF-8", "application/json;v=1"] {
        assert_eq!(send(Some(accepted)).await, StatusCode::CREATED, "{accepted}");
    }
    for refused in
        [None, Some("text/plain"), Some("application/json; charset=latin1"), Some("application/merge-patch+json")]
    {
        assert_eq!(send(refused).await, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{refused:?}");
    }
}

#[tokio::test]
async fn accept_selects_the_content_type_of_the_response() {
    let zoo = Zoo::open();
    let get = async |accept: &str| {
        let request = Request::get("/zoo/animals/aviary").header("accept", accept).body(Bytes::new()).unwrap();
        let response = zoo.send(request).await;
        (response.status().as_u16(), response.headers()["content-type"].to_str().unwrap().to_owned())
    };
    assert_eq!(get("*/*").await, (200, "application/json".into()));
    assert_eq!(get("text/csv").await, (200, "text/csv".into()));
    assert_eq!(get("text/*, application/json;q=0.5").await, (200, "text/csv".into()));
    assert_eq!(get("text/csv;q=0, */*").await, (200, "application/json".into()));
    assert_eq!(get("image/png").await, (406, "application/problem+json".into()));
}

#[tokio::test]
async fn created_resource_has_location_and_etag() {
    let zoo = Zoo::open();
    let response = zoo.post("/zoo/animals/aviary", r#"{"name": "Polly", "diet": "meat"}"#).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], "/zoo/animals/aviary/1");
    assert_eq!(response.headers()["etag"], "\"8\"");
    assert_eq!(response.headers()["cache-control"], "private, no-store");
}

#[tokio::test]
async fn idempotency_fingerprint_covers_path_and_body() {
    let zoo = Zoo::open();
    let once = async |key: &str, path: &str, body: &str| {
        let request = Request::post(path).header("content-type", "application/json").header("idempotency-key", key);
        let request = request.header("authorization", format!("Bearer {}", zoo.keeper()));
        let response = zoo.send(request.body(Bytes::from(body.to_owned())).unwrap()).await;
        let once = response.headers().get("x-once").map(|value| value.to_str().unwrap().to_owned());
        once.ok_or_else(|| faults(&response))
    };
    let (polly, molly) = (r#"{"name": "Polly", "diet": "meat"}"#, r#"{"name": "Molly", "diet": "meat"}"#);
    let first = once("a key", "/zoo/animals/aviary", polly).await.unwrap();
    assert!(first.starts_with("local:user~231 createAnimal a key "), "{first}");
    assert_eq!(once("a key", "/zoo/animals/aviary", polly).await.unwrap(), first);
    assert_ne!(once("a key", "/zoo/animals/pond", polly).await.unwrap(), first);
    assert_ne!(once("a key", "/zoo/animals/aviary", molly).await.unwrap(), first);
    for wrong in ["", &"x".repeat(65), "a\tb"] {
        let expected = "idempotency-key must be sent once, with 1 to 64 printable ASCII characters";
        assert_eq!(once(wrong, "/zoo/animals/aviary", polly).await, Err(vec![expected.to_owned()]));
    }
}

#[tokio::test]
async fn cursor_is_valid_only_with_its_route_parameters_and_caller() {
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
async fn link_to_next_page_repeats_the_parameters() {
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
async fn if_none_match_returns_304_and_if_match_412() {
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
async fn merge_patch_distinguishes_absent_null_and_value() {
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
    assert_eq!(faults(&patch(json!({ "name": null })).await), ["/name must be a string"]);
}

#[tokio::test]
async fn request_without_route_gets_the_404_of_api_gateway() {
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

/// API Gateway forwards no such request; a function URL does.
#[tokio::test]
async fn unknown_method_returns_405_and_head_responds_like_get_without_body() {
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
async fn panic_returns_500_and_does_not_leak_its_message() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/aviary/500").await;
    assert_eq!(
        (response.status(), &json(&response)["type"]),
        (StatusCode::INTERNAL_SERVER_ERROR, &json!("urn:cairn:problem:internal"))
    );
    assert!(!String::from_utf8_lossy(response.body()).contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn handler_without_end_returns_503_before_the_functions_timeout() {
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
