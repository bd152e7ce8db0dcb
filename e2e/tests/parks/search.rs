//! `GET` and `POST /parks/search`, `/parks/suggest`.

use serde_json::json;

use crate::harness::Cairn;
use crate::tests;

tests! { search:
    scenario_01_discovery,
}

async fn scenario_01_discovery() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let lakes = json!({
        "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "searchTerms": ["cream lake"], "isVisible": true
    });
    admin.post("/parks/geozones/bcparks_1", lakes).await.is(201);
    for q in ["bedwel lak", "CREAM", "bed"] {
        let found = visitor.search(&format!("q={q}")).await;
        found.are(&["Bedwell Lakes"]);
        assert_eq!((&found[0]["pk"], &found[0]["sk"]), (&json!("geozone::bcparks_1"), &json!("1")), "{q}");
        assert_eq!(found[0]["location"], json!([-125.589, 49.498]));
    }
    visitor.search("q=bedwell kayak").await.is_nothing();
}
