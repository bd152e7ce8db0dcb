//! Communities: who founds, finds and joins them.

use std::time::Duration;

use ::chat::schema::COMMUNITIES;
use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::Method;
use serde_json::{Value, json};

use super::export::ended;
use super::stage::{Chat, id, names};
use crate::harness::Setup;
use crate::harness::stopper::TRANSACTIONS;
use crate::harness::table::text;
use crate::tests;

tests! { chat_communities:
    founder_is_the_first_member,
    invalid_community_is_refused_with_all_faults,
    repeated_creation_creates_one_community,
    communities_are_listed_by_country_state_and_city,
    joining_twice_counts_once,
    user_joins_for_oneself_only,
    place_whose_name_is_long_once_composed_is_refused,
    members_are_listed_to_members_with_their_names,
    user_of_500_communities_cannot_join_another,
    user_creates_ten_communities_a_day,
    founder_updates_the_community_and_moves_it,
    update_without_if_match_merges_beside_joins,
    founder_hands_over_to_a_member,
    moderators_are_members_named_by_the_founder,
    banned_member_is_removed_and_cannot_return,
    user_who_is_not_a_member_can_be_banned,
    ban_from_a_community_that_is_deleted_meanwhile_leaves_nothing,
}

async fn founder_is_the_first_member() {
    let chat = Chat::without_stream_readers().await;
    let new = json!({
        "name": "Moss friends", "topic": "Plants", "description": "All about <moss>.",
        "avatarURL": "https://example.org/a.png", "location": { "country": " Canada ", "state": "B.  C." },
        "retentionDays": 30,
    });
    let created = chat.ann.user.post("/chat/communities", new).await.is(201);
    assert_eq!(created["location"], json!({ "country": "Canada", "state": "B. C." }));
    assert_eq!((created.text("founderId"), &created["numMembers"]), (chat.ann.id.as_str(), &json!(1)));
    let read = chat.bob.user.get(created.header("location")).await.is(200);
    assert_eq!((&read.body, read.tag()), (&created.body, created.tag()));
    assert_eq!(read["createdAt"].as_str().unwrap().len(), "2026-03-01T10:00:00.123Z".len());
    let mine = chat.ann.user.get("/chat/me/communities").await.is(200);
    assert_eq!((mine.each("id"), mine.each("role")), (vec![&created["id"]], vec![&json!("founder")]));
    assert_eq!(chat.bob.user.get("/chat/me/communities").await.is(200)["items"], json!([]));
    for path in ["019b76da-a800-7000-8000-000000000011", "0", "019b76da-a800-4000-8000-000000000011"] {
        chat.ann.user.get(&format!("/chat/communities/{path}")).await.refused(404, "not-found");
    }
    chat.visitor.get(created.header("location")).await.refused(401, "not-signed-in");
}

async fn invalid_community_is_refused_with_all_faults() {
    let chat = Chat::without_stream_readers().await;
    let new = json!({
        "name": " ", "topic": "\u{200b}", "description": "x".repeat(1001), "avatarURL": "http://example.org/",
        "coverPhotoURL": "https:///", "location": { "country": "a#b", "city": "\u{200b}" }, "retentionDays": 0,
        "founderId": chat.bob.id,
    });
    let places = [
        "/name",
        "/topic",
        "/description",
        "/avatarURL",
        "/coverPhotoURL",
        "/location/country",
        "/location/city",
        "/retentionDays",
        "/founderId",
    ];
    chat.ann.user.post("/chat/communities", new).await.faulty(&places);
    let long = json!({ "name": "x".repeat(81), "topic": "x".repeat(41), "location": { "city": "Nome" } });
    chat.ann.user.post("/chat/communities", long).await.faulty(&["/name", "/topic", "/location/country"]);
}

async fn repeated_creation_creates_one_community() {
    let chat = Chat::without_stream_readers().await;
    let create = || chat.ann.user.post("/chat/communities", json!({ "name": "Moss", "topic": "Plants" })).once("k");
    let (first, again) = (create().await.is(201), create().await.is(201));
    assert_eq!(first.body, again.body);
    assert_eq!(chat.ann.user.get("/chat/me/communities").await.is(200).each("id"), [&first["id"]]);
}

