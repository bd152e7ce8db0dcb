//! `GET /chat/search/messages`

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use table::{AccessPattern, EntityKey, Key};
use utoipa::ToSchema;
use web::search::{Highlights, Marks, Piece, Total, typos};
use web::{Context, Fault, Json, Limit, Problem, Query, Route, Sample, problem};

use super::filters::equal;
use super::page::{self, FoundPage, Hit, Loaded, SearchQuery, Searched};
use super::text::{Field, Words, highlighted, keep_present};
use super::{SEARCH, TIMEOUT, searcher};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{GroupChatMemberKey, message_of, user_partition};
use crate::messages::MessageView;
use crate::names::{ChatId, GroupChatId, UserId};
use crate::{rates, schema};

const PATH: &str = "/chat/search/messages";

/// The group chats of the caller.
const CHATS_OF_CALLER: AccessPattern =
    AccessPattern::new("groupChatsOfCaller", &[GROUP_CHATS.query_index(schema::GROUP_CHAT_MEMBERS_INDEX)]);

/// The present messages of a search's hits, and the caller's membership in their group chats.
const FOUND_MESSAGES: AccessPattern =
    AccessPattern::new("foundMessages", &[GROUP_CHATS.batch_get(), PRIVATE_CHATS.batch_get()]);

/// The field that is searched. Messages are in the order of their ids, so there are no points.
const TEXT: Field = Field { name: "text", word: 1, prefix: 1, typo: 1, is_long: true };

/// The query string of a search for messages.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct MessageQuery {
    /// Words, which must all be found; typos are tolerated. Each text in double quotes is found as a phrase.
    #[schema(min_length = 1, max_length = 200)]
    q: Option<String>,
    /// Only messages of this chat: `groupchat/{id}` or `privatechat/{id}`.
    #[schema(min_length = 1, max_length = 60)]
    chat: Option<String>,
    /// Only messages that this user sent.
    sender: Option<UserId>,
    /// Only messages that were sent at this time or later.
    #[schema(format = DateTime)]
    from: Option<String>,
    /// Only messages that were sent before this time.
    #[schema(format = DateTime)]
    to: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// A page of messages, the newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMessages {
    pub items: Vec<FoundMessage>,
    pub total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A message that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundMessage {
    /// `groupchat/{id}` or `privatechat/{id}`.
    pub chat: String,
    pub message: MessageView,
    /// The fragments of the field `text`, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

/// The words and the phrases of a query for messages.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    words: Option<Words>,
    phrases: Vec<String>,
}

/// A search for the messages that the caller may read.
#[derive(Debug)]
struct MessageSearch {
    caller: UserId,
    /// The group chats of the caller. One that the caller has left is removed when a hit shows it.
    group_chats: BTreeSet<GroupChatId>,
    wanted: Option<Wanted>,
    filters: Vec<Value>,
}

pub fn route() -> Route {
    Route::get("searchMessages", PATH, SIGNED_IN, search)
        .summary("Search the messages of the caller's chats, the newest first")
        .patterns(&[&CALLER, &rates::COUNT, &CHATS_OF_CALLER, &SEARCH, &FOUND_MESSAGES])
        .timeout(TIMEOUT)
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new("/chat/search/messages?q=hello"))
}

async fn search(cx: Context, Query(query): Query<MessageQuery>) -> Result<Json<FoundMessages>, Problem> {
    let caller = searcher(&cx).await?;
    let (wanted, filters) = query.parse().map_err(Problem::faults)?;
    let group_chats = group_chats_of(&cx, caller).await?;
    let mut search = MessageSearch { caller, group_chats, wanted, filters };
    let FoundPage { items, total, next_cursor, .. } =
        page::page(&cx, &mut search, query.limit, query.cursor.as_deref()).await?;
    Ok(Json(FoundMessages { items, total, next_cursor }))
}

/// Returns the group chats of a user. The index may lag behind, so the hits' chats are checked afterwards.
async fn group_chats_of(cx: &Context, user: UserId) -> Result<BTreeSet<GroupChatId>, Problem> {
    let members = cx.access().table(&CHATS_OF_CALLER, &schema::GROUP_CHATS).query(user_partition(user));
    let rows = members.index(schema::GROUP_CHAT_MEMBERS_INDEX).all().await?;
    Ok(rows.iter().filter_map(|row| GroupChatMemberKey::parse(&row.key)).map(|key| key.chat).collect())
}

