//! Reports of messages, people and communities, their settlement, and the audit logs.

use std::time::Duration;

use chat::schema::{COMMUNITIES, GROUP_CHATS, LIVE};
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines};

use super::conversation::{private_chat, react, send};
use super::export::ended;
use super::stage::{Chat, closed_socket, id, names};
use crate::harness::stopper::{Moment, Stopper, TRANSACTIONS};
use crate::harness::{Answer, Setup, User};
use crate::tests;

tests! { chat_reports:
    upheld_report_deletes_the_message_and_bans_its_sender,
    evidence_is_the_message_as_it_was,
    target_that_the_reporter_does_not_see_is_not_found,
    target_is_reported_once_by_a_person,
    report_of_a_private_message_reaches_administrators_only,
    report_of_a_community_reaches_administrators_only,
    removed_member_may_join_again,
    report_is_settled_once_of_two_at_once,
    measures_that_a_report_leaves_no_room_for_are_refused,
    open_reports_are_listed_the_oldest_first,
    #[long] moderator_of_a_group_chat_settles_the_reports_of_its_messages,
    moderator_of_a_group_chat_neither_removes_nor_bans_from_its_community,
    list_of_a_group_chats_reports_is_deleted_with_the_chat,
    reported_moderator_neither_sees_nor_settles_the_report,
    report_of_a_person_who_alone_moderates_reaches_administrators,
    reported_administrator_neither_sees_nor_settles_the_report,
    dismissal_and_ban_at_once_ban_only_if_the_report_is_upheld,
    settlement_that_was_interrupted_is_finished_by_its_repetition,
    settlement_that_was_interrupted_leaves_no_reactions,
    report_of_a_deleted_person_is_settled_with_a_ban,
    reports_above_their_rate_are_refused,
    reports_and_audit_logs_are_listed_with_the_names_of_their_people,
    report_from_a_place_that_is_deleted_meanwhile_leaves_nothing,
    report_that_is_settled_while_it_is_read_is_found,
    report_expires_after_half_a_year,
}

/// A community of cy with a group chat, of which all are members.
pub struct Place {
    pub community: String,
    /// The path of the group chat.
    pub group_chat: String,
}

pub async fn place(chat: &Chat) -> Place {
    let community = chat.cy.creates_community().await;
    let group = chat.cy.creates_group_chat(&community, json!({ "name": "Hikers" })).await;
    for member in [&chat.ann, &chat.bob] {
        member.joins_community(&community).await.is(201);
        member.joins_group_chat(&group).await.is(201);
    }
    Place { community, group_chat: format!("/chat/groupchats/{group}") }
}

pub async fn administrator(chat: &Chat) -> User {
    let person = Person { roles: &["chat-admin"], ..Person::new("root") };
    let user = chat.cairn.person("administrator", person).await;
    user.get("/chat/me").await.is(200);
    user
}

/// Returns the body of a report about a message.
fn of_message(chat: &str, message: &Answer) -> Value {
    let chat = chat.replace("/chat/", "").replace("chats/", "chat/");
    json!({ "kind": "message", "targetId": message.text("id"), "chat": chat, "reason": "abuse", "note": "Rude." })
}

fn of_person(person: &str) -> Value {
    json!({ "kind": "person", "targetId": person, "reason": "spam" })
}

async fn report(user: &User, body: Value) -> String {
    id(&user.post("/chat/reports", body).await.is(201))
}

async fn settle(user: &User, report: &str, body: Value) -> Answer {
    user.post(&format!("/chat/reports/{report}/settle"), body).await
}

/// Returns action and target of the entries of an audit log.
async fn audit(user: &User, path: &str) -> Vec<(String, String)> {
    let page = user.get(path).await.is(200);
    let entries = page["items"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    entries.map(|entry| (text(&entry["action"]), text(&entry["targetId"]))).collect()
}

pub fn entries(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(action, target)| ((*action).to_owned(), (*target).to_owned())).collect()
}

