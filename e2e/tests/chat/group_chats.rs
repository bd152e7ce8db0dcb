//! Group chats: who sees, creates and joins them.

use std::str::FromStr;

use ::chat::keys::message_key;
use ::chat::names::{ChatId, GroupChatId, MessageId};
use ::chat::schema::{COMMUNITIES, GROUP_CHATS, LIVE};
use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::Method;
use serde_json::{Value, json};
use table::item::number;

use super::stage::{Chat, Member, names, subscription_to, without_stream_readers};
use crate::harness::Setup;
use crate::harness::stopper::WRITES;
use crate::harness::table::{stored, text};
use crate::tests;

tests! { chat_group_chats:
    owner_is_the_first_member,
    group_chat_is_seen_by_its_community_only,
    repeated_creation_creates_one_group_chat,
    private_group_chat_needs_a_request,
    full_group_chat_refuses_joiners_and_not_its_members,
    moderator_adds_members_of_the_community_only,
    user_of_1000_group_chats_cannot_join_another,
    community_of_500_group_chats_gets_no_more,
    moderator_updates_and_owner_hands_over,
    capacity_is_never_below_the_number_of_members,
    capacity_that_is_raised_too_late_is_not_below_the_number_of_members,
    update_without_if_match_merges_beside_joins,
    leaving_twice_at_once_counts_once,
    moderator_removes_members_but_not_the_owner,
    moderator_does_not_remove_the_founder_of_the_community,
    repeated_leave_ends_the_subscriptions_that_are_left,
    texts_without_a_visible_character_are_refused,
    moderators_are_members_named_by_the_owner,
    own_group_chats_are_listed_with_what_is_new,
    group_chats_above_their_rate_are_refused,
}

async fn owner_is_the_first_member() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let of_community = format!("/chat/communities/{community}/groupchats");
    let created = chat.ann.user.post(&of_community, json!({ "name": "Bogs" })).await.is(201);
    let expected = json!({
        "id": created["id"], "communityId": community, "name": "Bogs", "description": "", "capacity": 100,
        "private": false, "numMembers": 1, "ownerId": chat.ann.id, "moderatorIds": [],
        "createdAt": created["createdAt"],
    });
    assert_eq!(created.body, expected);
    let read = chat.ann.user.get(created.header("location")).await.is(200);
    assert_eq!((&read.body, read.tag()), (&expected, created.tag()));
    assert_eq!(chat.ann.user.get(&format!("/chat/communities/{community}")).await.is(200)["numGroupChats"], 1);
    let members = chat.ann.user.get(&format!("{}/members?include=people", created.header("location"))).await.is(200);
    assert_eq!((members.each("role"), members.each("userId")), (vec![&json!("owner")], vec![&json!(chat.ann.id)]));
    assert_eq!(names(&members), ["ann"]);
    let faulty = json!({ "name": " ", "capacity": 1, "ownerId": chat.bob.id, "numMembers": 9 });
    chat.ann.user.post(&of_community, faulty).await.faulty(&["/name", "/capacity", "/ownerId", "/numMembers"]);
}

async fn group_chat_is_seen_by_its_community_only() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "private": true })).await;
    let (of_community, one) =
        (format!("/chat/communities/{community}/groupchats"), format!("/chat/groupchats/{group}"));
    chat.bob.user.post(&of_community, json!({ "name": "Bogs" })).await.refused(403, "forbidden");
    chat.bob.user.get(&of_community).await.refused(403, "forbidden");
    chat.bob.user.get(&one).await.refused(404, "not-found");
    chat.bob.user.get(&format!("{one}/members")).await.refused(404, "not-found");
    chat.bob.joins_group_chat(&group).await.refused(404, "not-found");
    chat.bob.joins_community(&community).await.is(201);
    assert_eq!(chat.bob.user.get(&of_community).await.is(200).each("id"), [&json!(group)]);
    assert_eq!(chat.bob.user.get(&one).await.is(200)["private"], true);
    chat.bob.user.get(&format!("{one}/members")).await.refused(403, "forbidden");
}

async fn repeated_creation_creates_one_group_chat() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}/groupchats");
    let create = || chat.ann.user.post(&path, json!({ "name": "Bogs" })).once("k");
    assert_eq!(create().await.is(201).body, create().await.is(201).body);
    assert_eq!(chat.ann.user.get(&path).await.is(200).each("id").len(), 1);
}

