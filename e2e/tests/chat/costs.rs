//! What each access pattern consumes of DynamoDB's capacity, with items of ordinary sizes: a user, a community and a chat
//! of 1 KB, and a message of half a KB. A page has 25 items.

mod communities;
mod group_chats;
mod jobs;
mod live;
mod messages;
mod notifications;
mod people;
mod pictures;
mod private_chats;
mod reports;
mod requests;
mod searches;

use std::time::Duration;

use futures::future::join_all;
use local::identity::Person;
use serde_json::{Value, json};

use super::stage::{Chat, Member, id};
use crate::harness::measured::Measured;
use crate::harness::{Setup, User};
use crate::tests;

tests! { chat_costs: #[long] each_access_pattern_costs_what_is_recorded }

/// The time limit of the whole. On an engine on which no job comes to its end, the test fails instead of waiting.
const TIME_LIMIT: Duration = Duration::from_secs(100);

/// The handlers that the measured calls take the place of.
const WITHOUT: [&str; 6] = ["live", "fanOutRest", "runJob", "runJobs", "storePicture", "applyRetention"];

/// The limits that a test reaches.
const LIMITS: [&str; 7] = ["sends", "privateChats", "communities", "requests", "tickets", "searches", "register"];

/// A community of ann with a private group chat of hers, and people who are members of both.
struct Stage {
    chat: Chat,
    admin: User,
    community: String,
    group: String,
    /// 26 members.
    many: Vec<Member>,
    measured: Measured,
}

async fn each_access_pattern_costs_what_is_recorded() {
    tokio::time::timeout(TIME_LIMIT, measure()).await.expect("the measured calls come to an end");
}

async fn measure() {
    let mut stage = Stage::new().await;
    communities::measure(&mut stage).await;
    group_chats::measure(&mut stage).await;
    private_chats::measure(&mut stage).await;
    messages::measure(&mut stage).await;
    notifications::measure(&mut stage).await;
    requests::measure(&mut stage).await;
    searches::measure(&mut stage).await;
    reports::measure(&mut stage).await;
    pictures::measure(&mut stage).await;
    live::measure(&mut stage).await;
    jobs::measure(&mut stage).await;
    // The clock is advanced there.
    people::measure(&mut stage).await;
    let health = stage.chat.cairn.visitor().get("/chat/health");
    stage.measured.of("the health of the system", health, 200).await;
    stage.measured.match_record("chat");
}

impl Stage {
    async fn new() -> Self {
        let limits = LIMITS.into_iter().map(|name| (name, 100_000)).collect();
        let chat = Chat::with(Setup { limits, without: WITHOUT.to_vec(), ..Setup::of("chat") }).await;
        for member in [&chat.ann, &chat.bob, &chat.cy] {
            describe(&member.user).await;
        }
        let admin = chat.cairn.person("administrator", Person { roles: &["chat-admin"], ..Person::new("ada") }).await;
        admin.get("/chat/me").await.is(200);
        let many = join_all((0..26).map(|number| person(&chat, number))).await;
        let community = id(&chat.ann.user.post("/chat/communities", community("Moss")).await.is(201));
        let group = chat.ann.creates_group_chat(&community, group_chat("Bogs", true)).await;
        let (place, group) = (format!("/chat/communities/{community}"), format!("/chat/groupchats/{group}"));
        for member in &many {
            member.joins_community(&community).await.is(201);
            chat.ann.puts(&format!("{group}/members/{}", member.id)).await.is(201);
        }
        Self { chat, admin, community: place, group, many, measured: Measured::default() }
    }

    /// Creates another group chat of ann in the community.
    async fn creates_group_chat(&self, name: &str, private: bool) -> String {
        let new = group_chat(name, private);
        let created = self.chat.ann.user.post(&format!("{}/groupchats", self.community), new).await;
        format!("/chat/groupchats/{}", id(&created.is(201)))
    }
}

/// Creates a user of 1 KB.
async fn person(chat: &Chat, number: usize) -> Member {
    let user = chat.cairn.person("many", Person::new(&format!("many{number}"))).await;
    let id = id(&user.get("/chat/me").await.is(200));
    describe(&user).await;
    Member { user, id }
}

async fn describe(user: &User) {
    let avatar = format!("https://pictures.example/{}.png", "a".repeat(100));
    user.patch("/chat/me", json!({ "bio": text(480), "avatarURL": avatar })).await.is(200);
}

/// Returns a text of this many characters.
fn text(length: usize) -> String {
    "mosses that grow by running water ".chars().cycle().take(length).collect()
}

fn community(name: &str) -> Value {
    json!({
        "name": name, "topic": "Plants", "description": text(500), "location": { "country": "Canada", "city": "Tofino" },
    })
}

fn group_chat(name: &str, private: bool) -> Value {
    json!({ "name": name, "description": text(600), "private": private, "capacity": 1000 })
}
