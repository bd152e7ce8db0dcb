//! Leaving a community: with all its group chats and requests, also when the request or a worker dies half way.

use std::time::Duration;

use ::chat::schema::{CHAT_REQUESTS, COMMUNITIES, GROUP_CHATS, LIVE, TELL};
use serde_json::json;
use table::schema::Table;
use table::{Config, Engines};
use tokio::time::Instant;

use super::conversation::send;
use super::stage::{Chat, closed_socket, id, subscription_to};
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::Item;
use crate::harness::{Setup, sized};
use crate::tests;

tests! { chat_leaving:
    member_leaves_all_group_chats_of_the_community_only,
    owner_of_a_group_chat_cannot_leave_its_community,
    #[long] leaving_killed_at_each_write_is_finished_by_the_job,
    #[long] leaving_is_resumed_by_the_same_request,
    ban_of_a_leaving_member_finishes_the_leaving,
    member_who_becomes_an_owner_just_before_leaving_stays,
    ban_of_an_owner_whose_leaving_has_begun_is_refused,
    leaving_of_an_owner_that_has_begun_is_refused,
}

/// Longer than the lease of a worker that has died.
const LEASE: Duration = Duration::from_secs(121);

/// A community of ann with three open group chats and two private ones.
struct Stage {
    chat: Chat,
    community: String,
    open: Vec<String>,
    private: Vec<String>,
}

impl Stage {
    async fn new() -> Self {
        Self::with(Setup { limits: vec![("requests", 1000)], ..Setup::of("chat") }).await
    }

    async fn with(setup: Setup) -> Self {
        let chat = Chat::with(setup).await;
        let community = chat.ann.creates_community().await;
        let (mut open, mut private) = (Vec::new(), Vec::new());
        for number in 0..3 {
            open.push(chat.ann.creates_group_chat(&community, json!({ "name": format!("Open {number}") })).await);
        }
        for number in 0..2 {
            let new = json!({ "name": format!("Private {number}"), "private": true });
            private.push(chat.ann.creates_group_chat(&community, new).await);
        }
        Self { chat, community, open, private }
    }

    fn members(&self) -> String {
        format!("/chat/communities/{}/members", self.community)
    }

    /// Bob joins the community and its open chats, moderates one of them, and asks to join the private ones.
    async fn bob_joins(&self) -> Vec<String> {
        let (ann, bob) = (&self.chat.ann, &self.chat.bob);
        bob.joins_community(&self.community).await.is(201);
        let live = self.chat.cairn.table_of(&LIVE);
        for chat in &self.open {
            bob.joins_group_chat(chat).await.is(201);
            live.put(subscription_to(chat.parse().unwrap(), bob.id.parse().unwrap())).await;
        }
        ann.puts(&format!("/chat/groupchats/{}/moderators/{}", self.open[1], bob.id)).await.is(204);
        ann.puts(&format!("/chat/communities/{}/moderators/{}", self.community, bob.id)).await.is(204);
        let mut requests = Vec::new();
        for chat in &self.private {
            let created = bob.user.post(&format!("/chat/groupchats/{chat}/requests"), json!({})).await;
            requests.push(id(&created.is(201)));
        }
        requests
    }

    async fn items(&self, table: &'static Table) -> Vec<(String, Item)> {
        let table = self.chat.cairn.table_of(table);
        table.items().await.into_iter().map(|item| (table.name_of(&item), item)).collect()
    }

    /// Asserts that nothing of bob is left in the community, and that all counts are those of the rows.
    async fn bob_is_gone(&self) {
        let bob = &self.chat.bob.id;
        let (communities, chats) = (self.items(&COMMUNITIES).await, self.items(&GROUP_CHATS).await);
        for (key, item) in communities.iter().chain(&chats) {
            assert!(!key.ends_with(&format!("#USER#{bob}")), "{key}");
            let number = |name: &str| item.get(name).map(|number| number.as_n().unwrap().parse::<usize>().unwrap());
            let partition = item["pk"].as_s().unwrap();
            if let Some(members) = number("NumMembers") {
                let of_chat = |(key, _): &&(String, Item)| key.starts_with(&format!("{partition}#USER#"));
                let rows = communities.iter().chain(&chats).filter(of_chat).count();
                assert_eq!(rows, members, "{partition}");
                assert!(!item.contains_key("Moderators"), "{partition}");
            }
            if *partition == format!("MEMBERSHIPS#{bob}") {
                assert_eq!(number("Num"), Some(0), "{partition}");
            }
        }
        for (key, _) in self.items(&LIVE).await {
            assert!(!key.starts_with("SUB#"), "{key}");
        }
        for (key, item) in self.items(&CHAT_REQUESTS).await {
            assert!(!key.starts_with("REQUESTPAIR#"), "{key}");
            assert!(!item.contains_key("PendingId"), "{key}");
        }
    }