async fn communities_are_listed_by_country_state_and_city() {
    let chat = Chat::without_stream_readers().await;
    let found = async |name: &str, location: Value| {
        let new = json!({ "name": name, "topic": "Places", "location": location });
        id(&chat.ann.user.post("/chat/communities", new).await.is(201))
    };
    found("nowhere in particular", json!({ "country": "USA" })).await;
    found("new", json!({ "country": "usa", "state": "New" })).await;
    found("york", json!({ "country": "USA", "state": "New York", "city": "Troy" })).await;
    found("loose", json!({ "country": "USA", "city": "Troy" })).await;
    found("abroad", json!({ "country": "Canada", "state": "New York" })).await;
    let names = async |query: &str| {
        let page = chat.bob.user.get(&format!("/chat/communities?{query}")).await.is(200);
        assert!(page.each("numMembers").iter().all(|count| count.is_null()), "a count would be written by each join");
        let mut names: Vec<String> = page.each("name").iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names("country=USA").await, ["loose", "new", "nowhere in particular", "york"]);
    assert_eq!(names("country=Usa&state=New").await, ["new"]);
    assert_eq!(names("country=USA&state=new+york").await, ["york"]);
    assert_eq!(names("country=USA&state=New%20York&city=TROY").await, ["york"]);
    assert_eq!(names("country=USA&state=New+York&city=Tro").await, Vec::<String>::new());
    chat.bob.user.get("/chat/communities?country=USA&city=Troy").await.faulty(&["city"]);
    chat.bob.user.get("/chat/communities?state=New").await.faulty(&["country"]);
    chat.bob.user.get("/chat/communities?country=a%23b").await.faulty(&["country"]);
    let pages = chat.bob.user.get("/chat/communities?country=USA&limit=3").await.is(200);
    let cursor = pages.next().unwrap();
    assert_eq!(names(&format!("country=USA&limit=3&cursor={cursor}")).await.len(), 1);
    chat.bob.user.get(&format!("/chat/communities?country=Canada&cursor={cursor}")).await.faulty(&["cursor"]);
}

async fn joining_twice_counts_once() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let joins = (0..5).map(|_| chat.bob.joins_community(&community));
    let mut answers = futures::future::join_all(joins).await;
    answers.sort_by_key(|answer| answer.status);
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 200, 200, 200, 201]);
    assert!(answers.iter().all(|answer| answer.body == answers[0].body));
    let read = chat.ann.user.get(&format!("/chat/communities/{community}")).await.is(200);
    assert_eq!(read["numMembers"], 2);
    let count = chat.cairn.table_of(&COMMUNITIES);
    let key = format!("MEMBERSHIPS#{}", chat.bob.id);
    assert_eq!(count.get(&key, &key).await.unwrap()["Num"].as_n().unwrap(), "1");
}

async fn user_joins_for_oneself_only() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let member = |user: &str| format!("/chat/communities/{community}/members/{user}");
    chat.ann.puts(&member(&chat.bob.id)).await.refused(403, "forbidden");
    chat.bob.puts(&member(&chat.bob.id)).await.is(201);
    chat.bob.puts("/chat/communities/019b76da-a800-7000-8000-000000000011/members/me").await.refused(404, "not-found");
}

async fn place_whose_name_is_long_once_composed_is_refused() {
    let chat = Chat::new().await;
    // Unicode composes each of these notes to three characters of four bytes.
    let note = "\u{1d160}".repeat(60);
    for location in [
        json!({ "country": note }),
        json!({ "country": "Canada", "state": note, "city": note }),
        json!({ "country": "Canada", "city": note }),
    ] {
        let new = json!({ "name": "Moss", "topic": "Plants", "location": location });
        let refused = chat.ann.user.post("/chat/communities", new).await.refused(400, "bad-request");
        assert!(refused.body["errors"].as_array().is_some_and(|errors| !errors.is_empty()), "{}", refused.told());
        chat.ann.user.patch("/chat/me", json!({ "location": location })).await.refused(400, "bad-request");
    }
    let both = json!({ "location": { "country": "a#b" }, "avatarURL": "http://example.org" });
    chat.ann.user.patch("/chat/me", both).await.faulty(&["/location/country", "/avatarURL"]);
    for query in [format!("country={note}"), format!("country=Canada&state={note}&city={note}")] {
        chat.ann.user.get(&format!("/chat/communities?{query}")).await.refused(400, "bad-request");
    }
    let short = "\u{1d160}".repeat(20);
    let location = json!({ "country": short, "state": short, "city": short });
    let new = json!({ "name": "Moss", "topic": "Plants", "location": location });
    chat.ann.user.post("/chat/communities", new).await.is(201);
    let query = format!("/chat/communities?country={short}&state={short}&city={short}");
    assert_eq!(chat.ann.user.get(&query).await.is(200)["items"].as_array().unwrap().len(), 1);
}

