//! Members: added, changed, removed, and never without an administrator.

use local::identity::Person;
use serde_json::json;
use tokio::join;

use super::detour::{Detour, Fate};
use super::stage::{Stage, dee, idp, invitation, root};
use crate::harness::Answer;
use crate::tests;

tests! { members:
    last_administrator_cannot_leave_or_be_demoted,
    last_administrator_of_an_inactive_agency_is_told_who_can_appoint_another,
    subjects_with_any_characters_become_members,
    adding_a_member_twice_is_refused,
    repeated_request_gets_its_first_response_in_an_inactive_agency,
    person_of_unknown_issuer_is_refused,
    member_of_unknown_issuer_cannot_become_an_active_administrator,
    administrator_of_unknown_issuer_does_not_count_as_another,
    member_patch_updates_only_named_fields,
    display_name_without_visible_or_with_control_characters_is_refused,
    concurrent_adds_of_one_person_are_counted_once,
    suspended_member_sees_nothing_of_the_agency,
    suspended_administrator_is_not_counted,
    concurrent_suspension_and_leaving_keep_the_counts,
}

async fn last_administrator_cannot_leave_or_be_demoted() {
    let stage = Stage::new().await;
    stage.root.patch("/agencies/n/members/idp:bob", json!({ "role": "admin" })).await.is(200);
    let demote = json!({ "role": "member" });
    let (of_bob, of_ann) =
        join!(async { stage.ann.patch("/agencies/n/members/idp:bob", demote.clone()).await }, async {
            stage.bob.patch("/agencies/n/members/idp:ann", demote.clone()).await
        },);
    let mut statuses = [of_bob.status, of_ann.status];
    statuses.sort_unstable();
    let refused = if of_bob.status == 200 { of_ann } else { of_bob };
    assert!(statuses == [200, 409] || statuses == [200, 403], "{statuses:?}");
    refused.refused(statuses[1], if statuses[1] == 409 { "last-admin" } else { "forbidden" });
    assert_eq!(stage.counts("n").await, (2, 1));
    let last = if stage.ann.get("/agencies/n").await.is(200)["role"] == "admin" { "ann" } else { "bob" };
    let leaver = if last == "ann" { &stage.ann } else { &stage.bob };
    let path = format!("/agencies/n/members/idp:{last}");
    leaver.delete(&path).await.refused(409, "last-admin");
    leaver.patch(&path, demote).await.refused(409, "last-admin");
    stage.root.delete(&path).await.is(204);
    assert_eq!(stage.counts("n").await, (1, 0));
    stage.adds_up().await;
}

async fn last_administrator_of_an_inactive_agency_is_told_who_can_appoint_another() {
    let stage = Stage::new().await;
    let (members, cay) = ("/agencies/c/members", "/agencies/c/members/idp:cay");
    let other = json!({ "idpid": "idp:fay", "role": "admin" });
    let refused = stage.cay.delete(cay).await.refused(409, "last-admin");
    assert!(refused.text("detail").contains("only a platform administrator can"), "{}", refused.told());
    stage.cay.post(members, other.clone()).await.refused(409, "agency-inactive");
    stage.root.post(members, other).await.is(201);
    stage.cay.delete(cay).await.is(204);
    assert_eq!(stage.counts("c").await, (1, 1));
    stage.adds_up().await;
}

async fn subjects_with_any_characters_become_members() {
    let stage = Stage::new().await;
    let person = "acme:auth0|a~23b~3A~3Ac~25d~2Fé";
    let subject = "auth0|a#b::c%d/é";
    let new = json!({ "idpid": person, "displayName": "Odd Subject" });
    stage.ann.post("/agencies/n/members", new).await.is(201);
    let odd = Person { issuer: "acme", ..Person::new(subject) };
    let odd = stage.cairn.person("odd", odd).await;
    assert_eq!(odd.get("/agencies/me/agencies").await.is(200).each("agencyId"), ["n"]);
    let path = format!("/agencies/n/members/{}", person.replace('|', "%7C").replace('é', "%C3%A9"));
    assert_eq!(stage.ann.get(&path).await.is(200)["idpid"], person);
    assert!(stage.ann.get("/agencies/n/members").await.is(200).each("idpid").contains(&&json!(person)));
    stage.cairn.caught_up().await;
    let found = stage.ann.get("/agencies/search?entity=member&agencyId=n&q=odd").await.is(200);
    assert_eq!(found["items"][0]["member"]["idpid"], person, "{}", found.told());
    let document = stage.cairn.document("agencies", &format!("AGENCY#n#MEMBER#{person}")).await.unwrap();
    assert_eq!(
        (document["pk"].as_str(), document["sk"].as_str()),
        (Some("AGENCY#n"), Some(&*format!("MEMBER#{person}")))
    );
    stage.ann.delete(&path).await.is(204);
    stage.ann.get(&path).await.refused(404, "not-found");
    let other_spelling = path.replace("~3A", "~3a");
    stage.ann.get(&other_spelling).await.refused(404, "not-found");
    stage.adds_up().await;
}

