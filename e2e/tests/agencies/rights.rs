//! Who may see and do what, beside what `e2e/tenancy.md` states of every operation: scenario 4 is there.

use serde_json::json;

use super::stage::Stage;
use crate::tests;

tests! { rights:
    who_is_in_no_agency_finds_nothing,
    scenario_05_absent_agency,
}

async fn who_is_in_no_agency_finds_nothing() {
    let stage = Stage::new().await;
    let none = stage.somebody("fay", Some("fay@example.org")).await;
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

async fn scenario_05_absent_agency() {
    let stage = Stage::new().await;
    let before = stage.table().items().await.len();
    let absent = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members";
    stage.root.post(absent, json!({ "idpid": "idp:fay" })).await.refused(404, "not-found");
    assert_eq!(stage.table().items().await.len(), before);
}