async fn members_are_listed_to_members_with_their_names() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    chat.bob.joins_community(&community).await.is(201);
    let list = format!("/chat/communities/{community}/members");
    chat.cy.user.get(&list).await.refused(403, "forbidden");
    let plain = chat.bob.user.get(&list).await.is(200);
    let (ann, bob) = (json!(chat.ann.id), json!(chat.bob.id));
    let mut roles: Vec<_> = plain.each("userId").into_iter().zip(plain.each("role")).collect();
    roles.sort_by_key(|(user, _)| user.as_str());
    let (founder, member) = (json!("founder"), json!("member"));
    let mut expected = vec![(&ann, &founder), (&bob, &member)];
    expected.sort_by_key(|(user, _)| user.as_str());
    assert_eq!(roles, expected);
    assert!(plain["people"].is_null(), "{}", plain.told());
    let named = chat.bob.user.get(&format!("{list}?include=people")).await.is(200);
    assert_eq!(names(&named), ["ann", "bob"]);
    chat.bob.user.get(&format!("{list}?include=rows")).await.faulty(&["include"]);
    let page = chat.bob.user.get(&format!("{list}?limit=1")).await.is(200);
    let next = chat.bob.user.get(&format!("{list}?limit=1&cursor={}", page.next().unwrap())).await.is(200);
    assert!(next.next().is_none() && next.each("userId") != page.each("userId"));
}

async fn user_of_500_communities_cannot_join_another() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let table = chat.cairn.table_of(&COMMUNITIES);
    let key = format!("MEMBERSHIPS#{}", chat.ann.id);
    let mut count = table.get(&key, &key).await.unwrap();
    count.insert("Num".to_owned(), table::item::number(500));
    count.insert("pk".to_owned(), text(&format!("MEMBERSHIPS#{}", chat.bob.id)));
    count.insert("sk".to_owned(), text(&format!("MEMBERSHIPS#{}", chat.bob.id)));
    table.put(count).await;
    chat.bob.joins_community(&community).await.refused(409, "too-many-memberships");
    let new = json!({ "name": "Moss", "topic": "Plants" });
    chat.bob.user.post("/chat/communities", new).await.refused(409, "too-many-memberships");
    assert_eq!(chat.ann.user.get(&format!("/chat/communities/{community}")).await.is(200)["numMembers"], 1);
}

async fn user_creates_ten_communities_a_day() {
    let chat = Chat::with(Setup { limits: vec![("communities", 2)], ..Setup::of("chat") }).await;
    chat.ann.creates_community().await;
    chat.ann.creates_community().await;
    let new = || json!({ "name": "Moss", "topic": "Plants" });
    let refused = chat.ann.user.post("/chat/communities", new()).await.refused(429, "too-many-requests");
    assert!(refused.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds > 86_000));
    chat.bob.user.post("/chat/communities", new()).await.is(201);
    chat.cairn.caught_up().await;
    chat.cairn.clock.advance(Duration::from_secs(86_401));
    chat.ann.creates_community().await;
}

async fn founder_updates_the_community_and_moves_it() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    chat.bob.user.patch(&path, json!({ "name": "Bob's" })).await.refused(403, "forbidden");
    let listed = async |country: &str| {
        chat.bob.user.get(&format!("/chat/communities?country={country}")).await.is(200).each("id").len()
    };
    let moved = chat.ann.user.patch(&path, json!({ "location": { "country": "Chile" }, "retentionDays": 9 })).await;
    assert_eq!((moved.is(200)["retentionDays"].clone(), listed("chile").await), (json!(9), 1));
    chat.ann.user.patch(&path, json!({ "location": { "country": "Peru", "city": "Lima" } })).await.is(200);
    assert_eq!((listed("chile").await, listed("peru").await), (0, 1));
    // Parts that the patch does not have stay (RFC 7396).
    let merged = chat.ann.user.patch(&path, json!({ "location": { "state": "Callao" } })).await.is(200);
    assert_eq!(merged["location"], json!({ "country": "Peru", "state": "Callao", "city": "Lima" }));
    let less = chat.ann.user.patch(&path, json!({ "location": { "state": null, "city": null } })).await.is(200);
    assert_eq!(less["location"], json!({ "country": "Peru" }));
    let away = json!({ "location": null, "retentionDays": null, "avatarURL": "https://example.org/" });
    let away = chat.ann.user.patch(&path, away).await.is(200);
    assert_eq!((listed("peru").await, &away["location"], &away["retentionDays"]), (0, &json!(null), &json!(null)));
    assert_eq!(chat.bob.user.get(&path).await.is(200).tag(), away.tag());
    chat.ann.user.patch(&path, json!({ "location": { "city": "Lima" } })).await.faulty(&["/location/country"]);
    let same = chat.ann.user.patch(&path, json!({ "topic": "Plants" })).await.is(200);
    assert_eq!(same.tag(), away.tag());
    let faulty = json!({ "name": null, "topic": " ", "numMembers": 3, "retentionDays": 4000 });
    chat.ann.user.patch(&path, faulty).await.faulty(&["/name", "/topic", "/numMembers", "/retentionDays"]);
}