impl MessageQuery {
    /// Returns what is looked for, and the filters.
    fn parse(&self) -> Result<(Option<Wanted>, Vec<Value>), Vec<Fault>> {
        let mut faults = Vec::new();
        let wanted = self.q.as_deref().map(Wanted::parse).transpose();
        let wanted = wanted.map_err(|fault| faults.push(fault)).unwrap_or_default();
        let mut filters = Vec::new();
        if let Some(chat) = &self.chat {
            match chat.parse::<ChatId>() {
                Ok(chat) => filters.push(equal("chat", &chat.to_string())),
                Err(error) => faults.push(Fault::parameter("chat", format!("must be {}", error.0))),
            }
        }
        filters.extend(self.sender.map(|sender| equal("senderId", &sender.to_string())));
        for (name, bound, time) in [("from", "gte", &self.from), ("to", "lt", &self.to)] {
            let Some(time) = time else { continue };
            match time.parse::<Timestamp>() {
                Ok(time) => filters.push(json!({ "range": { "createdAt": { bound: millisecond(time) } } })),
                Err(_) => faults.push(Fault::parameter(name, "must be a time such as 2026-03-01T10:00:00Z")),
            }
        }
        if faults.is_empty() { Ok((wanted, filters)) } else { Err(faults) }
    }
}

/// Returns the first millisecond that is not before a time, as documents have it. No message is older than 1970.
fn millisecond(time: Timestamp) -> String {
    let millis =
        time.as_nanosecond().div_euclid(1_000_000) + i128::from(time.as_nanosecond().rem_euclid(1_000_000) > 0);
    let time = i64::try_from(millis.max(0)).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    format!("{:.3}", time.unwrap_or(Timestamp::MAX))
}

impl Wanted {
    /// Texts between double quotes are phrases. A query with an odd number of quotes has words only.
    fn parse(q: &str) -> Result<Self, Fault> {
        let texts: Vec<&str> = q.split('"').collect();
        let all = Words::parse(&texts.join(" "))?;
        if texts.len().is_multiple_of(2) {
            return Ok(Self { words: Some(all), phrases: Vec::new() });
        }
        let outside: Vec<&str> = texts.iter().step_by(2).copied().collect();
        let phrases = texts.into_iter().skip(1).step_by(2).filter(|text| text.chars().any(char::is_alphanumeric));
        Ok(Self {
            words: Words::parse(&outside.join(" ")).ok(),
            phrases: phrases.map(|phrase| phrase.trim().to_owned()).collect(),
        })
    }

    fn clause(&self) -> Value {
        let words = self.words.iter().map(|words| typos(TEXT.name, &words.joined(), "and"));
        let phrases = self.phrases.iter().map(|phrase| json!({ "match_phrase": { TEXT.name: phrase } }));
        json!({ "bool": { "must": words.chain(phrases).collect::<Vec<_>>() } })
    }
}

impl Searched for MessageSearch {
    type Item = FoundMessage;

    fn query(&self, marks: &Marks, _: bool) -> SearchQuery {
        let chats: Vec<String> = self.group_chats.iter().map(|chat| ChatId::Group(*chat).to_string()).collect();
        let visible = json!({ "bool": { "minimum_should_match": 1, "should": [
            equal("members", &self.caller.to_string()),
            { "terms": { "chat": chats } },
        ] } });
        let entity = json!({ "terms": { "entity": ["groupChatMessage", "privateChatMessage"] } });
        let wanted = self.wanted.as_ref().map(Wanted::clause);
        let highlight = wanted.clone().map(|wanted| marks.request(highlighted(&[TEXT]), wanted));
        let filters = [entity, visible].into_iter().chain(wanted).chain(self.filters.iter().cloned()).collect();
        SearchQuery { filters, highlight, sort: json!([{ "messageId": "desc" }]), ..SearchQuery::default() }
    }

