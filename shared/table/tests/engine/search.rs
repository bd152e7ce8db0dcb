//! Answers as OpenSearch gives them.

use serde_json::json;
use table::{Access, AccessPattern, Call, Clock, Config, Engines, SearchError};

use crate::canned::answering;
use crate::shop::engines;

static FIND: AccessPattern = AccessPattern { name: "find", calls: &[Call::Search { alias: "shop" }] };

fn reaching(search: String) -> Access {
    static GRANTED: &[&AccessPattern] = &[&FIND];
    let config = Config { search, ..engines("http://127.0.0.1:1").config.clone() };
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

async fn ask(access: &Access) -> Result<serde_json::Value, SearchError> {
    access.search(&FIND, "shop", &json!({"query": {"match_all": {}}})).await
}

#[tokio::test]
async fn complete_answer_is_returned() {
    let whole = r#"{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{}}"#;
    let (endpoint, mut requests) = answering(200, whole).await;
    let access = reaching(endpoint);
    assert_eq!(ask(&access).await.unwrap()["took"], 1);
    let request = requests.recv().await.unwrap();
    assert!(
        request.starts_with("POST /test-shop/_search?allow_partial_search_results=false HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.ends_with(r#"{"query":{"match_all":{}}}"#), "{request}");
    assert_eq!(access.performed()[0].call, Call::Search { alias: "shop" });
}

#[tokio::test]
async fn partial_answer_is_an_error() {
    for partial in [
        r#"{"timed_out":true,"_shards":{"total":1,"successful":1}}"#,
        r#"{"timed_out":false,"_shards":{"total":2,"successful":1}}"#,
        r#"{"timed_out":false}"#,
        r#"{}"#,
        r#"[}"#,
    ] {
        let (endpoint, _requests) = answering(200, partial).await;
        let access = reaching(endpoint);
        assert!(matches!(ask(&access).await, Err(SearchError::Unavailable(_))), "{partial}");
    }
}

#[tokio::test]
async fn rejected_query_differs_from_unavailable_search() {
    let (endpoint, _requests) = answering(400, r#"{"error":{"type":"parsing_exception"}}"#).await;
    let access = reaching(endpoint);
    assert!(matches!(ask(&access).await, Err(SearchError::Refused(reason)) if reason.contains("parsing_exception")));
    for status in [404, 429, 500, 503] {
        let (endpoint, _requests) = answering(status, "{}").await;
        let access = reaching(endpoint);
        assert!(matches!(ask(&access).await, Err(SearchError::Unavailable(_))), "{status}");
    }
    for endpoint in ["http://127.0.0.1:1", "nowhere"] {
        let access = reaching(endpoint.to_owned());
        assert!(matches!(ask(&access).await, Err(SearchError::Unavailable(_))), "{endpoint}");
    }
}

#[tokio::test]
async fn search_of_an_undeclared_alias_is_refused() {
    let access = reaching("http://127.0.0.1:1".to_owned());
    let refused: Result<serde_json::Value, _> = access.search(&FIND, "secrets", &json!({})).await;
    assert!(matches!(refused, Err(SearchError::Undeclared(_))));
    assert!(access.performed().is_empty());
}
