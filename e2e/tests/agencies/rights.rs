//! Authorization beyond the statuses of `e2e/tenancy.md`.

use serde_json::json;

use super::stage::Stage;
use crate::tests;

tests! { rights:
    caller_without_agencies_finds_nothing,
    absent_agency_returns_404,
}

async fn caller_without_agencies_finds_nothing() {
    let stage = Stage::new().await;
    let none = stage.person("fay", Some("fay@example.org")).await;
    for path in ["/agencies/me/agencies", "/agencies/me/invitations", "/agencies/search?q=north"] {
        assert_eq!(none.get(path).await.is(200)["items"], json!([]), "{path}");
    }
    for verb in ["accept", "decline"] {
        let path = |agency: &str| format!("/agencies/me/invitations/{agency}/{verb}");
        let foreign = none.post(&path("n"), json!({})).await;
        let absent = none.post(&path("absent"), json!({})).await;
        assert_eq!(foreign.but_for_the_request(), absent.but_for_the_request());
        foreign.refused(404, "not-found");
    }
}

async fn absent_agency_returns_404() {
    let stage = Stage::new().await;
    let before = stage.table().items().await.len();
    let absent = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members";
    stage.root.post(absent, json!({ "idpid": "idp:fay" })).await.refused(404, "not-found");
    assert_eq!(stage.table().items().await.len(), before);
}
