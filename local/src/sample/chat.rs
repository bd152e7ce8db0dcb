//! The sample of chat: made-up people who talk in communities and in private. Each person acts with an own token.
//!
//! A load leaves a completed community as users have changed it, and completes one whose load was interrupted: its last
//! member joins when all else is there. People who were banned or deleted take no part in it. Communities and chats are
//! found by name. A message is sent once for the day for which the platform keeps its `Idempotency-Key`, so a community
//! that was interrupted earlier gets some of them again.

mod plan;
mod words;

use std::sync::atomic::{AtomicU64, Ordering};

use futures::stream::{self, StreamExt, TryStreamExt};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::target::{Answer, Target};
use super::{CONCURRENCY, SampleError, Size};
use crate::Progress;
use plan::{PlannedChat, PlannedCommunity, PlannedMessage, PlannedPerson, PlannedPrivateChat};

pub use plan::Plan;
pub use words::Words;

const STAGE: &str = "chat";

/// The number of chats of a community that are completed concurrently.
const CHATS: usize = 3;

/// Returns the token of a person with this subject and name.
pub type Tokens<'a> = &'a (dyn Fn(&str, &str) -> Result<String, SampleError> + Sync);

/// A person of the sample on the platform.
#[derive(Debug)]
struct SampleUser {
    target: Target,
    id: String,
    username: String,
}

/// A load in progress.
struct Load<'a> {
    words: &'a Words,
    /// None for a person who was banned or deleted.
    people: Vec<Option<SampleUser>>,
    progress: &'a Progress,
    total: u64,
    /// The numbers of created items, and of all that are done.
    made: AtomicU64,
    done: AtomicU64,
}

/// Loads the sample of this size. Returns the numbers of created people, communities, chats and messages, and of those
/// that existed or were deleted since.
pub async fn load(
    size: Size,
    gateway: &str,
    tokens: Tokens<'_>,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    let words = Words::read()?;
    load_this(&Plan::new(size, &words), &words, gateway, tokens, progress).await
}

/// Loads this plan.
pub async fn load_this(
    plan: &Plan,
    words: &Words,
    gateway: &str,
    tokens: Tokens<'_>,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let total = plan.count();
    let made = AtomicU64::new(0);
    let first = Target::new(gateway, "")?;
    let people = plan.people.iter().map(|person| {
        let (first, made) = (&first, &made);
        async move {
            let target = first.with_token(tokens(&person.subject, &person.name)?);
            let found = SampleUser::find(target, person).await?;
            let is_new = found.as_ref().is_some_and(|(_, is_new)| *is_new);
            made.fetch_add(u64::from(is_new), Ordering::Relaxed);
            Ok::<_, SampleError>(found.map(|(user, _)| user))
        }
    });
    let people: Vec<Option<SampleUser>> = stream::iter(people).buffered(CONCURRENCY).try_collect().await?;
    let done = AtomicU64::new(people.len() as u64);
    let load = Load { words, people, progress, total, made, done };
    let communities = plan.communities.iter().map(|community| load.community(community));
    stream::iter(communities).buffer_unordered(CONCURRENCY).try_collect::<Vec<()>>().await?;
    for chat in &plan.private_chats {
        load.private_chat(chat).await?;
    }
    let made = load.made.load(Ordering::Relaxed);
    let present = total.saturating_sub(made);
    progress.finished(STAGE, format!("{made} created, {present} existed, with their members and reactions"));
    Ok((made, present))
}

impl SampleUser {
    /// Finds or creates the user of a person. Returns it, and whether it has a profile only now. None for a user who was
    /// banned or deleted.
    async fn find(target: Target, person: &PlannedPerson) -> Result<Option<(Self, bool)>, SampleError> {
        let me = target.call(Method::GET, "/chat/me", String::new(), None).await?;
        let me = me.expecting(&[StatusCode::OK, StatusCode::FORBIDDEN])?;
        if me.status == StatusCode::FORBIDDEN {
            return Ok(None);
        }
        let text = |name: &str| me.text(name).ok_or_else(|| me.unexpected());
        let (id, username) = (text("id")?, text("username")?);
        let is_new = me.text("bio").is_none() && me.member("location").is_none_or(|place| place.is_null());
        if is_new {
            let mut location = json!({ "country": person.place.country, "city": person.place.city });
            if let (Some(state), Some(location)) = (person.place.state, location.as_object_mut()) {
                location.insert("state".to_owned(), json!(state));
            }
            let profile = json!({ "bio": person.bio, "location": location }).to_string();
            target.call(Method::PATCH, "/chat/me", profile, None).await?.expecting(&[StatusCode::OK])?;
        }
        Ok(Some((Self { target, id, username }, is_new)))
    }

