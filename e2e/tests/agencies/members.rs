//! Members: added, changed, removed, and never without an administrator.

use serde_json::json;
use tokio::join;

use super::stage::Stage;
use crate::tests;

tests! { members:
    last_administrator_cannot_leave_or_be_demoted,
    subjects_with_any_characters_become_members,
    adding_a_member_twice_is_refused,
    person_of_unknown_issuer_is_refused,
    member_patch_updates_only_named_fields,
    concurrent_adds_of_one_person_are_counted_once,
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

async fn subjects_with_any_characters_become_members() {
    let stage = Stage::new().await;
    let person = "acme:auth0|a~23b~3A~3Ac~25d~2Fé";
    let subject = "auth0|a#b::c%d/é";
    let new = json!({ "idpid": person, "displayName": "Odd Subject" });
    stage.ann.post("/agencies/n/members", new).await.is(201);
    let odd = local::identity::Person { issuer: "acme", ..local::identity::Person::new(subject) };
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
