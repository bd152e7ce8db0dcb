//! Deletions of group chats and communities: nothing is left, also when a worker dies half way.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use ::chat::keys::{FeedEntryKey, message_key, reaction_key};
use ::chat::live::feed::Feed;
use ::chat::messages::Reaction;
use ::chat::names::{ChatId, GroupChatId, MessageId, UserId};
use ::chat::schema::{CHAT_REQUESTS, COMMUNITIES, GROUP_CHATS, LIVE, TELL};
use aws_sdk_sqs::types::QueueAttributeName;
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::part::Number;
use table::schema::Table;
use table::{Config, Engines, EntityKey};
use tokio::time::Instant;

use super::conversation::sending;
use super::stage::{Chat, Member, closed_socket, id, subscription_to};
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::stored;
use crate::harness::{Answer, Setup, sized};
use crate::tests;

tests! { chat_deletions:
    #[long] deleted_group_chat_leaves_nothing,
    deleted_community_leaves_nothing,
    group_chat_that_is_being_deleted_takes_no_messages,
    all_chats_of_a_community_refuse_messages_before_one_is_deleted,
    #[long] deletion_without_its_message_is_done_by_the_schedule,
    deletion_without_time_is_continued_by_another_message,
    community_is_deleted_by_its_founder_or_an_administrator,
    group_chat_is_deleted_by_its_owner_the_founder_or_an_administrator,
    #[long] deletion_killed_at_each_write_leaves_nothing,
    #[long] deletion_of_thousands_of_messages_killed_three_times_leaves_nothing,
}

/// Longer than the lease of a worker that has died.
const LEASE: Duration = Duration::from_secs(121);

/// A community of ann in which bob is a member and cy is banned.
struct Stage {
    chat: Chat,
}