async fn upheld_report_deletes_the_message_and_bans_its_sender() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "something rude").await;
    let path = format!("{}/messages/{}", place.group_chat, message.text("id"));
    react(&chat.bob.user, &path, "👍").await.is(204);
    let report = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    let measures = json!({ "status": "upheld", "measures": ["deleteMessage", "ban"], "reason": "Rude again" });
    let settled = settle(&chat.cy.user, &report, measures.clone()).await.is(200);
    assert_eq!((settled.text("status"), settled.text("settledBy")), ("upheld", chat.cy.id.as_str()));
    let placeholder = chat.bob.user.get(&path).await.is(200);
    assert_eq!((&placeholder["content"], placeholder.text("deletedBy")), (&Value::Null, chat.cy.id.as_str()));
    assert_eq!(placeholder["reactions"], json!({}));
    chat.ann.user.get(&path).await.refused(404, "not-found");
    chat.ann.joins_community(&place.community).await.refused(403, "banned-here");
    let log = audit(&chat.cy.user, &format!("/chat/communities/{}/audit", place.community)).await;
    let [ban, settlement @ ..] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!(std::slice::from_ref(ban), entries(&[("banMember", &chat.ann.id)]));
    let mut settlement = settlement.to_vec();
    settlement.sort();
    let expected = [("deleteMessage", message.text("id")), ("settleReport", report.as_str())];
    assert_eq!(settlement, entries(&expected));
    settle(&chat.cy.user, &report, measures).await.refused(409, "report-settled");
    // The reporter sees the end, and neither the evidence nor who has settled it.
    let seen = chat.bob.user.get(&format!("/chat/reports/{report}")).await.is(200);
    assert_eq!(seen.text("status"), "upheld");
    assert!(seen.body.get("evidence").is_none() && seen.body.get("settledBy").is_none(), "{}", seen.told());
}

async fn evidence_is_the_message_as_it_was() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "something rude").await;
    let report = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    let path = format!("{}/messages/{}", place.group_chat, message.text("id"));
    chat.ann.user.patch(&path, json!({ "content": "something nice" })).await.is(200);
    let seen = chat.cy.user.get(&format!("/chat/reports/{report}")).await.is(200);
    let expected = json!({
        "senderId": chat.ann.id, "content": "something rude", "truncated": false,
        "createdAt": message["createdAt"], "editedAt": null,
    });
    assert_eq!(seen["evidence"], expected);
    assert_eq!((seen.text("reporterId"), seen.text("note")), (chat.bob.id.as_str(), "Rude."));
    chat.ann.user.get(&format!("/chat/reports/{report}")).await.refused(404, "not-found");
    chat.ann.user.get(&format!("/chat/communities/{}/reports", place.community)).await.refused(403, "forbidden");
}

async fn target_that_the_reporter_does_not_see_is_not_found() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let dan = chat.member("dan").await;
    let message = send(&chat.ann.user, &place.group_chat, "hi").await;
    let private = private_chat(&chat.ann, &chat.bob).await;
    let letter = send(&chat.ann.user, &private, "hi").await;
    let unknown = "019b76da-a800-7000-8000-000000000001";
    let mut absent = of_message(&place.group_chat, &message);
    absent["targetId"] = json!(unknown);
    for (user, body) in [
        (&dan, of_message(&place.group_chat, &message)),
        (&dan, of_message(&private, &letter)),
        (&chat.bob, absent),
        (&chat.bob, of_person(unknown)),
        (&chat.bob, of_person("nobody")),
        (&chat.bob, json!({ "kind": "community", "targetId": unknown, "reason": "danger" })),
    ] {
        user.user.post("/chat/reports", body).await.refused(404, "not-found");
    }
    dan.user.get(&format!("/chat/reports/{unknown}")).await.refused(404, "not-found");
    settle(&dan.user, unknown, json!({ "status": "upheld" })).await.refused(404, "not-found");
}

