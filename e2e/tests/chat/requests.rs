//! Requests to join private group chats.

use std::time::Duration;

use ::chat::schema::CHAT_REQUESTS;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::join;

use super::stage::{Chat, Member, id, names};
use crate::harness::{Setup, sized};
use crate::tests;

tests! { chat_requests:
    approved_request_makes_a_member_and_leaves_both_pending_lists,
    repeated_request_is_one,
    request_is_refused_where_it_is_not_needed,
    denied_user_asks_again_after_a_day,
    requests_are_seen_by_moderators_and_their_user_only,
    one_seat_and_three_approvals_at_once_make_one_member,
    approval_and_withdrawal_at_once_have_one_result,
    approval_of_a_member_only_settles_the_request,
    request_ends_when_its_user_leaves_the_community,
    user_sends_twenty_requests_an_hour,
}

/// A private chat of ann, with bob and cy in its community.
struct Stage {
    chat: Chat,
    community: String,
    group: String,
    requests: String,
}

impl Stage {
    async fn new(capacity: u32) -> Self {
        Self::with(Setup::of("chat"), capacity).await
    }

    async fn with(setup: Setup, capacity: u32) -> Self {
        let chat = Chat::with(setup).await;
        let community = chat.ann.creates_community().await;
        let new = json!({ "name": "Bogs", "private": true, "capacity": capacity });
        let group = chat.ann.creates_group_chat(&community, new).await;
        for member in [&chat.bob, &chat.cy] {
            member.joins_community(&community).await.is(201);
        }
        let requests = format!("/chat/groupchats/{group}/requests");
        Self { chat, community, group, requests }
    }

    /// Sends a request, and returns its id.
    async fn asks(&self, member: &Member) -> String {
        id(&member.user.post(&self.requests, json!({})).await.is(201))
    }

    async fn settles(&self, request: &str, verb: &str) -> crate::harness::Answer {
        self.chat.ann.user.call(reqwest::Method::POST, &format!("{}/{request}/{verb}", self.requests)).await
    }

    async fn members(&self) -> Value {
        self.chat.ann.user.get(&format!("/chat/groupchats/{}", self.group)).await.is(200)["numMembers"].clone()
    }
}

async fn pending(member: &Member, path: &str) -> Vec<Value> {
    member.user.get(path).await.is(200).each("id").into_iter().cloned().collect()
}

async fn approved_request_makes_a_member_and_leaves_both_pending_lists() {
    let stage = Stage::new(10).await;
    let Stage { chat, requests, group, .. } = &stage;
    let created = chat.bob.user.post(requests, json!({ "note": "I keep a bog.\n" })).await.is(201);
    let expected = json!({
        "id": created["id"], "userId": chat.bob.id, "chatId": group, "status": "pending", "seen": false,
        "note": "I keep a bog.\n", "createdAt": created["createdAt"],
    });
    assert_eq!(created.body, expected);
    chat.bob.user.post(requests, json!({})).await.refused(409, "request-pending");
    assert_eq!(pending(&chat.ann, requests).await, [created["id"].clone()]);
    assert_eq!(pending(&chat.bob, "/chat/me/requests").await, [created["id"].clone()]);
    let request = created.text("id").to_owned();
    let one = format!("{requests}/{request}");
    chat.ann.user.patch(&one, json!({ "seen": false })).await.faulty(&["/seen"]);
    let seen = chat.ann.user.patch(&one, json!({ "seen": true })).await.is(200);
    assert_eq!(seen["seen"], true);
    assert_eq!(chat.ann.user.patch(&one, json!({ "seen": true })).await.is(200).tag(), seen.tag());
    assert_eq!(chat.bob.user.get(created.header("location")).await.is(200)["seen"], true);
    let approved = stage.settles(&request, "approve").await.is(200);
    assert_eq!((approved.text("status"), approved.text("settledBy")), ("approved", chat.ann.id.as_str()));
    assert_eq!(chat.ann.user.get(&one).await.is(200).body, approved.body);
    assert_eq!(chat.bob.user.get(created.header("location")).await.is(200).body, approved.body);
    assert!(pending(&chat.ann, requests).await.is_empty() && pending(&chat.bob, "/chat/me/requests").await.is_empty());
    assert_eq!(pending(&chat.ann, &format!("{requests}?status=all")).await, [created["id"].clone()]);
    assert_eq!(pending(&chat.bob, "/chat/me/requests?status=all").await, [created["id"].clone()]);
    chat.bob.joins_group_chat(group).await.is(200);
    assert_eq!(stage.members().await, 2);
    for verb in ["approve", "deny"] {
        let refused = stage.settles(&request, verb).await.refused(409, "request-settled");
        assert_eq!(refused["requestStatus"], "approved");
    }
    let mine = format!("/chat/me/requests/{request}");
    let refused = chat.bob.user.delete(&mine).await.refused(409, "request-settled");
    assert_eq!(refused["requestStatus"], "approved");
    chat.bob.user.post(requests, json!({})).await.refused(409, "member");
}

