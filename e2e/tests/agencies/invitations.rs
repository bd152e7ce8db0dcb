//! Invitations by address: accepted, declined, revoked, lapsed.

use std::time::Duration;

use futures::future::join_all;
use local::identity::Person;
use serde_json::json;
use tokio::join;

use super::stage::{Stage, hash, idp, invitation};
use crate::harness::{Set, Test, engines, sized};
use crate::tests;

tests! { invitations:
    accepting_twice_returns_the_membership,
    expired_invitation_cannot_be_accepted,
    replaced_invitation_gives_the_new_role,
    member_who_accepts_keeps_the_role,
    member_who_accepts_an_expired_invitation_does_not_settle_it,
    member_who_accepts_an_invitation_of_an_inactive_agency_does_not_settle_it,
    long_token_name_is_cut_to_the_display_name,
    spellings_of_one_address_are_one_invitation,
    declined_or_revoked_invitation_cannot_be_accepted,
    removed_member_cannot_accept_an_older_invitation,
    removal_outlives_each_older_invitation,
    settled_invitations_show_nothing_of_the_agency,
    invitation_of_a_member_s_address_is_refused,
    former_address_of_a_member_can_be_invited,
    removal_forgets_the_address_and_expires,
}

/// How often, and how many, is in the names.
pub fn all() -> Vec<Test> {
    let (rounds, told) =
        if engines::set() == Set::Real { (20, "20_rounds") } else { sized((20, "20_rounds"), (100, "100_rounds")) };
    let mut all = tests();
    all.push(Test::new(format!("invitations::accept_racing_revoke_has_one_result_in_{told}"), move || against(rounds)));
    all.push(Test::new("invitations::hundred_concurrent_acceptances_are_counted", a_hundred_join).long());
    all
}

const INVITATIONS: &str = "/agencies/n/invitations";
const MINE: &str = "/agencies/me/invitations";
const ACCEPT: &str = "/agencies/me/invitations/n/accept";
const DECLINE: &str = "/agencies/me/invitations/n/decline";

async fn accepting_twice_returns_the_membership() {
    let stage = Stage::new().await;
    let made = stage.ann.post(INVITATIONS, invitation("Eve@Example.ORG")).await.is(201);
    assert_eq!((made["address"].as_str(), made["status"].as_str()), (Some("eve@example.org"), Some("pending")));
    assert_eq!(made.header("location"), format!("{INVITATIONS}/{}", hash("eve@example.org")));
    let unverified = stage.person("eve", None).await;
    assert_eq!(unverified.get(MINE).await.is(200)["items"], json!([]));
    unverified.post(ACCEPT, json!({})).await.refused(404, "not-found");
    let eve = stage.person("eve", Some("eve@example.org")).await;
    let mine = eve.get(MINE).await.is(200);
    assert_eq!((mine.each("agencyId"), mine.each("name")), (vec![&json!("n")], vec![&json!("North Rescue")]));
    let (one, other) = join!(async { eve.post(ACCEPT, json!({})).await }, async { eve.post(ACCEPT, json!({})).await });
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201]);
    assert_eq!(stage.counts("n").await, (3, 1));
    assert_eq!(eve.get("/agencies/n").await.is(200)["role"], "member");
    let settled = stage.ann.get(made.header("location")).await.is(200);
    assert_eq!(settled["status"], "accepted");
    // Removed, the same invitation brings nobody back.
    stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
    eve.post(ACCEPT, json!({})).await.refused(409, "invitation-settled");
    stage.adds_up().await;
}

