//! An import whose platform is killed again and again: in the end each row is one item.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::imports::{collection, ended, feature};
use crate::harness::process::Process;
use crate::harness::{Answer, User, send_file};
use crate::tests;

tests! { imports_killed:
    killed_at_random_moments_it_ends_with_each_item_once,
}

const ROWS: u64 = 3000;

async fn done(admin: &User, job: &str) -> u64 {
    admin.get(job).await.is(200)["counts"]["done"].as_u64().unwrap()
}

async fn killed_at_random_moments_it_ends_with_each_item_once() {
    let state = tempfile::tempdir().unwrap();
    let mut process = Process::start(state.path(), None).await;
    let mut admin = process.administrator();
    let new = json!({ "collectionId": "bcparks_1", "displayName": "Strathcona Park", "isVisible": true });
    admin.post("/parks/collections", new).await.is(201);
    let place = |n: u64| json!({ "type": "Point", "coordinates": [-125.0, n as f64 / 100.0] });
    let features: Vec<Value> =
        (1..=ROWS).map(|n| feature(&format!("row-{n}"), &format!("Row {n}"), &place(n))).collect();
    let file = collection(&features);
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len() });
    let announced = admin.post("/parks/imports", new).await.is(201);
    assert_eq!(send_file(&announced, &file).await, 200);
    let job = announced.header("location").to_owned();
    let mut before = 0;
    for _ in 0..3 {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        loop {
            let now = done(&admin, &job).await;
            assert!(now < ROWS, "it ended before it was killed");
            if now > before {
                before = now;
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "it does not go on after {now}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50))).await;
        process.kill().await;
        process = Process::start(state.path(), None).await;
        admin = process.administrator();
    }
    let job = ended(&admin, &job).await;
    assert_eq!(job["counts"], json!({ "total": ROWS, "done": ROWS, "failed": 0 }), "{}", job.told());
    let pages = admin.pages("/parks/facilities/bcparks_1", 100).await;
    let names: Vec<&str> = pages.iter().flat_map(|page| page.each("displayName")).filter_map(Value::as_str).collect();
    assert_eq!((names.len() as u64, names.iter().collect::<BTreeSet<_>>().len() as u64), (ROWS, ROWS));
    // Each counts once, and a second time it changes nothing.
    let counts = |refused: Answer| refused.refused(409, "has-dependents")["counts"].clone();
    assert_eq!(counts(admin.delete("/parks/collections/bcparks_1").await), json!({ "facilities": ROWS }));
}