async fn repeated_request_is_one() {
    let stage = Stage::new(10).await;
    let ask = || stage.chat.bob.user.post(&stage.requests, json!({})).once("k");
    assert_eq!(ask().await.is(201).body, ask().await.is(201).body);
    assert_eq!(pending(&stage.chat.ann, &stage.requests).await.len(), 1);
}

async fn request_is_refused_where_it_is_not_needed() {
    let stage = Stage::new(10).await;
    let chat = &stage.chat;
    let open = chat.ann.creates_group_chat(&stage.community, json!({ "name": "Fens" })).await;
    let at_open = format!("/chat/groupchats/{open}/requests");
    chat.bob.user.post(&at_open, json!({})).await.refused(409, "not-private");
    chat.ann.user.post(&stage.requests, json!({})).await.refused(409, "member");
    let dan = chat.member("dan").await;
    dan.user.post(&stage.requests, json!({})).await.refused(404, "not-found");
    for note in [" ", "a\u{7}", &"x".repeat(301)] {
        chat.bob.user.post(&stage.requests, json!({ "note": note })).await.faulty(&["/note"]);
    }
}

async fn denied_user_asks_again_after_a_day() {
    let stage = Stage::new(10).await;
    let bob = &stage.chat.bob;
    let request = stage.asks(bob).await;
    assert_eq!(stage.settles(&request, "deny").await.is(200).text("status"), "denied");
    let refused = bob.user.post(&stage.requests, json!({})).await.refused(409, "too-soon");
    assert!(refused.text("retryAt").ends_with('Z'), "{}", refused.told());
    stage.chat.cairn.caught_up().await;
    stage.chat.cairn.clock.advance(Duration::from_secs(86_401));
    let again = stage.asks(bob).await;
    bob.user.delete(&format!("/chat/me/requests/{again}")).await.is(204);
    let refused = bob.user.delete(&format!("/chat/me/requests/{again}")).await.refused(409, "request-settled");
    assert_eq!(refused["requestStatus"], "withdrawn");
    let last = stage.asks(bob).await;
    let all = pending(bob, "/chat/me/requests?status=all").await;
    assert_eq!(all, [json!(last), json!(again), json!(request)]);
    let page = bob.user.get("/chat/me/requests?status=all&limit=2").await.is(200);
    let rest = bob.user.get(&format!("/chat/me/requests?status=all&limit=2&cursor={}", page.next().unwrap())).await;
    assert_eq!(rest.is(200).each("id"), [&json!(request)]);
}

async fn requests_are_seen_by_moderators_and_their_user_only() {
    let stage = Stage::new(10).await;
    let Stage { chat, requests, .. } = &stage;
    let request = stage.asks(&chat.bob).await;
    let (one, mine) = (format!("{requests}/{request}"), format!("/chat/me/requests/{request}"));
    chat.cy.user.get(requests).await.refused(403, "forbidden");
    chat.cy.user.get(&one).await.refused(403, "forbidden");
    chat.cy.user.patch(&one, json!({ "seen": true })).await.refused(403, "forbidden");
    for verb in ["approve", "deny"] {
        let settle = chat.cy.user.call(reqwest::Method::POST, &format!("{one}/{verb}"));
        settle.await.refused(403, "forbidden");
    }
    chat.cy.user.get(&mine).await.refused(404, "not-found");
    chat.cy.user.delete(&mine).await.refused(404, "not-found");
    let dan = chat.member("dan").await;
    dan.user.get(requests).await.refused(404, "not-found");
    for id in ["019b76da-a800-7000-8000-000000000051", "0"] {
        chat.ann.user.get(&format!("{requests}/{id}")).await.refused(404, "not-found");
    }
    let named = chat.ann.user.get(&format!("{requests}?include=people")).await.is(200);
    assert_eq!(names(&named), ["bob"]);
    assert_eq!(chat.ann.user.get(&one).await.is(200).body, chat.bob.user.get(&mine).await.is(200).body);
}

