//! Imports of what cannot become items: rows, whole files, and files made to do harm.

use serde_json::{Value, json};

use super::imports::{TRAILS, collection, feature, import, point};
use crate::harness::{Answer, Cairn, fetch};
use crate::tests;

tests! { imports_refused:
    bad_rows_are_reported_and_skipped,
    file_of_another_format_is_refused,
    #[long] hostile_file_is_refused_within_bounded_memory,
    row_never_takes_the_external_id_of_another_item,
}

/// The faults of a job, by the link that it gives.
pub async fn faults(job: &Answer) -> Value {
    let fetched = fetch(job.text("faultsLink")).await;
    assert_eq!(fetched.status, 200, "{}", fetched.told());
    fetched.body
}

fn place(counted: &str) -> impl Fn(&Value) -> (u64, &str) {
    move |fault| {
        assert!(!fault["detail"].as_str().unwrap().is_empty());
        (fault[counted].as_u64().unwrap(), fault["pointer"].as_str().unwrap())
    }
}

async fn bad_rows_are_reported_and_skipped() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let bow = json!({ "type": "Polygon", "coordinates": [[[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]]] });
    let mut typed = feature("t", "Typed", &point(1.0, 1.0));
    typed["properties"]["facilityType"] = json!("camp");
    let mut unknown = feature("u", "Unknown", &point(1.0, 1.0));
    unknown["properties"]["OBJECTID"] = json!(7);
    let mut nameless = feature("", "Nameless", &point(1.0, 1.0));
    nameless["properties"].as_object_mut().unwrap().remove("externalId");
    let mut placeless = feature("x", "Placeless", &Value::Null);
    placeless["properties"]["minMapZoom"] = json!(23);
    let features = [
        feature("good", "Good", &point(1.0, 1.0)),
        feature("bow", "Bow", &bow),
        typed,
        unknown,
        nameless,
        placeless,
        feature("null", "Null Island", &point(0.0, 0.0)),
        json!(7),
        feature("good", "Better", &point(2.0, 2.0)),
        feature("nowhere", "Nowhere", &Value::Null),
    ];
    let job = import(&admin, "geojson", &collection(&features)).await;
    assert_eq!(job["counts"], json!({ "total": 10, "done": 1, "failed": 9 }), "{}", job.told());
    let told = faults(&job).await;
    let told: Vec<(u64, &str)> = told["faults"].as_array().unwrap().iter().map(place("feature")).collect();
    let expected = [
        (2, "/geometry/coordinates/0/3"),
        (3, "/properties/facilityType"),
        (4, "/properties/OBJECTID"),
        (5, "/properties/externalId"),
        (6, "/properties/minMapZoom"),
        (7, "/geometry"),
        (8, ""),
        (9, "/properties/externalId"),
        (10, "/geometry"),
    ];
    assert_eq!(told, expected);
    assert_eq!(admin.pages(TRAILS, 100).await[0].each("displayName"), ["Good"]);

    // A deleted item is not brought back, and its type does not change.
    admin.delete(&format!("{TRAILS}/trail/1")).await.is(204);
    let rows = "externalId,displayName,type,longitude,latitude\ngood,Back,trail,1,1\nnew,New,viewpoint,1,1\n,No,trail,1,1\n\
        new,New,trail,1,1\nz,Z,trail,1,x\nshort,row\n";
    let job = import(&admin, "csv", rows).await;
    assert_eq!(job["counts"], json!({ "total": 6, "done": 1, "failed": 5 }), "{}", job.told());
    let told = faults(&job).await;
    assert_eq!(told["faultCount"], 5);
    let told: Vec<(u64, &str)> = told["faults"].as_array().unwrap().iter().map(place("row")).collect();
    assert_eq!(told, [(2, "/externalId"), (4, "/externalId"), (5, "/externalId"), (6, "/latitude"), (7, "")]);
    let job = import(&admin, "csv", "externalId,displayName,type,longitude,latitude\nnew,New,trail,1,1\n").await;
    let told = faults(&job).await;
    assert_eq!(place("row")(&told["faults"][0]), (2, "/type"));
}

