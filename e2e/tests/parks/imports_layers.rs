//! Imports of layers as other programs write them: with a reference system, with attributes of their own, with rows that
//! repeat one another.

use serde_json::{Value, json};

use super::imports::{TRAILS, collection, feature, import, import_with, point};
use super::imports_refused::faults;
use crate::harness::Cairn;
use crate::tests;

tests! { imports_layers:
    layer_with_another_crs_is_refused,
    repeated_external_id_is_a_fault_at_the_later_row,
    import_faults_name_the_external_id,
    faulty_coordinates_of_a_csv_file_are_reported_at_their_columns,
    faulty_altitude_of_a_feature_is_reported_at_its_coordinate,
    rows_with_unreadable_names_are_refused,
    csv_columns_set_every_field_of_their_kind,
    unknown_attributes_are_ignored_on_request,
    csv_layer_is_read_as_spreadsheets_write_it,
}

async fn layer_with_another_crs_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let named = |name: &str| json!({ "type": "name", "properties": { "name": name } });
    let layer = |crs: Value, last: bool| {
        let (good, crs) = (feature("good", "Good", &point(1.0, 1.0)), format!(r#""crs":{crs}"#));
        let (head, tail) = if last { ("", crs.as_str()) } else { (crs.as_str(), "") };
        let comma = |text: &str| if text.is_empty() { String::new() } else { format!(",{text}") };
        format!(r#"{{"type":"FeatureCollection"{},"features":[{good}]{}}}"#, comma(head), comma(tail))
    };
    for (crs, last) in [("EPSG:3005", false), ("urn:ogc:def:crs:EPSG::4267", true), ("EPSG:3857", false)] {
        let job = import(&admin, "geojson", &layer(named(crs), last)).await;
        assert_eq!((job.text("status"), &job["counts"]["done"]), ("failed", &json!(0)), "{crs}");
        assert!(job.text("reason").contains("/crs") && job.text("reason").contains("WGS 84"), "{}", job.told());
        let told = faults(&job).await;
        assert_eq!((told["faults"][0]["pointer"].as_str(), &told["faultCount"]), (Some("/crs"), &json!(1)));
        // As of a single shape.
        let mut shape = super::shapes::rectangle(1.0, 1.0, 2.0, 2.0);
        shape["crs"] = named(crs);
        let zone = json!({ "displayName": "Zone", "boundary": shape, "location": [1, 2] });
        let refused = admin.post("/parks/geozones/bcparks_1", zone).await.faulty(&["/boundary/crs"]);
        assert_eq!(told["faults"][0]["detail"], refused.fault("/boundary/crs"));
    }
    assert!(admin.get(TRAILS).await.is(200).sks().is_empty());
    for crs in [named("urn:ogc:def:crs:OGC:1.3:CRS84"), named("EPSG:4326"), Value::Null] {
        assert_eq!(import(&admin, "geojson", &layer(crs, false)).await["counts"]["done"], 1);
    }
}

async fn repeated_external_id_is_a_fault_at_the_later_row() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    // In one batch, in others, after a row that is wrong, and three times.
    let mut features: Vec<Value> =
        (0..100).map(|n| feature(&format!("p{n}"), &format!("{n}"), &point(1.0, 1.0))).collect();
    features[3] = feature("p2", "Again", &point(2.0, 2.0));
    features[79] = feature("p2", "And again", &point(2.0, 2.0));
    features[60] = feature("wrong", "Wrong", &Value::Null);
    features[90] = feature("wrong", "Right", &point(2.0, 2.0));
    for _ in 0..2 {
        let job = import(&admin, "geojson", &collection(&features)).await;
        assert_eq!(job["counts"], json!({ "total": 100, "done": 96, "failed": 4 }), "{}", job.told());
        let told = faults(&job).await;
        let told: Vec<Value> = told["faults"].as_array().unwrap().clone();
        let at = |told: &Value| (told["feature"].as_u64().unwrap(), told["pointer"].as_str().unwrap().to_owned());
        let id = "/properties/externalId".to_owned();
        let expected = [(4, id.clone()), (61, "/geometry".to_owned()), (80, id.clone()), (91, id)];
        assert_eq!(told.iter().map(at).collect::<Vec<_>>(), expected);
        assert!(told[2]["detail"].as_str().unwrap().contains("feature 3"), "{}", told[2]);
        assert!(told[3]["detail"].as_str().unwrap().contains("feature 61"), "{}", told[3]);
    }
    let names: Vec<Value> = admin.pages(TRAILS, 100).await[0].each("displayName").into_iter().cloned().collect();
    assert_eq!(names.len(), 96);
    assert!(names.contains(&json!("2")) && !names.contains(&json!("Again")) && !names.contains(&json!("Right")));

    let rows = "externalId,displayName,type,longitude,latitude\n".to_owned() + &"a,A,trail,1,1\n".repeat(10_002);
    let job = import(&admin, "csv", &rows).await;
    assert_eq!((job.text("status"), &job["counts"]["done"]), ("failed", &json!(0)));
    assert!(job.text("reason").contains("externalId"), "{}", job.told());
}

async fn import_faults_name_the_external_id() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let mut nameless = feature("nameless", "", &point(1.0, 1.0));
    nameless["properties"]["OBJECTID"] = json!(7);
    let mut anonymous = feature("", "Anonymous", &point(1.0, 1.0));
    anonymous["properties"].as_object_mut().unwrap().remove("externalId");
    let null_island = feature("null", "Null Island", &point(0.0, 0.0));
    let job = import(&admin, "geojson", &collection(&[nameless, anonymous, null_island, json!(7)])).await;
    let told = faults(&job).await;
    let told: Vec<_> =
        told["faults"].as_array().unwrap().iter().map(|fault| (&fault["feature"], fault.get("externalId"))).collect();
    let (nameless, null) = (json!("nameless"), json!("null"));
    let expected = [
        (&json!(1), Some(&nameless)),
        (&json!(1), Some(&nameless)),
        (&json!(2), None),
        (&json!(3), Some(&null)),
        (&json!(4), None),
    ];
    assert_eq!(told, expected);
    let rows = "externalId,displayName,type,longitude,latitude\nnull,Null Island,trail,0,0\n";
    let told = faults(&import(&admin, "csv", rows).await).await;
    assert_eq!(told["faults"][0]["externalId"], "null");
}

