//! The fixture of chat's tests: an empty chat with people whom another issuer signs in, which is quick.

use std::collections::BTreeSet;

use ::chat::keys::SubscriptionKey;
use ::chat::live::feed::Feed;
use ::chat::names::{GroupChatId, UserId};
use ::chat::schema::{LIVE, TELL};
use bytes::Bytes;
use http::{Request, StatusCode};
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey, Escaped};
use tokio::task::JoinHandle;

use crate::harness::missed_read::MissedRead;
use crate::harness::stopper::{Moment, Stopper};
use crate::harness::table::{Item, stored};
use crate::harness::{Answer, Cairn, Setup, User};

/// An empty chat, and three people.
pub struct Chat {
    pub cairn: Cairn,
    pub visitor: User,
    pub ann: Member,
    pub bob: Member,
    pub cy: Member,
}

/// A person with a user.
pub struct Member {
    pub user: User,
    pub id: String,
}

impl Chat {
    pub async fn new() -> Self {
        Self::with(Self::setup()).await
    }

    /// Creates a chat for tests of requests and tables only: no function reads the streams, so nothing is pushed to
    /// clients, notified or found by search.
    pub async fn without_stream_readers() -> Self {
        Self::with(without_stream_readers(Self::setup())).await
    }

    /// Creates a chat for tests of what is pushed to clients or notified. Search finds nothing.
    pub async fn without_search() -> Self {
        Self::with(Setup { without: vec![::mirror::HANDLER], ..Self::setup() }).await
    }

    /// Returns the setup of a chat in which tests send, react and start chats more often than people do.
    pub fn setup() -> Setup {
        Setup { limits: vec![("sends", 100_000), ("privateChats", 100_000)], ..Setup::of("chat") }
    }

    pub async fn with(setup: Setup) -> Self {
        let cairn = Cairn::with(setup).await;
        let (ann, bob, cy) = tokio::join!(member(&cairn, "ann"), member(&cairn, "bob"), member(&cairn, "cy"));
        Self { visitor: cairn.visitor(), ann, bob, cy, cairn }
    }

    /// Sends a request of ann, with a body if there is one. Its first of these operations is held until the stopper
    /// resumes it, and then the request returns its status.
    pub async fn held(
        &self,
        operations: &'static [&'static str],
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (Stopper, JoinHandle<StatusCode>) {
        let config = self.cairn.engines().config.clone();
        let held = Some((0, Moment::BeforeItIsSent));
        let stopper = Stopper::of(operations, config.dynamodb.clone().unwrap(), held).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::chat::app(Engines::new(config, self.cairn.clock.clone())).metrics_to(|_| {});
        let request = self.request("ann", method, path, body).await;
        let answer = tokio::spawn(async move { app.handle(request).await.status() });
        stopper.stopped().await;
        (stopper, answer)
    }

    /// Sends a request of a person to functions that find nothing in the first batch that they read, as if each of its
    /// items had got another key meanwhile. Returns the status.
    pub async fn missing_the_first_batch(
        &self,
        person: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> StatusCode {
        let config = self.cairn.engines().config.clone();
        let read = MissedRead::before(config.dynamodb.clone().unwrap(), "BatchGetItem", |_| true, 0).await;
        let config = Config { dynamodb: Some(read.url.clone()), ..config };
        let app = ::chat::app(Engines::new(config, self.cairn.clock.clone())).metrics_to(|_| {});
        let status = app.handle(self.request(person, method, path, body).await).await.status();
        assert!(read.was_missed(), "no batch was read");
        status
    }

    /// Returns a request of a person, with a body if there is one.
    async fn request(&self, person: &str, method: Method, path: &str, body: Option<Value>) -> Request<Bytes> {
        let token = self.cairn.token(person, &[]).await;
        let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
        match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string().into()).unwrap(),
            None => request.body(Bytes::new()).unwrap(),
        }
    }

    /// Creates the user of another person.
    pub async fn member(&self, name: &'static str) -> Member {
        member(&self.cairn, name).await
    }
}

/// Returns a setup in which no function reads the streams.
pub fn without_stream_readers(setup: Setup) -> Setup {
    Setup { without: vec![TELL, ::mirror::HANDLER], ..setup }
}

async fn member(cairn: &Cairn, name: &'static str) -> Member {
    let user = cairn.person(name, Person::new(name)).await;
    let id = id(&user.get("/chat/me").await.is(200));
    Member { user, id }
}

impl Member {
    /// Creates a community of this founder.
    pub async fn creates_community(&self) -> String {
        id(&self.user.post("/chat/communities", json!({ "name": "Moss", "topic": "Plants" })).await.is(201))
    }

    /// Creates a group chat of this owner.
    pub async fn creates_group_chat(&self, community: &str, chat: Value) -> String {
        id(&self.user.post(&format!("/chat/communities/{community}/groupchats"), chat).await.is(201))
    }

    /// Joins a community.
    pub async fn joins_community(&self, community: &str) -> Answer {
        self.puts(&format!("/chat/communities/{community}/members/me")).await
    }

    /// Joins a group chat.
    pub async fn joins_group_chat(&self, chat: &str) -> Answer {
        self.puts(&format!("/chat/groupchats/{chat}/members/me")).await
    }

    /// Sends a PUT without a body.
    pub async fn puts(&self, path: &str) -> Answer {
        self.user.call(Method::PUT, path).await
    }
}

/// Returns the id in a response.
pub fn id(answer: &Answer) -> String {
    answer.text("id").to_owned()
}

/// Returns the usernames of the people on a page, in alphabetical order. Each person must be there once.
pub fn names(page: &Answer) -> Vec<String> {
    let people = page["people"].as_array().unwrap();
    let names: BTreeSet<String> = people.iter().map(|person| person["username"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), people.len(), "{}", page.told());
    names.into_iter().collect()
}

/// Returns the endpoint of a socket that answers no request.
pub fn closed_socket() -> Option<String> {
    Some("http://127.0.0.1:1".to_owned())
}

/// Returns the subscription to a group chat of a connection that API Gateway has closed.
pub fn subscription_to(chat: GroupChatId, user: UserId) -> Item {
    let connection = Escaped::new("closed").unwrap();
    stored(&LIVE, &SubscriptionKey { feed: Feed::GroupChat(chat), user, connection }.key(), &json!({}))
}
