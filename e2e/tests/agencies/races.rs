//! What others do between a request's reads and its write.

use ::agencies::item::Removal;
use ::agencies::keys::removal_key;
use futures::future::join_all;
use local::identity::Person;
use serde_json::json;
use table::Idpid;
use tokio::join;

use super::detour::Detour;
use super::stage::{Stage, dee, hash, idp, invitation, root, stored};
use crate::harness::stopper::WRITES;
use crate::harness::{Answer, Call, User};
use crate::tests;

tests! { agency_races:
    agency_being_deleted_cannot_be_updated,
    deactivated_agency_cannot_be_updated_by_its_administrators,
    response_matches_its_etag_during_concurrent_updates,
    update_with_if_match_never_overwrites_another,
    overtaken_update_with_if_match_of_any_tag_succeeds,
    removal_with_if_match_is_retried_if_the_member_has_not_changed,
    same_idempotency_key_at_once_creates_one_invitation,
    invitation_revoked_during_acceptance_is_not_accepted,
    removal_during_acceptance_refuses_the_acceptance,
    member_removed_and_invited_again_during_acceptance_joins,
    two_invitations_to_one_address_at_once_create_one,
    address_of_a_person_who_joins_meanwhile_is_not_invited,
    two_status_changes_at_once_both_succeed,
    two_administrators_leaving_at_once_keep_one,
    administrator_leaves_while_another_is_removed,
    administrator_who_leaves_while_the_agency_is_deleted_finds_none,
    accepting_and_declining_at_once_has_one_result,
    two_revocations_at_once_have_one_result,
    revocation_with_if_match_keeps_a_later_invitation,
}

const N: &str = "/agencies/n";
const BOB: &str = "/agencies/n/members/idp:bob";
const INVITATIONS: &str = "/agencies/n/invitations";
const ACCEPT: &str = "/agencies/me/invitations/n/accept";
const DECLINE: &str = "/agencies/me/invitations/n/decline";

/// What n's administrator may change while it is active, and the acceptance of its invitation.
fn changes(detour: &Detour) -> Vec<Call> {
    let (ann, dee) = (detour.user("ann", idp("ann")), detour.user("dee", dee()));
    vec![
        ann.patch(N, json!({ "name": "Far North" })),
        ann.post("/agencies/n/members", json!({ "idpid": "idp:fay" })),
        ann.patch(BOB, json!({ "role": "admin" })),
        ann.patch(BOB, json!({ "status": "suspended" })),
        ann.delete(BOB),
        ann.post(INVITATIONS, invitation("fay@example.org")),
        ann.delete(&format!("{INVITATIONS}/{}", hash("dee@example.org"))),
        dee.post(ACCEPT, json!({})),
    ]
}

/// Sends these calls, and this one before any of them writes. They are refused, and write nothing.
async fn are_refused(stage: &Stage, detour: &Detour, calls: Vec<Call>, by: Call, status: u16, slug: &str) {
    let before = stage.items().await;
    let calls = join_all(calls.into_iter().map(Call::into_future));
    let (answers, done) = join!(calls, detour.once_held(by));
    assert!((200..300).contains(&done.status), "{}", done.told());
    for answer in answers {
        answer.refused(status, slug);
    }
    let mut after = stage.items().await;
    // The deletion has a job.
    after.retain(|key, _| !key.starts_with("JOB#"));
    let agency = after.insert("AGENCY#n#AGENCY#n".to_owned(), before["AGENCY#n#AGENCY#n"].clone()).unwrap();
    assert_eq!(agency["name"], before["AGENCY#n#AGENCY#n"]["name"]);
    let gate = after.insert("GATE#n#GATE#n".to_owned(), before["GATE#n#GATE#n"].clone()).unwrap();
    for count in ["members", "admins"] {
        assert_eq!(gate[count], before["GATE#n#GATE#n"][count], "{count}");
    }
    assert_eq!(after, before);
}