/// As far as it is known whose the address is: by an invitation to it that was accepted.
async fn invitation_of_a_member_s_address_is_refused() {
    let stage = Stage::new().await;
    let eve = stage.person("eve", Some("eve@example.org")).await;
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    eve.post(ACCEPT, json!({})).await.is(201);
    stage.ann.post(INVITATIONS, invitation("Eve@Example.ORG")).await.refused(409, "exists");
    stage.ann.post(INVITATIONS, invitation("eve@example.net")).await.is(201);
    // Who has left can be invited again.
    eve.delete("/agencies/n/members/idp:eve").await.is(204);
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.refused(409, "invited");
    // Nobody knows the address of who was added, until an invitation to it is accepted.
    stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:fay" })).await.is(201);
    let fay = stage.person("fay", Some("fay@example.org")).await;
    stage.ann.post(INVITATIONS, invitation("fay@example.org")).await.is(201);
    fay.post(ACCEPT, json!({})).await.is(200);
    stage.ann.post(INVITATIONS, invitation("fay@example.org")).await.refused(409, "exists");
    // An address may become another person's.
    let gil = stage.person("gil", Some("fay@example.org")).await;
    stage.ann.delete("/agencies/n/members/idp:fay").await.is(204);
    stage.ann.post(INVITATIONS, invitation("fay@example.org")).await.is(201);
    gil.post(ACCEPT, json!({})).await.is(201);
    stage.ann.post(INVITATIONS, invitation("fay@example.org")).await.refused(409, "exists");
    stage.adds_up().await;
}

async fn former_address_of_a_member_can_be_invited() {
    let stage = Stage::new().await;
    for (address, status) in [("eve@example.org", 201), ("eve@example.net", 200)] {
        stage.ann.post(INVITATIONS, invitation(address)).await.is(201);
        stage.person("eve", Some(address)).await.post(ACCEPT, json!({})).await.is(status);
    }
    stage.ann.post(INVITATIONS, invitation("eve@example.net")).await.refused(409, "exists");
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    let gil = stage.person("gil", Some("eve@example.org")).await;
    gil.post(ACCEPT, json!({})).await.is(201);
    stage.adds_up().await;
}

async fn removal_forgets_the_address_and_expires() {
    let stage = Stage::new().await;
    let (member, known) = ("/agencies/n/members/idp:eve", format!("AGENCY#n#KNOWN#{}", hash("eve@example.org")));
    let eve = stage.person("eve", Some("eve@example.org")).await;
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    eve.post(ACCEPT, json!({})).await.is(201);
    assert!(stage.items().await.contains_key(&known));
    stage.ann.delete(member).await.is(204);
    let items = stage.items().await;
    assert!(!items.contains_key(&known));
    assert!(items["AGENCY#n#REMOVAL#idp:eve"].contains_key("expires"));
    // DynamoDB may keep the item of the expired removal for days.
    stage.cairn.clock.advance(Duration::from_secs(122 * 24 * 3600));
    let ann = stage.cairn.person("ann", idp("ann")).await;
    let eve = stage.person("eve", Some("eve@example.org")).await;
    for _ in 0..2 {
        ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
        eve.post(ACCEPT, json!({})).await.is(201);
        ann.delete(member).await.is(204);
    }
    stage.adds_up().await;
}

async fn expired_invitation_cannot_be_accepted() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, json!({ "address": "eve@example.org", "days": 1 })).await.is(201);
    let eve = stage.person("eve", Some("eve@example.org")).await;
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.refused(409, "invited");
    stage.cairn.clock.advance(Duration::from_secs(25 * 3600));
    let path = format!("{INVITATIONS}/{}", hash("eve@example.org"));
    assert_eq!(stage.ann.get(&path).await.is(200)["status"], "expired");
    eve.post(ACCEPT, json!({})).await.refused(409, "invitation-expired");
    assert_eq!(eve.post(DECLINE, json!({})).await.is(200)["status"], "declined");
    let before = stage.ann.get(&path).await.is(200).rev();
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    assert!(stage.ann.get(&path).await.is(200).rev() > before);
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.refused(409, "invited");
    // One that has lapsed stands in the way of nobody, and in the end it is forgotten.
    stage.cairn.clock.advance(Duration::from_secs(15 * 24 * 3600));
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    stage.cairn.clock.advance(Duration::from_secs(45 * 24 * 3600));
    let late = stage.cairn.person("ann", idp("ann")).await;
    late.get(&path).await.refused(404, "not-found");
    late.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
}