async fn target_is_reported_once_by_a_person() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "hi").await;
    let body = of_message(&place.group_chat, &message);
    let first = chat.bob.user.post("/chat/reports", body.clone()).once("hi").await.is(201);
    let again = chat.bob.user.post("/chat/reports", body.clone()).once("hi").await.is(201);
    assert_eq!(first.body, again.body);
    // What is kept for a day is in the table of such items.
    let is_kept = async |table: &'static table::schema::Table| {
        chat.cairn.table_of(table).partitions().await.iter().any(|pk| pk.starts_with("idempotency#"))
    };
    assert_eq!((is_kept(&COMMUNITIES).await, is_kept(&LIVE).await), (false, true));
    chat.bob.user.post("/chat/reports", body.clone()).await.refused(409, "reported");
    report(&chat.cy.user, body.clone()).await;
    chat.ann.user.post("/chat/reports", body).await.faulty(&["/targetId"]);
    chat.ann.user.post("/chat/reports", of_person(&chat.ann.id)).await.faulty(&["/targetId"]);
    let mut with_chat = of_person(&chat.ann.id);
    with_chat["chat"] = json!("groupchat/019b76da-a800-7000-8000-000000000021");
    chat.bob.user.post("/chat/reports", with_chat).await.faulty(&["/chat"]);
    let without = json!({ "kind": "message", "targetId": message.text("id"), "reason": "other" });
    chat.bob.user.post("/chat/reports", without).await.faulty(&["/chat"]);
    let invalid = json!({ "kind": "message", "targetId": "x", "chat": "x", "reason": "other", "note": " " });
    chat.bob.user.post("/chat/reports", invalid).await.faulty(&["/chat", "/note"]);
}

async fn report_of_a_private_message_reaches_administrators_only() {
    let chat = Chat::without_search().await;
    let private = private_chat(&chat.ann, &chat.bob).await;
    let message = send(&chat.ann.user, &private, "something rude").await;
    react(&chat.bob.user, &format!("{private}/messages/{}", message.text("id")), "👍").await.is(204);
    let report = report(&chat.bob.user, of_message(&private, &message)).await;
    let path = format!("/chat/reports/{report}");
    for user in [&chat.ann.user, &chat.cy.user] {
        user.get(&path).await.refused(404, "not-found");
        user.get("/chat/reports").await.refused(403, "forbidden");
        user.get("/chat/audit").await.refused(403, "forbidden");
    }
    settle(&chat.bob.user, &report, json!({ "status": "dismissed" })).await.refused(403, "forbidden");
    let admin = administrator(&chat).await;
    assert_eq!(admin.get("/chat/reports").await.is(200).each("id"), [&json!(report)]);
    assert_eq!(admin.get(&path).await.is(200)["evidence"]["content"], "something rude");
    let measures = json!({ "status": "upheld", "measures": ["deleteMessage", "ban"], "reason": "Rude" });
    settle(&admin, &report, measures).await.is(200);
    let message = chat.bob.user.get(&format!("{private}/messages/{}", message.text("id"))).await.is(200);
    assert_eq!(message["content"], Value::Null);
    chat.ann.user.post("/chat/reports", of_person(&chat.bob.id)).await.refused(403, "banned");
    let actions: Vec<String> = audit(&admin, "/chat/audit").await.into_iter().map(|(action, _)| action).collect();
    assert!(actions.contains(&"banUser".to_owned()) && actions.contains(&"deleteMessage".to_owned()), "{actions:?}");
    assert_eq!(admin.get("/chat/reports?status=upheld").await.is(200).each("id"), [&json!(report)]);
}

async fn report_of_a_community_reaches_administrators_only() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let body = json!({ "kind": "community", "targetId": place.community, "reason": "danger" });
    let report = report(&chat.bob.user, body).await;
    assert_eq!(
        chat.cy.user.get(&format!("/chat/communities/{}/reports", place.community)).await.is(200)["items"],
        json!([])
    );
    chat.cy.user.get(&format!("/chat/reports/{report}")).await.refused(404, "not-found");
    let admin = administrator(&chat).await;
    let ban = json!({ "status": "upheld", "measures": ["ban"] });
    settle(&admin, &report, ban).await.faulty(&["/measures"]);
    settle(&admin, &report, json!({ "status": "upheld" })).await.is(200);
    admin.get(&format!("/chat/communities/{}/reports", place.community)).await.refused(403, "forbidden");
}

async fn removed_member_may_join_again() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "hi").await;
    let report = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    let moderator = format!("/chat/communities/{}/moderators/{}", place.community, chat.bob.id);
    chat.cy.puts(&moderator).await.is(204);
    let remove = json!({ "status": "upheld", "measures": ["remove"] });
    settle(&chat.bob.user, &report, remove).await.is(200);
    chat.ann.user.get(&format!("{}/messages", place.group_chat)).await.refused(404, "not-found");
    let kept = chat.bob.user.get(&format!("{}/messages/{}", place.group_chat, message.text("id"))).await.is(200);
    assert_eq!(kept["content"], "hi");
    chat.ann.joins_community(&place.community).await.is(201);
}

