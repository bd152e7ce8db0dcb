//! The communities and group chats that a user owns, and so must hand over or delete before the user is deleted.

use serde::Serialize;
use serde_json::{Value, json};
use table::schema::Table;
use table::{AccessPattern, Action, Condition, Key};
use web::{Context, Problem};

use crate::access::{COMMUNITIES, GROUP_CHATS};
use crate::communities::Community;
use crate::group_chats::{GroupChat, MembershipCount};
use crate::keys::{GroupChatCountKey, MembershipCountKey, user_partition};
use crate::names::UserId;
use crate::schema::{self, COMMUNITY_MEMBERS_INDEX, GROUP_CHAT_MEMBERS_INDEX};

/// The communities and group chats of a user, and their numbers.
pub const OWNED: AccessPattern = AccessPattern::new(
    "owned",
    &[
        COMMUNITIES.query_index(COMMUNITY_MEMBERS_INDEX),
        COMMUNITIES.get(),
        COMMUNITIES.batch_get(),
        GROUP_CHATS.query_index(GROUP_CHAT_MEMBERS_INDEX),
        GROUP_CHATS.get(),
        GROUP_CHATS.batch_get(),
    ],
);

/// A community or a group chat that a user owns.
#[derive(Debug, Serialize)]
struct Thing {
    kind: &'static str,
    id: String,
    name: String,
}

/// The things that a user owns, and the conditions that the user has joined and received no others since.
pub struct Owned {
    things: Vec<Thing>,
    pub unchanged: [Action; 2],
}

impl Owned {
    /// Reads what a user owns. An index that lags behind its table is a lost race.
    pub async fn load(cx: &Context, user: UserId) -> Result<Self, Problem> {
        let communities = (&schema::COMMUNITIES, COMMUNITY_MEMBERS_INDEX, MembershipCountKey { user }.into());
        let (communities, in_communities) = joined(cx, user, communities).await?;
        let chats = (&schema::GROUP_CHATS, GROUP_CHAT_MEMBERS_INDEX, GroupChatCountKey { user }.into());
        let (chats, in_chats) = joined(cx, user, chats).await?;
        let mut things = Vec::new();
        for stored in communities {
            let community: Community = stored.read()?;
            if community.founder == user {
                things.push(Thing { kind: "community", id: community.id.to_string(), name: community.name });
            }
        }
        for stored in chats {
            let chat: GroupChat = stored.read()?;
            if chat.owner == user {
                things.push(Thing { kind: "groupChat", id: chat.id.to_string(), name: chat.name });
            }
        }
        Ok(Self { things, unchanged: [in_communities, in_chats] })
    }

    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// Returns the list for a response.
    pub fn list(&self) -> Value {
        json!(self.things)
    }
}

/// Reads the communities or chats of which a user is a member, and returns the condition that they have not changed.
async fn joined(
    cx: &Context,
    user: UserId,
    (table, index, counter): (&'static Table, &'static str, Key),
) -> Result<(Vec<table::Stored>, Action), Problem> {
    let rows = cx.access().table(&OWNED, table);
    let count = rows.get_consistent(counter.clone()).await?;
    let stays = Action::check(table, counter);
    // Without a counter the user has never joined anything. The hand-over of what the user is a member of changes its
    // revision, too.
    let stays = match &count {
        Some(stored) => stays.if_unchanged(stored),
        None => stays.when(Condition::Absent("Num")).or_absent(),
    };
    let count = count.map(|stored| stored.read::<MembershipCount>()).transpose()?.map_or(0, |count| count.num);
    let members = rows.query(user_partition(user)).index(index).all().await?;
    if members.len() as u64 != count {
        return Err(Problem::lost_race());
    }
    let keys: Vec<Key> = members.into_iter().map(|member| Key::new(member.key.pk.clone(), member.key.pk)).collect();
    let found = rows.batch_get_consistent(&keys).await?;
    Ok((found.into_iter().flatten().collect(), stays))
}