async fn against(rounds: usize) {
    let stage = Stage::new().await;
    let eve = stage.person("eve", Some("eve@example.org")).await;
    let path = format!("{INVITATIONS}/{}", hash("eve@example.org"));
    let (mut accepted, mut revoked) = (0, 0);
    for round in 0..rounds {
        stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
        let (accept, revoke) =
            join!(async { eve.post(ACCEPT, json!({})).await }, async { stage.ann.delete(&path).await });
        let member = stage.ann.get("/agencies/n/members/idp:eve").await.status == 200;
        assert_eq!((accept.status == 201, revoke.status == 204), (member, !member), "round {round}");
        if member {
            accepted += 1;
            revoke.refused(409, "invitation-settled");
            stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
        } else {
            revoked += 1;
            accept.refused(409, "invitation-settled");
        }
    }
    assert_eq!(accepted + revoked, rounds);
    stage.adds_up().await;
}

async fn a_hundred_join() {
    let stage = Stage::new().await;
    let mut people = Vec::new();
    for number in 0..100 {
        let address = format!("p{number}@example.org");
        stage.ann.post(INVITATIONS, invitation(&address)).await.is(201);
        people.push(stage.person(&format!("p{number}"), Some(&address)).await);
    }
    let conflicts = stage.cairn.conflicts(0.2);
    let joined = join_all(people.iter().map(|person| async { person.post(ACCEPT, json!({})).await })).await;
    for answer in joined {
        answer.is(201);
    }
    assert_eq!(stage.counts("n").await, (102, 1));
    assert!(conflicts.count() > 10, "{}", conflicts.count());
    let pages = stage.ann.pages("/agencies/n/members", 25).await;
    assert_eq!(pages.iter().map(|page| page.each("idpid").len()).sum::<usize>(), 102);
    stage.adds_up().await;
}

async fn replaced_invitation_gives_the_new_role() {
    let stage = Stage::new().await;
    let eve = stage.person("eve", Some("eve@example.org")).await;
    let path = format!("{INVITATIONS}/{}", hash("eve@example.org"));
    let invited = |role: &str| json!({ "address": "eve@example.org", "role": role });
    for round in 0..20 {
        stage.ann.post(INVITATIONS, invited("admin")).await.is(201);
        let (accept, (revoke, again)) = join!(async { eve.post(ACCEPT, json!({})).await }, async {
            let revoke = stage.ann.delete(&path).await;
            (revoke, stage.ann.post(INVITATIONS, invited("member")).await)
        });
        let member = stage.ann.get("/agencies/n/members/idp:eve").await;
        assert_eq!(accept.status == 201, member.status == 200, "round {round}");
        if member.status == 200 {
            let role = if revoke.status == 204 { "member" } else { "admin" };
            assert_eq!(member.text("role"), role, "round {round}: {} {}", revoke.told(), again.told());
            stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
        }
        if stage.ann.get(&path).await.is(200).text("status") == "pending" {
            stage.ann.delete(&path).await.is(204);
        }
    }
    stage.adds_up().await;
}

async fn long_token_name_is_cut_to_the_display_name() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    let name = "Eve\u{7} of ".repeat(500);
    let eve = Person { name: Some(&name), address: Some("eve@example.org"), ..idp("eve") };
    let member = stage.cairn.person("eve", eve).await.post(ACCEPT, json!({})).await.is(201);
    let shown = "Eve of ".repeat(500);
    assert_eq!(member["displayName"].as_str().unwrap(), &shown[..200]);
}