async fn agency_being_deleted_cannot_be_updated() {
    let stage = Stage::new().await;
    // The deletion stops after the mark, since no job runs.
    stage.cairn.engines().wind_down();
    let detour = Detour::holding(&stage, WRITES, 0..9).await;
    let mut calls = changes(&detour);
    calls.push(detour.user("root", root()).post("/agencies/n/deactivate", json!({})));
    let delete = stage.root.delete("/agencies/n?cascade=true");
    are_refused(&stage, &detour, calls, delete, 404, "not-found").await;
}

async fn deactivated_agency_cannot_be_updated_by_its_administrators() {
    let stage = Stage::new().await;
    let detour = Detour::holding(&stage, WRITES, 0..8).await;
    let deactivate = stage.root.post("/agencies/n/deactivate", json!({}));
    are_refused(&stage, &detour, changes(&detour), deactivate, 409, "agency-inactive").await;
}

/// What the platform's administrator is answered to a change, when another one is made right before its write.
async fn overtaken(stage: &Stage, change: impl FnOnce(&User) -> Call, other: Call) -> Answer {
    let detour = Detour::holding(stage, WRITES, 0..1).await;
    let change = change(&detour.user("root", root()));
    let (changed, other) = join!(change.into_future(), detour.once_held(other));
    other.is(200);
    changed
}

async fn response_matches_its_etag_during_concurrent_updates() {
    let stage = Stage::new().await;
    let is_as_read = async |changed: Answer, path: &str| {
        let read = stage.root.get(path).await.is(200);
        for (name, value) in changed.body.as_object().unwrap() {
            assert_eq!(*value, read[name.as_str()], "{name} of {path}");
        }
        assert_eq!(changed.tag(), read.tag(), "{path}");
        read
    };
    let deactivate = stage.root.post("/agencies/n/deactivate", json!({}));
    let renamed = overtaken(&stage, |root| root.patch(N, json!({ "name": "Far North" })), deactivate).await.is(200);
    let read = is_as_read(renamed, N).await;
    assert_eq!((read.text("name"), read.text("status")), ("Far North", "inactive"));

    let rename = stage.root.patch(N, json!({ "name": "North again" }));
    let activated = overtaken(&stage, |root| root.post("/agencies/n/activate", json!({})), rename).await.is(200);
    let read = is_as_read(activated, N).await;
    assert_eq!((read.text("name"), read.text("status")), ("North again", "active"));

    let name = stage.ann.patch(BOB, json!({ "displayName": "Bob Hill" }));
    let promoted = overtaken(&stage, |root| root.patch(BOB, json!({ "role": "admin" })), name).await.is(200);
    let read = is_as_read(promoted, BOB).await;
    assert_eq!((read.text("displayName"), read.text("role")), ("Bob Hill", "admin"));
    stage.adds_up().await;
}

async fn update_with_if_match_never_overwrites_another() {
    let stage = Stage::new().await;
    let tag = stage.root.get(N).await.is(200).tag();
    let rename = |root: &User| root.patch(N, json!({ "name": "Far North" })).if_match(&tag);
    let deactivate = stage.root.post("/agencies/n/deactivate", json!({}));
    overtaken(&stage, rename, deactivate).await.refused(412, "stale");
    assert_eq!(stage.root.get(N).await.is(200).text("name"), "North Rescue");

    let tag = stage.root.get(BOB).await.is(200).tag();
    let promote = |root: &User| root.patch(BOB, json!({ "role": "admin" })).if_match(&tag);
    let name = stage.root.patch(BOB, json!({ "displayName": "Bob Hill" }));
    overtaken(&stage, promote, name).await.refused(412, "stale");
    assert_eq!(stage.root.get(BOB).await.is(200).text("role"), "member");
    stage.adds_up().await;
}

async fn overtaken_update_with_if_match_of_any_tag_succeeds() {
    let stage = Stage::new().await;
    let rename = |root: &User| root.patch(N, json!({ "name": "Far North" })).if_match("*");
    let deactivate = stage.root.post("/agencies/n/deactivate", json!({}));
    overtaken(&stage, rename, deactivate).await.is(200);
    let read = stage.root.get(N).await.is(200);
    assert_eq!((read.text("name"), read.text("status")), ("Far North", "inactive"));

    let remove = |root: &User| root.delete(BOB).if_match("*");
    let name = stage.root.patch(BOB, json!({ "displayName": "Bob Hill" }));
    overtaken(&stage, remove, name).await.is(204);
    stage.adds_up().await;
}

