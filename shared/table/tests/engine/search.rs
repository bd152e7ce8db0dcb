//! Answers as OpenSearch gives them, from a listener that gives one to everybody.

use serde_json::json;
use table::{Access, AccessPattern, Call, Clock, Config, Engines, SearchError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::shop::engines;

static FIND: AccessPattern = AccessPattern { name: "find", calls: &[Call::Search { alias: "shop" }] };

/// A listener that answers so, and what it was asked.
async fn answering(status: u16, body: &str) -> (Access, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let (asked, questions) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut question = String::new();
            let mut part = [0; 4096];
            while !question.ends_with('}') {
                let length = stream.read(&mut part).await.unwrap();
                question.push_str(std::str::from_utf8(&part[..length]).unwrap());
            }
            asked.send(question).unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (reaching(endpoint), questions)
}

fn reaching(search: String) -> Access {
    static GRANTED: &[&AccessPattern] = &[&FIND];
    let config = Config { search, ..engines("http://127.0.0.1:1").config.clone() };
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

async fn ask(access: &Access) -> Result<serde_json::Value, SearchError> {
    access.search(&FIND, "shop", &json!({"query": {"match_all": {}}})).await
}

#[tokio::test]
async fn a_whole_answer_comes_back() {
    let whole = r#"{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{}}"#;
    let (access, mut questions) = answering(200, whole).await;
    assert_eq!(ask(&access).await.unwrap()["took"], 1);
    let question = questions.recv().await.unwrap();
    assert!(
        question.starts_with("POST /test-shop/_search?allow_partial_search_results=false HTTP/1.1\r\n"),
        "{question}"
    );
    assert!(question.ends_with(r#"{"query":{"match_all":{}}}"#), "{question}");
    assert_eq!(access.performed()[0].call, Call::Search { alias: "shop" });
}

#[tokio::test]
async fn a_partial_answer_is_none() {
    for partial in [
        r#"{"timed_out":true,"_shards":{"total":1,"successful":1}}"#,
        r#"{"timed_out":false,"_shards":{"total":2,"successful":1}}"#,
        r#"{"timed_out":false}"#,
        r#"{}"#,
        r#"[}"#,
    ] {
        let (access, _questions) = answering(200, partial).await;
        assert!(matches!(ask(&access).await, Err(SearchError::Unavailable(_))), "{partial}");
    }
}

#[tokio::test]
async fn a_query_that_is_refused_is_told_from_a_search_that_is_down() {
    let (access, _questions) = answering(400, r#"{"error":{"type":"parsing_exception"}}"#).await;
    assert!(matches!(ask(&access).await, Err(SearchError::Refused(reason)) if reason.contains("parsing_exception")));
    for status in [404, 429, 500, 503] {
        let (access, _questions) = answering(status, "{}").await;
        assert!(matches!(ask(&access).await, Err(SearchError::Unavailable(_))), "{status}");
    }
    for endpoint in ["http://127.0.0.1:1", "nowhere"] {
        let access = reaching(endpoint.to_owned());
        assert!(matches!(ask(&access).await, Err(SearchError::Unavailable(_))), "{endpoint}");
    }
}

#[tokio::test]
async fn an_undeclared_alias_is_not_searched() {
    let access = reaching("http://127.0.0.1:1".to_owned());
    let refused: Result<serde_json::Value, _> = access.search(&FIND, "secrets", &json!({})).await;
    assert!(matches!(refused, Err(SearchError::Undeclared(_))));
    assert!(access.performed().is_empty());
}