async fn adding_a_member_twice_is_refused() {
    let stage = Stage::new().await;
    stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:bob" })).await.refused(409, "exists");
    for idpid in ["bob", "idp:", "address:0123456789abcdef0123456789abcdef", "idp:a#b"] {
        stage.ann.post("/agencies/n/members", json!({ "idpid": idpid })).await.faulty(&["/idpid"]);
    }
    let new = json!({ "idpid": "idp:fay", "role": "admin" });
    let made = stage.ann.post("/agencies/n/members", new.clone()).once("k").await.is(201);
    assert_eq!(made.header("location"), "/agencies/n/members/idp:fay");
    assert_eq!(stage.ann.post("/agencies/n/members", new.clone()).once("k").await.is(201).body, made.body);
    // The right is checked before an answer is repeated.
    stage.root.delete("/agencies/n/members/idp:ann").await.is(204);
    stage.ann.post("/agencies/n/members", new).once("k").await.refused(404, "not-found");
    stage.adds_up().await;
}

async fn repeated_request_gets_its_first_response_in_an_inactive_agency() {
    let stage = Stage::new().await;
    let add = |key| stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:fay" })).once(key);
    let invite = |key| stage.ann.post("/agencies/n/invitations", invitation("gil@example.org")).once(key);
    let (added, invited) = (add("a").await.is(201), invite("i").await.is(201));
    stage.root.post("/agencies/n/deactivate", json!({})).await.is(200);
    let (added_again, invited_again) = (add("a").await.is(201), invite("i").await.is(201));
    assert_eq!((added_again.body, invited_again.body), (added.body, invited.body));
    add("b").await.refused(409, "agency-inactive");
    invite("j").await.refused(409, "agency-inactive");
}

async fn person_of_unknown_issuer_is_refused() {
    let stage = Stage::new().await;
    for idpid in ["lcoal:typo", "IDP:ann", "nobody:x"] {
        stage.ann.post("/agencies/n/members", json!({ "idpid": idpid })).await.refused(422, "unprocessable");
        let new = json!({ "name": "Lake Guard", "admin": { "idpid": idpid } });
        let refused = stage.root.post("/agencies", new).await.refused(422, "unprocessable");
        assert_eq!(refused["errors"][0]["pointer"], "/admin/idpid");
    }
    assert_eq!(stage.counts("n").await, (2, 1));
    stage.root.post("/agencies", json!({ "name": "\u{200b}\u{feff}" })).await.faulty(&["/name"]);
}

async fn member_of_unknown_issuer_cannot_become_an_active_administrator() {
    let stage = Stage::new().await;
    let eve = "/agencies/n/members/acme:eve";
    stage.ann.post("/agencies/n/members", json!({ "idpid": "acme:eve" })).await.is(201);
    // The issuer `acme` is not in the configuration of these functions.
    let host = Detour::of(&stage, &[], |_| Fate::Passes).await;
    let (ann, root) = (host.user("ann", idp("ann")), host.user("root", root()));
    for admin in [&ann, &root] {
        let promoted = admin.patch(eve, json!({ "role": "admin", "displayName": "Eve" })).await;
        promoted.refused(422, "unprocessable").at(&["/role"]);
    }
    // A suspended administrator has no rights, and does not get them back.
    ann.patch(eve, json!({ "role": "admin", "status": "suspended" })).await.is(200);
    ann.patch(eve, json!({ "status": "active" })).await.refused(422, "unprocessable").at(&["/status"]);
    assert_eq!(stage.counts("n").await, (3, 1));
    ann.patch(eve, json!({ "role": "member", "status": "active" })).await.is(200);
    // One who was an administrator before the issuer was removed can be renamed and demoted.
    stage.ann.patch(eve, json!({ "role": "admin" })).await.is(200);
    ann.patch(eve, json!({ "displayName": "Eve" })).await.is(200);
    ann.patch(eve, json!({ "role": "member" })).await.is(200);
    assert_eq!(stage.counts("n").await, (3, 1));
    stage.adds_up().await;
}