    /// Bob leaves by a request that dies at this write. Returns the number of its writes.
    async fn bob_leaves(&self, dies: Option<(usize, Moment)>) -> usize {
        let config = self.chat.cairn.engines().config.clone();
        let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), dies).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), socket: closed_socket(), ..config };
        let app = ::chat::app(Engines::new(config, self.chat.cairn.clock.clone())).metrics_to(|_| {});
        let token = self.chat.cairn.token("bob", &[]).await;
        let request = http::Request::delete(format!("{}/me", self.members()));
        let request = request.header("authorization", format!("Bearer {token}")).body(bytes::Bytes::new()).unwrap();
        tokio::select! {
            answer = app.handle(request) => assert_eq!(answer.status(), 204),
            () = stopper.stopped() => {}
        }
        stopper.writes()
    }

    /// Bob is marked as leaving, and owns a group chat, as if another request had just made him its owner. The lease of the
    /// request that died has ended.
    async fn bob_leaves_as_an_owner(&self) {
        self.bob_leaves(Some((0, Moment::AfterItIsDone))).await;
        let (table, pk) = (self.chat.cairn.table_of(&GROUP_CHATS), format!("GROUPCHAT#{}", self.open[0]));
        let mut item = table.get(&pk, &pk).await.unwrap();
        item.insert("Owner".to_owned(), crate::harness::table::text(&self.chat.bob.id));
        table.put(item).await;
        self.chat.cairn.clock.advance(LEASE);
    }

    /// Bob is still a member of the community and of its group chats.
    async fn bob_stays(&self) {
        assert_eq!(self.chat.bob.user.get(&self.members()).await.is(200).each("userId").len(), 2);
        for chat in &self.open {
            let read = self.chat.bob.user.get(&format!("/chat/groupchats/{chat}")).await.is(200);
            assert_eq!(read["numMembers"], 2);
        }
    }

    /// Works on the due jobs.
    async fn work(&self) {
        let config = Config { socket: closed_socket(), ..self.chat.cairn.engines().config.clone() };
        let app = ::chat::app(Engines::new(config, self.chat.cairn.clock.clone())).metrics_to(|_| {});
        let deadline = Instant::now() + Duration::from_secs(60);
        app.event(::jobs::RUN_JOBS, "{}".into(), deadline).await.unwrap();
    }
}

async fn member_leaves_all_group_chats_of_the_community_only() {
    let stage = Stage::new().await;
    let (ann, bob) = (&stage.chat.ann, &stage.chat.bob);
    let other = ann.creates_community().await;
    let elsewhere = ann.creates_group_chat(&other, json!({ "name": "Elsewhere" })).await;
    bob.joins_community(&other).await.is(201);
    bob.joins_group_chat(&elsewhere).await.is(201);
    let requests = stage.bob_joins().await;
    bob.user.delete(&format!("{}/me", stage.members())).await.is(204);
    for chat in stage.open.iter().chain(&stage.private) {
        bob.user.get(&format!("/chat/groupchats/{chat}")).await.refused(404, "not-found");
        assert_eq!(ann.user.get(&format!("/chat/groupchats/{chat}")).await.is(200)["numMembers"], 1);
    }
    for request in requests {
        let read = bob.user.get(&format!("/chat/me/requests/{request}")).await.is(200);
        assert_eq!(read.text("status"), "withdrawn");
    }
    assert_eq!(bob.user.get("/chat/me/communities").await.is(200).each("id"), [&json!(other)]);
    assert_eq!(bob.user.get("/chat/me/groupchats").await.is(200).each("id"), [&json!(elsewhere)]);
    // Leaving twice has no effect, and bob can join again.
    bob.user.delete(&format!("{}/me", stage.members())).await.is(204);
    stage.bob_joins().await;
}