async fn report_is_settled_once_of_two_at_once() {
    let chat = Chat::without_search().await;
    let admin = administrator(&chat).await;
    for round in 0..5 {
        let dan = chat.member(["dan", "eve", "fay", "gus", "hal"][round]).await;
        let report = report(&chat.bob.user, of_person(&dan.id)).await;
        let (one, other) = tokio::join!(
            settle(&admin, &report, json!({ "status": "upheld" })),
            settle(&admin, &report, json!({ "status": "dismissed" })),
        );
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", one.told(), other.told());
        let lost = if one.status == 409 { one } else { other }.refused(409, "report-settled");
        let read = admin.get(&format!("/chat/reports/{report}")).await.is(200);
        assert_eq!(read["status"], lost["reportStatus"]);
    }
    assert_eq!(admin.get("/chat/reports").await.is(200)["items"], json!([]));
    assert_eq!(audit(&admin, "/chat/audit").await.len(), 5);
}

async fn measures_that_a_report_leaves_no_room_for_are_refused() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "hi").await;
    let own = send(&chat.cy.user, &place.group_chat, "hi").await;
    let about_message = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    chat.cy.puts(&format!("/chat/communities/{}/moderators/{}", place.community, chat.bob.id)).await.is(204);
    let about_founder = report(&chat.bob.user, of_message(&place.group_chat, &own)).await;
    let about_person = report(&chat.bob.user, of_person(&chat.ann.id)).await;
    let admin = administrator(&chat).await;
    let dismissed = json!({ "status": "dismissed", "measures": ["ban"] });
    settle(&chat.cy.user, &about_message, dismissed).await.faulty(&["/measures"]);
    for measure in ["deleteMessage", "remove"] {
        let upheld = json!({ "status": "upheld", "measures": [measure] });
        settle(&admin, &about_person, upheld).await.faulty(&["/measures"]);
    }
    let ban = json!({ "status": "upheld", "measures": ["ban"] });
    settle(&chat.bob.user, &about_founder, ban.clone()).await.refused(409, "owner-must-transfer");
    settle(&admin, &about_message, ban.clone()).await.refused(404, "not-found");
    let open = chat.bob.user.get(&format!("/chat/communities/{}/reports", place.community)).await.is(200);
    assert_eq!(open.each("id"), [&json!(about_message), &json!(about_founder)]);
    // A message that was deleted meanwhile, and a person who has left, can still be settled.
    chat.ann.user.delete(&format!("{}/messages/{}", place.group_chat, message.text("id"))).await.is(204);
    chat.ann.user.delete(&format!("/chat/communities/{}/members/me", place.community)).await.is(204);
    let both = json!({ "status": "upheld", "measures": ["deleteMessage", "ban"] });
    settle(&chat.cy.user, &about_message, both).await.is(200);
    chat.ann.joins_community(&place.community).await.refused(403, "banned-here");
    settle(&admin, &about_person, ban).await.is(200);
}

async fn open_reports_are_listed_the_oldest_first() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let list = format!("/chat/communities/{}/reports", place.community);
    let mut reports = Vec::new();
    for number in 0..5 {
        let message = send(&chat.ann.user, &place.group_chat, &format!("{number}")).await;
        chat.cairn.clock.advance(Duration::from_millis(5));
        reports.push(json!(report(&chat.bob.user, of_message(&place.group_chat, &message)).await));
    }
    let pages = chat.cy.user.pages(&list, 2).await;
    let listed: Vec<&Value> = pages.iter().flat_map(|page| page.each("id")).collect();
    assert_eq!(listed, reports.iter().collect::<Vec<_>>());
    settle(&chat.cy.user, reports[1].as_str().unwrap(), json!({ "status": "dismissed" })).await.is(200);
    assert_eq!(chat.cy.user.get(&list).await.is(200).each("id").len(), 4);
    assert_eq!(chat.cy.user.get(&format!("{list}?status=dismissed")).await.is(200).each("id"), [&reports[1]]);
    chat.bob.user.get(&list).await.refused(403, "forbidden");
    let unknown = "/chat/communities/019b76da-a800-7000-8000-000000000011/reports";
    chat.bob.user.get(unknown).await.refused(404, "not-found");
}