async fn administrator_of_unknown_issuer_does_not_count_as_another() {
    let stage = Stage::new().await;
    let (own, bob, eve) =
        ("/agencies/n/members/idp:ann", "/agencies/n/members/idp:bob", "/agencies/n/members/acme:eve");
    stage.ann.post("/agencies/n/members", json!({ "idpid": "acme:eve", "role": "admin" })).await.is(201);
    assert_eq!(stage.counts("n").await, (3, 2));
    // The issuer `acme` is not in the configuration of these functions.
    let host = Detour::of(&stage, &[], |_| Fate::Passes).await;
    let ann = host.user("ann", idp("ann"));
    ann.delete(own).await.refused(409, "last-admin");
    ann.patch(own, json!({ "role": "member" })).await.refused(409, "last-admin");
    ann.patch(own, json!({ "status": "suspended" })).await.refused(409, "last-admin");
    assert_eq!(stage.counts("n").await, (3, 2));
    ann.patch(bob, json!({ "role": "admin" })).await.is(200);
    ann.patch(own, json!({ "role": "member" })).await.is(200);
    let by_bob = host.user("bob", idp("bob"));
    by_bob.delete(bob).await.refused(409, "last-admin");
    by_bob.patch(own, json!({ "role": "admin" })).await.is(200);
    by_bob.delete(eve).await.is(204);
    by_bob.delete(bob).await.is(204);
    assert_eq!(stage.counts("n").await, (1, 1));
    stage.adds_up().await;
}

async fn member_patch_updates_only_named_fields() {
    let stage = Stage::new().await;
    let bob = "/agencies/n/members/idp:bob";
    let before = stage.ann.get(bob).await.is(200);
    let renamed = stage.ann.patch(bob, json!({ "displayName": "Bob Hill" })).if_match(&before.tag()).await.is(200);
    assert_eq!((&renamed["created"], &renamed["createdBy"]), (&before["created"], &before["createdBy"]));
    stage.ann.patch(bob, json!({ "role": "admin" })).if_match(&before.tag()).await.refused(412, "stale");
    let both = stage.ann.patch(bob, json!({ "role": "admin", "displayName": null })).await.is(200);
    assert_eq!((both["role"].as_str(), both.body.get("displayName")), (Some("admin"), None));
    assert_eq!(stage.counts("n").await, (2, 2));
    stage.ann.patch(bob, json!({ "role": "owner", "idpid": "idp:x" })).await.faulty(&["/role", "/idpid"]);
    stage.ann.delete(bob).if_match(&before.tag()).await.refused(412, "stale");
    stage.ann.patch("/agencies/n/members/idp:nobody", json!({})).await.refused(404, "not-found");
    stage.adds_up().await;
}

async fn display_name_without_visible_or_with_control_characters_is_refused() {
    let stage = Stage::new().await;
    for name in ["\u{200b}", "  ", "a\u{7}\u{1b}[31m"] {
        let new = json!({ "idpid": "idp:fay", "displayName": name });
        stage.ann.post("/agencies/n/members", new.clone()).await.faulty(&["/displayName"]);
        stage.root.post("/agencies", json!({ "name": "Lake", "admin": new })).await.faulty(&["/admin/displayName"]);
        let patch = json!({ "displayName": name });
        stage.ann.patch("/agencies/n/members/idp:bob", patch).await.faulty(&["/displayName"]);
    }
    let unnamed = stage.ann.patch("/agencies/n/members/idp:bob", json!({ "displayName": "" })).await.is(200);
    assert_eq!(unnamed.body.get("displayName"), None);
    let new = json!({ "idpid": "idp:fay", "displayName": "" });
    assert_eq!(stage.ann.post("/agencies/n/members", new).await.is(201).body.get("displayName"), None);
    // A name in a token is not the fault of the person who joins.
    let dee = Person { name: Some(" \u{200b}"), ..dee() };
    let joined = stage.cairn.person("dee", dee).await.post("/agencies/me/invitations/n/accept", json!({}));
    assert_eq!(joined.await.is(201).body.get("displayName"), None);
}

async fn concurrent_adds_of_one_person_are_counted_once() {
    let stage = Stage::new().await;
    let conflicts = stage.cairn.conflicts(0.3);
    let calls = (0..20).map(|number| {
        let new = json!({ "idpid": format!("idp:p{}", number % 10) });
        stage.ann.post("/agencies/n/members", new).into_future()
    });
    let answers = futures::future::join_all(calls).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 10, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 10, "{statuses:?}");
    assert_eq!(stage.counts("n").await, (12, 1));
    assert!(conflicts.count() > 3, "{}", conflicts.count());
    stage.adds_up().await;
}

