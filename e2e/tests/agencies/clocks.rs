//! Hosts whose clocks differ.

use std::time::Duration;

use local::identity::Person;
use serde_json::json;
use table::Clock;

use super::detour::Detour;
use super::stage::{Stage, hash, idp, invitation, root};
use crate::harness::Answer;
use crate::tests;

tests! { agency_clocks:
    modified_of_an_agency_grows_although_a_clock_is_behind,
    modified_of_members_and_invitations_grows_although_a_clock_is_behind,
}

const N: &str = "/agencies/n";
const BOB: &str = "/agencies/n/members/idp:bob";
const INVITATIONS: &str = "/agencies/n/invitations";
const ACCEPT: &str = "/agencies/me/invitations/n/accept";
const DECLINE: &str = "/agencies/me/invitations/n/decline";

/// A platform, and a host of its functions whose clock is an hour behind the platform's.
async fn with_host_behind() -> (Stage, Detour) {
    let stage = Stage::new().await;
    let behind = Detour::with_clock(&stage, Clock::system()).await;
    stage.cairn.clock.advance(Duration::from_secs(3600));
    (stage, behind)
}

/// Asserts that the second response is of a later state than the first.
#[track_caller]
fn is_later(before: &Answer, after: &Answer) {
    assert!(after.text("modified") > before.text("modified"), "{} {}", before.told(), after.told());
    assert!(after.rev() > before.rev(), "{} {}", before.told(), after.told());
}

async fn modified_of_an_agency_grows_although_a_clock_is_behind() {
    let (stage, behind) = with_host_behind().await;
    let (ann, root) = (behind.user("ann", idp("ann")), behind.user("root", root()));
    let renamed = stage.ann.patch(N, json!({ "name": "Far North" })).await.is(200);
    let renamed_again = ann.patch(N, json!({ "name": "Near North" })).await.is(200);
    is_later(&renamed, &renamed_again);
    let deactivated = root.post("/agencies/n/deactivate", json!({})).await.is(200);
    is_later(&renamed_again, &deactivated);
    assert_eq!(stage.root.get(N).await.is(200)["modified"], deactivated["modified"]);
    // The deletion stops after the mark, since no job runs.
    stage.cairn.engines().wind_down();
    behind.app.engines().wind_down();
    root.delete("/agencies/n?cascade=true").await.is(202);
    let marked = stage.table().get("AGENCY#n", "AGENCY#n").await.unwrap();
    assert!(marked["modified"].as_s().unwrap().as_str() > deactivated.text("modified"), "{marked:?}");
}

async fn modified_of_members_and_invitations_grows_although_a_clock_is_behind() {
    let (stage, behind) = with_host_behind().await;
    let person = |subject: &'static str, address: &'static str| {
        behind.user(subject, Person { address: Some(address), ..idp(subject) })
    };
    let (ann, bob, eve) =
        (behind.user("ann", idp("ann")), person("bob", "bob@example.org"), person("eve", "eve@example.org"));
    let read = async |address: &str| stage.ann.get(&format!("{INVITATIONS}/{}", hash(address))).await.is(200);

    let renamed = stage.ann.patch(BOB, json!({ "displayName": "Bob Hill" })).await.is(200);
    let promoted = ann.patch(BOB, json!({ "role": "admin" })).await.is(200);
    is_later(&renamed, &promoted);
    let invited = stage.ann.post(INVITATIONS, invitation("bob@example.org")).await.is(201);
    let accepted = bob.post(ACCEPT, json!({})).await.is(200);
    is_later(&promoted, &accepted);
    is_later(&invited, &read("bob@example.org").await);

    let mut last = stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    ann.delete(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(204);
    for (verb, status) in [(DECLINE, 200), (ACCEPT, 201)] {
        let settled = read("eve@example.org").await;
        is_later(&last, &settled);
        let invited = ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
        is_later(&settled, &invited);
        eve.post(verb, json!({})).await.is(status);
        last = invited;
    }
    let settled = read("eve@example.org").await;
    is_later(&last, &settled);
    assert_eq!(settled["status"], "accepted");
}
