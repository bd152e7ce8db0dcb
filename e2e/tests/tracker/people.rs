//! The memberships of a person in all tenants, for platform administrators.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use table::{Config, Engines};

use super::fixture::{Fixture, TENANT, person, platform_admin};
use crate::harness::delay::Delay;
use crate::harness::stopper::Moment;
use crate::tests;

tests! { tracker_people:
    person_is_listed_in_and_removed_from_all_tenants,
    only_administrator_of_a_tenant_is_not_removed,
    #[long] removal_that_runs_out_of_time_is_completed_by_the_next,
    tenants_of_a_person_are_for_platform_administrators,
}

const EVE: &str = "/tracker/people/local:eve/tenants";

async fn person_is_listed_in_and_removed_from_all_tenants() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let eve = person(&fixture.cairn, "eve").await;
    let member = json!({ "idpid": "local:eve", "role": "editor" });
    fixture.ada.post(&format!("{TENANT}/members"), member.clone()).await.is(201);
    let mut tenants = vec![TENANT.to_owned()];
    for name in ["Aquarium", "Zoo"] {
        let made = pat.post("/tracker/tenants", json!({ "name": name, "admin": "local:ada" })).await.is(201);
        let tenant = made.header("location").to_owned();
        fixture.ada.post(&format!("{tenant}/members"), member.clone()).await.is(201);
        tenants.push(tenant);
    }
    let listed = pat.get(EVE).await.is(200);
    assert_eq!(listed.each("name"), ["ACME Engineering", "Aquarium", "Zoo"], "{}", listed.told());
    assert_eq!(listed.body, eve.get("/tracker/me/tenants").await.is(200).body);
    let first = pat.get(&format!("{EVE}?limit=2")).await.is(200);
    let rest = pat.get(&format!("{EVE}?limit=2&cursor={}", first.next().unwrap())).await.is(200);
    assert_eq!((first.each("name").len(), rest.each("name")), (2, vec![&json!("Zoo")]));

    let conflicts = fixture.cairn.conflicts(0.3);
    let removed = pat.delete(EVE).await.is(200);
    drop(conflicts);
    let ids: Vec<String> = listed.each("id").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    assert_eq!((&removed["removed"], &removed["complete"]), (&json!(ids), &json!(true)), "{}", removed.told());
    assert_eq!(removed["lastAdminOf"], json!([]));
    assert_eq!(pat.get(EVE).await.is(200)["items"], json!([]));
    for tenant in &tenants {
        eve.get(tenant).await.refused(404, "not-found");
        fixture.ada.get(tenant).await.is(200);
    }
    assert_eq!(pat.delete(EVE).await.is(200)["removed"], json!([]));
}

async fn only_administrator_of_a_tenant_is_not_removed() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let zoo = pat.post("/tracker/tenants", json!({ "name": "Zoo", "admin": "local:eve" })).await.is(201);
    let member = json!({ "idpid": "local:eve", "role": "admin" });
    fixture.ada.post(&format!("{TENANT}/members"), member).await.is(201);
    let removed = pat.delete(EVE).await.is(200);
    assert_eq!((&removed["removed"], &removed["lastAdminOf"]), (&json!(["tenant-0807"]), &json!([zoo["id"]])));
    let listed = pat.get(EVE).await.is(200);
    assert_eq!((listed.each("name"), listed.each("role")), (vec![&json!("Zoo")], vec![&json!("admin")]));
    let another = json!({ "idpid": "local:ada", "role": "admin" });
    pat.post(&format!("{}/members", zoo.header("location")), another).await.is(201);
    let removed = pat.delete(EVE).await.is(200);
    assert_eq!((&removed["removed"], &removed["lastAdminOf"]), (&json!([zoo["id"]]), &json!([])));
}

/// Three removals by a slow DynamoDB exceed the 20 seconds of a request.
async fn removal_that_runs_out_of_time_is_completed_by_the_next() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let member = json!({ "idpid": "local:eve", "role": "editor" });
    fixture.ada.post(&format!("{TENANT}/members"), member.clone()).await.is(201);
    for name in ["Aquarium", "Museum", "Zoo"] {
        let made = pat.post("/tracker/tenants", json!({ "name": name, "admin": "local:ada" })).await.is(201);
        fixture.ada.post(&format!("{}/members", made.header("location")), member.clone()).await.is(201);
    }
    let tenants = pat.get(EVE).await.is(200).each("id").into_iter().cloned().collect::<Vec<_>>();
    let config = fixture.cairn.engines().config.clone();
    let delay = Delay::before(config.dynamodb.clone().unwrap(), Duration::from_secs(7), Moment::BeforeItIsSent).await;
    let config = Config { dynamodb: Some(delay.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    let authorization = format!("Bearer {}", fixture.cairn.token("pat", &["platform-admin"]).await);
    let remove = http::Request::delete(EVE).header("authorization", authorization).body(Bytes::new()).unwrap();
    let answer = app.handle(remove).await;
    assert_eq!(answer.status(), 200, "{answer:?}");
    let removed: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!((&removed["removed"], &removed["complete"]), (&json!(tenants[..3]), &json!(false)), "{removed}");
    assert_eq!(pat.get(EVE).await.is(200).each("id"), [&tenants[3]]);
    let rest = pat.delete(EVE).await.is(200);
    assert_eq!((&rest["removed"], &rest["complete"]), (&json!(tenants[3..]), &json!(true)), "{}", rest.told());
}

async fn tenants_of_a_person_are_for_platform_administrators() {
    let fixture = Fixture::new().await;
    for user in [&fixture.ada, &fixture.ann] {
        user.get(EVE).await.refused(403, "forbidden");
        user.delete("/tracker/people/local:ann/tenants").await.refused(403, "forbidden");
    }
    let pat = platform_admin(&fixture.cairn).await;
    pat.get("/tracker/people/eve/tenants").await.refused(404, "not-found");
    assert_eq!(pat.get("/tracker/people/local:nobody/tenants").await.is(200)["items"], json!([]));
}
