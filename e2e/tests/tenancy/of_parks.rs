//! The stage of parks: a visible collection with a visible and a hidden item of each kind, and a hidden collection.

use local::Served;
use serde_json::{Value, json};

use super::stage::{Parts, Stage, Thing};
use crate::harness::{Cairn, User};
use crate::parks::shapes::rectangle;

const ABSENT: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

pub async fn stage(served: &'static Served) -> Stage {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let hidden = json!({ "collectionId": "hidden_1", "displayName": "Quokka", "isVisible": false });
    admin.post("/parks/collections", hidden).await.is(201);
    let mut zones = Vec::new();
    for (collection, number, name) in
        [("bcparks_1", 1, "Bedwell"), ("bcparks_1", 2, "Quokka"), ("hidden_1", 1, "Quokka"), ("hidden_1", 2, "Quokka")]
    {
        let visible = name == "Bedwell";
        let zone = all_kinds(&admin, collection, number, name, visible).await;
        zones.push(zone);
    }
    let upload = admin.post("/parks/geometries/uploads", json!({ "bytes": 100 })).await.is(201);
    let import = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": 100 });
    let mut jobs = Vec::new();
    for _ in 0..2 {
        jobs.push(admin.post("/parks/imports", import.clone()).await.is(201).text("id").to_owned());
    }
    let stranger = cairn.token("eve", &["agencies-admin", "tracker-admin"]).await;
    let stranger = cairn.user("stranger", &format!("Bearer {stranger}"));
    let platform = cairn.token("pat", &["platform-admin"]).await;
    let platform = cairn.user("platform", &format!("Bearer {platform}"));
    let parts = Parts {
        principals: vec![("stranger", stranger), ("administrator", admin), ("platform", platform)],
        expired: ("ada", &["parks-admin"]),
        things: vec![
            Thing::new("collection", "bcparks_1", "hidden_1", "absent_1"),
            Thing::same("facilityType", "campground"),
            Thing::same("activityType", "dayuse"),
            Thing::new("number", "1", "2", "77"),
            Thing::new("activity", "1", "2", "77"),
            Thing::same("date", "2025-12-31"),
            Thing::same("shape", "boundary"),
            Thing::new("globalId", &zones[0], &zones[1], ABSENT),
            Thing::new("pk", "geozone::bcparks_1", "geozone::hidden_1", "geozone::absent_1"),
            Thing::new("sk", "1", "2", "77"),
            Thing::new("pk1", "geozone::bcparks_1", "geozone::hidden_1", "geozone::absent_1"),
            Thing::new("sk1", "1", "2", "77"),
            Thing::new("pk2", "facility::bcparks_1", "facility::hidden_1", "facility::absent_1"),
            Thing::new("sk2", "campground::1", "campground::2", "campground::77"),
            Thing::new("jobId", &jobs[0], ABSENT, ABSENT),
            Thing::new("uploadId", upload.text("uploadId"), ABSENT, ABSENT),
            Thing::new("collectionId", "bcparks_1", "hidden_1", "absent_1"),
            Thing::new("shapeOf", &zones[0], &zones[1], ABSENT),
        ],
        texts: Vec::new(),
        outsiders: &["none", "expired", "stranger", "platform"],
        insiders: &["none", "stranger", "platform"],
        others: "administrator",
        bodies: Vec::new(),
        word: "quokka",
        removal: None,
        ..Parts::default()
    };
    Stage::new(cairn, served, parts).await
}

/// Creates an item of each kind with this number, and relationships between them. Returns the id of the geozone.
async fn all_kinds(admin: &User, collection: &str, number: u32, name: &str, visible: bool) -> String {
    let make = async |path: String, more: Value| {
        let mut new = json!({ "displayName": name, "isVisible": visible });
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = admin.post(&path, new).await.is(201);
        assert_eq!(made["number"], number, "{}", made.told());
        made
    };
    let boundary = rectangle(-125.7, 49.4, -125.5, 49.6);
    let zone = make(format!("/parks/geozones/{collection}"), json!({ "boundary": boundary })).await;
    let camp = json!({ "facilityType": "campground", "boundary": boundary });
    make(format!("/parks/facilities/{collection}"), camp).await;
    let activity = json!({ "activityType": "dayuse", "boundary": boundary });
    make(format!("/parks/activities/{collection}"), activity).await;
    let days = json!({ "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30" });
    let products = format!("/parks/products/{collection}/dayuse/1");
    make(products.clone(), days).await;
    let days = json!({ "from": "2025-12-01", "to": "2026-01-31", "status": "open" });
    admin.post(&format!("{products}/{number}/dates"), days).await.is(200);
    let ends =
        [format!("facility::{collection}/campground::{number}"), format!("activity::{collection}/dayuse::{number}")];
    for end in ends {
        let related = format!("/parks/relationships/geozone::{collection}/{number}/{end}");
        admin.call(reqwest::Method::PUT, &related).await.is(201);
    }
    zone.text("globalId").to_owned()
}