async fn update_without_if_match_merges_beside_joins() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    let before = chat.ann.user.get(&path).await.is(200);
    chat.bob.joins_community(&community).await.is(201);
    let rename = || chat.ann.user.patch(&path, json!({ "name": "Mosses" }));
    rename().if_match(&before.tag()).await.refused(412, "stale");
    let renamed = rename().await.is(200);
    assert_eq!((renamed.text("name"), &renamed["numMembers"]), ("Mosses", &json!(2)));
    chat.ann.user.patch(&path, json!({ "topic": "Bogs" })).if_match(&renamed.tag()).await.is(200);
}

async fn founder_hands_over_to_a_member() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    let hand_over = || chat.ann.user.patch(&path, json!({ "founderId": chat.bob.id }));
    hand_over().await.refused(422, "unprocessable").at(&["/founderId"]);
    chat.bob.joins_community(&community).await.is(201);
    chat.ann.user.delete(&format!("{path}/members/me")).await.refused(409, "owner-must-transfer");
    chat.ann.puts(&format!("{path}/moderators/{}", chat.bob.id)).await.is(204);
    let handed = hand_over().await.is(200);
    assert_eq!((handed.text("founderId"), &handed["moderatorIds"]), (chat.bob.id.as_str(), &json!([])));
    hand_over().await.refused(403, "forbidden");
    chat.ann.user.delete(&format!("{path}/members/me")).await.is(204);
    assert_eq!(chat.bob.user.get(&path).await.is(200)["numMembers"], 1);
}

async fn moderators_are_members_named_by_the_founder() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    let moderator = |user: &str| format!("{path}/moderators/{user}");
    chat.ann.puts(&moderator(&chat.bob.id)).await.refused(404, "not-found");
    for member in [&chat.bob, &chat.cy] {
        member.joins_community(&community).await.is(201);
    }
    chat.bob.puts(&moderator("me")).await.refused(403, "forbidden");
    chat.ann.puts(&moderator(&chat.bob.id)).await.is(204);
    chat.ann.puts(&moderator(&chat.bob.id)).await.is(204);
    assert_eq!(chat.cy.user.get(&path).await.is(200)["moderatorIds"], json!([chat.bob.id]));
    assert_eq!(chat.bob.user.get("/chat/me/communities").await.is(200).each("role"), ["moderator"]);
    // A moderator removes members and cannot touch the founder.
    chat.bob.user.delete(&format!("{path}/members/{}", chat.ann.id)).await.refused(409, "owner-must-transfer");
    chat.bob.user.delete(&format!("{path}/members/{}?reason=spam", chat.cy.id)).await.is(204);
    chat.bob.puts(&moderator(&chat.cy.id)).await.refused(403, "forbidden");
    chat.cy.joins_community(&community).await.is(201);
    chat.cy.user.delete(&format!("{path}/members/{}", chat.bob.id)).await.refused(403, "forbidden");
    chat.ann.user.delete(&moderator(&chat.ann.id)).await.refused(409, "owner-must-transfer");
    chat.ann.user.delete(&moderator(&chat.bob.id)).await.is(204);
    chat.ann.user.delete(&moderator(&chat.bob.id)).await.refused(404, "not-found");
    chat.bob.user.delete(&format!("{path}/members/{}", chat.cy.id)).await.refused(403, "forbidden");
    // A moderator who leaves moderates no more.
    chat.ann.puts(&moderator(&chat.bob.id)).await.is(204);
    chat.bob.user.delete(&format!("{path}/members/me")).await.is(204);
    let read = chat.ann.user.get(&path).await.is(200);
    assert_eq!((&read["moderatorIds"], &read["numMembers"]), (&json!([]), &json!(2)));
    let actions = ["setModerator", "removeMember", "unsetModerator", "setModerator"];
    assert_eq!(audited(&chat, &community).await, actions);
    let table = chat.cairn.table_of(&COMMUNITIES);
    let mut item = table.get(&format!("COMMUNITY#{community}"), &format!("COMMUNITY#{community}")).await.unwrap();
    let twenty = (0..20).map(|number| format!("019b76da-a800-7000-8000-0000000001{number:02}")).collect();
    item.insert("Moderators".to_owned(), AttributeValue::Ss(twenty));
    table.put(item).await;
    chat.ann.puts(&moderator(&chat.cy.id)).await.refused(409, "too-many-moderators");
}

