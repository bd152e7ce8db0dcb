//! Imports that are cancelled: what they have written stays, and is counted exactly.

use std::time::Duration;

use serde_json::{Value, json};

use super::cascades_stopped::worker;
use super::imports::{TRAILS, collection, ended, feature, import, point};
use super::imports_refused::faults;
use crate::harness::stopper::Moment;
use crate::harness::{Answer, Cairn, User, send_file, sized};
use crate::tests;

tests! { imports_cancelled:
    import_without_its_file_is_cancelled_at_once,
    only_an_open_import_can_be_cancelled,
    import_cancelled_while_it_writes_counts_what_it_wrote,
    import_cancelled_after_its_worker_died_counts_what_it_wrote,
}

/// A file of facilities, of which every tenth has a fault.
fn file(rows: usize) -> String {
    let place = |row: usize| if row.is_multiple_of(10) { point(0.0, 0.0) } else { point(-125.0, 49.0) };
    let features: Vec<Value> = (1..=rows).map(|row| feature(&format!("row-{row}"), "Row", &place(row))).collect();
    collection(&features)
}

async fn announced(admin: &User, file: &str) -> Answer {
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len() });
    admin.post("/parks/imports", new).await.is(201)
}

async fn import_without_its_file_is_cancelled_at_once() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = file(5);
    let announced = announced(&admin, &file).await;
    let job = announced.header("location");
    admin.delete(job).await.is(204);
    let cancelled = admin.get(job).await.is(200);
    assert_eq!(cancelled["status"], "cancelled");
    assert!(cancelled["endedAt"].is_string() && cancelled.body.get("cancelRequested").is_none());
    admin.delete(job).await.is(204);
    // The file arrives for nothing.
    assert_eq!(send_file(&announced, &file).await, 200);
    cairn.caught_up().await;
    assert_eq!(admin.get(job).await.is(200).body, cancelled.body);
    assert!(admin.get(TRAILS).await.is(200).sks().is_empty());
}

async fn only_an_open_import_can_be_cancelled() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let imported = import(&admin, "geojson", &file(60)).await;
    let job = format!("/parks/jobs/{}", imported.text("id"));
    admin.delete(&job).await.refused(409, "not-cancellable");
    admin.delete("/parks/jobs/01890a5d-ac96-774b-bcce-b302099a8057").await.refused(404, "not-found");
    // No worker of the platform takes the job.
    cairn.engines().wind_down();
    let deletion = admin.delete("/parks/collections/bcparks_1?cascade=true").await.is(202);
    admin.delete(deletion.header("location")).await.refused(409, "not-cancellable");
}

/// Compares the counts and the faults of a cancelled import with the table.
async fn is_exact(admin: &User, cancelled: &Answer) {
    assert_eq!(cancelled["status"], "cancelled", "{}", cancelled.told());
    let (done, failed) = (&cancelled["counts"]["done"], &cancelled["counts"]["failed"]);
    let items: usize = admin.pages(TRAILS, 100).await.iter().map(|page| page.each("sk").len()).sum();
    assert_eq!(*done, items, "{}", cancelled.told());
    if *failed == 0 {
        assert!(cancelled.body.get("faultsLink").is_none());
        return;
    }
    let told = faults(cancelled).await;
    let numbers: Vec<u64> =
        told["faults"].as_array().unwrap().iter().map(|fault| fault["feature"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=failed.as_u64().unwrap()).map(|number| number * 10).collect();
    assert_eq!((numbers, &told["faultCount"]), (expected, failed));
}

async fn import_cancelled_while_it_writes_counts_what_it_wrote() {
    let rows = sized(900, 3000);
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = file(rows);
    let announced = announced(&admin, &file).await;
    let job = announced.header("location");
    assert_eq!(send_file(&announced, &file).await, 200);
    while admin.get(job).await.is(200)["counts"]["failed"] == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let requested = admin.delete(job).await.is(202);
    assert_eq!((requested.text("status"), &requested["cancelRequested"]), ("running", &json!(true)));
    assert_eq!((requested.header("location"), requested.header("retry-after")), (job, "1"));
    let cancelled = ended(&admin, job).await;
    is_exact(&admin, &cancelled).await;
    assert!(cancelled["counts"]["done"].as_u64().unwrap() < rows as u64, "{}", cancelled.told());
}

/// A worker dies at a batch, whose faults are stored already. They count only if its transaction was carried out.
async fn import_cancelled_after_its_worker_died_counts_what_it_wrote() {
    for moment in Moment::BOTH {
        let cairn = Cairn::with_strathcona().await;
        let admin = cairn.administrator().await;
        // The platform's own worker does nothing.
        cairn.engines().wind_down();
        let file = file(150);
        let announced = announced(&admin, &file).await;
        let folder = cairn.bucket("parks").join("imports");
        std::fs::create_dir_all(&folder).unwrap();
        // Put there by hand, so that no event begins the job.
        std::fs::write(folder.join(announced.text("id")), &file).unwrap();
        cairn.clock.advance(Duration::from_secs(21 * 60));
        let admin = cairn.administrator().await;
        // Transactions find the file, count its rows and write a batch. It dies at the next batch.
        assert_eq!(worker(&cairn, Some((3, moment))).await, 4);
        let job = announced.header("location");
        let before = admin.get(job).await.is(200)["counts"].clone();
        admin.delete(job).await.is(202);
        worker(&cairn, None).await;
        let cancelled = admin.get(job).await.is(200);
        is_exact(&admin, &cancelled).await;
        assert_eq!(cancelled["counts"], before, "{moment:?}");
        let written = if moment == Moment::AfterItIsDone { 6 } else { 3 };
        assert_eq!(cancelled["counts"]["failed"], written, "{moment:?}: {}", cancelled.told());
    }
}