async fn one_seat_and_three_approvals_at_once_make_one_member() {
    let stage = Stage::new(2).await;
    let dan = stage.chat.member("dan").await;
    dan.joins_community(&stage.community).await.is(201);
    let mut requests = Vec::new();
    for member in [&stage.chat.bob, &stage.chat.cy, &dan] {
        requests.push(stage.asks(member).await);
    }
    let answers = join_all(requests.iter().map(|request| stage.settles(request, "approve"))).await;
    let approved = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(approved, 1, "{:?}", answers.iter().map(|answer| answer.told()).collect::<Vec<_>>());
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        answer.refused(409, "chat-full");
    }
    assert_eq!(pending(&stage.chat.ann, &stage.requests).await.len(), 2);
    assert_eq!(stage.members().await, 2);
}

async fn approval_and_withdrawal_at_once_have_one_result() {
    let stage = Stage::with(Setup { limits: vec![("requests", 1000)], ..Setup::of("chat") }, 10).await;
    let (chat, table) = (&stage.chat, stage.chat.cairn.table_of(&CHAT_REQUESTS));
    for round in 0..sized(10, 100) {
        let request = stage.asks(&chat.bob).await;
        let withdraw = chat.bob.user.delete(&format!("/chat/me/requests/{request}"));
        let (approved, withdrawn) = join!(stage.settles(&request, "approve"), withdraw.into_future());
        let status = match (approved.status, withdrawn.status) {
            (200, 409) => {
                withdrawn.refused(409, "request-settled");
                "approved"
            }
            (409, 204) => {
                approved.refused(409, "request-settled");
                "withdrawn"
            }
            _ => panic!("round {round}: {} {}", approved.told(), withdrawn.told()),
        };
        let rows = table.items().await;
        let of_request =
            |item: &&crate::harness::table::Item| item.get("Id").is_some_and(|id| id.as_s().unwrap() == &request);
        let statuses: Vec<&str> =
            rows.iter().filter(of_request).map(|item| item["Status"].as_s().unwrap().as_str()).collect();
        assert_eq!(statuses, [status; 2], "round {round}");
        if status == "approved" {
            chat.bob.user.delete(&format!("/chat/groupchats/{}/members/me", stage.group)).await.is(204);
        }
        assert_eq!(stage.members().await, 1, "round {round}");
    }
}

async fn approval_of_a_member_only_settles_the_request() {
    let stage = Stage::new(2).await;
    let chat = &stage.chat;
    let request = stage.asks(&chat.bob).await;
    chat.ann.puts(&format!("/chat/groupchats/{}/members/{}", stage.group, chat.bob.id)).await.is(201);
    // The chat is full, which does not matter to a member.
    stage.settles(&request, "approve").await.is(200);
    assert_eq!((stage.members().await, pending(&chat.ann, &stage.requests).await.len()), (json!(2), 0));
}

async fn request_ends_when_its_user_leaves_the_community() {
    let stage = Stage::new(10).await;
    let chat = &stage.chat;
    let request = stage.asks(&chat.bob).await;
    chat.bob.user.delete(&format!("/chat/communities/{}/members/me", stage.community)).await.is(204);
    assert!(pending(&chat.ann, &stage.requests).await.is_empty());
    let mine = chat.bob.user.get(&format!("/chat/me/requests/{request}")).await.is(200);
    assert_eq!(mine.text("status"), "withdrawn");
    chat.bob.joins_community(&stage.community).await.is(201);
    stage.asks(&chat.bob).await;
}

async fn user_sends_twenty_requests_an_hour() {
    let stage = Stage::with(Setup { limits: vec![("requests", 1)], ..Setup::of("chat") }, 10).await;
    stage.asks(&stage.chat.bob).await;
    stage.chat.bob.user.post(&stage.requests, json!({})).await.refused(429, "too-many-requests");
    stage.asks(&stage.chat.cy).await;
}