/// Returns the actions in the audit log of a community, the oldest first.
async fn audited(chat: &Chat, community: &str) -> Vec<String> {
    let (table, partition) = (chat.cairn.table_of(&COMMUNITIES), format!("COMMUNITY#{community}#AUDIT#"));
    let mut entries: Vec<_> = table.items().await.into_iter().map(|item| (table.name_of(&item), item)).collect();
    entries.retain(|(name, _)| name.starts_with(&partition));
    entries.sort_by_key(|(name, _)| name.clone());
    entries.iter().map(|(_, item)| item["Action"].as_s().unwrap().clone()).collect()
}

async fn banned_member_is_removed_and_cannot_return() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.bob.joins_community(&community).await.is(201);
    chat.bob.joins_group_chat(&group).await.is(201);
    let (path, bans) = (format!("/chat/communities/{community}"), format!("/chat/communities/{community}/bans"));
    let ban = |user: &str, reason: &str| chat.ann.user.put(&format!("{bans}/{user}"), json!({ "reason": reason }));
    chat.bob.user.put(&format!("{bans}/{}", chat.ann.id), json!({})).await.refused(403, "forbidden");
    chat.bob.user.get(&bans).await.refused(403, "forbidden");
    ban(&chat.ann.id, "").await.refused(409, "owner-must-transfer");
    ban(&chat.bob.id, &"x".repeat(201)).await.faulty(&["/reason"]);
    ban(&chat.bob.id, "spam").await.is(204);
    ban(&chat.bob.id, "again").await.is(204);
    chat.bob.joins_community(&community).await.refused(403, "banned-here");
    chat.bob.user.get(&format!("/chat/groupchats/{group}")).await.refused(404, "not-found");
    assert_eq!(chat.ann.user.get(&path).await.is(200)["numMembers"], 1);
    assert_eq!(chat.ann.user.get(&format!("/chat/groupchats/{group}")).await.is(200)["numMembers"], 1);
    let listed = chat.ann.user.get(&format!("{bans}?include=people")).await.is(200);
    assert_eq!(names(&listed), ["ann", "bob"]);
    let [listed] = listed["items"].as_array().unwrap().as_slice() else { panic!("{}", listed.told()) };
    assert_eq!((&listed["userId"], &listed["reason"]), (&json!(chat.bob.id), &json!("spam")));
    assert_eq!(listed["bannedBy"], json!(chat.ann.id));
    chat.ann.user.delete(&format!("{bans}/{}", chat.bob.id)).await.is(204);
    chat.ann.user.delete(&format!("{bans}/{}", chat.bob.id)).await.refused(404, "not-found");
    chat.bob.joins_community(&community).await.is(201);
    assert_eq!(audited(&chat, &community).await, ["banMember", "unbanMember"]);
}

async fn user_who_is_not_a_member_can_be_banned() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let ban = |user: &str| chat.ann.user.put(&format!("/chat/communities/{community}/bans/{user}"), json!({}));
    ban("019b76da-a800-7000-8000-000000000009").await.refused(404, "not-found");
    ban(&chat.bob.id).await.is(204);
    chat.bob.joins_community(&community).await.refused(403, "banned-here");
    chat.cy.joins_community(&community).await.is(201);
}

async fn ban_from_a_community_that_is_deleted_meanwhile_leaves_nothing() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    let ban = format!("{path}/bans/{}", chat.bob.id);
    let (stopper, late) = chat.held(TRANSACTIONS, Method::PUT, &ban, Some(json!({ "reason": "spam" }))).await;
    let deletion = chat.ann.user.delete(&path).await.is(202);
    assert_eq!(ended(&chat.ann.user, deletion.header("location")).await["status"], "succeeded");
    stopper.resume();
    assert_eq!(late.await.unwrap(), 404);
    let left = chat.cairn.table_of(&COMMUNITIES).partitions().await;
    assert!(!left.contains(&format!("COMMUNITY#{community}")), "{left:?}");
}