async fn removal_with_if_match_is_retried_if_the_member_has_not_changed() {
    let stage = Stage::new().await;
    let tag = stage.root.get(BOB).await.is(200).tag();
    let at = "2026-01-04T00:00:00.000000Z".to_owned();
    let earlier = Removal { removed: at, removed_by: "idp:root".to_owned(), expires: i64::from(u32::MAX) };
    let earlier = stored(&removal_key(&"n".parse().unwrap(), &Idpid::new("idp", "bob").unwrap()), &earlier);
    let (table, detour) = (stage.table(), Detour::holding(&stage, WRITES, 0..1).await);
    let remove = detour.user("root", root()).delete(BOB).if_match(&tag);
    let (removed, ()) = join!(remove.into_future(), detour.once_held(table.put(earlier)));
    removed.is(204);
    stage.root.get(BOB).await.refused(404, "not-found");
    stage.adds_up().await;
}

async fn same_idempotency_key_at_once_creates_one_invitation() {
    let stage = Stage::new().await;
    // Between its look at what the key has made and its look at the invitation.
    let detour = Detour::holding(&stage, &["GetItem"], 1..2).await;
    let again = detour.user("ann", idp("ann")).post(INVITATIONS, invitation("eve@example.org")).once("k");
    let first = stage.ann.post(INVITATIONS, invitation("eve@example.org")).once("k");
    let (again, first) = join!(again.into_future(), detour.once_held(first));
    let (again, first) = (again.is(201), first.is(201));
    assert_eq!((&again.body, again.tag()), (&first.body, first.tag()));
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).once("l").await.refused(409, "invited");
}

async fn invitation_revoked_during_acceptance_is_not_accepted() {
    let stage = Stage::new().await;
    let detour = Detour::holding(&stage, WRITES, 0..1).await;
    let accept = detour.user("dee", dee()).post(ACCEPT, json!({}));
    let revoke = stage.ann.delete(&format!("{INVITATIONS}/{}", hash("dee@example.org")));
    let (accepted, revoked) = join!(accept.into_future(), detour.once_held(revoke));
    revoked.is(204);
    accepted.refused(409, "invitation-settled");
    stage.ann.get("/agencies/n/members/idp:dee").await.refused(404, "not-found");
    assert_eq!(stage.counts("n").await, (2, 1));
}

async fn removal_during_acceptance_refuses_the_acceptance() {
    let stage = Stage::new().await;
    for round in 0..2 {
        // In the second round there is a removal already when the invitation is read.
        let detour = Detour::holding(&stage, WRITES, 0..1).await;
        stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
        let eve = Person { address: Some("eve@example.org"), ..idp("eve") };
        let accept = detour.user("eve", eve).post(ACCEPT, json!({}));
        let add_and_remove = async {
            stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:eve" })).await.is(201);
            stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
        };
        let (accepted, ()) = join!(accept.into_future(), detour.once_held(add_and_remove));
        assert_eq!(accepted.status, 409, "round {round}");
        accepted.refused(409, "invitation-settled");
        stage.ann.get("/agencies/n/members/idp:eve").await.refused(404, "not-found");
        stage.ann.delete(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(204);
    }
    stage.adds_up().await;
}

async fn member_removed_and_invited_again_during_acceptance_joins() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, invitation("bob@example.org")).await.is(201);
    let detour = Detour::holding(&stage, WRITES, 0..1).await;
    let bob = detour.user("bob", Person { address: Some("bob@example.org"), ..idp("bob") });
    let path = format!("{INVITATIONS}/{}", hash("bob@example.org"));
    let remove_and_invite = async {
        stage.ann.delete(BOB).await.is(204);
        stage.ann.delete(&path).await.is(204);
        stage.ann.post(INVITATIONS, json!({ "address": "bob@example.org", "role": "admin" })).await.is(201);
    };
    let (accepted, ()) = join!(bob.post(ACCEPT, json!({})).into_future(), detour.once_held(remove_and_invite));
    assert_eq!(accepted.is(201)["role"], "admin");
    assert_eq!(stage.counts("n").await, (2, 2));
    assert_eq!(stage.ann.get(&path).await.is(200)["status"], "accepted");
    stage.adds_up().await;
}