async fn faulty_coordinates_of_a_csv_file_are_reported_at_their_columns() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let rows = "externalId,displayName,type,longitude,latitude\na,A,trail,1,91\nb,B,trail,49.28,-123.12\n\
        c,C,trail,181,1\nd,D,trail,181,91\ne,E,trail,0,0\n";
    let told = faults(&import(&admin, "csv", rows).await).await;
    let pointers: Vec<&str> =
        told["faults"].as_array().unwrap().iter().map(|fault| fault["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/latitude", "/latitude", "/longitude", "/longitude", "/latitude", "/longitude"]);
}

async fn faulty_altitude_of_a_feature_is_reported_at_its_coordinate() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let high = feature("high", "High", &json!({ "type": "Point", "coordinates": [1, 2, 1e9] }));
    let told = faults(&import(&admin, "geojson", &collection(&[high])).await).await;
    let pointers: Vec<&Value> = told["faults"].as_array().unwrap().iter().map(|fault| &fault["pointer"]).collect();
    assert_eq!(pointers, ["/geometry/coordinates/2"], "{told}");
}

async fn rows_with_unreadable_names_are_refused() {
    const NAMES: [&str; 5] = ["   ", "\t", "\u{200b}", "ctl\u{7}x", "nul\u{0}"];
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let features: Vec<Value> =
        NAMES.iter().enumerate().map(|(n, name)| feature(&format!("p{n}"), name, &point(1.0, 1.0))).collect();
    let job = import(&admin, "geojson", &collection(&features)).await;
    assert_eq!(job["counts"], json!({ "total": 5, "done": 0, "failed": 5 }), "{}", job.told());
    let told = faults(&job).await;
    for fault in told["faults"].as_array().unwrap() {
        assert_eq!(fault["pointer"], "/properties/displayName", "{told}");
    }
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use" });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    for (path, own) in [
        ("/parks/collections", json!({ "collectionId": "other" })),
        ("/parks/geozones/bcparks_1", json!({ "location": [1, 2] })),
        ("/parks/facilities/bcparks_1", json!({ "facilityType": "trail", "location": [1, 2] })),
        ("/parks/activities/bcparks_1", json!({ "activityType": "hiking" })),
        ("/parks/products/bcparks_1/dayuse/1", json!({ "rangeStart": "2026-01-01", "rangeEnd": "2026-12-31" })),
    ] {
        let named = |name: &str| {
            let mut new = own.clone();
            new["displayName"] = json!(name);
            new
        };
        for name in NAMES {
            admin.post(path, named(name)).await.faulty(&["/displayName"]);
        }
        let made = admin.post(path, named("Parc d’Oka 👩\u{200d}🚒")).await.is(201).header("location").to_owned();
        for name in NAMES {
            let refused = admin.patch(&made, json!({ "displayName": name })).await.faulty(&["/displayName"]);
            assert!(refused.fault("/displayName").contains("visible characters"), "{}", refused.told());
        }
    }
}