    /// Reads consistently, so that nothing is found in a chat that the caller has left, and no deleted message.
    async fn load(&mut self, cx: &Context, hits: Vec<Hit>) -> Result<Loaded<FoundMessage>, Problem> {
        let hits: Vec<_> = hits.into_iter().filter_map(|hit| Some((message_of(&hit.key)?.0, hit))).collect();
        let (mut group, mut private, mut chats) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (chat, hit) in &hits {
            match chat {
                ChatId::Group(id) => {
                    chats.insert(*id);
                    group.push(hit.key.clone());
                }
                ChatId::Private(_) => private.push(hit.key.clone()),
            }
        }
        let members = chats.iter().map(|chat| Key::from(GroupChatMemberKey { chat: *chat, user: self.caller }));
        let keys: Vec<Key> = members.chain(group).collect();
        let table = |table| cx.access().table(&FOUND_MESSAGES, table);
        let mut of_group = table(&schema::GROUP_CHATS).batch_get_consistent(&keys).await?;
        let mut group = of_group.split_off(chats.len()).into_iter();
        let left: BTreeSet<GroupChatId> =
            chats.into_iter().zip(of_group).filter(|(_, member)| member.is_none()).map(|(chat, _)| chat).collect();
        let mut private = table(&schema::PRIVATE_CHATS).batch_get_consistent(&private).await?.into_iter();
        let mut items = Vec::with_capacity(hits.len());
        for (chat, hit) in hits {
            let (stored, is_left) = match chat {
                ChatId::Group(id) => (group.next(), left.contains(&id)),
                ChatId::Private(_) => (private.next(), false),
            };
            let stored = stored.flatten().filter(|_| !is_left);
            items.push(match stored {
                Some(stored) => FoundMessage::new(chat, MessageView::read(&stored)?, hit.highlights),
                None => None,
            });
        }
        self.group_chats.retain(|chat| !left.contains(chat));
        Ok(Loaded { items, is_narrowed: !left.is_empty() })
    }
}

impl FoundMessage {
    /// Returns none for a message that is deleted. A fragment that is not in the present text is of an earlier one, which
    /// its sender has edited away.
    fn new(chat: ChatId, message: MessageView, mut highlights: Highlights) -> Option<Self> {
        let content = message.content.as_deref().filter(|_| message.deleted_at.is_none())?;
        keep_present(&mut highlights, |_| Some(content));
        Some(Self { chat: chat.to_string(), message, highlights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Message;

    fn query(query: Value) -> MessageQuery {
        serde_json::from_value(query).unwrap()
    }

    #[test]
    fn quoted_texts_are_phrases() {
        let wanted = |q: &str| query(json!({ "q": q })).parse().unwrap().0.unwrap();
        let expected = |words: &str, phrases: &[&str]| Wanted {
            words: Words::parse(words).ok(),
            phrases: phrases.iter().copied().map(str::to_owned).collect(),
        };
        assert_eq!(wanted(" \"green moss\" "), expected("", &["green moss"]));
        assert_eq!(wanted("\"green moss\" \"old tree\""), expected("", &["green moss", "old tree"]));
        assert_eq!(wanted("wet \" green moss\" \"--\" fern"), expected("wet fern", &["green moss"]));
        assert_eq!(wanted("a\"b\""), expected("a", &["b"]));
        for words in ["green moss", "\"green moss", "green moss\""] {
            assert_eq!(wanted(words), expected("green moss", &[]), "{words}");
        }
        for empty in ["\"\"", "\"", "\" \"", "--"] {
            assert!(query(json!({ "q": empty })).parse().is_err(), "{empty}");
        }
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let faults = query(json!({ "q": "--", "chat": "chat/1", "from": "now", "to": "2026-13-01" })).parse();
        assert_eq!(faults.unwrap_err().len(), 4);
    }

    #[test]
    fn bound_is_the_first_millisecond_that_is_not_earlier() {
        let cases = [
            ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01T11:00:00.0001+01:00", "2026-03-01T10:00:00.001Z"),
            ("2026-03-01T10:00:00.123Z", "2026-03-01T10:00:00.123Z"),
            ("0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ];
        for (time, expected) in cases {
            assert_eq!(millisecond(time.parse().unwrap()), expected, "{time}");
        }
        assert!(millisecond(Timestamp::MAX).starts_with("9999-12-"));
    }

    #[test]
    fn fragment_of_an_earlier_text_is_left_out() {
        let (id, sender) = ("019b76da-a800-7000-8000-000000000041", "019b76da-a800-7000-8000-000000000001");
        let message = Message::new(id.parse().unwrap(), sender.parse().unwrap(), "some green moss".to_owned());
        let view = |content: Option<&str>| {
            let content = content.map(str::to_owned);
            MessageView::new(Message { content, ..message.clone() }, None)
        };
        let piece = |text: &str, hit| Piece { text: text.to_owned(), hit };
        let fragments = vec![vec![piece("green ", false), piece("moss", true)], vec![piece("secret", true)]];
        let highlights = Highlights::from([("text".to_owned(), fragments)]);
        let chat = ChatId::Group("019b76da-a800-7000-8000-000000000021".parse().unwrap());
        let found = FoundMessage::new(chat, view(Some("some green moss")), highlights.clone()).unwrap();
        assert_eq!(found.highlights["text"], [[piece("green ", false), piece("moss", true)]]);
        assert!(FoundMessage::new(chat, view(Some("fern")), highlights.clone()).unwrap().highlights.is_empty());
        assert!(FoundMessage::new(chat, view(None), highlights).is_none());
    }
}
