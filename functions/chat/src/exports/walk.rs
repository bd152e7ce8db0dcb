//! The walk of an export through the tables, page by page.

use std::iter;

use ::jobs::JobOf;
use serde::{Deserialize, Serialize};
use serde_json::json;
use table::access::Call;
use table::part::Escaped;
use table::schema::Table;
use table::{Access, AccessPattern, EntityKey, Error, Idpid, Key, Position, Stored};
use web::Problem;

use super::line::{names, write};
use crate::access::{ALIAS, EXPORT, GROUP_CHATS as GROUP_CHAT_TABLE};
use crate::jobs::ChatJobs;
use crate::keys::{
    AUDIT_PREFIX, GroupChatCountKey, LastSeenKey, MEMBER_PREFIX, MESSAGE_PREFIX, MembershipCountKey, PersonGuardKey,
    PrivateChatKey, REPORT_PREFIX, RequestGuardKey, RequestOfChatKey, UnreadCountKey, UserEmailKey, UserKey,
    UsernameKey, pair_key, user_partition,
};
use crate::names::UserId;
use crate::private_chats::PrivateChat;
use crate::reports;
use crate::requests::ChatRequest;
use crate::schema::{
    CHAT_REQUESTS, COMMUNITIES, COMMUNITY_MEMBERS_INDEX, GROUP_CHAT_MEMBERS_INDEX, GROUP_CHATS, LIVE, NOTIFICATIONS,
    PRIVATE_CHAT_MEMBERS_INDEX, PRIVATE_CHATS, USERS,
};
use crate::users::User;

/// The messages of a sender, whichever chat they are in.
pub const SENT_MESSAGES: AccessPattern =
    AccessPattern::new("sentMessages", &[Call::Search { alias: ALIAS }, GROUP_CHAT_TABLE.batch_get()]);

/// Messages that one search finds.
const HITS: usize = 100;

/// The answer of search, with what is needed of it.
#[derive(Debug, Deserialize)]
struct Found {
    hits: Hits,
}

#[derive(Debug, Deserialize)]
struct Hits {
    hits: Vec<Hit>,
}

#[derive(Debug, Deserialize)]
struct Hit {
    #[serde(rename = "_source")]
    source: Sent,
}

/// A message in search.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    message_id: String,
    pk: String,
    sk: String,
}

/// Rows of a page.
const PAGE: u32 = 200;

/// Requests of a page, each of which has two more rows.
const REQUESTS: u32 = 25;

/// A part of the walk, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Part {
    /// The items of which each user has one.
    #[default]
    User,
    Notifications,
    Requests,
    Sessions,
    /// The reports that the user has made.
    Reports,
    Communities,
    GroupChats,
    PrivateChats,
    /// The messages that the user has sent in chats that the user has left. No table lists them by sender, search does.
    LeftChats,
}

/// Where the walk continues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Walk {
    part: Part,
    /// The position in the list of the user's communities or chats, after the present one.
    after_partition: Option<Position>,
    /// The community or chat whose rows are being read.
    partition: Option<String>,
    /// The position in a list of rows.
    after: Option<Position>,
    /// The position in what search has found.
    after_message: Option<String>,
}

/// The rows of one page, as lines, and where the walk continues. None at its end.
pub struct Page {
    pub lines: u64,
    pub next: Option<Walk>,
}

/// The user, and the job that exports what is stored.
pub struct Exported<'a> {
    pub access: &'a Access,
    pub user: UserId,
    pub job: &'a JobOf<ChatJobs>,
}