impl Stage {
    async fn new(without: &[&'static str]) -> Self {
        let limits = vec![("communities", 1000), ("groupChats", 1000), ("requests", 1000)];
        let chat = Chat::with(Setup { limits, without: without.to_vec(), ..Setup::of("chat") }).await;
        Self { chat }
    }

    async fn community(&self) -> String {
        let new = json!({ "name": "Moss", "topic": "Plants", "retentionDays": 30 });
        let community = id(&self.chat.ann.user.post("/chat/communities", new).await.is(201));
        self.chat.bob.joins_community(&community).await.is(201);
        let ban = format!("/chat/communities/{community}/bans/{}", self.chat.cy.id);
        self.chat.ann.user.put(&ban, json!({})).await.is(204);
        community
    }

    /// Creates a private group chat with everything that one has: members, requests, messages, reactions and a feed.
    async fn group_chat(&self, community: &str, messages: usize) -> String {
        let Chat { ann, bob, cairn, .. } = &self.chat;
        let group = ann.creates_group_chat(community, json!({ "name": "Bogs", "private": true })).await;
        let requests = format!("/chat/groupchats/{group}/requests");
        let request = id(&bob.user.post(&requests, json!({})).await.is(201));
        ann.user.call(Method::POST, &format!("{requests}/{request}/approve")).await.is(200);
        bob.user.delete(&format!("/chat/groupchats/{group}/members/me")).await.is(204);
        bob.user.post(&requests, json!({})).await.is(201);
        let chat = ChatId::Group(GroupChatId::from_str(&group).unwrap());
        let sender = UserId::from_str(&ann.id).unwrap();
        let item = |number: usize| {
            let id = MessageId::at(1_772_359_200_000 + i64::try_from(number).unwrap());
            let message = json!({ "Id": id, "SenderId": sender, "Content": format!("moss {number}"),
                "CreatedAt": id.time().to_string(), "Editted": false, "Reactions": {} });
            let reaction = Reaction { kinds: ["👍".to_owned()].into() };
            [
                stored(&GROUP_CHATS, &message_key(chat, id), &message),
                stored(&GROUP_CHATS, &reaction_key(chat, id, sender), &reaction),
            ]
        };
        cairn.table_of(&GROUP_CHATS).put_all((0..messages).flat_map(item).collect()).await;
        let ChatId::Group(id) = chat else { panic!("{chat} is not a group chat") };
        let entry = |number: u64| {
            let key = FeedEntryKey { feed: Feed::GroupChat(id), number: Number(number) };
            stored(&LIVE, &key.key(), &json!({ "Kind": "read" }))
        };
        let subscription = subscription_to(id, sender);
        cairn.table_of(&LIVE).put_all(vec![entry(1), entry(2), subscription]).await;
        group
    }

    /// Returns the keys that name one of these ids, in the tables and in search.
    async fn left(&self, ids: &[&str]) -> Vec<String> {
        let mut left = Vec::new();
        let tables: [&'static Table; 4] = [&COMMUNITIES, &GROUP_CHATS, &CHAT_REQUESTS, &LIVE];
        for table in tables {
            let table = self.chat.cairn.table_of(table);
            left.extend(table.items().await.iter().map(|item| table.name_of(item)));
        }
        // The last events of a feed may come after the deletion, and expire. Those of this stage have small numbers.
        left.retain(|key| {
            !key.starts_with("HEAD#") && (!key.starts_with("FEED#") || key.ends_with("#1") || key.ends_with("#2"))
        });
        self.chat.cairn.caught_up().await;
        let query = json!({ "query": { "bool": { "must_not": [{ "term": { "deleted": true } }] } }, "size": 10_000 });
        let alias = self.chat.cairn.engines().config.search_name("chat");
        let found = self.chat.cairn.search_engine(Method::POST, &format!("/{alias}/_search"), &query).await;
        let hits = found["hits"]["hits"].as_array().unwrap();
        left.extend(hits.iter().map(|hit| hit["_id"].as_str().unwrap().to_owned()));
        left.retain(|key| ids.iter().any(|id| key.contains(id)));
        left
    }

    /// Waits until nothing is left.
    async fn are_gone(&self, ids: &[&str]) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let left = self.left(ids).await;
            if left.is_empty() {
                break;
            }
            assert!(Instant::now() < end, "{left:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Asserts that each user's memberships are counted as the rows say, and that no request is pending.
    async fn adds_up(&self) {
        for table in [&COMMUNITIES, &GROUP_CHATS] {
            let items = self.chat.cairn.table_of(table).items().await;
            let text = |item: &crate::harness::table::Item, name: &str| item[name].as_s().unwrap().clone();
            for count in items.iter().filter(|item| text(item, "pk").starts_with("MEMBERSHIPS#")) {
                let user = text(count, "pk").replace("MEMBERSHIPS#", "USER#");
                let rows = items.iter().filter(|item| text(item, "sk") == user).count();
                assert_eq!(count["Num"].as_n().unwrap(), &rows.to_string(), "{user} in {}", table.name);
            }
        }
        let requests = self.chat.cairn.table_of(&CHAT_REQUESTS).items().await;
        assert!(requests.iter().all(|request| !request.contains_key("PendingId")), "{requests:?}");
    }

    /// Works on the due jobs, as a worker that dies at this write. Returns the number of its writes.
    async fn work(&self, dies: Option<(usize, Moment)>) -> usize {
        let config = self.chat.cairn.engines().config.clone();
        let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), dies).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), socket: closed_socket(), ..config };
        let app = ::chat::app(Engines::new(config, self.chat.cairn.clock.clone())).metrics_to(|_| {});
        let run = tokio::spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(120);
            app.event(::jobs::RUN_JOBS, "{}".into(), deadline).await.unwrap();
        });
        let abort = run.abort_handle();
        tokio::select! {
            done = run => done.unwrap(),
            () = stopper.stopped() => abort.abort(),
        }
        stopper.writes()
    }

    async fn administrator(&self) -> Member {
        let admin = Person { roles: &["chat-admin"], ..Person::new("ada") };
        let user = self.chat.cairn.person("ada", admin).await;
        Member { id: id(&user.get("/chat/me").await.is(200)), user }
    }
}

