//! Arbitrary input, which never causes a panic or a 5xx.

use crate::zoo::{Zoo, json};
use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Asserts that a response is no 5xx, and that a 4xx is a problem.
fn assert_no_server_error(response: &Response<Bytes>) {
    let status = response.status();
    assert!(status.as_u16() < 500, "{response:?}");
    if status.is_client_error() && response.body().as_ref() != br#"{"message":"Not Found"}"# {
        let problem = json(response);
        assert_eq!(problem["status"], status.as_u16());
        assert!(
            problem["detail"].as_str().is_some_and(|detail| !detail.is_empty() && detail.len() < 1000),
            "{problem}"
        );
    }
}

static ZOO: LazyLock<(Zoo, Runtime, HeaderValue)> = LazyLock::new(|| {
    let zoo = Zoo::open();
    let token = HeaderValue::try_from(format!("Bearer {}", zoo.keeper())).unwrap();
    (zoo, Runtime::new().unwrap(), token)
});

/// Sends a request as a keeper, unless it has its own token.
fn send(request: http::request::Builder, body: impl Into<Bytes>) -> Response<Bytes> {
    let (zoo, runtime, token) = &*ZOO;
    let mut request = request.body(body.into()).unwrap();
    request.headers_mut().entry(header::AUTHORIZATION).or_insert(token.clone());
    runtime.block_on(zoo.send(request))
}

/// Returns arbitrary JSON that often contains the names and values of the system.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        prop_oneof!["meat", "plants", "Ara ararauna"].prop_map(Value::from),
    ];
    let name = prop_oneof![3 => "name|diet|species|keepers|since", 1 => ".*"];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_as_body_cause_no_5xx(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let request = Request::post("/zoo/animals/aviary").header("content-type", "application/json");
        assert_no_server_error(&send(request, body));
    }

    #[test]
    fn arbitrary_json_as_body_causes_no_5xx(body in any_json(), patch in any::<bool>()) {
        let method = if patch { Request::patch("/zoo/animals/aviary/1") } else { Request::post("/zoo/animals/aviary") };
        assert_no_server_error(&send(method.header("content-type", "application/json"), body.to_string()));
    }

    #[test]
    fn arbitrary_path_and_query_cause_no_5xx(enclosure in "[^/?#\\x00-\\x20]{1,30}|%[0-9a-f]{2}", query in "[^#\\x00-\\x20]{0,60}|(limit|near|diet|cursor|isTame)=.{0,20}") {
        let target = format!("/zoo/animals/{enclosure}?{query}");
        if let Ok(uri) = Uri::try_from(target) {
            assert_no_server_error(&send(Request::get(uri), Bytes::new()));
        }
    }

    #[test]
    fn arbitrary_header_causes_no_5xx(name in "authorization|accept|if-none-match|if-match|content-type|idempotency-key|content-encoding",
                  value in prop::collection::vec(any::<u8>(), 0..60)) {
        let Ok(value) = HeaderValue::from_bytes(&value) else { return Ok(()) };
        for request in [Request::get("/zoo/animals/aviary/1"), Request::patch("/zoo/animals/aviary/1"), Request::post("/zoo/animals/aviary")] {
            assert_no_server_error(&send(request.header(name.as_str(), value.clone()), r#"{"name": "Polly", "diet": "meat"}"#));
        }
    }
}

#[test]
fn problem_with_many_faults_lists_100_and_counts_all() {
    let body = json!({ "name": "", "diet": "meat", "keepers": vec![json!(1); 4_000] }).to_string();
    let request = Request::post("/zoo/animals/aviary").header("content-type", "application/json");
    let problem = json(&send(request, body));
    assert_eq!((problem["errors"].as_array().unwrap().len(), &problem["errorCount"]), (100, &json!(4_002)));
}