/// Two calls, both of which have read before either writes: one is answered so, and the other refused.
async fn one_of(detour: &Detour, one: Call, other: Call, done: &[u16], slug: &str) -> (Answer, Answer) {
    let (one, other, ()) = join!(one.into_future(), other.into_future(), detour.once_held(async {}));
    let (well, refused) = if one.status < 300 { (&one, &other) } else { (&other, &one) };
    assert!(done.contains(&well.status), "{}", well.told());
    refused.clone().refused(409, slug);
    (one, other)
}

async fn two_invitations_to_one_address_at_once_create_one() {
    let stage = Stage::new().await;
    let detour = Detour::holding(&stage, WRITES, 0..2).await;
    let invite = |name: &'static str, person: Person<'_>, role: &str| {
        let new = json!({ "address": "eve@example.org", "role": role });
        detour.user(name, person).post(INVITATIONS, new)
    };
    let (by_ann, by_root) = (invite("ann", idp("ann"), "member"), invite("root", root(), "admin"));
    let (by_ann, _) = one_of(&detour, by_ann, by_root, &[201], "invited").await;
    let made = stage.ann.get(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(200);
    assert_eq!(made.text("role"), if by_ann.status == 201 { "member" } else { "admin" });
}

async fn address_of_a_person_who_joins_meanwhile_is_not_invited() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    let eve = stage.person("eve", Some("eve@example.org")).await;
    // Between its look at the invitation and its look at the member with the address.
    let detour = Detour::holding(&stage, &["GetItem"], 1..2).await;
    let again = detour.user("ann", idp("ann")).post(INVITATIONS, invitation("eve@example.org"));
    let (again, joined) = join!(again.into_future(), detour.once_held(eve.post(ACCEPT, json!({}))));
    joined.is(201);
    again.refused(409, "exists");
    assert_eq!(
        stage.ann.get(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(200)["status"],
        "accepted"
    );
}

async fn two_status_changes_at_once_both_succeed() {
    let stage = Stage::new().await;
    let detour = Detour::holding(&stage, WRITES, 0..2).await;
    let root = detour.user("root", root());
    let set = |verb: &str| root.post(&format!("/agencies/s/{verb}"), json!({})).into_future();
    let (activated, deactivated, ()) = join!(set("activate"), set("deactivate"), detour.once_held(async {}));
    let (activated, deactivated) = (activated.is(200), deactivated.is(200));
    assert_eq!((activated.text("status"), deactivated.text("status")), ("active", "inactive"));
    let last = if activated.rev() > deactivated.rev() { activated } else { deactivated };
    let read = stage.root.get("/agencies/s").await.is(200);
    assert_eq!((read.text("status"), read.tag()), (last.text("status"), last.tag()));
    let gate = stage.table().get("GATE#s", "GATE#s").await.unwrap();
    assert_eq!(gate["status"].as_s().unwrap(), last.text("status"));
}

async fn two_administrators_leaving_at_once_keep_one() {
    let stage = Stage::new().await;
    stage.root.patch(BOB, json!({ "role": "admin" })).await.is(200);
    let detour = Detour::holding(&stage, WRITES, 0..2).await;
    let (ann, bob) = (detour.user("ann", idp("ann")), detour.user("bob", idp("bob")));
    let (ann, bob) = (ann.delete("/agencies/n/members/idp:ann"), bob.delete(BOB));
    let (ann, _) = one_of(&detour, ann, bob, &[204], "last-admin").await;
    assert_eq!(stage.counts("n").await, (1, 1));
    let left = stage.root.get("/agencies/n/members").await.is(200);
    assert_eq!(left.each("idpid"), [if ann.status == 204 { "idp:bob" } else { "idp:ann" }]);
    stage.adds_up().await;
}

/// The removed one is the administrator who would stay as the request has read.
async fn administrator_leaves_while_another_is_removed() {
    let stage = Stage::new().await;
    stage.root.patch(BOB, json!({ "role": "admin" })).await.is(200);
    stage.root.post("/agencies/n/members", json!({ "idpid": "idp:fay", "role": "admin" })).await.is(201);
    let detour = Detour::holding(&stage, WRITES, 0..1).await;
    let leave = detour.user("ann", idp("ann")).delete("/agencies/n/members/idp:ann");
    let (left, removed) = join!(leave.into_future(), detour.once_held(stage.root.delete(BOB)));
    removed.is(204);
    left.is(204);
    assert_eq!(stage.root.get("/agencies/n/members").await.is(200).each("idpid"), ["idp:fay"]);
    assert_eq!(stage.counts("n").await, (1, 1));
    stage.adds_up().await;
}

/// The deletion has removed the other administrator when the request looks for one.
async fn administrator_who_leaves_while_the_agency_is_deleted_finds_none() {
    let stage = Stage::new().await;
    stage.root.patch(BOB, json!({ "role": "admin" })).await.is(200);
    // The second item that the request reads alone, after its own member.
    let detour = Detour::holding(&stage, &["GetItem"], 1..2).await;
    let leave = detour.user("ann", idp("ann")).delete("/agencies/n/members/idp:ann");
    let delete = stage.root.delete("/agencies/n?cascade=true");
    let (left, deleted) = join!(leave.into_future(), detour.once_held(delete));
    assert!([202, 204].contains(&deleted.status), "{}", deleted.told());
    left.refused(404, "not-found");
}

async fn accepting_and_declining_at_once_has_one_result() {
    let stage = Stage::new().await;
    let detour = Detour::holding(&stage, WRITES, 0..2).await;
    let dee = detour.user("dee", dee());
    let (accept, decline) = (dee.post(ACCEPT, json!({})), dee.post(DECLINE, json!({})));
    let (accepted, _) = one_of(&detour, accept, decline, &[201, 200], "invitation-settled").await;
    let joined = accepted.status == 201;
    assert_eq!(stage.counts("n").await, if joined { (3, 1) } else { (2, 1) });
    let settled = stage.ann.get(&format!("{INVITATIONS}/{}", hash("dee@example.org"))).await.is(200);
    assert_eq!(settled.text("status"), if joined { "accepted" } else { "declined" });
    stage.adds_up().await;
}

async fn two_revocations_at_once_have_one_result() {
    let stage = Stage::new().await;
    let detour = Detour::holding(&stage, WRITES, 0..2).await;
    let path = format!("{INVITATIONS}/{}", hash("dee@example.org"));
    let (ann, root) = (detour.user("ann", idp("ann")), detour.user("root", root()));
    one_of(&detour, ann.delete(&path), root.delete(&path), &[204], "invitation-settled").await;
    assert_eq!(stage.ann.get(&path).await.is(200)["status"], "revoked");
}

async fn revocation_with_if_match_keeps_a_later_invitation() {
    let stage = Stage::new().await;
    let path = format!("{INVITATIONS}/{}", hash("dee@example.org"));
    let tag = stage.ann.get(&path).await.is(200).tag();
    let detour = Detour::holding(&stage, WRITES, 0..1).await;
    let revoke = detour.user("ann", idp("ann")).delete(&path).if_match(&tag);
    let invite_again = async {
        stage.ann.delete(&path).await.is(204);
        stage.ann.post(INVITATIONS, invitation("dee@example.org")).await.is(201)
    };
    let (revoked, invited) = join!(revoke.into_future(), detour.once_held(invite_again));
    revoked.refused(412, "stale");
    let read = stage.ann.get(&path).await.is(200);
    assert_eq!((read.text("status"), read.tag()), ("pending", invited.tag()));
}