async fn reports_and_audit_logs_are_listed_with_the_names_of_their_people() {
    let chat = Chat::without_stream_readers().await;
    let place = place(&chat).await;
    let admin = administrator(&chat).await;
    let root = admin.get("/chat/me").await.is(200).text("username").to_owned();
    moderates(&chat, &place).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    report(&chat.cy.user, of_message(&place.group_chat, &message)).await;
    report(&chat.bob.user, of_person(&chat.ann.id)).await;
    admin.put(&format!("/chat/users/{}/ban", chat.ann.id), json!({ "reason": "Rude" })).await.is(204);
    let community = format!("/chat/communities/{}", place.community);
    let mut banned = ["ann", &root];
    banned.sort_unstable();
    for (user, path, expected) in [
        (&chat.bob.user, format!("{}/reports", place.group_chat), ["ann", "usercy"]),
        (&chat.cy.user, format!("{community}/reports"), ["ann", "usercy"]),
        (&admin, "/chat/reports".to_owned(), ["ann", "bob"]),
        (&chat.cy.user, format!("{community}/audit"), ["bob", "usercy"]),
        (&admin, "/chat/audit".to_owned(), banned),
    ] {
        assert!(user.get(&path).await.is(200)["people"].is_null());
        assert_eq!(names(&user.get(&format!("{path}?include=people")).await.is(200)), expected, "{path}");
    }
}

async fn report_from_a_place_that_is_deleted_meanwhile_leaves_nothing() {
    let chat = Chat::without_stream_readers().await;
    for whole in [false, true] {
        let place = place(&chat).await;
        let message = send(&chat.bob.user, &place.group_chat, "rude").await;
        let body = of_message(&place.group_chat, &message);
        let (stopper, late) = chat.held(TRANSACTIONS, Method::POST, "/chat/reports", Some(body)).await;
        let deleted = if whole { format!("/chat/communities/{}", place.community) } else { place.group_chat.clone() };
        let deletion = chat.cy.user.delete(&deleted).await.is(202);
        assert_eq!(ended(&chat.cy.user, deletion.header("location")).await["status"], "succeeded");
        stopper.resume();
        assert_eq!(late.await.unwrap(), 404, "{deleted}");
        let rows = chat.cairn.table_of(&COMMUNITIES).items().await;
        let of_reports: Vec<_> = rows.iter().filter(|row| format!("{row:?}").contains("REPORT")).collect();
        assert!(of_reports.is_empty(), "{of_reports:?}");
    }
}

async fn report_that_is_settled_while_it_is_read_is_found() {
    let chat = Chat::without_stream_readers().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    let report = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    let path = format!("/chat/reports/{report}");
    assert_eq!(chat.missing_the_first_batch("bob", Method::GET, &path, None).await, 200);
}

async fn report_expires_after_half_a_year() {
    let chat = Chat::without_search().await;
    let report = report(&chat.bob.user, of_person(&chat.ann.id)).await;
    chat.cairn.caught_up().await;
    chat.cairn.clock.advance(Duration::from_secs(181 * 24 * 3600));
    // Tokens and cursors have expired as well, so the table is asked.
    let rows = chat.cairn.table_of(&::chat::schema::COMMUNITIES).items().await;
    let now = chat.cairn.clock.seconds();
    let named = rows.iter().filter(|row| format!("{row:?}").contains(&report));
    let expires: Vec<i64> = named.map(|row| row["expires"].as_n().unwrap().parse().unwrap()).collect();
    assert_eq!(expires.len(), 3);
    assert!(expires.iter().all(|expires| *expires < now), "{expires:?}");
}

/// Makes bob the moderator of the group chat, and no moderator of the community.
async fn moderates(chat: &Chat, place: &Place) {
    chat.cy.puts(&format!("{}/moderators/{}", place.group_chat, chat.bob.id)).await.is(204);
}