async fn private_group_chat_needs_a_request() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "private": true })).await;
    chat.bob.joins_community(&community).await.is(201);
    chat.bob.joins_group_chat(&group).await.refused(403, "request-needed");
    chat.ann.joins_group_chat(&group).await.is(200);
}

async fn full_group_chat_refuses_joiners_and_not_its_members() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "capacity": 2 })).await;
    for member in [&chat.bob, &chat.cy] {
        member.joins_community(&community).await.is(201);
    }
    let joined = chat.bob.joins_group_chat(&group).await.is(201);
    assert_eq!((joined.text("userId"), joined.text("role")), (chat.bob.id.as_str(), "member"));
    assert_eq!(chat.bob.joins_group_chat(&group).await.is(200).body, joined.body);
    chat.cy.joins_group_chat(&group).await.refused(409, "chat-full");
    assert_eq!(chat.cy.user.get(&format!("/chat/groupchats/{group}")).await.is(200)["numMembers"], 2);
}

async fn moderator_adds_members_of_the_community_only() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "private": true })).await;
    let member = |user: &str| format!("/chat/groupchats/{group}/members/{user}");
    chat.bob.joins_community(&community).await.is(201);
    chat.ann.puts(&member(&chat.cy.id)).await.refused(409, "not-in-community");
    chat.cy.joins_community(&community).await.is(201);
    chat.bob.puts(&member(&chat.cy.id)).await.refused(403, "forbidden");
    let added = chat.ann.puts(&member(&chat.cy.id)).await.is(201);
    assert_eq!((added.text("userId"), added.text("addedBy")), (chat.cy.id.as_str(), chat.ann.id.as_str()));
    chat.ann.puts(&member(&chat.cy.id)).await.is(200);
}

async fn user_of_1000_group_chats_cannot_join_another() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.bob.joins_community(&community).await.is(201);
    let table = chat.cairn.table_of(&GROUP_CHATS);
    let (ann, bob) = (format!("MEMBERSHIPS#{}", chat.ann.id), format!("MEMBERSHIPS#{}", chat.bob.id));
    let mut count = table.get(&ann, &ann).await.unwrap();
    count.extend([("Num".to_owned(), number(1000)), ("pk".to_owned(), text(&bob)), ("sk".to_owned(), text(&bob))]);
    table.put(count).await;
    chat.bob.joins_group_chat(&group).await.refused(409, "too-many-memberships");
    let path = format!("/chat/communities/{community}/groupchats");
    chat.bob.user.post(&path, json!({ "name": "Fens" })).await.refused(409, "too-many-memberships");
    assert_eq!(chat.bob.user.get(&format!("/chat/groupchats/{group}")).await.is(200)["numMembers"], 1);
}

async fn community_of_500_group_chats_gets_no_more() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let (table, key) = (chat.cairn.table_of(&COMMUNITIES), format!("COMMUNITY#{community}"));
    let mut item = table.get(&key, &key).await.unwrap();
    item.insert("NumGroupChats".to_owned(), number(500));
    table.put(item).await;
    let path = format!("/chat/communities/{community}/groupchats");
    chat.ann.user.post(&path, json!({ "name": "Fens" })).await.refused(409, "too-many-chats");
}