fn community_path(community: &str) -> String {
    format!("/chat/communities/{community}")
}

fn group_path(group: &str) -> String {
    format!("/chat/groupchats/{group}")
}

/// Asserts that the response is an accepted job of this kind, and returns its id.
fn job(answer: &Answer, kind: &str) -> String {
    assert_eq!((answer.text("kind"), answer.text("status")), (kind, "queued"), "{}", answer.told());
    assert_eq!(answer.header("location"), format!("/chat/me/jobs/{}", answer.text("id")));
    id(answer)
}

async fn deleted_group_chat_leaves_nothing() {
    let stage = Stage::new(&[::jobs::RUN_JOBS]).await;
    let Chat { ann, bob, .. } = &stage.chat;
    let community = stage.community().await;
    let (group, other) = (stage.group_chat(&community, 60).await, stage.group_chat(&community, 3).await);
    ann.puts(&format!("{}/members/{}", group_path(&group), bob.id)).await.is(201);
    job(&ann.user.delete(&group_path(&group)).await.is(202), "deleteGroupChat");
    for member in [ann, bob] {
        member.user.get(&group_path(&group)).await.refused(404, "not-found");
        member.joins_group_chat(&group).await.refused(404, "not-found");
    }
    assert_eq!(ann.user.get(&community_path(&community)).await.is(200)["numGroupChats"], 1);
    stage.are_gone(&[&group]).await;
    assert_eq!(ann.user.get("/chat/me/groupchats").await.is(200).each("id"), [&json!(other)]);
    assert!(stage.left(&[&other]).await.len() > 6);
    let mine = bob.user.get("/chat/me/requests?status=all").await.is(200);
    let statuses: BTreeSet<&str> = mine.each("status").into_iter().filter_map(Value::as_str).collect();
    assert_eq!(statuses, ["approved", "pending", "withdrawn"].into());
    ann.user.delete(&group_path(&group)).await.refused(404, "not-found");
}

async fn deleted_community_leaves_nothing() {
    let stage = Stage::new(&[::jobs::RUN_JOBS]).await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let community = stage.community().await;
    let (first, second) = (stage.group_chat(&community, 20).await, stage.group_chat(&community, 1).await);
    job(&ann.user.delete(&community_path(&community)).await.is(202), "deleteCommunity");
    for path in [community_path(&community), group_path(&first), format!("{}/members", community_path(&community))] {
        bob.user.get(&path).await.refused(404, "not-found");
    }
    cy.joins_community(&community).await.refused(404, "not-found");
    stage.are_gone(&[&community, &first, &second]).await;
    stage.adds_up().await;
    assert_eq!(ann.user.get("/chat/me/communities").await.is(200)["items"], json!([]));
    ann.user.delete(&community_path(&community)).await.refused(404, "not-found");
}

async fn group_chat_that_is_being_deleted_takes_no_messages() {
    let stage = Stage::new(&["runJob", ::jobs::RUN_JOBS]).await;
    let Chat { ann, .. } = &stage.chat;
    let community = stage.community().await;
    let group = group_path(&ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await);
    sending(&ann.user, &group, "hi").await.is(201);
    ann.user.delete(&group).await.is(202);
    sending(&ann.user, &group, "hi").await.refused(404, "not-found");
}

async fn all_chats_of_a_community_refuse_messages_before_one_is_deleted() {
    let stage = Stage::new(&["runJob", ::jobs::RUN_JOBS]).await;
    let Chat { ann, cairn, .. } = &stage.chat;
    let community = stage.community().await;
    let mut groups = Vec::new();
    for name in ["Bogs", "Fens"] {
        groups.push(group_path(&ann.creates_group_chat(&community, json!({ "name": name })).await));
    }
    ann.user.delete(&community_path(&community)).await.is(202);
    // The worker dies after one more of its writes each time, until the first chat is marked.
    let mut writes = 0;
    while sending(&ann.user, &groups[0], "hi").await.status == 201 {
        assert!(writes < 10);
        stage.work(Some((writes, Moment::AfterItIsDone))).await;
        cairn.clock.advance(LEASE);
        writes += 1;
    }
    sending(&ann.user, &groups[1], "hi").await.refused(404, "not-found");
    stage.work(None).await;
    stage.adds_up().await;
}