async fn moderator_of_a_group_chat_settles_the_reports_of_its_messages() {
    let chat = Chat::new().await;
    let place = place(&chat).await;
    let other = chat.cy.creates_group_chat(&place.community, json!({ "name": "Climbers" })).await;
    chat.ann.joins_group_chat(&other).await.is(201);
    let other = format!("/chat/groupchats/{other}");
    let list = format!("{}/reports", place.group_chat);
    for user in [&chat.ann.user, &chat.bob.user] {
        user.get(&list).await.refused(403, "forbidden");
    }
    chat.member("dan").await.user.get(&list).await.refused(404, "not-found");
    moderates(&chat, &place).await;
    let mut reports = Vec::new();
    for number in 0..3 {
        let message = send(&chat.ann.user, &place.group_chat, &format!("message {number}")).await;
        reports.push(report(&chat.cy.user, of_message(&place.group_chat, &message)).await);
    }
    let elsewhere = send(&chat.cy.user, &other, "hi").await;
    let elsewhere = report(&chat.ann.user, of_message(&other, &elsewhere)).await;
    let listed = async |query: &str| {
        let page = chat.bob.user.get(&format!("{list}?{query}")).await.is(200);
        page.each("id").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, reports);
    let first = chat.bob.user.get(&format!("{list}?limit=2")).await.is(200);
    let rest = listed(&format!("limit=2&cursor={}", first.next().unwrap())).await;
    assert_eq!((first.each("id").len(), rest), (2, reports[2..].to_vec()));
    assert_eq!(first["items"][0]["evidence"]["content"], "message 0");
    let path = format!("/chat/reports/{}", reports[0]);
    assert_eq!(chat.bob.user.get(&path).await.is(200).body, first["items"][0]);
    let settled = settle(&chat.bob.user, &reports[0], json!({ "status": "dismissed" })).await.is(200);
    assert_eq!(settled.text("settledBy"), chat.bob.id);
    let delete = json!({ "status": "upheld", "measures": ["deleteMessage"] });
    settle(&chat.bob.user, &reports[1], delete).await.is(200);
    // A moderator of the community settles it, too.
    settle(&chat.cy.user, &reports[2], json!({ "status": "dismissed" })).await.is(200);
    assert_eq!(listed("").await, Vec::<String>::new());
    assert_eq!(listed("status=dismissed").await, [reports[0].clone(), reports[2].clone()]);
    assert_eq!(listed("status=upheld").await, [reports[1].clone()]);
    // The reports of other chats are not theirs.
    chat.bob.user.get(&format!("/chat/reports/{elsewhere}")).await.refused(404, "not-found");
    settle(&chat.bob.user, &elsewhere, json!({ "status": "dismissed" })).await.refused(404, "not-found");
    chat.bob.user.get(&format!("/chat/communities/{}/reports", place.community)).await.refused(403, "forbidden");
    let log = audit(&chat.cy.user, &format!("/chat/communities/{}/audit", place.community)).await;
    assert_eq!(log.iter().filter(|(action, _)| action == "settleReport").count(), 3);
}

async fn moderator_of_a_group_chat_neither_removes_nor_bans_from_its_community() {
    let chat = Chat::new().await;
    let place = place(&chat).await;
    moderates(&chat, &place).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    let report = report(&chat.cy.user, of_message(&place.group_chat, &message)).await;
    for measure in ["remove", "ban"] {
        let body = json!({ "status": "upheld", "measures": ["deleteMessage", measure] });
        settle(&chat.bob.user, &report, body).await.refused(403, "forbidden");
    }
    let path = format!("{}/messages/{}", place.group_chat, message.text("id"));
    assert_eq!(chat.ann.user.get(&path).await.is(200)["content"], "rude");
    // A moderator of the community does.
    settle(&chat.cy.user, &report, json!({ "status": "upheld", "measures": ["ban"] })).await.is(200);
    chat.ann.user.get(&path).await.refused(404, "not-found");
}

async fn list_of_a_group_chats_reports_is_deleted_with_the_chat() {
    let chat = Chat::new().await;
    let place = place(&chat).await;
    let mut reports = Vec::new();
    for number in 0..2 {
        let message = send(&chat.ann.user, &place.group_chat, &format!("message {number}")).await;
        reports.push(report(&chat.bob.user, of_message(&place.group_chat, &message)).await);
    }
    settle(&chat.cy.user, &reports[0], json!({ "status": "dismissed" })).await.is(200);
    let partition = place.group_chat.replace("/chat/groupchats/", "GROUPCHAT#");
    let is_listed = async || chat.cairn.table_of(&COMMUNITIES).partitions().await.contains(&partition);
    assert!(is_listed().await);
    let deletion = chat.cy.user.delete(&place.group_chat).await.is(202);
    assert_eq!(ended(&chat.cy.user, deletion.header("location")).await["status"], "succeeded");
    assert!(!is_listed().await);
    // The community keeps the reports, and settles the open one.
    let delete = json!({ "status": "upheld", "measures": ["deleteMessage"] });
    settle(&chat.cy.user, &reports[1], delete).await.is(200);
    assert!(!is_listed().await);
    assert_eq!(chat.cy.user.get(&format!("/chat/reports/{}", reports[0])).await.is(200)["status"], "dismissed");
}