async fn member_who_accepts_keeps_the_role() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, invitation("ann@example.org")).await.is(201);
    let ann = stage.person("ann", Some("ann@example.org")).await;
    let kept = ann.post(ACCEPT, json!({})).await.is(200);
    assert_eq!(kept["role"], "admin");
    let path = format!("{INVITATIONS}/{}", hash("ann@example.org"));
    assert_eq!(stage.ann.get(&path).await.is(200)["status"], "accepted");
    assert_eq!(ann.post(ACCEPT, json!({})).await.is(200).tag(), kept.tag());
    assert_eq!(stage.counts("n").await, (2, 1));
}

async fn member_who_accepts_an_expired_invitation_does_not_settle_it() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, json!({ "address": "bob@example.org", "days": 1 })).await.is(201);
    let bob = stage.person("bob", Some("bob@example.org")).await;
    let path = format!("{INVITATIONS}/{}", hash("bob@example.org"));
    stage.cairn.clock.advance(Duration::from_secs(25 * 3600));
    let expired = stage.ann.get(&path).await.is(200);
    assert_eq!(expired["status"], "expired");
    assert_eq!(bob.post(ACCEPT, json!({})).await.is(200)["idpid"], "idp:bob");
    let read = stage.ann.get(&path).await.is(200);
    assert_eq!((&read.body, read.tag()), (&expired.body, expired.tag()));
}

async fn member_who_accepts_an_invitation_of_an_inactive_agency_does_not_settle_it() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, invitation("bob@example.org")).await.is(201);
    let bob = stage.person("bob", Some("bob@example.org")).await;
    let path = format!("{INVITATIONS}/{}", hash("bob@example.org"));
    let pending = stage.ann.get(&path).await.is(200);
    stage.root.post("/agencies/n/deactivate", json!({})).await.is(200);
    assert_eq!(bob.post(ACCEPT, json!({})).await.is(200)["idpid"], "idp:bob");
    assert_eq!(stage.root.get(&path).await.is(200).body, pending.body);
}

async fn spellings_of_one_address_are_one_invitation() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, invitation(" DEE@example.org")).await.refused(409, "invited");
    stage.ann.post(INVITATIONS, invitation("dee+x@example.org")).await.is(201);
    let made = stage.ann.post(INVITATIONS, invitation("ann@bücher.example")).await.is(201);
    assert_eq!(made["address"], "ann@xn--bcher-kva.example");
    let elsewhere = ["ban\u{212a}@example.org", "zw\u{200b}j@example.org"];
    for address in ["dee", "@example.org", "a b@example.org", "dee@exa mple.org"].into_iter().chain(elsewhere) {
        stage.ann.post(INVITATIONS, invitation(address)).await.faulty(&["/address"]);
    }
    stage.ann.post(INVITATIONS, json!({ "address": "x@example.org", "days": 91 })).await.faulty(&["/days"]);
    // Addresses are seen by administrators alone, and are in no document.
    stage.bob.get(INVITATIONS).await.refused(403, "forbidden");
    let listed = stage.ann.get(INVITATIONS).await.is(200);
    assert_eq!(listed.each("address").len(), 3);
    let name = format!("AGENCY#n#INVITATION#{}", hash("dee@example.org"));
    assert_eq!(stage.cairn.document("agencies", &name).await, None);
}

async fn declined_or_revoked_invitation_cannot_be_accepted() {
    let stage = Stage::new().await;
    let path = format!("{INVITATIONS}/{}", hash("dee@example.org"));
    let open = stage.ann.get(&path).await.is(200);
    assert_eq!(stage.dee.post(DECLINE, json!({})).await.is(200)["name"], "North Rescue");
    stage.dee.post(DECLINE, json!({})).await.refused(409, "invitation-settled");
    stage.dee.post(ACCEPT, json!({})).await.refused(409, "invitation-settled");
    stage.ann.delete(&path).if_match(&open.tag()).await.refused(412, "stale");
    stage.ann.delete(&path).await.refused(409, "invitation-settled");
    stage.ann.delete(&format!("{INVITATIONS}/{}", hash("x@example.org"))).await.refused(404, "not-found");
    let again = stage.ann.post(INVITATIONS, json!({ "address": "dee@example.org", "role": "admin" })).await.is(201);
    stage.ann.delete(&path).if_match(&again.tag()).await.is(204);
    assert_eq!(stage.dee.get(MINE).await.is(200)["items"], json!([]));
}