async fn deletion_without_its_message_is_done_by_the_schedule() {
    let stage = Stage::new(&["runJob"]).await;
    let Chat { ann, .. } = &stage.chat;
    let community = stage.community().await;
    let (first, second) = (stage.group_chat(&community, 2).await, stage.group_chat(&community, 2).await);
    ann.user.delete(&group_path(&first)).await.is(202);
    stage.are_gone(&[&first]).await;
    ann.user.delete(&community_path(&community)).await.is(202);
    stage.are_gone(&[&community, &second]).await;
    stage.adds_up().await;
}

async fn deletion_without_time_is_continued_by_another_message() {
    let stage = Stage::new(&["runJob", ::jobs::RUN_JOBS]).await;
    let Chat { ann, cairn, .. } = &stage.chat;
    let community = stage.community().await;
    let group = stage.group_chat(&community, 2).await;
    let deleted = job(&ann.user.delete(&group_path(&group)).await.is(202), "deleteGroupChat");
    let waiting = async || {
        let (sqs, config) = (cairn.engines().sqs(), &cairn.engines().config);
        let asked = sqs.get_queue_attributes().queue_url(config.queue_url(::chat::schema::QUEUE).unwrap());
        let attributes = asked.attribute_names(QueueAttributeName::All).send().await.unwrap().attributes.unwrap();
        attributes[&QueueAttributeName::ApproximateNumberOfMessages].clone()
    };
    assert_eq!(waiting().await, "1");
    let message = json!({ "Records": [{ "messageId": "1", "eventSource": "aws:sqs",
        "body": json!({ "job": deleted }).to_string() }] });
    // A step needs two seconds, and the handler keeps some time for giving the job back.
    cairn.event_within(Duration::from_secs(2), "chat", "runJob", &message).await.unwrap();
    assert_eq!(waiting().await, "2");
    cairn.event("chat", "runJob", &message).await.unwrap();
    assert_eq!(stage.left(&[&group]).await, Vec::<String>::new());
}

async fn community_is_deleted_by_its_founder_or_an_administrator() {
    // The jobs wait, so that a repeated request finds them.
    let stage = Stage::new(&["runJob", ::jobs::RUN_JOBS]).await;
    let Chat { ann, bob, .. } = &stage.chat;
    let (one, other) = (stage.community().await, stage.community().await);
    bob.user.delete(&community_path(&one)).await.refused(403, "forbidden");
    let first = job(&ann.user.delete(&community_path(&one)).await.is(202), "deleteCommunity");
    assert_eq!(job(&ann.user.delete(&community_path(&one)).await.is(202), "deleteCommunity"), first);
    bob.user.delete(&community_path(&one)).await.refused(404, "not-found");
    let admin = stage.administrator().await;
    admin.user.delete(&community_path(&other)).await.is(202);
    ann.user.get(&community_path(&other)).await.refused(404, "not-found");
}