async fn reported_moderator_neither_sees_nor_settles_the_report() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    for path in [format!("/chat/communities/{}", place.community), place.group_chat.clone()] {
        chat.cy.puts(&format!("{path}/moderators/{}", chat.bob.id)).await.is(204);
    }
    let message = send(&chat.bob.user, &place.group_chat, "rude").await;
    let about_bob = report(&chat.ann.user, of_message(&place.group_chat, &message)).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    let about_ann = report(&chat.cy.user, of_message(&place.group_chat, &message)).await;
    let one = format!("/chat/reports/{about_bob}");
    chat.bob.user.get(&one).await.refused(404, "not-found");
    settle(&chat.bob.user, &about_bob, json!({ "status": "dismissed" })).await.refused(404, "not-found");
    for list in [format!("/chat/communities/{}/reports", place.community), format!("{}/reports", place.group_chat)] {
        assert_eq!(chat.bob.user.get(&format!("{list}?limit=1")).await.is(200).each("id"), [&json!(about_ann)]);
        assert_eq!(chat.cy.user.get(&list).await.is(200).each("id"), [&json!(about_bob), &json!(about_ann)]);
    }
    settle(&chat.cy.user, &about_bob, json!({ "status": "dismissed" })).await.is(200);
}

async fn report_of_a_person_who_alone_moderates_reaches_administrators() {
    let chat = Chat::without_search().await;
    let (place, admin) = (place(&chat).await, administrator(&chat).await);
    let of_community = format!("/chat/communities/{}/reports", place.community);
    let rude = send(&chat.cy.user, &place.group_chat, "rude").await;
    let about_cy = report(&chat.ann.user, of_message(&place.group_chat, &rude)).await;
    chat.cy.user.get(&format!("/chat/reports/{about_cy}")).await.refused(404, "not-found");
    assert_eq!(admin.get("/chat/reports").await.is(200).each("id"), [&json!(about_cy)]);
    let measures = json!({ "status": "upheld", "measures": ["deleteMessage"] });
    settle(&admin, &about_cy, measures).await.is(200);
    let deleted = chat.bob.user.get(&format!("{}/messages/{}", place.group_chat, rude.text("id"))).await.is(200);
    assert_eq!(deleted["content"], Value::Null);
    // Others do not need the administrators.
    chat.cy.puts(&format!("{}/moderators/{}", place.group_chat, chat.bob.id)).await.is(204);
    let rude = send(&chat.cy.user, &place.group_chat, "rude again").await;
    let about_cy = report(&chat.ann.user, of_message(&place.group_chat, &rude)).await;
    let of_chat = format!("{}/reports", place.group_chat);
    assert_eq!(chat.bob.user.get(&of_chat).await.is(200).each("id"), [&json!(about_cy)]);
    for list in [of_community, of_chat.clone(), format!("{of_chat}?status=upheld")] {
        assert_eq!(chat.cy.user.get(&list).await.is(200)["items"], json!([]), "{list}");
    }
    assert_eq!(admin.get("/chat/reports").await.is(200)["items"], json!([]));
}

async fn reported_administrator_neither_sees_nor_settles_the_report() {
    let chat = Chat::without_search().await;
    let admin = administrator(&chat).await;
    let id = id(&admin.get("/chat/me").await.is(200));
    let about_admin = report(&chat.ann.user, of_person(&id)).await;
    let about_bob = report(&chat.ann.user, of_person(&chat.bob.id)).await;
    for status in ["upheld", "dismissed"] {
        settle(&admin, &about_admin, json!({ "status": status })).await.refused(404, "not-found");
    }
    admin.get(&format!("/chat/reports/{about_admin}")).await.refused(404, "not-found");
    assert_eq!(admin.get("/chat/reports").await.is(200).each("id"), [&json!(about_bob)]);
}