async fn moderator_updates_and_owner_hands_over() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    for member in [&chat.bob, &chat.cy] {
        member.joins_community(&community).await.is(201);
    }
    // Ann is the founder of the community, bob owns the chat, and cy moderates it.
    let group = chat.bob.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.cy.joins_group_chat(&group).await.is(201);
    let path = format!("/chat/groupchats/{group}");
    let patch = |member: &Member, patch: Value| member.user.patch(&path, patch);
    patch(&chat.cy, json!({ "name": "Fens" })).await.refused(403, "forbidden");
    chat.bob.puts(&format!("{path}/moderators/{}", chat.cy.id)).await.is(204);
    let renamed = patch(&chat.cy, json!({ "name": "Fens", "description": "Wet.", "capacity": 3 })).await.is(200);
    assert_eq!((renamed.text("name"), &renamed["capacity"]), ("Fens", &json!(3)));
    assert_eq!(chat.ann.user.get(&path).await.is(200).tag(), renamed.tag());
    patch(&chat.cy, json!({ "private": true })).await.refused(403, "forbidden");
    patch(&chat.cy, json!({ "ownerId": chat.cy.id })).await.refused(403, "forbidden");
    // The founder does not moderate the chat, but decides on its owner and its privacy.
    patch(&chat.ann, json!({ "name": "Ann's" })).await.refused(403, "forbidden");
    patch(&chat.ann, json!({ "private": true })).await.is(200);
    patch(&chat.ann, json!({ "ownerId": chat.ann.id })).await.refused(422, "unprocessable").at(&["/ownerId"]);
    let handed = patch(&chat.ann, json!({ "ownerId": chat.cy.id })).await.is(200);
    assert_eq!((handed.text("ownerId"), &handed["moderatorIds"]), (chat.cy.id.as_str(), &json!([])));
    patch(&chat.bob, json!({ "ownerId": chat.bob.id })).await.refused(403, "forbidden");
    let of_chat = chat.bob.user.get(&format!("{path}/community")).await.is(200);
    assert_eq!(of_chat.text("id"), community);
    let dan = chat.member("dan").await;
    dan.user.get(&format!("{path}/community")).await.refused(404, "not-found");
    patch(&chat.cy, json!({ "capacity": 1, "numMembers": 1, "name": " " })).await.faulty(&[
        "/capacity",
        "/numMembers",
        "/name",
    ]);
}

async fn capacity_is_never_below_the_number_of_members() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    for member in [&chat.bob, &chat.cy] {
        member.joins_community(&community).await.is(201);
        member.joins_group_chat(&group).await.is(201);
    }
    let capacity =
        |capacity: u32| chat.ann.user.patch(&format!("/chat/groupchats/{group}"), json!({ "capacity": capacity }));
    capacity(2).await.refused(409, "below-members");
    capacity(3).await.is(200);
    let dan = chat.member("dan").await;
    dan.joins_community(&community).await.is(201);
    dan.joins_group_chat(&group).await.refused(409, "chat-full");
    capacity(4).await.is(200);
    dan.joins_group_chat(&group).await.is(201);
}

async fn capacity_that_is_raised_too_late_is_not_below_the_number_of_members() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "capacity": 2 })).await;
    let path = format!("/chat/groupchats/{group}");
    let (stopper, late) = chat.held(WRITES, Method::PATCH, &path, Some(json!({ "capacity": 3 }))).await;
    chat.ann.user.patch(&path, json!({ "capacity": 4 })).await.is(200);
    let dan = chat.member("dan").await;
    for member in [&chat.bob, &chat.cy, &dan] {
        member.joins_community(&community).await.is(201);
        member.joins_group_chat(&group).await.is(201);
    }
    stopper.resume();
    assert_eq!(late.await.unwrap(), 409);
    let read = chat.ann.user.get(&path).await.is(200);
    assert_eq!((&read["capacity"], &read["numMembers"]), (&json!(4), &json!(4)));
}

async fn update_without_if_match_merges_beside_joins() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    let path = format!("/chat/groupchats/{group}");
    let before = chat.ann.user.get(&path).await.is(200);
    chat.bob.joins_community(&community).await.is(201);
    chat.bob.joins_group_chat(&group).await.is(201);
    let rename = || chat.ann.user.patch(&path, json!({ "name": "Fens" }));
    rename().if_match(&before.tag()).await.refused(412, "stale");
    let renamed = rename().await.is(200);
    assert_eq!((renamed.text("name"), &renamed["numMembers"]), ("Fens", &json!(2)));
}

async fn leaving_twice_at_once_counts_once() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.bob.joins_community(&community).await.is(201);
    let path = format!("/chat/groupchats/{group}");
    for _ in 0..3 {
        chat.bob.joins_group_chat(&group).await.is(201);
        let leaves = (0..3).map(|_| chat.bob.user.delete(&format!("{path}/members/me")).into_future());
        for left in futures::future::join_all(leaves).await {
            left.is(204);
        }
        assert_eq!(chat.ann.user.get(&path).await.is(200)["numMembers"], 1);
    }
    chat.ann.user.delete(&format!("{path}/members/me")).await.refused(409, "owner-must-transfer");
    let table = chat.cairn.table_of(&GROUP_CHATS);
    let key = format!("MEMBERSHIPS#{}", chat.bob.id);
    assert_eq!(table.get(&key, &key).await.unwrap()["Num"].as_n().unwrap(), "0");
}