async fn suspended_member_sees_nothing_of_the_agency() {
    let stage = Stage::new().await;
    let (ann, bob) = (&stage.ann, "/agencies/n/members/idp:bob");
    let before = ann.get(bob).await.is(200);
    assert_eq!(before["status"], "active");
    ann.patch(bob, json!({ "status": "away" })).await.faulty(&["/status"]);
    stage.bob.patch(bob, json!({ "status": "suspended" })).await.refused(403, "forbidden");
    let suspended = ann.patch(bob, json!({ "status": "suspended" })).if_match(&before.tag()).await.is(200);
    assert_eq!((&suspended["status"], &suspended["role"]), (&json!("suspended"), &before["role"]));
    stage.cairn.caught_up().await;

    let absent = stage.bob.get("/agencies/absent").await.refused(404, "not-found");
    let same = |answer: Answer| {
        let answer = answer.refused(404, "not-found");
        assert_eq!(answer["detail"], absent["detail"]);
    };
    same(stage.bob.get("/agencies/n").await);
    same(stage.bob.get("/agencies/n/members").await);
    same(stage.bob.get(bob).await);
    same(stage.bob.delete(bob).await);
    same(stage.bob.get("/agencies/search?entity=member&agencyId=n").await);
    assert_eq!(stage.bob.get("/agencies/search?q=north").await.is(200)["items"], json!([]));
    assert_eq!(stage.bob.get("/agencies/me/agencies").await.is(200)["items"], json!([]));
    let invited = stage.person("bob", Some("bob@example.org")).await;
    ann.post("/agencies/n/invitations", invitation("bob@example.org")).await.is(201);
    assert_eq!(invited.get("/agencies/me/invitations").await.is(200)["items"], json!([]));
    same(invited.post("/agencies/me/invitations/n/accept", json!({})).await);
    same(invited.post("/agencies/me/invitations/n/decline", json!({})).await);

    // The agency and the platform still see the member.
    ann.post("/agencies/n/members", json!({ "idpid": "idp:bob" })).await.refused(409, "exists");
    let members = ann.get("/agencies/n/members").await.is(200);
    assert_eq!(members.each("status"), [&json!("active"), &json!("suspended")]);
    let listed = stage.root.get("/agencies/people/idp:bob/agencies").await.is(200);
    assert_eq!((listed.each("agencyId"), listed.each("memberStatus")), (vec![&json!("n")], vec![&json!("suspended")]));
    let found = ann.get("/agencies/search?entity=member&agencyId=n").await.is(200);
    assert!(found["items"].as_array().unwrap().iter().any(|item| item["member"]["status"] == "suspended"));
    assert_eq!(stage.counts("n").await, (2, 1));

    ann.patch(bob, json!({ "status": "active" })).await.is(200);
    assert_eq!(stage.bob.get("/agencies/n").await.is(200)["role"], before["role"]);
    assert_eq!(stage.bob.get("/agencies/me/agencies").await.is(200).each("memberStatus"), ["active"]);
    stage.adds_up().await;
}

async fn suspended_administrator_is_not_counted() {
    let stage = Stage::new().await;
    let (ann, bob) = ("/agencies/n/members/idp:ann", "/agencies/n/members/idp:bob");
    let suspend = json!({ "status": "suspended" });
    stage.ann.patch(ann, suspend.clone()).await.refused(409, "last-admin");
    stage.ann.patch(bob, json!({ "role": "admin", "status": "suspended" })).await.is(200);
    assert_eq!(stage.counts("n").await, (2, 1));
    stage.ann.patch(ann, suspend.clone()).await.refused(409, "last-admin");
    stage.ann.delete(ann).await.refused(409, "last-admin");
    // The role of a suspended member does not change the counts, so the gate is not written.
    let gate = async || stage.table().get("GATE#n", "GATE#n").await.unwrap();
    let before = gate().await;
    stage.ann.patch(bob, json!({ "role": "member" })).await.is(200);
    stage.ann.patch(bob, json!({ "role": "admin" })).await.is(200);
    assert_eq!(gate().await, before);
    assert_eq!(stage.counts("n").await, (2, 1));
    stage.ann.patch(bob, json!({ "status": "active" })).await.is(200);
    assert_eq!(stage.counts("n").await, (2, 2));
    stage.bob.patch(ann, suspend).await.is(200);
    assert_eq!(stage.counts("n").await, (2, 1));
    stage.bob.delete(ann).await.is(204);
    assert_eq!(stage.counts("n").await, (1, 1));
    stage.adds_up().await;
}

/// The counts are correct whichever request is first.
async fn concurrent_suspension_and_leaving_keep_the_counts() {
    for _ in 0..5 {
        let stage = Stage::new().await;
        let bob = "/agencies/n/members/idp:bob";
        stage.ann.patch(bob, json!({ "role": "admin" })).await.is(200);
        let (suspended, left) = join!(async { stage.ann.patch(bob, json!({ "status": "suspended" })).await }, async {
            stage.bob.delete(bob).await
        });
        let statuses = (suspended.status, left.status);
        assert!(matches!(statuses, (200, 404) | (404 | 200, 204)), "{statuses:?}");
        stage.adds_up().await;
    }
}