async fn dismissal_and_ban_at_once_ban_only_if_the_report_is_upheld() {
    let chat = Chat::without_search().await;
    let admin = administrator(&chat).await;
    for round in 0..5 {
        let dan = chat.member(["dan", "eve", "fay", "gus", "hal"][round]).await;
        let report = report(&chat.bob.user, of_person(&dan.id)).await;
        let ban = json!({ "status": "upheld", "measures": ["ban"] });
        let (upheld, dismissed) =
            tokio::join!(settle(&admin, &report, ban), settle(&admin, &report, json!({ "status": "dismissed" })),);
        assert_eq!(upheld.status + dismissed.status, 609, "{} {}", upheld.told(), dismissed.told());
        let expected = if upheld.status == 200 { 403 } else { 200 };
        assert_eq!(dan.user.get("/chat/me").await.status, expected, "{}", upheld.told());
    }
}

/// Settles a report as cy, in functions that stop after they have closed it.
async fn interrupted_settlement(chat: &Chat, report: &str, body: &Value) {
    let config = chat.cairn.engines().config.clone();
    let closed = Some((0, Moment::AfterItIsDone));
    let stopper = Stopper::of(TRANSACTIONS, config.dynamodb.clone().unwrap(), closed).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), socket: closed_socket(), ..config };
    let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
    let request = http::Request::post(format!("/chat/reports/{report}/settle"));
    let request = request.header("content-type", "application/json");
    let request = request.header("authorization", format!("Bearer {}", chat.cairn.token("cy", &[]).await));
    tokio::select! {
        answer = app.handle(request.body(body.to_string().into()).unwrap()) => panic!("{}", answer.status()),
        () = stopper.stopped() => {}
    }
    assert_eq!(chat.cy.user.get(&format!("/chat/reports/{report}")).await.is(200)["status"], "upheld");
}

async fn settlement_that_was_interrupted_is_finished_by_its_repetition() {
    let chat = Chat::without_stream_readers().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    let report = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    let body = json!({ "status": "upheld", "measures": ["ban"] });
    interrupted_settlement(&chat, &report, &body).await;
    chat.ann.user.get(&place.group_chat).await.is(200);
    settle(&chat.cy.user, &report, body.clone()).await.is(200);
    chat.ann.joins_community(&place.community).await.refused(403, "banned-here");
    settle(&chat.cy.user, &report, body).await.refused(409, "report-settled");
}

async fn settlement_that_was_interrupted_leaves_no_reactions() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    let path = format!("{}/messages/{}", place.group_chat, message.text("id"));
    react(&chat.bob.user, &path, "👍").await.is(204);
    let report = report(&chat.bob.user, of_message(&place.group_chat, &message)).await;
    let body = json!({ "status": "upheld", "measures": ["deleteMessage"] });
    interrupted_settlement(&chat, &report, &body).await;
    assert_eq!(chat.bob.user.get(&format!("{path}/reactions")).await.is(200)["items"], json!([]));
    chat.cairn.caught_up().await;
    let items = chat.cairn.table_of(&GROUP_CHATS).items().await;
    assert!(!items.iter().any(|item| item["sk"].as_s().unwrap().starts_with("REACTION#")), "{items:?}");
}

async fn report_of_a_deleted_person_is_settled_with_a_ban() {
    let chat = Chat::without_search().await;
    let (admin, dan) = (administrator(&chat).await, chat.member("dan").await);
    let report = report(&chat.bob.user, of_person(&dan.id)).await;
    dan.user.delete("/chat/me").await.is(202);
    let ban = json!({ "status": "upheld", "measures": ["ban"] });
    assert_eq!(settle(&admin, &report, ban.clone()).await.is(200)["status"], "upheld");
    settle(&admin, &report, ban).await.refused(409, "report-settled");
}

async fn reports_above_their_rate_are_refused() {
    let chat = Chat::with(Setup { limits: vec![("reports", 1)], ..Setup::of("chat") }).await;
    report(&chat.ann.user, of_person(&chat.bob.id)).await;
    let again = || chat.ann.user.post("/chat/reports", of_person(&chat.cy.id));
    let refused = again().await.refused(429, "too-many-requests");
    assert!((1..=3600).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
    report(&chat.bob.user, of_person(&chat.cy.id)).await;
    chat.cairn.clock.advance(Duration::from_secs(3601));
    again().await.is(201);
}
