//! Exports: a file with every row that names a person.

use std::collections::BTreeSet;
use std::time::Duration;

use ::chat::names::MessageId;
use ::chat::schema::{self, RUN_JOB};
use ::jobs::RUN_JOBS;
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use local::identity::Person;
use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::conversation::{chat_of, private_chat, react, send};
use super::pictures::{objects, png, upload};
use super::reports::{Place, place};
use super::stage::{Chat, Member};
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::table::stored;
use crate::harness::{Answer, Setup, User, fetch};
use crate::tests;

tests! { chat_export:
    #[long] export_has_every_row_that_names_the_person,
    export_does_not_tell_who_has_reported_the_person,
    export_leaves_out_the_message_that_the_person_has_reported,
    export_has_nothing_of_other_members,
    export_is_seen_by_its_person_only,
    banned_person_gets_no_link_to_an_export,
    #[long] large_export_in_short_runs_has_each_row_once,
    exports_above_their_rate_are_refused,
}

/// Waits until a job has ended.
pub async fn ended(user: &User, job: &str) -> Answer {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let read = user.get(job).await.is(200);
        if !["queued", "running"].contains(&read.text("status")) {
            return read;
        }
        assert_eq!(read.header("retry-after"), "1");
        assert!(Instant::now() < end, "{}", read.told());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Exports what is stored about a person.
pub async fn export(member: &Member) -> Answer {
    let accepted = member.user.post("/chat/me/export", json!({})).await.is(202);
    let job = ended(&member.user, accepted.header("location")).await;
    assert_eq!(job["status"], "succeeded", "{}", job.told());
    job
}

/// Returns the lines of the file of an export.
async fn lines(job: &Answer) -> Vec<Value> {
    let file = fetch(job.text("link")).await.is(200);
    let text = String::from_utf8(file.bytes.to_vec()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(job["counts"]["done"], lines.len());
    lines
}

fn key(table: &str, item: &Value) -> String {
    let part = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    format!("{table} {} {}", part("pk"), part("sk"))
}

/// Returns the keys of all rows that name a person, except those that only live for a while.
pub async fn rows_that_name(chat: &Chat, text: &str) -> BTreeSet<String> {
    let tables = [
        &schema::USERS,
        &schema::COMMUNITIES,
        &schema::NOTIFICATIONS,
        &schema::GROUP_CHATS,
        &schema::PRIVATE_CHATS,
        &schema::CHAT_REQUESTS,
    ];
    let mut rows = BTreeSet::new();
    for table in tables {
        for item in chat.cairn.table_of(table).items().await {
            let value: Value = table::item::from_item(item).unwrap();
            if value.to_string().contains(text) {
                rows.insert(key(table.name, &value));
            }
        }
    }
    rows
}

/// Gives ann something in every table: memberships, messages, reactions, mentions, a request, a report, and a picture.
async fn live(chat: &Chat) -> Place {
    let place = place(chat).await;
    let own = chat.ann.creates_community().await;
    let private = json!({ "name": "Few", "private": true });
    let asked = chat.cy.creates_group_chat(&place.community, private).await;
    chat.ann.user.post(&format!("/chat/groupchats/{asked}/requests"), json!({ "note": "Please" })).await.is(201);
    let direct = private_chat(&chat.ann, &chat.bob).await;
    for path in [&place.group_chat, &direct] {
        send(&chat.ann.user, path, "from ann").await;
        let other = send(&chat.bob.user, path, "hi @ann").await;
        react(&chat.ann.user, &format!("{path}/messages/{}", other.text("id")), "👍").await.is(204);
        send(&chat.bob.user, path, "nobody is named here").await;
    }
    let report = json!({ "kind": "person", "targetId": chat.cy.id, "reason": "spam" });
    chat.ann.user.post("/chat/reports", report).await.is(201);
    let cover = json!({ "kind": "communityCover", "communityId": own });
    assert_eq!(upload(&chat.ann.user, cover, &png(9, 9, [1, 2, 3, 255])).await["status"], "ready");
    assert_eq!(
        upload(&chat.ann.user, json!({ "kind": "avatar" }), &png(9, 9, [1, 2, 3, 255])).await["status"],
        "ready"
    );
    chat.cairn.caught_up().await;
    place
}

async fn export_has_every_row_that_names_the_person() {
    let chat = Chat::new().await;
    let place = live(&chat).await;
    let mut expected = rows_that_name(&chat, &chat.ann.id).await;
    // What others are notified of is theirs, and so are their memberships and messages.
    let is_own = |row: &String| row.contains(&format!("USER#{}", chat.ann.id));
    let others = messages_of_others(&chat, &chat.ann.id).await;
    expected.retain(|row| !row.starts_with("chat-Notifications ") || row.contains(&chat.ann.id));
    expected.retain(|row| (!row.contains(" USER#") || is_own(row)) && !others.contains(row));
    let first = lines(&export(&chat.ann).await).await;
    let keys: Vec<String> = first.iter().map(|line| key(line["table"].as_str().unwrap(), &line["item"])).collect();
    let exported: BTreeSet<String> = keys.iter().cloned().collect();
    assert_eq!(keys.len(), exported.len(), "a row is there twice: {keys:?}");
    let missing: Vec<&String> = expected.difference(&exported).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let prefixes = ["USER#", "USERNAME#ann", "ISSUER#", "UNREAD#", "MEMBERSHIPS#", "REPORTED#", "PLATFORM REPORT#"];
    for prefix in prefixes.iter().chain(["REQUESTPAIR#", "PAIR#", "GROUPCHAT#", "PRIVATECHAT#", "COMMUNITY#"].iter()) {
        assert!(keys.iter().any(|key| key.contains(&format!(" {prefix}"))), "no row of {prefix}: {keys:#?}");
    }
    // Search has what she has sent in a chat that she has left.
    chat.ann.user.delete(&format!("{}/members/me", place.group_chat)).await.is(204);
    chat.cairn.caught_up().await;
    let lines = lines(&export(&chat.ann).await).await;
    let texts: Vec<&str> = lines.iter().filter_map(|line| line["item"]["Content"].as_str()).collect();
    assert_eq!(texts.iter().filter(|text| **text == "from ann").count(), 2);
    assert!(lines.iter().any(|line| line["item"]["Username"] == "ann"));
}

async fn export_does_not_tell_who_has_reported_the_person() {
    let chat = Chat::new().await;
    let place = place(&chat).await;
    let message = send(&chat.ann.user, &place.group_chat, "rude").await;
    let chat_name = chat_of(&place.group_chat).to_string();
    let about_message =
        json!({ "kind": "message", "targetId": message.text("id"), "chat": chat_name, "reason": "abuse" });
    let about_person = json!({ "kind": "person", "targetId": chat.ann.id, "reason": "abuse" });
    for report in [about_message, about_person] {
        chat.bob.user.post("/chat/reports", report).await.is(201);
    }
    let removal = format!("/chat/communities/{}/members/{}", place.community, chat.ann.id);
    chat.cy.user.delete(&removal).await.is(204);
    chat.ann.joins_community(&place.community).await.is(201);
    let lines = lines(&export(&chat.ann).await).await;
    let named: Vec<String> = lines.iter().map(Value::to_string).filter(|line| line.contains(&chat.bob.id)).collect();
    assert_eq!(named, Vec::<String>::new());
    let removed: Vec<&Value> = lines.iter().filter(|line| line["item"]["Action"] == "removeMember").collect();
    assert!(removed.len() == 1 && removed[0]["item"].get("ActorId").is_none(), "{removed:?}");
}

async fn export_leaves_out_the_message_that_the_person_has_reported() {
    let chat = Chat::new().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = send(&chat.ann.user, &path, "taken back").await;
    let report = json!({
        "kind": "message", "targetId": message.text("id"), "chat": chat_of(&path).to_string(), "reason": "abuse",
    });
    chat.bob.user.post("/chat/reports", report).await.is(201);
    let lines = lines(&export(&chat.bob).await).await;
    assert!(lines.iter().any(|line| line["item"]["ReporterId"] == chat.bob.id.as_str()), "{lines:?}");
    let quoting: Vec<&Value> = lines.iter().filter(|line| line.to_string().contains("taken back")).collect();
    assert_eq!(quoting, Vec::<&Value>::new());
}

/// Returns the keys of the messages that others have sent.
async fn messages_of_others(chat: &Chat, user: &str) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    for table in [&schema::GROUP_CHATS, &schema::PRIVATE_CHATS] {
        for item in chat.cairn.table_of(table).items().await {
            let value: Value = table::item::from_item(item).unwrap();
            if value["SenderId"].as_str().is_some_and(|sender| sender != user) {
                rows.insert(key(table.name, &value));
            }
        }
    }
    rows
}

async fn export_has_nothing_of_other_members() {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    chat.bob.joins_community(&community).await.is(201);
    chat.ann.puts(&format!("/chat/groupchats/{group}/members/{}", chat.bob.id)).await.is(201);
    let direct = private_chat(&chat.ann, &chat.bob).await;
    for path in [format!("/chat/groupchats/{group}"), direct.clone()] {
        send(&chat.ann.user, &path, "from ann").await;
        send(&chat.bob.user, &path, "from bob to @ann").await;
        let quiet = json!({ "mutedUntil": "2100-01-01T00:00:00Z", "hidden": true });
        chat.bob.user.put(&format!("{path}/preferences"), quiet).await.is(200);
    }
    chat.bob.puts(&format!("{direct}/block")).await.is(204);
    let lines = lines(&export(&chat.ann).await).await;
    let texts: Vec<&str> = lines.iter().filter_map(|line| line["item"]["Content"].as_str()).collect();
    assert_eq!(texts, ["from ann", "from ann"]);
    for line in &lines {
        for secret in ["BlockedAt", "MutedUntil"] {
            assert!(line["item"].get(secret).is_none(), "{line}");
        }
        assert_ne!(line["item"]["sk"], format!("USER#{}", chat.bob.id), "{line}");
    }
}

async fn export_is_seen_by_its_person_only() {
    let chat = Chat::new().await;
    let first = chat.ann.user.post("/chat/me/export", json!({})).once("export").await.is(202);
    let again = chat.ann.user.post("/chat/me/export", json!({})).once("export").await.is(202);
    assert_eq!(first.body, again.body);
    let job = first.header("location");
    chat.bob.user.get(job).await.refused(404, "not-found");
    chat.visitor.get(job).await.refused(401, "not-signed-in");
    chat.ann.user.get("/chat/me/jobs/019b76da-a800-7000-8000-000000000091").await.refused(404, "not-found");
    assert_eq!(ended(&chat.ann.user, job).await["status"], "succeeded");
}

/// More long messages than fit into one part of a file.
const MESSAGES: usize = 380;

/// Each run has time for one step, so that it keeps what it has read for the next one.
async fn banned_person_gets_no_link_to_an_export() {
    let chat = Chat::without_search().await;
    let admin = chat.cairn.person("administrator", Person { roles: &["chat-admin"], ..Person::new("root") }).await;
    admin.get("/chat/me").await.is(200);
    let job = format!("/chat/me/jobs/{}", export(&chat.ann).await.text("id"));
    let ban = format!("/chat/users/{}/ban", chat.ann.id);
    admin.put(&ban, json!({ "reason": "Spam" })).await.is(204);
    chat.ann.user.get(&job).await.refused(403, "banned");
    admin.delete(&ban).await.is(204);
    chat.ann.user.get(&job).await.is(200);
}

async fn large_export_in_short_runs_has_each_row_once() {
    let chat = Chat::new().await;
    let direct = private_chat(&chat.ann, &chat.bob).await;
    let place = chat_of(&direct);
    let messages = (0..MESSAGES).map(|number| {
        let id = MessageId::at(chat.cairn.clock.micros() / 1000 - number as i64);
        let text = format!("{number} {}", "long text ".repeat(1_550));
        let message = ::chat::messages::Message::new(id, chat.ann.id.parse().unwrap(), text);
        stored(&schema::PRIVATE_CHATS, &::chat::keys::message_key(place, id), &message)
    });
    chat.cairn.table_of(&schema::PRIVATE_CHATS).put_all(messages.collect()).await;
    let whole = lines(&export(&chat.ann).await).await;
    assert!(whole.len() > MESSAGES, "{}", whole.len());
    chat.cairn.engines().wind_down();
    let accepted = chat.ann.user.post("/chat/me/export", json!({})).await.is(202);
    let (job, mut seen) = (accepted.header("location"), vec![0]);
    let mut time = Duration::from_millis(3_900);
    let read = loop {
        chat.cairn.clock.advance(Duration::from_secs(121));
        let config = chat.cairn.engines().config.clone();
        let slow = slow(config.dynamodb.clone().unwrap()).await;
        let config = Config { dynamodb: Some(slow.url.clone()), ..config };
        let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
        // The schedule and messages take turns.
        let (handler, event) = if seen.len() % 2 == 1 { (RUN_JOBS, json!({})) } else { (RUN_JOB, message_of(job)) };
        let run = app.event(handler, event.to_string().into(), Instant::now() + time).await;
        let read = chat.ann.user.get(job).await.is(200);
        if read["status"] == "succeeded" {
            break read;
        }
        let done = read["counts"]["done"].as_u64().unwrap();
        if run.is_err() || done == seen[seen.len() - 1] {
            time = time.mul_f64(1.2);
            assert!(time < Duration::from_secs(30), "it came no further than {seen:?}: {run:?} {}", read.told());
        } else {
            seen.push(done);
        }
        if seen.len() == 2 {
            // What the first run has kept is lost: the export starts again.
            for name in objects(&chat.cairn, "exports").iter().filter(|name| name.ends_with(".part")) {
                std::fs::remove_file(name).unwrap();
            }
        }
    };
    assert!(seen.len() > 2, "one run was enough: {seen:?}");
    let keys = |lines: &[Value]| {
        let own = |line: &&Value| !line["item"]["sk"].as_str().unwrap_or_default().starts_with("EXPORT#");
        let mut keys: Vec<String> = lines.iter().filter(own).map(|line| key("", &line["item"])).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&lines(&read).await), keys(&whole));
    let kept: Vec<String> =
        objects(&chat.cairn, "exports").into_iter().filter(|name| name.ends_with(".part")).collect();
    assert_eq!(kept, Vec::<String>::new());
}

/// Returns the event of a message that names the job of a path.
fn message_of(job: &str) -> Value {
    let body = json!({ "job": job.rsplit('/').next() }).to_string();
    json!({ "Records": [{ "messageId": "1", "eventSource": "aws:sqs", "body": body }] })
}

/// A DynamoDB that takes its time for each query.
async fn slow(dynamodb: String) -> Server {
    Server::start(move |request: Request<Incoming>| {
        let dynamodb = dynamodb.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            if parts.headers["x-amz-target"].to_str().unwrap().ends_with("Query") {
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
            pass_on(dynamodb, parts, body).await
        }
    })
    .await
}

async fn exports_above_their_rate_are_refused() {
    let chat = Chat::with(Setup { limits: vec![("exports", 1)], ..Setup::of("chat") }).await;
    export(&chat.ann).await;
    let refused = chat.ann.user.post("/chat/me/export", json!({})).await.refused(429, "too-many-requests");
    assert!((1..=86_400).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
    export(&chat.bob).await;
}
