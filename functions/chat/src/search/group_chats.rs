//! `GET /chat/search/groupchats`

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::json;
use table::{AccessPattern, EntityKey, Key, Stored};
use utoipa::ToSchema;
use web::search::{Highlights, Marks, Piece, Total};
use web::{Context, Json, Limit, Problem, Query, Route, Sample, problem};

use super::filters::equal;
use super::page::{self, FoundPage, Hit, Loaded, SearchQuery, Searched};
use super::text::{Field, Words, keep_present};
use super::{SEARCH, TIMEOUT, searcher};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::CommunityMember;
use crate::group_chats::{GroupChat, GroupChatView};
use crate::keys::{CommunityMemberKey, user_partition};
use crate::names::{CommunityId, UserId};
use crate::{rates, schema};

const PATH: &str = "/chat/search/groupchats";

/// The communities of the caller.
const COMMUNITIES_OF_CALLER: AccessPattern =
    AccessPattern::new("communitiesOfCaller", &[COMMUNITIES.query_index(schema::COMMUNITY_MEMBERS_INDEX)]);

/// The present group chats of a search's hits, and the caller's membership in their communities.
const FOUND_GROUP_CHATS: AccessPattern =
    AccessPattern::new("foundGroupChats", &[GROUP_CHATS.batch_get(), COMMUNITIES.batch_get()]);

const FIELDS: [Field; 2] = [
    Field { name: "name", word: 10, prefix: 6, typo: 3, is_long: false },
    Field { name: "description", word: 4, prefix: 2, typo: 1, is_long: true },
];

/// The query string of a search for group chats.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct GroupChatQuery {
    /// Words of the name or the description, or prefixes of words. Each must be found; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// A page of group chats, the best first, of equal ones the newest.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundGroupChats {
    pub items: Vec<FoundGroupChat>,
    pub total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A group chat that was found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundGroupChat {
    pub group_chat: GroupChatView,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

/// A search for the group chats of the caller's communities.
#[derive(Debug)]
struct GroupChatSearch {
    caller: UserId,
    /// The communities of the caller. One that the caller has left is removed when a hit shows it.
    communities: BTreeSet<CommunityId>,
    words: Option<Words>,
}

pub fn route() -> Route {
    Route::get("searchGroupChats", PATH, SIGNED_IN, search)
        .summary("Search the group chats of the caller's communities")
        .patterns(&[&CALLER, &rates::COUNT, &COMMUNITIES_OF_CALLER, &SEARCH, &FOUND_GROUP_CHATS])
        .timeout(TIMEOUT)
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new("/chat/search/groupchats?q=bryophytes"))
}

async fn search(cx: Context, Query(query): Query<GroupChatQuery>) -> Result<Json<FoundGroupChats>, Problem> {
    let caller = searcher(&cx).await?;
    let words = query.q.as_deref().map(Words::parse).transpose();
    let words = words.map_err(|fault| Problem::faults(vec![fault]))?;
    let mut search = GroupChatSearch { caller, communities: communities_of(&cx, caller).await?, words };
    let FoundPage { items, total, next_cursor, .. } =
        page::page(&cx, &mut search, query.limit, query.cursor.as_deref()).await?;
    Ok(Json(FoundGroupChats { items, total, next_cursor }))
}

/// Returns the communities of a user. The index may lag behind, so the hits' communities are checked afterwards.
async fn communities_of(cx: &Context, user: UserId) -> Result<BTreeSet<CommunityId>, Problem> {
    let table = cx.access().table(&COMMUNITIES_OF_CALLER, &schema::COMMUNITIES);
    let members = table.query(user_partition(user)).index(schema::COMMUNITY_MEMBERS_INDEX);
    let rows = members.all().await?;
    Ok(rows.iter().filter_map(|row| CommunityMemberKey::parse(&row.key)).map(|key| key.community).collect())
}

impl FoundGroupChat {
    fn new(chat: GroupChat, mut highlights: Highlights) -> Self {
        keep_present(&mut highlights, |field| match field {
            "name" => Some(&chat.name),
            "description" => Some(&chat.description),
            _ => None,
        });
        Self { group_chat: chat.into(), highlights }
    }
}

impl GroupChatSearch {
    /// Returns those of the communities that the caller has left, or is leaving.
    async fn left(&self, cx: &Context, communities: BTreeSet<CommunityId>) -> Result<BTreeSet<CommunityId>, Problem> {
        let key = |community: &CommunityId| CommunityMemberKey { community: *community, user: self.caller }.key();
        let keys: Vec<Key> = communities.iter().map(key).collect();
        let members = cx.access().table(&FOUND_GROUP_CHATS, &schema::COMMUNITIES).batch_get_consistent(&keys).await?;
        let mut left = BTreeSet::new();
        for (community, member) in communities.into_iter().zip(members) {
            let member = member.map(|member| member.read::<CommunityMember>()).transpose()?;
            if member.is_none_or(|member| member.leaving_at.is_some()) {
                left.insert(community);
            }
        }
        Ok(left)
    }
}

impl Searched for GroupChatSearch {
    type Item = FoundGroupChat;

    fn query(&self, marks: &Marks, _: bool) -> SearchQuery {
        let communities: Vec<String> = self.communities.iter().map(CommunityId::to_string).collect();
        SearchQuery {
            must: self.words.iter().flat_map(|words| words.clauses(&FIELDS, |_| Vec::new())).collect(),
            filters: vec![equal("entity", "groupChat"), json!({ "terms": { "communityId": communities } })],
            highlight: self.words.as_ref().map(|words| words.highlight(&FIELDS, marks)),
            sort: json!([{ "_score": "desc" }, { "pk": "desc" }]),
            ..SearchQuery::default()
        }
    }

    async fn load(&mut self, cx: &Context, hits: Vec<Hit>) -> Result<Loaded<FoundGroupChat>, Problem> {
        let keys: Vec<Key> = hits.iter().map(|hit| hit.key.clone()).collect();
        let stored = cx.access().table(&FOUND_GROUP_CHATS, &schema::GROUP_CHATS).batch_get(&keys).await?;
        let read = |stored: Option<Stored>| stored.map(|stored| stored.read::<GroupChat>()).transpose();
        let chats: Vec<Option<GroupChat>> = stored.into_iter().map(read).collect::<Result<_, _>>()?;
        let communities = chats.iter().flatten().map(|chat| chat.community_id).collect();
        let left = self.left(cx, communities).await?;
        self.communities.retain(|community| !left.contains(community));
        let items = chats.into_iter().zip(hits).map(|(chat, hit)| {
            let present = chat.filter(|chat| chat.deleting_at.is_none() && !left.contains(&chat.community_id))?;
            Some(FoundGroupChat::new(present, hit.highlights))
        });
        Ok(Loaded { items: items.collect(), is_narrowed: !left.is_empty() })
    }
}