impl Exported<'_> {
    /// Writes the next page of rows as lines.
    pub async fn page(&self, walk: Walk, file: &mut Vec<u8>) -> Result<Page, Problem> {
        let own = user_partition(self.user);
        match walk.part {
            Part::User => Ok(Page { lines: self.user_items(file).await?, next: walk.enter(Part::Notifications) }),
            Part::Notifications => self.rows(walk, &NOTIFICATIONS, own, file, Part::Requests).await,
            Part::Requests => self.requests(walk, own, file).await,
            Part::Sessions => self.rows(walk, &LIVE, own, file, Part::Reports).await,
            Part::Reports => self.reports(walk, file).await,
            Part::Communities => {
                self.partitions(walk, (&COMMUNITIES, COMMUNITY_MEMBERS_INDEX), file, Part::GroupChats).await
            }
            Part::GroupChats => {
                self.partitions(walk, (&GROUP_CHATS, GROUP_CHAT_MEMBERS_INDEX), file, Part::PrivateChats).await
            }
            Part::PrivateChats => {
                self.partitions(walk, (&PRIVATE_CHATS, PRIVATE_CHAT_MEMBERS_INDEX), file, Part::LeftChats).await
            }
            Part::LeftChats => self.left_chats(walk, file).await,
        }
    }

    /// Writes the items of which each user has one: the user with the guards of its names, and the counters.
    async fn user_items(&self, file: &mut Vec<u8>) -> Result<u64, Problem> {
        let user = self.user;
        let Some(stored) = self.get(&USERS, UserKey { user }).await? else { return Ok(0) };
        let item: User = stored.read()?;
        let mut keys: Vec<(&'static Table, Key)> = vec![
            (&USERS, LastSeenKey { user }.key()),
            (&NOTIFICATIONS, UnreadCountKey { user }.key()),
            (&COMMUNITIES, MembershipCountKey { user }.key()),
            (&GROUP_CHATS, GroupChatCountKey { user }.key()),
        ];
        if let Ok(username) = Escaped::new(item.username) {
            keys.push((&USERS, UsernameKey { username }.key()));
        }
        if let Some(Ok(email)) = item.email.map(|email| Escaped::new(email.to_lowercase())) {
            keys.push((&USERS, UserEmailKey { email }.key()));
        }
        if let Some(Ok(person)) = self.job.created_by.as_ref().map(|by| by.parse::<Idpid>()) {
            keys.push((&USERS, PersonGuardKey { person }.key()));
        }
        write(file, &USERS, &stored, &[])?;
        let mut lines = 1;
        for (table, key) in keys {
            let stored = self.get(table, key).await?;
            // The guard of a foreign address may be that of another user.
            if let Some(stored) = stored.filter(|stored| names(&stored.item, user)) {
                write(file, table, &stored, &[])?;
                lines += 1;
            }
        }
        Ok(lines)
    }

    /// Writes a page of rows of a partition of the user.
    async fn rows(
        &self,
        walk: Walk,
        table: &'static Table,
        partition: String,
        file: &mut Vec<u8>,
        then: Part,
    ) -> Result<Page, Problem> {
        let query = self.access.table(&EXPORT, table).query(partition).after(walk.after.clone());
        let page = query.page(PAGE).await?;
        for stored in &page.items {
            write(file, table, stored, &[])?;
        }
        let lines = page.items.len() as u64;
        let next = match page.next {
            Some(after) => Some(Walk { after: Some(after), ..walk }),
            None => walk.enter(then),
        };
        Ok(Page { lines, next })
    }

    /// Writes a page of the user's requests, with the copies and the guards at their chats.
    async fn requests(&self, walk: Walk, partition: String, file: &mut Vec<u8>) -> Result<Page, Problem> {
        let requests = self.access.table(&EXPORT, &CHAT_REQUESTS);
        let page = requests.query(partition).after(walk.after.clone()).page(REQUESTS).await?;
        let mut lines = 0;
        for stored in &page.items {
            let request: ChatRequest = stored.read()?;
            let (chat, time) = (request.chat_id, request.id.time());
            let copy = RequestOfChatKey { chat, time, request: request.id }.key();
            let others = requests.batch_get(&[copy, RequestGuardKey { chat, user: self.user }.key()]).await?;
            for row in iter::once(stored).chain(others.iter().flatten()) {
                write(file, &CHAT_REQUESTS, row, &[])?;
                lines += 1;
            }
        }
        let next = match page.next {
            Some(after) => Some(Walk { after: Some(after), ..walk }),
            None => walk.enter(Part::Sessions),
        };
        Ok(Page { lines, next })
    }

    /// Writes a page of the reports that the user has made, without who has settled them and what others have written.
    async fn reports(&self, walk: Walk, file: &mut Vec<u8>) -> Result<Page, Problem> {
        let communities = self.access.table(&EXPORT, &COMMUNITIES);
        let partition = format!("REPORTED#{}", self.user);
        let page = communities.query(partition).after(walk.after.clone()).page(PAGE).await?;
        let mut lines = 0;
        for stored in &page.items {
            write(file, &COMMUNITIES, stored, &[])?;
            lines += 1;
            let reported: reports::Reported = stored.read()?;
            if let Some(report) = reports::load(self.access, &EXPORT, reported.report_id).await? {
                write(file, &COMMUNITIES, &report, &["Evidence", "SettledBy", "PendingMeasures"])?;
                lines += 1;
            }
        }
        let next = match page.next {
            Some(after) => Some(Walk { after: Some(after), ..walk }),
            None => walk.enter(Part::Communities),
        };
        Ok(Page { lines, next })
    }

    /// Writes a page of the rows that name the user in a community or chat of the user, without those of other people.
    async fn partitions(
        &self,
        walk: Walk,
        (table, index): (&'static Table, &'static str),
        file: &mut Vec<u8>,
        then: Part,
    ) -> Result<Page, Problem> {
        let rows = self.access.table(&EXPORT, table);
        let Some(partition) = walk.partition.clone() else {
            let own = rows.query(user_partition(self.user)).index(index);
            let own = own.after(walk.after_partition.clone());
            let page = own.page(1).await?;
            let next = match page.items.first() {
                Some(member) => Some(Walk {
                    after_partition: own.position_of(member),
                    partition: Some(member.key.pk.clone()),
                    ..walk
                }),
                None => walk.enter(then),
            };
            return Ok(Page { lines: 0, next });
        };
        let page = rows.query(partition).after(walk.after.clone()).page(PAGE).await?;
        let mut lines = 0;
        for stored in page.items.iter().filter(|stored| names(&stored.item, self.user)) {
            let Some(hidden) = hidden(stored, self.user) else { continue };
            write(file, table, stored, hidden)?;
            lines += 1;
            if PrivateChatKey::parse(&stored.key).is_some() {
                lines += self.pair(stored, file).await?;
            }
        }
        let next = match page.next {
            Some(after) => Walk { after: Some(after), ..walk },
            None => Walk { after: None, partition: None, ..walk },
        };
        Ok(Page { lines, next: Some(next) })
    }

    /// Writes a page of the messages that the user has sent in group chats that the user has left. Private chats
    /// cannot be left.
    async fn left_chats(&self, walk: Walk, file: &mut Vec<u8>) -> Result<Page, Problem> {
        let filters = json!([
            { "term": { "entity": "groupChatMessage" } },
            { "term": { "senderId": self.user.to_string() } },
        ]);
        let mut request = json!({
            "query": { "bool": { "filter": filters } },
            "sort": [{ "messageId": "asc" }],
            "size": HITS,
            "_source": ["messageId", "pk", "sk"],
        });
        if let (Some(after), Some(request)) = (&walk.after_message, request.as_object_mut()) {
            request.insert("search_after".to_owned(), json!([after]));
        }
        let found: Found = self.access.search(&SENT_MESSAGES, ALIAS, &request).await?;
        let sent: Vec<Sent> = found.hits.hits.into_iter().map(|hit| hit.source).collect();
        let messages: Vec<Key> = sent.iter().map(|sent| Key::new(&sent.pk, &sent.sk)).collect();
        let own = user_partition(self.user);
        let members: Vec<Key> = sent.iter().map(|sent| Key::new(&sent.pk, &own)).collect();
        let chats = self.access.table(&SENT_MESSAGES, &GROUP_CHATS);
        let members = chats.batch_get_consistent(&members).await?;
        let mut lines = 0;
        for (message, member) in chats.batch_get(&messages).await?.into_iter().zip(members) {
            // The walk through the chats has found those of a present member.
            let Some(message) = message.filter(|_| member.is_none()) else { continue };
            write(file, &GROUP_CHATS, &message, &[])?;
            lines += 1;
        }
        let is_last = sent.len() < HITS;
        let next = sent.into_iter().next_back().filter(|_| !is_last);
        Ok(Page { lines, next: next.map(|last| Walk { after_message: Some(last.message_id), ..walk }) })
    }

    /// Writes the item that makes a private chat the only one of its members.
    async fn pair(&self, chat: &Stored, file: &mut Vec<u8>) -> Result<u64, Problem> {
        let chat: PrivateChat = chat.read()?;
        let other = chat.member_ids.iter().find(|member| **member != self.user);
        let Some(other) = other else { return Ok(0) };
        let Some(pair) = self.get(&PRIVATE_CHATS, pair_key(self.user, *other)).await? else { return Ok(0) };
        write(file, &PRIVATE_CHATS, &pair, &[])?;
        Ok(1)
    }

    async fn get(&self, table: &'static Table, key: impl Into<Key>) -> Result<Option<Stored>, Error> {
        self.access.table(&EXPORT, table).get_consistent(key).await
    }
}