async fn moderator_removes_members_but_not_the_owner() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "private": true })).await;
    let member = |user: &str| format!("/chat/groupchats/{group}/members/{user}");
    for joiner in [&chat.bob, &chat.cy] {
        joiner.joins_community(&community).await.is(201);
        chat.ann.puts(&member(&joiner.id)).await.is(201);
    }
    chat.bob.user.delete(&member(&chat.cy.id)).await.refused(403, "forbidden");
    chat.ann.puts(&format!("/chat/groupchats/{group}/moderators/{}", chat.bob.id)).await.is(204);
    chat.bob.user.delete(&member(&chat.ann.id)).await.refused(409, "owner-must-transfer");
    chat.bob.user.delete(&member(&format!("{}?reason=spam", chat.cy.id))).await.is(204);
    chat.bob.user.delete(&member(&chat.cy.id)).await.is(204);
    // The moderator leaves, and with the membership goes the role.
    chat.bob.user.delete(&member("me")).await.is(204);
    let read = chat.ann.user.get(&format!("/chat/groupchats/{group}")).await.is(200);
    assert_eq!((&read["moderatorIds"], &read["numMembers"]), (&json!([]), &json!(1)));
    let table = chat.cairn.table_of(&COMMUNITIES);
    let reasons: Vec<String> = table
        .items()
        .await
        .into_iter()
        .filter(|item| item.get("Action").is_some_and(|action| *action == text("removeMember")))
        .map(|item| item["Reason"].as_s().unwrap().clone())
        .collect();
    assert_eq!(reasons, ["spam"]);
}

async fn moderator_does_not_remove_the_founder_of_the_community() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.cy.creates_community().await;
    chat.ann.joins_community(&community).await.is(201);
    chat.bob.joins_community(&community).await.is(201);
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.bob.joins_group_chat(&group).await.is(201);
    chat.cy.joins_group_chat(&group).await.is(201);
    chat.ann.puts(&format!("/chat/groupchats/{group}/moderators/{}", chat.bob.id)).await.is(204);
    let founder = format!("/chat/groupchats/{group}/members/{}", chat.cy.id);
    chat.bob.user.delete(&founder).await.refused(403, "forbidden");
    chat.ann.user.delete(&founder).await.is(204);
    chat.cy.joins_group_chat(&group).await.is(201);
    chat.cy.user.delete(&founder).await.is(204);
}

async fn repeated_leave_ends_the_subscriptions_that_are_left() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.bob.joins_community(&community).await.is(201);
    // A request that made bob leave was stopped.
    let live = chat.cairn.table_of(&LIVE);
    live.put(subscription_to(group.parse().unwrap(), chat.bob.id.parse().unwrap())).await;
    chat.bob.user.delete(&format!("/chat/groupchats/{group}/members/me")).await.is(204);
    let left = live.partitions().await;
    assert!(!left.iter().any(|partition| partition.starts_with("SUB#")), "{left:?}");
}

async fn texts_without_a_visible_character_are_refused() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "description": "" })).await;
    let private = chat.ann.user.post("/chat/privatechats", json!({ "userId": chat.bob.id })).await.is(201);
    let one = format!("/chat/communities/{community}");
    for text in [" ", "\0", "\u{200b}", "moss\r"] {
        let named = |mut body: Value| {
            body["description"] = text.into();
            body
        };
        let new = named(json!({ "name": "Moss", "topic": "Plants" }));
        chat.ann.user.post("/chat/communities", new).await.faulty(&["/description"]);
        chat.ann.user.patch(&one, named(json!({}))).await.faulty(&["/description"]);
        let chats = format!("{one}/groupchats");
        chat.ann.user.post(&chats, named(json!({ "name": "Bogs" }))).await.faulty(&["/description"]);
        chat.ann.user.patch(&format!("/chat/groupchats/{group}"), named(json!({}))).await.faulty(&["/description"]);
        let path = format!("/chat/privatechats/{}", private.text("id"));
        let both = named(json!({ "name": text }));
        chat.ann.user.patch(&path, both).await.faulty(&["/description", "/name"]);
        chat.ann.user.patch(&path, json!({ "name": "", "description": "" })).await.is(200);
    }
}

