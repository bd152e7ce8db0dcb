//! The engines as processes: they start, keep their data, and never outlive their parent.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use local::Progress;
use local::engine::dynoxide::Dynoxide;
use local::engine::{opensearch, osmem};
use local::install::maven::{Installed, Unavailable};
use local::install::{Cache, Tools};
use serde_json::{Value, json};
use table::{Clock, Config, Engines, create_tables};

use super::streams::SYSTEM;

/// Installs OpenSearch. Returns none, and prints the reason, if Java or Maven is missing.
async fn program() -> Option<Installed> {
    match opensearch::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &Progress::silent()).await {
        Ok(installed) => Some(installed),
        Err(Unavailable::Missing(what)) => {
            assert!(what.contains("Java 17") || what.contains("Maven"), "{what}");
            None
        }
        Err(Unavailable::Failed(error)) => panic!("{error}"),
    }
}

/// The engines of a program that has only DynamoDB.
pub fn engines_at(dynamodb: &str) -> Arc<Engines> {
    let config = Config {
        dynamodb: Some(dynamodb.to_owned()),
        credentials: Some(("local".to_owned(), "local".to_owned())),
        ..Config::new("local", "http://127.0.0.1:1")
    };
    Engines::new(config, Clock::system())
}

async fn count(url: &str) -> u64 {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        // The first second after a start, shards may still be recovering.
        let answer = reqwest::get(format!("{url}/toys/_count")).await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        if let Some(count) = answer["count"].as_u64() {
            return count;
        }
        assert!(Instant::now() < deadline, "{answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Kills the example `engines`, which starts OpenSearch, as the end of a developer's terminal does.
#[tokio::test]
async fn opensearch_dies_with_its_parent_and_keeps_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut parent = engines_example(folder.path());
    let Some(program) = program().await else {
        assert!(!parent.wait().unwrap().success(), "it has started what is not there");
        return;
    };
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap().strip_prefix("CAIRN_SEARCH_ENDPOINT=").unwrap().to_owned();
    lines.next().unwrap().unwrap();

    let client = reqwest::Client::new();
    let settings = json!({"settings": {"number_of_replicas": 0, "refresh_interval": "200ms"}});
    assert!(client.put(format!("{url}/toys")).json(&settings).send().await.unwrap().status().is_success());
    let stored = client.put(format!("{url}/toys/_doc/1")).json(&json!({"a": 1})).send().await.unwrap();
    assert_eq!(stored.status(), 201);

    parent.kill().unwrap();
    let killed = Instant::now();
    parent.wait().unwrap();
    while reqwest::get(&url).await.is_ok() {
        assert!(killed.elapsed() < Duration::from_secs(30), "OpenSearch outlives its parent");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (data, log) = (folder.path().join("opensearch"), folder.path().join("opensearch.log"));
    let (process, url) = opensearch::start(&program, opensearch::Lifetime::Short, &data, &log).await.unwrap();
    assert_eq!(count(&url).await, 1);
    process.stop().await;
}

fn engines_example(folder: &Path) -> Child {
    let tests = std::env::current_exe().unwrap();
    let program: PathBuf = tests.ancestors().nth(2).unwrap().join("examples/engines");
    Command::new(program)
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn osmem_indexes_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let program = osmem::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &Progress::silent()).await.unwrap();
    let (process, url) = osmem::start(&program, &folder.path().join("osmem.log")).await.unwrap();
    let answer: Value = reqwest::get(&url).await.unwrap().json().await.unwrap();
    assert!(answer["version"]["number"].is_string(), "{answer}");
    process.stop().await;
}

/// Without an index a read scans all records of a stream.
#[tokio::test]
async fn last_record_of_a_long_stream_is_read_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dynamodb.sqlite");
    let dynoxide = Dynoxide::start(Some(&file)).await.unwrap();
    for query in [
        "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = 'a'",
        "SELECT new_image FROM _stream_records WHERE table_name = 'a' AND shard_id = 's'
         AND CAST(sequence_number AS INTEGER) > 7 ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 9",
    ] {
        let plan = plan(&file, query);
        assert!(
            plan.contains("USING INDEX cairn_stream_position")
                || plan.contains("USING COVERING INDEX cairn_stream_position"),
            "{plan}"
        );
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
    dynoxide.stop().await;
}

/// Without a `Limit` a scan reads the whole table for each page, and a scan of a segment sorts it.
#[tokio::test]
async fn scan_past_the_platform_gets_short_pages_by_an_index() {
    const ITEMS: usize = 600;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dynamodb.sqlite");
    let dynoxide = Dynoxide::start(Some(&file)).await.unwrap();
    let (platform, program) = (engines_at(&dynoxide.endpoint), engines_at(&dynoxide.front));
    create_tables(platform.dynamodb(), &platform.config, &SYSTEM).await.unwrap();
    let table = platform.config.table("toys");
    for _ in 0..2 {
        dynoxide.index_scans(&table).await.unwrap();
    }
    for toy in 0..ITEMS {
        let put = program.dynamodb().put_item().table_name(&table);
        put.item("pk", AttributeValue::S(format!("toy::{toy}"))).send().await.unwrap();
    }
    for segments in [None, Some(4)] {
        let mut found = HashSet::new();
        for segment in 0..segments.unwrap_or(1) {
            let scan = program.dynamodb().scan().table_name(&table).set_total_segments(segments);
            let mut pages = scan.set_segment(segments.map(|_| segment)).into_paginator().send();
            while let Some(page) = pages.next().await {
                let page = page.unwrap();
                assert!(page.scanned_count() < 300, "{}", page.scanned_count());
                found.extend(page.items().iter().map(|item| item["pk"].as_s().unwrap().clone()));
            }
        }
        assert_eq!(found.len(), ITEMS);
    }
    // Requests that DynamoDB refuses are refused, too.
    let refused = program.dynamodb().scan().table_name("nowhere").send().await.unwrap_err().into_service_error();
    assert!(refused.is_resource_not_found_exception(), "{refused:?}");

    let plan = plan(
        &file,
        &format!(
            "SELECT pk, sk, item_json FROM \"{table}\" WHERE (hash_prefix, pk, sk) > ('7', 'a', 'b')
             AND substr(hash_prefix, 1, 3) >= '400' ORDER BY hash_prefix, pk, sk LIMIT 9"
        ),
    );
    assert!(plan.contains("USING INDEX cairn_scan") && !plan.contains("TEMP B-TREE"), "{plan}");
    dynoxide.stop().await;
}

/// Web pages can send requests to any port of the machine, and dynoxide would let each page read the response.
#[tokio::test]
async fn endpoint_of_dynamodb_is_closed_to_web_pages() {
    let dynoxide = Dynoxide::start(None).await.unwrap();
    let client = reqwest::Client::new();
    let list = |origin: Option<&str>| {
        let request = client.post(&dynoxide.front).header("x-amz-target", "DynamoDB_20120810.ListTables");
        let request = request.header("content-type", "application/x-amz-json-1.0").body("{}");
        // The signature is not verified.
        let scope = "Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=00";
        let request = request.header("authorization", format!("AWS4-HMAC-SHA256 {scope}"));
        let request = request.header("x-amz-date", "20260101T000000Z");
        origin.into_iter().fold(request, |request, origin| request.header("origin", origin)).send()
    };
    let preflight = client.request(reqwest::Method::OPTIONS, &dynoxide.front).header("origin", "https://evil.example");
    let preflight = preflight.header("access-control-request-method", "POST").send().await.unwrap();
    for answer in [preflight, list(Some("https://evil.example")).await.unwrap()] {
        assert_eq!(answer.status(), 403);
        assert!(!answer.headers().contains_key("access-control-allow-origin"), "{answer:?}");
    }
    assert_eq!(list(None).await.unwrap().status(), 200);
    dynoxide.stop().await;
}

fn plan(file: &Path, query: &str) -> String {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
    let details = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
    details.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

/// Handled records are deleted except for the last, from which the next sequence numbers count on.
#[tokio::test]
async fn handled_stream_records_are_trimmed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dynamodb.sqlite");
    let dynoxide = Dynoxide::start(Some(&file)).await.unwrap();
    let engines = engines_at(&dynoxide.endpoint);
    create_tables(engines.dynamodb(), &engines.config, &SYSTEM).await.unwrap();
    let put = async |toy: u64| {
        let put = engines.dynamodb().put_item().table_name(engines.config.table("toys"));
        put.item("pk", AttributeValue::S(toy.to_string())).send().await.unwrap();
    };
    let records = || {
        let connection = rusqlite::Connection::open(&file).unwrap();
        let query = "SELECT CAST(sequence_number AS INTEGER) FROM _stream_records ORDER BY 1";
        let mut statement = connection.prepare(query).unwrap();
        statement.query_map([], |row| row.get::<_, u64>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    for toy in 0..20 {
        put(toy).await;
    }
    let before = records();
    assert_eq!(before.len(), 20);
    // In answers a sequence number has 21 digits.
    let last = 100_000_000_000_000_000_000 + u128::from(before[19]);
    assert_eq!(dynoxide.trim(&engines.config.table("toys"), last).await.unwrap(), 19);
    assert_eq!(dynoxide.trim("others", last).await.unwrap(), 0);
    put(20).await;
    // The last handled record stays, so that the next numbers count on from it.
    let left = records();
    assert!(left.len() == 2 && left[0] == before[19] && left[0] < left[1], "{left:?} after {before:?}");
    dynoxide.stop().await;
}
