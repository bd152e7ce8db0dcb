//! The running platform: its people, their group chat, and requests.

use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use futures::{StreamExt, TryStreamExt, stream};
use local::identity::{Identity, Person};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use table::Clock;
use uuid::Uuid;

use crate::Outcome;

pub struct Platform {
    client: Client,
    url: String,
    identity: Identity,
    clock: Clock,
}

/// A user.
pub struct User {
    token: String,
    id: String,
}

/// A group chat with its members, in the order in which events reach them.
pub struct GroupChat {
    pub id: String,
    pub members: Vec<User>,
}

/// The requests at once while people join.
const JOINING: usize = 8;

/// How often a request is sent that conflicts with others or takes too long.
const ATTEMPTS: u32 = 50;

impl Platform {
    pub fn new(url: &str, state: &Path) -> Outcome<Self> {
        let identity = Identity::open(state)?;
        Ok(Self { client: Client::new(), url: url.to_owned(), identity, clock: Clock::system() })
    }

    /// Creates people and a group chat that they have joined.
    pub async fn group_chat(&self, members: usize) -> Outcome<GroupChat> {
        let run = Rng::new().u32(..);
        let users = stream::iter(0..members).map(|number| self.user(format!("load {run:x} {number}")));
        let mut users: Vec<User> = users.buffer_unordered(JOINING).try_collect().await?;
        // Followers are served in the order of their ids.
        users.sort_by(|one, other| one.id.cmp(&other.id));
        let owner = users.first().ok_or("a chat needs a member")?;
        let community = json!({ "name": format!("Load {run:x}"), "topic": "Load" });
        let community = self.create(owner, "/chat/communities", community).await?;
        let chat = json!({ "name": "Load", "capacity": members.max(2) });
        let id = self.create(owner, &format!("/chat/communities/{community}/groupchats"), chat).await?;
        let paths = [format!("/chat/communities/{community}/members/me"), format!("/chat/groupchats/{id}/members/me")];
        let join = |user| {
            let paths = &paths;
            async move {
                for path in paths {
                    self.call(user, Method::PUT, path, None).await?;
                }
                Outcome::Ok(())
            }
        };
        stream::iter(users.iter().skip(1)).map(join).buffer_unordered(JOINING).try_collect::<()>().await?;
        Ok(GroupChat { id, members: users })
    }

    /// Sends a message with its number as its content. Members take turns.
    pub async fn send(&self, chat: &GroupChat, number: u32) -> Outcome<()> {
        let sender = usize::try_from(number)? % chat.members.len();
        let sender = chat.members.get(sender).ok_or("there is no such member")?;
        let path = format!("/chat/groupchats/{}/messages", chat.id);
        self.call(sender, Method::POST, &path, Some(json!({ "content": number.to_string() }))).await.map(drop)
    }

    /// Returns a URL that opens the socket once.
    pub async fn socket(&self, user: &User) -> Outcome<String> {
        let ticket = self.call(user, Method::POST, "/chat/live/tickets", None).await?;
        let text = |name: &str| ticket.get(name).and_then(Value::as_str).ok_or("a ticket is incomplete");
        Ok(format!("{}?ticket={}", text("url")?, text("ticket")?))
    }

    async fn user(&self, name: String) -> Outcome<User> {
        let token = self.identity.token_of(&Person::new(&name), &self.clock)?;
        let mut user = User { token, id: String::new() };
        user.id = id(&self.call(&user, Method::GET, "/chat/me", None).await?)?;
        Ok(user)
    }

    async fn create(&self, user: &User, path: &str, new: Value) -> Outcome<String> {
        id(&self.call(user, Method::POST, path, Some(new)).await?)
    }

    /// Sends a request, again after a conflict with others or a timeout. A repeated message has the same idempotency key.
    async fn call(&self, user: &User, method: Method, path: &str, body: Option<Value>) -> Outcome<Value> {
        let key = Uuid::new_v4().to_string();
        for _ in 0..ATTEMPTS {
            let url = format!("{}{path}", self.url);
            let mut request = self.client.request(method.clone(), url).bearer_auth(&user.token);
            if let Some(body) = &body {
                request = request.header("content-type", "application/json").body(body.to_string());
                request = request.header("idempotency-key", &key);
            }
            let response = request.send().await?;
            let status = response.status();
            if matches!(status, StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE) {
                tokio::time::sleep(Duration::from_millis(fastrand::u64(5..50))).await;
                continue;
            }
            let text = response.text().await?;
            if !status.is_success() {
                return Err(format!("{path}: {status} {text}").into());
            }
            return Ok(serde_json::from_str(&text).unwrap_or_default());
        }
        Err(format!("{path} failed {ATTEMPTS} times").into())
    }
}

fn id(answer: &Value) -> Outcome<String> {
    Ok(answer.get("id").and_then(Value::as_str).ok_or("a response has no id")?.to_owned())
}