async fn owner_of_a_group_chat_cannot_leave_its_community() {
    let stage = Stage::new().await;
    let (ann, bob) = (&stage.chat.ann, &stage.chat.bob);
    stage.bob_joins().await;
    let own = bob.creates_group_chat(&stage.community, json!({ "name": "Bob's" })).await;
    bob.user.delete(&format!("{}/me", stage.members())).await.refused(409, "owner-must-transfer");
    let ban = format!("/chat/communities/{}/bans/{}", stage.community, bob.id);
    ann.user.put(&ban, json!({})).await.refused(409, "owner-must-transfer");
    assert_eq!(bob.user.get(&format!("/chat/groupchats/{}", stage.open[0])).await.is(200)["numMembers"], 2);
    // The founder hands the chat over.
    ann.joins_group_chat(&own).await.is(201);
    ann.user.patch(&format!("/chat/groupchats/{own}"), json!({ "ownerId": ann.id })).await.is(200);
    bob.user.delete(&format!("{}/me", stage.members())).await.is(204);
    stage.bob_is_gone().await;
}

async fn leaving_killed_at_each_write_is_finished_by_the_job() {
    // The stream handler ends subscriptions, too, which would make the number of the request's writes vary.
    let setup = Setup { limits: vec![("requests", 1000)], without: vec![TELL], ..Setup::of("chat") };
    let stage = Stage::with(setup).await;
    // The platform's own worker leaves the job to those of this test.
    stage.chat.cairn.engines().wind_down();
    let leave = async |dies: Option<(usize, Moment)>| {
        stage.bob_joins().await;
        let writes = stage.bob_leaves(dies).await;
        if dies.is_some() {
            stage.chat.cairn.clock.advance(LEASE);
            stage.work().await;
            // Before the first write nothing has happened.
            if dies != Some((0, Moment::BeforeItIsSent)) {
                stage.bob_is_gone().await;
            }
            stage.bob_leaves(None).await;
        }
        stage.bob_is_gone().await;
        writes
    };
    let writes = leave(None).await;
    assert!(writes >= 3, "{writes}");
    // An odd step reaches writes of both moments.
    for held in (0..writes).step_by(sized(3, 1)) {
        for moment in Moment::of_write(held) {
            assert_eq!(leave(Some((held, *moment))).await, held + 1, "{moment:?}");
        }
    }
}

/// A stage whose jobs only run in requests and in this test's own events.
async fn without_schedule() -> Stage {
    Stage::with(Setup { without: vec![::jobs::RUN_JOBS], ..Setup::of("chat") }).await
}