async fn file_of_another_format_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let good = feature("good", "Good", &point(1.0, 1.0)).to_string();
    let cut = collection(&[feature("good", "Good", &point(1.0, 1.0))]);
    for (format, file, told) in [
        ("geojson", format!(r#"{{"type":"FeatureCollection","features":[{good},{good}"#), "ends before"),
        ("geojson", cut[..cut.len() - 1].to_owned(), "ends before"),
        ("geojson", good.clone(), "FeatureCollection"),
        ("geojson", "externalId,displayName\na,b\n".to_owned(), "JSON"),
        ("csv", cut.clone(), "header"),
        ("csv", "externalId,displayName\na,\"b\n".to_owned(), "quote"),
        ("csv", "externalId,displayName,price\na,b,3\n".to_owned(), "`price`"),
        ("csv", format!("externalId,displayName,{}\na,b,3\n", "x".repeat(500_000)), "32768"),
    ] {
        let job = import(&admin, format, &file).await;
        assert_eq!(job["status"], "failed", "{}", job.told());
        assert!(job.text("reason").contains(told), "{}", job.told());
    }
    let rows = "externalId,displayName,longitude,latitude\n".to_owned() + &"a,A,1,1\n".repeat(50_001);
    let job = import(&admin, "csv", &rows).await;
    assert_eq!((job.text("status"), &job["counts"]["done"]), ("failed", &json!(0)));
    assert!(job.text("reason").contains("50000"), "{}", job.told());
    assert!(admin.get(TRAILS).await.is(200).sks().is_empty());
    // An empty layer is a layer.
    let job = import(&admin, "geojson", &collection(&[])).await;
    assert_eq!((job.text("status"), &job["counts"]["total"]), ("succeeded", &json!(0)));
}

/// Depth, length and emptiness that break a careless reader.
async fn hostile_file_is_refused_within_bounded_memory() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let deep = format!("{}{}", "[".repeat(3_000_000), "]".repeat(3_000_000));
    let long = "x".repeat(33 * 1024 * 1024);
    let good = feature("good", "Good", &point(1.0, 1.0));
    let rows = format!(
        r#"{{"type":"FeatureCollection","features":[{deep},"{long}",{{"type":"Feature","geometry":{deep},"properties":{{"a":{deep}}}}},{good}]}}"#
    );
    let job = import(&admin, "geojson", &rows).await;
    assert_eq!(job["counts"], json!({ "total": 4, "done": 1, "failed": 3 }), "{}", job.told());
    let told = faults(&job).await;
    let told: Vec<(u64, &str)> = told["faults"].as_array().unwrap().iter().map(place("feature")).collect();
    assert_eq!(told.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(admin.pages(TRAILS, 100).await[0].each("displayName"), ["Good"]);

    let around = format!(r#"{{"name":"{}","type":"FeatureCollection","features":[]}}"#, "x".repeat(4_000_000));
    let job = import(&admin, "geojson", &around).await;
    assert!(job.text("reason").contains("too large"), "{}", job.told());
    for file in ["\0", "{", "\u{feff}", "{\"type\":\"FeatureCollection\",\"features\":[\u{0}]}"] {
        for format in ["geojson", "csv"] {
            assert_ne!(import(&admin, format, file).await["counts"]["done"], 1);
        }
    }
}

async fn row_never_takes_the_external_id_of_another_item() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    import(&admin, "geojson", &collection(&[feature("a", "A", &point(1.0, 1.0))])).await;
    // As one sees it who has read the guard, and then the item, while an administrator gave the item another id.
    let guard = cairn.table().get("external::facility::bcparks_1", "a").await.unwrap();
    let trail = format!("{TRAILS}/trail/1");
    let other = admin.patch(&trail, json!({ "externalId": "b" })).await.is(200);
    cairn.table().put(guard).await;
    let job = import(&admin, "geojson", &collection(&[feature("a", "Another", &point(2.0, 2.0))])).await;
    assert_eq!(job["counts"], json!({ "total": 1, "done": 0, "failed": 1 }), "{}", job.told());
    let told = faults(&job).await;
    assert_eq!(place("feature")(&told["faults"][0]), (1, "/properties/externalId"));
    assert_eq!(admin.get(&trail).await.is(200).tag(), other.tag());
}
