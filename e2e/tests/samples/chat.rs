//! The sample of chat: a part of its first community, and a private chat.

use std::collections::HashMap;

use local::Progress;
use local::identity::Person;
use local::sample::chat::{Plan, Words, load_this};
use local::sample::{PEOPLE, Size};
use reqwest::Method;
use serde_json::json;

use crate::chat::export::ended;
use crate::harness::{Answer, Cairn, Setup, User};
use crate::tests;

tests! { samples_chat:
    #[long] second_load_creates_nothing_in_chat,
    #[long] changed_sample_chats_are_kept,
    #[long] banned_people_and_deleted_communities_do_not_fail_a_load,
}

struct Stage {
    cairn: Cairn,
    plan: Plan,
    /// The first person of the sample.
    ada: User,
}

impl Stage {
    async fn new() -> Self {
        let cairn = Cairn::with(Setup::of("chat")).await;
        let mut plan = Plan::new(Size::Small, &Words::read().unwrap());
        plan.communities.truncate(1);
        plan.communities[0].chats.truncate(1);
        plan.communities[0].chats[0].message_count = 6;
        plan.private_chats.truncate(1);
        plan.people.truncate(12);
        let (kind, person) = PEOPLE.into_iter().find(|(kind, _)| *kind == "chat-member").unwrap();
        let ada = cairn.person(kind, person).await;
        Self { cairn, plan, ada }
    }

    /// Returns the numbers of items that were created, and that existed.
    async fn load(&self) -> (u64, u64) {
        let mut tokens = HashMap::new();
        for person in &self.plan.people {
            let (subject, name) = (person.subject.as_str(), person.name.as_str());
            let token = self.cairn.token_of(&Person { name: Some(name), ..Person::new(subject) }).await;
            tokens.insert(subject.to_owned(), token);
        }
        let tokens = |subject: &str, _: &str| Ok(tokens[subject].clone());
        let words = Words::read().unwrap();
        load_this(&self.plan, &words, self.cairn.url(), &tokens, &Progress::silent()).await.unwrap()
    }

    async fn mine(&self, list: &str) -> Answer {
        self.ada.get(format!("/chat/me/{list}").trim_end_matches('/')).await.is(200)
    }
}

async fn second_load_creates_nothing_in_chat() {
    let stage = Stage::new().await;
    let all = stage.plan.count();
    assert_eq!((all, stage.load().await), (12 + 1 + 7 + 11, (all, 0)));
    assert_eq!(stage.load().await, (0, all));
    let me = stage.mine("").await;
    assert_eq!((me.text("name"), me["bio"].is_string()), ("Ada Alder", true));
    assert_eq!(stage.mine("communities").await.each("numMembers"), [12]);
    assert_eq!(stage.mine("groupchats").await.each("id").len(), 1);
    assert_eq!(stage.mine("privatechats").await.each("id").len(), 1);
    // Its messages are searchable.
    stage.cairn.caught_up().await;
    let found = stage.ada.get("/chat/search/messages").await.is(200);
    assert_eq!(found["total"]["value"], 16);
}

async fn changed_sample_chats_are_kept() {
    let stage = Stage::new().await;
    stage.load().await;
    let me = stage.mine("").await;
    let chats = stage.mine("privatechats").await;
    let messages = format!("/chat/privatechats/{}/messages", chats["items"][0]["id"].as_str().unwrap());
    let sent = stage.ada.get(&messages).await.is(200);
    let mut sent = sent["items"].as_array().unwrap().iter();
    let own = sent.find(|message| message["senderId"] == me["id"]).unwrap();
    stage.ada.delete(&format!("{messages}/{}", own["id"].as_str().unwrap())).await.is(204);
    let before = stage.ada.get(&messages).await.is(200);
    assert_eq!(stage.load().await.0, 0);
    assert_eq!(stage.ada.get(&messages).await.is(200).body, before.body);
}

async fn banned_people_and_deleted_communities_do_not_fail_a_load() {
    let stage = Stage::new().await;
    let all = stage.plan.count();
    stage.load().await;
    let communities = stage.mine("communities").await;
    let person = Person { roles: &["chat-admin"], ..Person::new("root") };
    let admin = stage.cairn.person("administrator", person).await;
    admin.get("/chat/me").await.is(200);
    let ban = format!("/chat/users/{}/ban", stage.mine("").await.text("id"));
    admin.put(&ban, json!({ "reason": "spam" })).await.is(204);
    assert_eq!(stage.load().await, (0, all));
    admin.delete(&ban).await.is(204);
    let community = format!("/chat/communities/{}", communities["items"][0]["id"].as_str().unwrap());
    let deletion = admin.call(Method::DELETE, &community).await.is(202);
    assert_eq!(ended(&admin, deletion.header("location")).await["status"], "succeeded");
    admin.get(&community).await.refused(404, "not-found");
    stage.load().await;
}