async fn csv_columns_set_every_field_of_their_kind() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let header = "externalId,type,displayName,longitude,latitude,isVisible,subType,address,isOpen,showOnMap,timezone,\
        imageUrls,minMapZoom,maxMapZoom,adminNotes\n";
    let row = "a,trail,Ridge,1,2,TRUE,loop,1 Lake Road,false,true,America/Vancouver,\
        https://example.org/a.jpg|https://example.org/b.jpg,3,12,steep\n";
    let job = import(&admin, "csv", &format!("{header}{row}")).await;
    assert_eq!(job["counts"], json!({ "total": 1, "done": 1, "failed": 0 }), "{}", job.told());
    let trail = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
    for (name, value) in [
        ("isVisible", json!(true)),
        ("subType", json!("loop")),
        ("address", json!("1 Lake Road")),
        ("isOpen", json!(false)),
        ("showOnMap", json!(true)),
        ("timezone", json!("America/Vancouver")),
        ("imageUrls", json!(["https://example.org/a.jpg", "https://example.org/b.jpg"])),
        ("minMapZoom", json!(3)),
        ("maxMapZoom", json!(12)),
        ("adminNotes", json!("steep")),
    ] {
        assert_eq!(trail[name], value, "{name}");
    }
    visitor.search("q=ridge").await.are(&["Ridge"]);
    // An empty cell leaves what is there.
    let job = import(&admin, "csv", "externalId,type,displayName,isVisible,address\na,trail,Ridge,,\n").await;
    assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    assert_eq!(admin.get(&format!("{TRAILS}/trail/1")).await.is(200).tag(), trail.tag());
    let job = import(&admin, "csv", &format!("{header}b,trail,B,1,2,yes,Loop,,no,,Mars,http://a,x,23,\n")).await;
    let told = faults(&job).await;
    let mut pointers: Vec<_> =
        told["faults"].as_array().unwrap().iter().map(|fault| fault["pointer"].as_str().unwrap()).collect();
    pointers.sort_unstable();
    let expected = ["/imageUrls/0", "/isOpen", "/isVisible", "/maxMapZoom", "/minMapZoom", "/subType"];
    assert_eq!(pointers, expected);
}

async fn unknown_attributes_are_ignored_on_request() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let mut object = feature("a", "A", &point(1.0, 1.0));
    object["properties"]["OBJECTID"] = json!(7);
    let layer = collection(&[object]);
    assert_eq!(import(&admin, "geojson", &layer).await["counts"]["failed"], 1);
    let job = import_with(&admin, "geojson", json!({ "unknown": "refuse" }), &layer).await;
    assert_eq!(job["counts"]["failed"], 1);
    let job = import_with(&admin, "geojson", json!({ "unknown": "ignore" }), &layer).await;
    assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    let rows = "OBJECTID,externalId,type,displayName,longitude,latitude,Shape_Area\n7,b,trail,B,1,1,2.5\n";
    let job = import(&admin, "csv", rows).await;
    assert!(job.text("reason").contains("`OBJECTID`"), "{}", job.told());
    let job = import_with(&admin, "csv", json!({ "unknown": "ignore" }), rows).await;
    assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    assert_eq!(admin.get(TRAILS).await.is(200).each("displayName"), ["A", "B"]);
    // Columns that only other kinds have, and the two without a name that trailing commas make.
    let rows = "externalId,displayName,longitude,latitude,type,address,,\nc,C,1,1,trail,Gate 7,,\n";
    let job = import_with(&admin, "csv", json!({ "entity": "geozone", "unknown": "ignore" }), rows).await;
    assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    let rows = "externalId,displayName,longitude,latitude,type,type\nc,C,1,1,trail,trail\n";
    let job = import_with(&admin, "csv", json!({ "unknown": "ignore" }), rows).await;
    assert!(job.text("reason").contains("`type` twice"), "{}", job.told());
    let bad = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "csv", "bytes": 5, "unknown": "x" });
    admin.post("/parks/imports", bad).await.faulty(&["/unknown"]);
}

async fn csv_layer_is_read_as_spreadsheets_write_it() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    for (id, between) in [("a", ";"), ("b", "\t")] {
        let header = ["externalId", "type", "displayName", "longitude", "latitude"].join(between);
        let row = [id, "trail", "Bear, Trail", "-125,5", "49,6"].join(between);
        let job = import(&admin, "csv", &format!("{header}\r\n{row}\r\n")).await;
        assert_eq!(job["counts"]["done"], 1, "{}", job.told());
    }
    let trails = admin.get(TRAILS).await.is(200);
    assert_eq!(trails.each("displayName"), ["Bear, Trail"; 2]);
    assert_eq!(trails.each("location"), [&json!([-125.5, 49.6]); 2]);
    let job = import(&admin, "csv", "externalId|displayName\na|A\n").await;
    assert_eq!(job["status"], "failed");
    assert!(job.text("reason").contains("vertical bars"), "{}", job.told());
}
