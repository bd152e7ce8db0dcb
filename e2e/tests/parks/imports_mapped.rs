//! Imports whose attributes have other names than Cairn's fields.

use serde_json::{Value, json};

use super::imports::{TRAILS, collection, import_with, point};
use super::imports_refused::faults;
use crate::harness::{Answer, Cairn};
use crate::tests;

tests! { imports_mapped:
    mapping_renames_the_properties_of_features,
    mapping_renames_the_columns_of_a_csv_file,
    mapping_exchanges_two_names,
    mapping_to_an_unknown_or_a_repeated_field_is_refused,
    mapped_name_that_the_file_lacks_fails_the_import,
    field_that_comes_twice_is_a_fault,
    mapping_of_a_repeated_external_id_is_reported_at_its_attribute,
}

/// A feature as another program writes it.
fn foreign(id: &str, name: &str, kind: &str) -> Value {
    json!({ "type": "Feature", "geometry": point(-125.0, 49.0), "properties": {
        "REF/NO": id, "NAME": name, "KIND": kind, "OBJECTID": 7
    } })
}

fn mapping() -> Value {
    json!({ "unknown": "ignore", "mapping": { "REF/NO": "externalId", "NAME": "displayName", "KIND": "facilityType" } })
}

fn pointers(told: &Value) -> Vec<&str> {
    told["faults"].as_array().unwrap().iter().map(|fault| fault["pointer"].as_str().unwrap()).collect()
}

fn failed(job: &Answer, words: &[&str]) {
    assert_eq!((job.text("status"), &job["counts"]["done"]), ("failed", &json!(0)), "{}", job.told());
    for word in words {
        assert!(job.text("reason").contains(word), "{}", job.told());
    }
}

async fn mapping_renames_the_properties_of_features() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let layer = collection(&[foreign("a", "Ridge", "trail"), foreign("b", "", "camp")]);
    let job = import_with(&admin, "geojson", mapping(), &layer).await;
    assert_eq!(job["counts"], json!({ "total": 2, "done": 1, "failed": 1 }), "{}", job.told());
    let trail = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
    assert_eq!((trail.text("displayName"), trail.text("externalId")), ("Ridge", "a"));
    // Faults name the attributes of the file.
    let told = faults(&job).await;
    let mut found = pointers(&told);
    found.sort_unstable();
    assert_eq!(found, ["/properties/KIND", "/properties/NAME"]);
    assert_eq!(told["faults"][0]["externalId"], "b");
    // The same item again.
    let job = import_with(&admin, "geojson", mapping(), &collection(&[foreign("a", "Crest", "trail")])).await;
    assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    assert_eq!(admin.get(&format!("{TRAILS}/trail/1")).await.is(200)["displayName"], "Crest");
}

async fn mapping_renames_the_columns_of_a_csv_file() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let map = json!({ "mapping": {
        "id": "externalId", "name": "displayName", "kind": "type", "lon": "longitude", "lat": "latitude",
        "map": "showOnMap"
    } });
    let rows = "id,name,kind,lon,lat,map\na,Ridge,trail,-125,49,true\nb,B,camp,x,49,perhaps\nc,C,trail,0,0,\n";
    let job = import_with(&admin, "csv", map, rows).await;
    assert_eq!(job["counts"], json!({ "total": 3, "done": 1, "failed": 2 }), "{}", job.told());
    let trail = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
    assert_eq!((trail.text("displayName"), &trail["location"]), ("Ridge", &json!([-125, 49])));
    let told = faults(&job).await;
    assert_eq!(pointers(&told), ["/lon", "/map", "/kind", "/lon"], "{told}");
}

async fn mapping_exchanges_two_names() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let map = json!({ "mapping": { "displayName": "description", "description": "displayName" } });
    let rows = "externalId,displayName,description,type,longitude,latitude\na,Steep and long,Ridge,trail,1,2\n";
    let job = import_with(&admin, "csv", map, rows).await;
    assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    let trail = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
    assert_eq!((trail.text("displayName"), trail.text("description")), ("Ridge", "Steep and long"));
}