/// Returns the attributes of a row of a community or chat that the user may not see. None if it is no row for the user.
fn hidden(stored: &Stored, user: UserId) -> Option<&'static [&'static str]> {
    let sk = stored.key.sk.as_deref().unwrap_or_default();
    let is_own = |name| stored.item.get(name).and_then(|id| id.as_s().ok()) == Some(&user.to_string());
    // Who is reported does not learn by whom. The user's own reports are a part of their own.
    let is_report = sk.starts_with(REPORT_PREFIX);
    // The row of another member names the user who has added that member, or both members of a private chat. It also has
    // what only its own member may know, such as a block.
    let is_other_member = sk.starts_with(MEMBER_PREFIX) && sk != user_partition(user);
    // So do messages that mention the user, and all those of a private chat.
    let is_from_another = sk.starts_with(MESSAGE_PREFIX) && !is_own("SenderId");
    if is_report || is_other_member || is_from_another {
        None
    } else if sk.starts_with(AUDIT_PREFIX) && !is_own("ActorId") {
        Some(&["ActorId"])
    } else {
        Some(&[])
    }
}

impl Walk {
    /// Enters a part at its begin.
    fn enter(self, part: Part) -> Option<Self> {
        Some(Self { part, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use table::item;

    use super::*;

    #[test]
    fn rows_of_others_are_not_for_the_user() {
        let (user, other) = (UserId::at(1), UserId::at(2));
        let row = |sk: String, attributes: serde_json::Value| {
            let item = item::to_item(&attributes).unwrap();
            Stored { key: Key::new("PRIVATECHAT#1", sk), rev: None, item }
        };
        let both = json!({ "MemberIds": [user.to_string(), other.to_string()] });
        let own = [
            row(format!("USER#{user}"), both.clone()),
            row("MESSAGE#1".to_owned(), json!({ "SenderId": user.to_string() })),
            row("PRIVATECHAT#1".to_owned(), both.clone()),
        ];
        for row in own {
            assert_eq!(hidden(&row, user), Some(&[][..]), "{row:?}");
        }
        let of_others = [
            row(format!("USER#{other}"), both),
            row(format!("USER#{other}"), json!({ "AddedBy": user.to_string() })),
            row("MESSAGE#1".to_owned(), json!({ "SenderId": other.to_string(), "Mentions": [user.to_string()] })),
            row("REPORT#open#1".to_owned(), json!({ "TargetId": user.to_string() })),
        ];
        for row in of_others {
            assert_eq!(hidden(&row, user), None, "{row:?}");
        }
        let entry = row("AUDIT#1".to_owned(), json!({ "ActorId": other.to_string(), "TargetId": user.to_string() }));
        assert_eq!(hidden(&entry, user), Some(&["ActorId"][..]));
    }
}
