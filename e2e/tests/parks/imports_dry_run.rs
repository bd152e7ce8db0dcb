//! Imports that only report what they would do.

use serde_json::json;

use super::cascades_stopped::kept;
use super::imports::{TRAILS, collection, feature, import, import_with, point};
use super::imports_refused::faults;
use super::shapes::ellipse;
use crate::harness::Cairn;
use crate::tests;

tests! { imports_dry_run:
    dry_run_counts_rows_and_writes_nothing,
    dry_run_reports_the_faults_of_an_import,
}

async fn dry_run_counts_rows_and_writes_nothing() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let ring: serde_json::Value = serde_json::from_str(&ellipse([-125.5, 49.6], [0.4, 0.25], 1000, 7)).unwrap();
    let mut features: Vec<_> =
        (0..70).map(|n| feature(&format!("p{n}"), &format!("Point {n}"), &point(-125.0, 49.0))).collect();
    features.push(feature("large", "Large", &json!({ "type": "Polygon", "coordinates": [ring] })));
    features.push(feature("null", "Null Island", &point(0.0, 0.0)));
    let before = kept(&cairn).await;
    let job = import_with(&admin, "geojson", json!({ "dryRun": true }), &collection(&features)).await;
    assert_eq!((job.text("status"), &job["dryRun"]), ("succeeded", &json!(true)), "{}", job.told());
    assert_eq!(job["counts"], json!({ "total": 72, "done": 71, "failed": 1 }), "{}", job.told());
    assert!(kept(&cairn).await == before, "a dry run writes");
    assert!(admin.get(TRAILS).await.is(200).sks().is_empty());
    let geometries = cairn.bucket("parks").join("geometries");
    assert!(!geometries.exists() || std::fs::read_dir(geometries).unwrap().next().is_none());

    // No number was allocated, and the import does what was said.
    let job = import_with(&admin, "geojson", json!({ "dryRun": false }), &collection(&features)).await;
    assert_eq!(job["counts"], json!({ "total": 72, "done": 71, "failed": 1 }), "{}", job.told());
    assert!(job.body.get("dryRun").is_none());
    assert_eq!(admin.get(&format!("{TRAILS}/trail/1")).await.is(200)["externalId"], "p0");

    // Neither are items updated or hidden.
    let before = kept(&cairn).await;
    for feature in &mut features {
        feature["properties"]["displayName"] = json!("Changed");
        feature["properties"]["isVisible"] = json!(false);
    }
    let job = import_with(&admin, "geojson", json!({ "dryRun": true }), &collection(&features)).await;
    assert_eq!(job["counts"], json!({ "total": 72, "done": 71, "failed": 1 }), "{}", job.told());
    assert!(kept(&cairn).await == before, "a dry run writes");
}

async fn dry_run_reports_the_faults_of_an_import() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    import(&admin, "geojson", &collection(&[feature("gone", "Gone", &point(1.0, 1.0))])).await;
    admin.delete(&format!("{TRAILS}/trail/1")).await.is(204);
    let rows = "externalId,displayName,type,longitude,latitude\ngone,Back,trail,1,1\na,A,trail,1,1\na,A,trail,1,1\n\
        b,B,camp,1,1\n";
    let tried = import_with(&admin, "csv", json!({ "dryRun": true }), rows).await;
    let done = import(&admin, "csv", rows).await;
    assert_eq!(tried["counts"], json!({ "total": 4, "done": 1, "failed": 3 }), "{}", tried.told());
    assert_eq!(tried["counts"], done["counts"]);
    assert_eq!(faults(&tried).await, faults(&done).await);
    let refused = import_with(&admin, "csv", json!({ "dryRun": true }), "externalId,name\n").await;
    assert_eq!(refused["status"], "failed");
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "csv", "bytes": 5, "dryRun": "no" });
    admin.post("/parks/imports", new).await.faulty(&["/dryRun"]);
}