async fn moderators_are_members_named_by_the_owner() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    let moderator = |user: &str| format!("/chat/groupchats/{group}/moderators/{user}");
    chat.bob.joins_community(&community).await.is(201);
    chat.ann.puts(&moderator(&chat.bob.id)).await.refused(404, "not-found");
    chat.bob.joins_group_chat(&group).await.is(201);
    chat.bob.puts(&moderator("me")).await.refused(403, "forbidden");
    chat.ann.puts(&moderator(&chat.bob.id)).await.is(204);
    chat.ann.puts(&moderator(&chat.bob.id)).await.is(204);
    let members = chat.bob.user.get(&format!("/chat/groupchats/{group}/members")).await.is(200);
    assert!(members.each("role").contains(&&json!("moderator")), "{}", members.told());
    chat.ann.user.delete(&moderator(&chat.ann.id)).await.refused(409, "owner-must-transfer");
    chat.bob.user.delete(&moderator(&chat.bob.id)).await.refused(403, "forbidden");
    chat.ann.user.delete(&moderator(&chat.bob.id)).await.is(204);
    chat.ann.user.delete(&moderator(&chat.bob.id)).await.refused(404, "not-found");
}

async fn own_group_chats_are_listed_with_what_is_new() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let mut groups = Vec::new();
    for name in ["first", "second", "third"] {
        groups.push(chat.ann.creates_group_chat(&community, json!({ "name": name })).await);
    }
    let table = chat.cairn.table_of(&GROUP_CHATS);
    let group = GroupChatId::from_str(&groups[1]).unwrap();
    // Messages from before the caller has joined are not unread.
    let now = chat.cairn.clock.micros() / 1000;
    let ids: Vec<MessageId> = (1..=3).map(|number| MessageId::at(now + number)).collect();
    for id in &ids {
        let message = json!({ "Id": id, "SenderId": chat.bob.id, "Content": "hi", "CreatedAt": id.time().to_string(),
            "Editted": false, "Reactions": {} });
        table.put(stored(&GROUP_CHATS, &message_key(ChatId::Group(group), *id), &message)).await;
    }
    let mine = async |query: &str| chat.ann.user.get(&format!("/chat/me/groupchats{query}")).await.is(200);
    let list = mine("?counts=true").await;
    assert_eq!(list.each("name"), ["third", "second", "first"]);
    assert_eq!(list.each("role"), ["owner", "owner", "owner"]);
    assert_eq!(list.each("hasUnread"), [false, true, false]);
    assert_eq!(list.each("unreadCount"), [0, 3, 0]);
    assert_eq!(list["items"][1]["lastMessage"]["id"], json!(ids[2]));
    assert_eq!(mine("").await.each("unreadCount"), [&Value::Null; 3]);
    let change = async |name: &str, value: AttributeValue| {
        let (pk, sk) = (format!("GROUPCHAT#{}", groups[1]), format!("USER#{}", chat.ann.id));
        let mut member = table.get(&pk, &sk).await.unwrap();
        member.insert(name.to_owned(), value);
        table.put(member).await;
    };
    change("LastReadId", text(&ids[1].to_string())).await;
    change("MentionsUnread", number(1)).await;
    change("MutedUntil", text("2999-01-01T00:00:00.000Z")).await;
    let list = mine("?counts=true").await;
    assert_eq!(
        (list.each("unreadCount"), list.each("mentionsUnread")),
        (vec![&json!(0), &json!(1), &json!(0)], vec![&json!(0), &json!(1), &json!(0)])
    );
    assert_eq!(list.each("muted"), [false, true, false]);
    change("LastReadId", text(&ids[2].to_string())).await;
    assert_eq!(mine("").await.each("hasUnread"), [false; 3]);
    change("Hidden", AttributeValue::Bool(true)).await;
    let page = mine("?limit=1").await;
    assert_eq!(page.each("name"), ["third"]);
    let rest = mine(&format!("?limit=1&cursor={}", page.next().unwrap())).await;
    assert_eq!((rest.each("name"), rest.next()), (vec![&json!("first")], None));
    chat.ann.user.get("/chat/me/groupchats?limit=26").await.faulty(&["limit"]);
}

async fn group_chats_above_their_rate_are_refused() {
    let chat = Chat::with(without_stream_readers(Setup { limits: vec![("groupChats", 1)], ..Setup::of("chat") })).await;
    let community = chat.ann.creates_community().await;
    let list = format!("/chat/communities/{community}/groupchats");
    chat.ann.user.post(&list, json!({ "name": "Bogs" })).await.is(201);
    let refused = chat.ann.user.post(&list, json!({ "name": "Fens" })).await.refused(429, "too-many-requests");
    assert!((1..=86_400).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
}