async fn leaving_is_resumed_by_the_same_request() {
    let stage = without_schedule().await;
    let (ann, bob, cy) = (&stage.chat.ann, &stage.chat.bob, &stage.chat.cy);
    stage.bob_joins().await;
    cy.joins_community(&stage.community).await.is(201);
    cy.joins_group_chat(&stage.open[0]).await.is(201);
    let message = send(&cy.user, &format!("/chat/groupchats/{}", stage.open[0]), "Buy moss").await;
    let chat = format!("groupchat/{}", stage.open[0]);
    let about = json!({ "kind": "message", "targetId": message["id"], "chat": chat, "reason": "spam" });
    let report = id(&ann.user.post("/chat/reports", about).await.is(201));
    bob.user.get(&format!("/chat/reports/{report}")).await.is(200);
    stage.bob_leaves(Some((0, Moment::AfterItIsDone))).await;
    // Once bob is marked as leaving, he is no longer a member or moderator, and no moderator can add him to a chat.
    bob.user.get(&format!("/chat/groupchats/{}", stage.open[0])).await.refused(404, "not-found");
    bob.user.get(&stage.members()).await.refused(403, "forbidden");
    bob.user.get(&format!("/chat/communities/{}/bans", stage.community)).await.refused(403, "forbidden");
    bob.user.get(&format!("/chat/reports/{report}")).await.refused(404, "not-found");
    bob.joins_community(&stage.community).await.refused(409, "conflict");
    let add = format!("/chat/groupchats/{}/members/{}", stage.private[0], bob.id);
    ann.puts(&add).await.refused(409, "not-in-community");
    let hand_over = json!({ "ownerId": bob.id });
    ann.user.patch(&format!("/chat/groupchats/{}", stage.open[0]), hand_over).await.refused(422, "unprocessable");
    // The dead request has the lease.
    let leave = format!("{}/me", stage.members());
    let accepted = bob.user.delete(&leave).await.is(202);
    assert_eq!((accepted.text("kind"), accepted.text("status")), ("leaveCommunity", "running"));
    stage.chat.cairn.clock.advance(LEASE);
    bob.user.delete(&leave).await.is(204);
    stage.bob_is_gone().await;
    // The scheduled run does the same.
    stage.bob_joins().await;
    stage.bob_leaves(Some((0, Moment::AfterItIsDone))).await;
    stage.chat.cairn.clock.advance(LEASE);
    stage.chat.cairn.event("chat", ::jobs::RUN_JOBS, &json!({})).await.unwrap();
    stage.bob_is_gone().await;
}

async fn ban_of_a_leaving_member_finishes_the_leaving() {
    let stage = without_schedule().await;
    let (ann, bob) = (&stage.chat.ann, &stage.chat.bob);
    stage.bob_joins().await;
    stage.bob_leaves(Some((0, Moment::AfterItIsDone))).await;
    stage.chat.cairn.clock.advance(LEASE);
    let ban = format!("/chat/communities/{}/bans/{}", stage.community, bob.id);
    ann.user.put(&ban, json!({})).await.is(204);
    stage.bob_is_gone().await;
    bob.joins_community(&stage.community).await.refused(403, "banned-here");
    // A member who is banned leaves the same things.
    ann.user.delete(&ban).await.is(204);
    stage.bob_joins().await;
    ann.user.put(&ban, json!({ "reason": "spam" })).await.is(204);
    stage.bob_is_gone().await;
}

async fn member_who_becomes_an_owner_just_before_leaving_stays() {
    let stage = without_schedule().await;
    let (ann, bob) = (&stage.chat.ann, &stage.chat.bob);
    stage.bob_joins().await;
    // The request has looked for chats that bob owns, and its mark comes after another request has made bob an owner.
    stage.bob_leaves(Some((0, Moment::BeforeItIsSent))).await;
    let hand_over = json!({ "ownerId": bob.id });
    ann.user.patch(&format!("/chat/groupchats/{}", stage.open[0]), hand_over).await.is(200);
    bob.user.delete(&format!("{}/me", stage.members())).await.refused(409, "owner-must-transfer");
    // With the mark already there, as if the mark had come first.
    ann.user.patch(&format!("/chat/groupchats/{}", stage.open[0]), json!({ "ownerId": ann.id })).await.is(200);
    stage.bob_leaves_as_an_owner().await;
    stage.chat.cairn.event("chat", ::jobs::RUN_JOBS, &json!({})).await.unwrap();
    stage.bob_stays().await;
}

async fn ban_of_an_owner_whose_leaving_has_begun_is_refused() {
    let stage = without_schedule().await;
    let (ann, bob) = (&stage.chat.ann, &stage.chat.bob);
    stage.bob_joins().await;
    stage.bob_leaves_as_an_owner().await;
    let bans = format!("/chat/communities/{}/bans", stage.community);
    ann.user.put(&format!("{bans}/{}", bob.id), json!({})).await.refused(409, "owner-must-transfer");
    assert!(ann.user.get(&bans).await.is(200).each("userId").is_empty());
    stage.bob_stays().await;
}

async fn leaving_of_an_owner_that_has_begun_is_refused() {
    let stage = without_schedule().await;
    stage.bob_joins().await;
    stage.bob_leaves_as_an_owner().await;
    stage.chat.bob.user.delete(&format!("{}/me", stage.members())).await.refused(409, "owner-must-transfer");
    stage.bob_stays().await;
}
