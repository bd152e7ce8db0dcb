//! An import whose worker, or whose whole platform, is killed again and again: in the end each row is one item.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use table::{Clock, Engines};
use tokio::time::Instant;

use super::cascades::is_open;
use super::imports::{TRAILS, collection, ended, feature, point};
use super::imports_refused::faults;
use super::shapes::ellipse;
use crate::harness::process::Process;
use crate::harness::{Answer, Cairn, User, seed, send_file, sized, temporary};
use crate::tests;

tests! { imports_killed:
    import_killed_at_every_batch_imports_each_row_once,
    #[long] import_killed_at_random_imports_each_row_once,
}

async fn import_killed_at_every_batch_imports_each_row_once() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let ring: Value = serde_json::from_str(&ellipse([-125.5, 49.6], [0.4, 0.25], 1000, 7)).unwrap();
    let large = json!({ "type": "Polygon", "coordinates": [ring] });
    let geometry = |n: u64| match n % 50 {
        0 => large.clone(),
        7 => point(0.0, 0.0),
        _ => point(-125.0, 49.0),
    };
    let features: Vec<Value> = (1..=300).map(|n| feature(&format!("row-{n}"), "Row", &geometry(n))).collect();
    let file = collection(&features);
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len() });
    let announced = admin.post("/parks/imports", new).await.is(201);
    let folder = cairn.bucket("parks").join("imports");
    std::fs::create_dir_all(&folder).unwrap();
    // Put there by hand, so that no event begins the job.
    std::fs::write(folder.join(announced.text("id")), &file).unwrap();

    // A worker whose clock runs ahead: it looks for the file, and the platform's own never finds the lease ended.
    let clock = Clock::system();
    clock.advance(Duration::from_secs(21 * 60));
    let (mut deaths, mut before, mut random) = (0, 0, seed::random("imports_killed::worker"));
    let job = announced.header("location");
    let counted = async || {
        let job = admin.get(job).await.is(200);
        job["counts"]["done"].as_u64().unwrap() + job["counts"]["failed"].as_u64().unwrap()
    };
    while is_open(admin.get(job).await.is(200).text("status")) {
        let app = ::parks::app(Engines::new(cairn.engines().config.clone(), clock.clone()));
        let run = tokio::spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(60);
            let _ = app.event("runJobs", "{}".into(), deadline).await;
        });
        loop {
            let now = counted().await;
            if now > before || run.is_finished() {
                before = now;
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_micros(random.u64(0..8000))).await;
        run.abort();
        // What it had sent may still arrive.
        let _ = run.await;
        deaths += 1;
        clock.advance(Duration::from_secs(121));
    }
    assert!(deaths >= 5, "it died {deaths} times only");
    let job = ended(&admin, job).await;
    assert_eq!(job["counts"], json!({ "total": 300, "done": 294, "failed": 6 }), "{}", job.told());
    let told = faults(&job).await;
    let numbers: Vec<u64> =
        told["faults"].as_array().unwrap().iter().map(|fault| fault["feature"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [7, 57, 107, 157, 207, 257]);
    let pages = admin.pages(TRAILS, 100).await;
    let mut ids = BTreeSet::new();
    for sk in pages.iter().flat_map(Answer::sks) {
        let item = cairn.table().get("facility::bcparks_1", sk).await.unwrap();
        assert!(ids.insert(item["externalId"].as_s().unwrap().clone()), "{sk} is there twice");
    }
    assert_eq!(ids.len(), 294);
    let refused = admin.delete("/parks/collections/bcparks_1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "facilities": 294 }));
    let partitions = cairn.table().partitions().await;
    let shape = partitions.iter().find(|pk| pk.starts_with("geometry::")).unwrap();
    assert_eq!(cairn.table().get(shape, "object").await.unwrap()["refs"].as_n().unwrap(), "6");
}

async fn done(admin: &User, job: &str) -> u64 {
    admin.get(job).await.is(200)["counts"]["done"].as_u64().unwrap()
}

async fn import_killed_at_random_imports_each_row_once() {
    let (rows, kills) = sized((900, 1), (3000, 3));
    let mut random = seed::random("imports_killed::process");
    let state = temporary::folder();
    let mut process = Process::start(state.path(), None).await;
    let mut admin = process.administrator();
    let new = json!({ "collectionId": "bcparks_1", "displayName": "Strathcona Park", "isVisible": true });
    admin.post("/parks/collections", new).await.is(201);
    let place = |n: u64| json!({ "type": "Point", "coordinates": [-125.0, n as f64 / 100.0] });
    let features: Vec<Value> =
        (1..=rows).map(|n| feature(&format!("row-{n}"), &format!("Row {n}"), &place(n))).collect();
    let file = collection(&features);
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len() });
    let announced = admin.post("/parks/imports", new).await.is(201);
    assert_eq!(send_file(&announced, &file).await, 200);
    let job = announced.header("location").to_owned();
    let mut before = 0;
    for _ in 0..kills {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let now = done(&admin, &job).await;
            assert!(now < rows, "it ended before it was killed");
            if now > before {
                before = now;
                break;
            }
            assert!(Instant::now() < deadline, "it does not go on after {now}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(random.u64(0..50))).await;
        process.kill().await;
        process = Process::start(state.path(), None).await;
        admin = process.administrator();
    }
    let job = ended(&admin, &job).await;
    assert_eq!(job["counts"], json!({ "total": rows, "done": rows, "failed": 0 }), "{}", job.told());
    let pages = admin.pages("/parks/facilities/bcparks_1", 100).await;
    let names: Vec<&str> = pages.iter().flat_map(|page| page.each("displayName")).filter_map(Value::as_str).collect();
    assert_eq!((names.len() as u64, names.iter().collect::<BTreeSet<_>>().len() as u64), (rows, rows));
    // Each counts once, and a second time it changes nothing.
    let counts = |refused: Answer| refused.refused(409, "has-dependents")["counts"].clone();
    assert_eq!(counts(admin.delete("/parks/collections/bcparks_1").await), json!({ "facilities": rows }));
}