async fn mapping_to_an_unknown_or_a_repeated_field_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let announce = async |entity: &str, format: &str, mapping: Value| {
        let new = json!({
            "collectionId": "bcparks_1", "entity": entity, "format": format, "bytes": 100, "mapping": mapping
        });
        admin.post("/parks/imports", new).await
    };
    for (entity, format, target) in [
        ("facility", "geojson", "name"),
        ("facility", "geojson", "boundary"),
        ("facility", "geojson", "longitude"),
        ("facility", "geojson", "type"),
        ("facility", "csv", "facilityType"),
        ("geozone", "csv", "type"),
        ("geozone", "csv", "isOpen"),
        ("activity", "geojson", "facilityType"),
    ] {
        let refused = announce(entity, format, json!({ "A/B": target })).await.faulty(&["/mapping/A~1B"]);
        let told = refused.fault("/mapping/A~1B");
        assert!(told.contains(target) && told.contains("displayName"), "{}", refused.told());
    }
    let twice = json!({ "A": "displayName", "B": "displayName", "": "description" });
    let refused = announce("facility", "csv", twice).await.faulty(&["/mapping/", "/mapping/B"]);
    assert!(refused.fault("/mapping/B").contains("`A`"), "{}", refused.told());
    announce("facility", "csv", json!("A")).await.faulty(&["/mapping"]);
    announce("facility", "csv", json!({ "A": 7 })).await.faulty(&["/mapping/A"]);
    let long = "x".repeat(257);
    announce("facility", "csv", json!({ &long: "displayName" })).await.faulty(&[&format!("/mapping/{long}")]);
    announce("facility", "csv", json!({})).await.is(201);
}

async fn mapped_name_that_the_file_lacks_fails_the_import() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let mut more = mapping();
    more["mapping"]["ABOUT"] = json!("description");
    let (mut one, two) = (foreign("a", "A", "trail"), foreign("b", "B", "trail"));
    let job = import_with(&admin, "geojson", more.clone(), &collection(&[one.clone(), two.clone()])).await;
    failed(&job, &["`ABOUT`", "mapping"]);
    let rows = "REF/NO,NAME,KIND,longitude,latitude\na,A,trail,1,1\n";
    let csv = json!({ "mapping": {
        "REF/NO": "externalId", "NAME": "displayName", "KIND": "type", "ABOUT": "description"
    } });
    failed(&import_with(&admin, "csv", csv, rows).await, &["`ABOUT`", "mapping"]);
    assert!(admin.get(TRAILS).await.is(200).sks().is_empty());
    // A feature need not have what another one has.
    one["properties"]["ABOUT"] = json!("Steep");
    let job = import_with(&admin, "geojson", more, &collection(&[two, one])).await;
    assert_eq!(job["counts"]["done"], 2, "{}", job.told());
}

async fn field_that_comes_twice_is_a_fault() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let mut twice = foreign("a", "A", "trail");
    twice["properties"]["displayName"] = json!("Another");
    let job = import_with(&admin, "geojson", mapping(), &collection(&[twice, foreign("b", "B", "trail")])).await;
    assert_eq!(job["counts"], json!({ "total": 2, "done": 1, "failed": 1 }), "{}", job.told());
    let told = faults(&job).await;
    assert_eq!(pointers(&told), ["/properties/displayName"]);
    assert!(told["faults"][0]["detail"].as_str().unwrap().contains("`NAME`"), "{told}");
    let map = json!({ "mapping": { "NAME": "displayName" } });
    let rows = "externalId,displayName,NAME,type,longitude,latitude\na,A,B,trail,1,1\n";
    failed(&import_with(&admin, "csv", map, rows).await, &["`NAME`", "`displayName`"]);
}

async fn mapping_of_a_repeated_external_id_is_reported_at_its_attribute() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let layer = collection(&[foreign("a", "A", "trail"), foreign("a", "B", "trail")]);
    let job = import_with(&admin, "geojson", mapping(), &layer).await;
    assert_eq!(job["counts"], json!({ "total": 2, "done": 1, "failed": 1 }), "{}", job.told());
    let told = faults(&job).await;
    assert_eq!(pointers(&told), ["/properties/REF~1NO"]);
    assert_eq!(told["faults"][0]["externalId"], "a");
}