    /// Returns the paths of a list's items by name. None if the list is gone.
    async fn named(&self, list: &str, path: &str) -> Result<Option<Vec<(String, String)>>, SampleError> {
        let mut named = Vec::new();
        let mut page = format!("{list}?limit=100");
        loop {
            let answer = self.target.call(Method::GET, &page, String::new(), None).await?;
            let answer = answer.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
            if answer.status == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            let (items, next) = answer.page()?;
            let text = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
            let entry = |item: &Value| Some((text(item, "name")?, format!("{path}/{}", text(item, "id")?)));
            named.extend(items.iter().filter_map(entry));
            match next {
                Some(cursor) => page = format!("{list}?limit=100&cursor={cursor}"),
                None => return Ok(Some(named)),
            }
        }
    }

    /// Adds a member to a list, unless the member or the list is gone.
    async fn add(&self, list: &str, member: &str) -> Result<(), SampleError> {
        let path = format!("{list}/members/{member}");
        let joined = self.target.call(Method::PUT, &path, String::new(), None).await?;
        let statuses =
            [StatusCode::CREATED, StatusCode::OK, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND, StatusCode::CONFLICT];
        joined.expecting(&statuses)?;
        Ok(())
    }
}

impl Load<'_> {
    /// Returns a planned person, unless the user was banned or deleted.
    fn user(&self, number: usize) -> Result<Option<&SampleUser>, SampleError> {
        let planned = self.people.get(number);
        Ok(planned.ok_or_else(|| SampleError::unreadable(format!("person {number} is not planned")))?.as_ref())
    }

    fn done(&self, made: u64, done: u64) {
        self.made.fetch_add(made, Ordering::Relaxed);
        let done = self.done.fetch_add(done, Ordering::Relaxed) + done;
        self.progress.advanced(STAGE, done, Some(self.total));
    }

    /// Completes a community with its members, chats and messages.
    async fn community(&self, planned: &PlannedCommunity) -> Result<(), SampleError> {
        let [founder, others @ .., last] = planned.members.as_slice() else {
            return Err(SampleError::unreadable("a community has too few members"));
        };
        let (Some(founder), Some(last)) = (self.user(*founder)?, self.user(*last)?) else {
            self.done(0, planned.count());
            return Ok(());
        };
        let find =
            |named: Option<Vec<(String, String)>>| named.into_iter().flatten().find(|(name, _)| *name == planned.name);
        let mine = "/chat/me/communities";
        let list = "/chat/communities";
        if find(last.named(mine, list).await?).is_some() {
            self.done(0, planned.count());
            return Ok(());
        }
        let community = match find(founder.named(mine, list).await?) {
            Some((_, path)) => {
                self.done(0, 1);
                path
            }
            None => {
                let mut location = json!({ "country": planned.place.country, "city": planned.place.city });
                if let (Some(state), Some(location)) = (planned.place.state, location.as_object_mut()) {
                    location.insert("state".to_owned(), json!(state));
                }
                let new = json!({
                    "name": planned.name, "description": planned.description, "topic": planned.topic,
                    "location": location,
                });
                let once = Some(format!("sample community {}", planned.number));
                let created = founder.target.call(Method::POST, list, new.to_string(), once).await?;
                self.done(1, 1);
                created.expecting(&[StatusCode::CREATED])?.created_path()?
            }
        };
        let path = community.as_str();
        let others = others.iter().map(|member| self.user(*member)).collect::<Result<Vec<_>, _>>()?;
        let joins: Vec<_> = others.into_iter().flatten().map(|member| member.add(path, "me")).collect();
        stream::iter(joins).buffer_unordered(CONCURRENCY).try_collect::<Vec<()>>().await?;
        let list = format!("{community}/groupchats");
        let Some(there) = founder.named(&list, "/chat/groupchats").await? else {
            // The community was deleted.
            self.done(0, planned.count().saturating_sub(1));
            return Ok(());
        };
        let chats: Vec<_> = planned.chats.iter().map(|chat| self.chat(founder, &list, &there, chat)).collect();
        stream::iter(chats).buffer_unordered(CHATS).try_collect::<Vec<()>>().await?;
        last.add(&community, "me").await
    }

    /// Completes a group chat with its members and messages. `there` are the paths of the community's chats by name.
    async fn chat(
        &self,
        owner: &SampleUser,
        list: &str,
        there: &[(String, String)],
        planned: &PlannedChat,
    ) -> Result<(), SampleError> {
        let path = match there.iter().find(|(name, _)| name == planned.name) {
            Some((_, path)) => {
                self.done(0, 1);
                path.clone()
            }
            None => self.create_chat(owner, list, planned).await?,
        };
        for member in planned.members.iter().skip(1) {
            let Some(member) = self.user(*member)? else { continue };
            match planned.private {
                true => owner.add(&path, &member.id).await?,
                false => member.add(&path, "me").await?,
            }
        }
        self.talk(&path, planned.number, planned.messages(self.words)).await
    }

    async fn create_chat(&self, owner: &SampleUser, list: &str, chat: &PlannedChat) -> Result<String, SampleError> {
        let new = json!({ "name": chat.name, "description": chat.description, "private": chat.private });
        let once = Some(format!("sample chat {}", chat.number));
        let created = owner.target.call(Method::POST, list, new.to_string(), once).await?;
        self.done(1, 1);
        created.expecting(&[StatusCode::CREATED])?.created_path()
    }

    /// Completes a private chat. One that has messages is left as it is.
    async fn private_chat(&self, planned: &PlannedPrivateChat) -> Result<(), SampleError> {
        let [one, other] = planned.members;
        let (Some(one), Some(other)) = (self.user(one)?, self.user(other)?) else {
            self.done(0, planned.count());
            return Ok(());
        };
        let new = json!({ "userId": other.id }).to_string();
        let started = one.target.call(Method::POST, "/chat/privatechats", new, None).await?;
        let started = started.expecting(&[StatusCode::CREATED, StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY])?;
        let Some(id) = started.text("id") else {
            self.done(0, planned.count());
            return Ok(());
        };
        let path = format!("/chat/privatechats/{id}");
        let list = format!("{path}/messages?limit=1");
        let messages = one.target.call(Method::GET, &list, String::new(), None).await?;
        let (messages, _) = messages.expecting(&[StatusCode::OK])?.page()?;
        if !messages.is_empty() {
            self.done(0, planned.count());
            return Ok(());
        }
        self.done(u64::from(started.status == StatusCode::CREATED), 1);
        // Group chats have lower numbers.
        self.talk(&path, 1_000_000 + planned.number, planned.messages(self.words)).await
    }

    /// Sends the messages of a chat in their order.
    async fn talk(
        &self,
        chat: &str,
        number: usize,
        messages: impl Iterator<Item = PlannedMessage>,
    ) -> Result<(), SampleError> {
        let list = format!("{chat}/messages");
        for (at, message) in messages.enumerate() {
            let (Some(sender), Some(mentioned)) = (self.user(message.sender)?, self.user(message.mentioned)?) else {
                self.done(0, 1);
                continue;
            };
            let mention = format!("@{}", mentioned.username);
            let body = json!({ "content": message.text.replace("{name}", &mention) }).to_string();
            // The key of a message is a UUID.
            let once = format!("{number:08x}-0000-4000-8000-{at:012x}");
            let sent = sender.target.call(Method::POST, &list, body, Some(once)).await?;
            // The sender or the chat may be gone since.
            let gone =
                [StatusCode::CREATED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND, StatusCode::UNPROCESSABLE_ENTITY];
            let sent = sent.expecting(&gone)?;
            let is_sent = sent.status == StatusCode::CREATED;
            self.done(u64::from(is_sent), 1);
            let Some(id) = sent.text("id").filter(|_| is_sent) else { continue };
            for (person, kind) in message.reactions {
                let kind = utf8_percent_encode(kind, NON_ALPHANUMERIC);
                let path = format!("{list}/{id}/reactions/{kind}");
                let Some(person) = self.user(person)? else { continue };
                let reacted: Answer = person.target.call(Method::PUT, &path, String::new(), None).await?;
                reacted.expecting(&[
                    StatusCode::NO_CONTENT,
                    StatusCode::FORBIDDEN,
                    StatusCode::NOT_FOUND,
                    StatusCode::CONFLICT,
                ])?;
            }
        }
        Ok(())
    }
}