async fn removed_member_cannot_accept_an_older_invitation() {
    let stage = Stage::new().await;
    let as_admin = json!({ "address": "eve@example.org", "role": "admin" });
    stage.ann.post(INVITATIONS, as_admin).await.is(201);
    stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:eve" })).await.is(201);
    let eve = stage.person("eve", Some("eve@example.org")).await;
    stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
    eve.post(ACCEPT, json!({})).await.refused(409, "invitation-settled");
    eve.post(DECLINE, json!({})).await.refused(409, "invitation-settled");
    assert_eq!(eve.get(MINE).await.is(200)["items"], json!([]));
    stage.ann.get("/agencies/n/members/idp:eve").await.refused(404, "not-found");
    // Added and removed once more, by themselves this time.
    stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:eve" })).await.is(201);
    eve.delete("/agencies/n/members/idp:eve").await.is(204);
    eve.post(ACCEPT, json!({})).await.refused(409, "invitation-settled");
    // Only a new invitation brings them back.
    stage.ann.delete(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(204);
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    assert_eq!(eve.get(MINE).await.is(200).each("status"), ["pending"]);
    assert_eq!(eve.post(ACCEPT, json!({})).await.is(201)["role"], "member");
    stage.adds_up().await;
}

async fn removal_outlives_each_older_invitation() {
    let stage = Stage::new().await;
    stage.ann.post(INVITATIONS, json!({ "address": "eve@example.org", "days": 90 })).await.is(201);
    stage.ann.post("/agencies/n/members", json!({ "idpid": "idp:eve" })).await.is(201);
    stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
    stage.cairn.clock.advance(Duration::from_secs(89 * 24 * 3600 + 23 * 3600));
    let ann = stage.cairn.person("ann", idp("ann")).await;
    let open = ann.get(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(200);
    assert_eq!(open["status"], "pending");
    let eve = stage.person("eve", Some("eve@example.org")).await;
    eve.post(ACCEPT, json!({})).await.refused(409, "invitation-settled");
    // The item of the expired invitation is kept until day 120.
    for days in [2, 28] {
        stage.cairn.clock.advance(Duration::from_secs(days * 24 * 3600));
        let ann = stage.cairn.person("ann", idp("ann")).await;
        let expired = ann.get(&format!("{INVITATIONS}/{}", hash("eve@example.org"))).await.is(200);
        assert_eq!(expired["status"], "expired");
        let eve = stage.person("eve", Some("eve@example.org")).await;
        assert_eq!(eve.get(MINE).await.is(200)["items"], json!([]));
        eve.post(DECLINE, json!({})).await.refused(409, "invitation-settled");
    }
    stage.adds_up().await;
}

async fn settled_invitations_show_nothing_of_the_agency() {
    let stage = Stage::new().await;
    let eve = stage.person("eve", Some("eve@example.org")).await;
    stage.ann.post(INVITATIONS, invitation("eve@example.org")).await.is(201);
    eve.post(ACCEPT, json!({})).await.is(201);
    assert_eq!(eve.get(MINE).await.is(200)["items"], json!([]));
    assert_eq!(stage.dee.get(MINE).await.is(200).each("status"), ["pending"]);
    stage.dee.post(DECLINE, json!({})).await.is(200);
    stage.ann.delete("/agencies/n/members/idp:eve").await.is(204);
    stage.ann.patch("/agencies/n", json!({ "name": "Far North" })).await.is(200);
    for former in [&eve, &stage.dee] {
        assert_eq!(former.get(MINE).await.is(200)["items"], json!([]));
        assert!(!former.post(DECLINE, json!({})).await.refused(409, "invitation-settled").told().contains("North"));
    }
}