async fn group_chat_is_deleted_by_its_owner_the_founder_or_an_administrator() {
    let stage = Stage::new(&["runJob", ::jobs::RUN_JOBS]).await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let community = stage.community().await;
    let mut groups = Vec::new();
    for _ in 0..3 {
        groups.push(bob.creates_group_chat(&community, json!({ "name": "Bob's" })).await);
    }
    let not_his = ann.creates_group_chat(&community, json!({ "name": "Ann's" })).await;
    bob.user.delete(&group_path(&not_his)).await.refused(403, "forbidden");
    cy.user.delete(&group_path(&not_his)).await.refused(404, "not-found");
    let first = job(&bob.user.delete(&group_path(&groups[0])).await.is(202), "deleteGroupChat");
    assert_eq!(job(&ann.user.delete(&group_path(&groups[0])).await.is(202), "deleteGroupChat"), first);
    cy.user.delete(&group_path(&groups[0])).await.refused(404, "not-found");
    ann.user.delete(&group_path(&groups[1])).await.is(202);
    let admin = stage.administrator().await;
    admin.user.delete(&format!("{}?reason=spam", group_path(&groups[2]))).await.is(202);
    assert_eq!(ann.user.get(&community_path(&community)).await.is(200)["numGroupChats"], 1);
    // Other administrators read what this one did, and not what the owner and the founder did.
    let log = admin.user.get("/chat/audit").await.is(200);
    assert_eq!(log.each("targetId"), [groups[2].as_str()], "{}", log.told());
    assert_eq!((log.each("action")[0], log.each("reason")[0]), (&json!("deleteGroupChat"), &json!("spam")));
    let log = ann.user.get(&format!("{}/audit", community_path(&community))).await.is(200);
    let deletions = log["items"].as_array().unwrap().iter().filter(|entry| entry["action"] == "deleteGroupChat");
    let deleted: BTreeSet<&str> = deletions.map(|entry| entry["targetId"].as_str().unwrap()).collect();
    assert_eq!(deleted, groups.iter().map(String::as_str).collect());
}

async fn deletion_killed_at_each_write_leaves_nothing() {
    // The stream handler ends subscriptions, too, which would make the number of the worker's writes vary.
    let stage = Stage::new(&[TELL]).await;
    // The platform's own worker leaves the jobs to those of this test.
    stage.chat.cairn.engines().wind_down();
    let delete = async |dies: Option<(usize, Moment)>| {
        let community = stage.community().await;
        let (first, second) = (stage.group_chat(&community, 30).await, stage.group_chat(&community, 0).await);
        stage.chat.ann.user.delete(&community_path(&community)).await.is(202);
        let writes = stage.work(dies).await;
        if dies.is_some() {
            stage.chat.cairn.clock.advance(LEASE);
            stage.work(None).await;
        }
        assert_eq!(stage.left(&[&community, &first, &second]).await, Vec::<String>::new(), "{dies:?}");
        stage.adds_up().await;
        writes
    };
    let writes = delete(None).await;
    assert!(writes > 10, "{writes}");
    // An odd step reaches writes of both moments.
    for held in (0..writes).step_by(sized(5, 1)) {
        for moment in Moment::of_write(held) {
            assert_eq!(delete(Some((held, *moment))).await, held + 1, "{moment:?}");
        }
    }
}

async fn deletion_of_thousands_of_messages_killed_three_times_leaves_nothing() {
    let stage = Stage::new(&[]).await;
    stage.chat.cairn.engines().wind_down();
    let community = stage.community().await;
    let mut groups = Vec::new();
    for _ in 0..5 {
        groups.push(stage.group_chat(&community, sized(100, 1000)).await);
    }
    stage.chat.ann.user.delete(&community_path(&community)).await.is(202);
    for group in &groups {
        stage.chat.bob.user.get(&group_path(group)).await.refused(404, "not-found");
    }
    for held in [3, 10, 17] {
        stage.work(Some((held, Moment::AfterItIsDone))).await;
        assert!(!stage.left(&[&community]).await.is_empty());
        stage.chat.cairn.clock.advance(LEASE);
    }
    let ids: Vec<&str> = groups.iter().map(String::as_str).chain([community.as_str()]).collect();
    // On a slow engine a run ends before the job.
    for _ in 0..10 {
        stage.work(None).await;
        if stage.left(&ids).await.is_empty() {
            break;
        }
    }
    assert_eq!(stage.left(&ids).await, Vec::<String>::new());
    stage.adds_up().await;
}
