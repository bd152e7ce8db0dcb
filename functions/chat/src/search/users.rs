//! `GET /chat/search/users`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use table::{AccessPattern, Clock, Key};
use utoipa::ToSchema;
use web::search::{Highlights, Marks, Piece, Total, prefix, typos};
use web::{Context, Json, Limit, Problem, Query, Route, Sample, problem};

use super::filters::{all_named, equal};
use super::page::{self, FoundPage, Hit, Loaded, SearchQuery, Searched};
use super::text::{Field, Words, keep_present, scored};
use super::{SEARCH, TIMEOUT, searcher};
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::users::{User, UserView};
use crate::{rates, schema};

const PATH: &str = "/chat/search/users";

/// The present users of a search's hits.
const FOUND_USERS: AccessPattern = AccessPattern::new("foundUsers", &[USERS.batch_get()]);

const FIELDS: [Field; 2] = [
    Field { name: "name", word: 10, prefix: 6, typo: 3, is_long: false },
    Field { name: "bio", word: 2, prefix: 1, typo: 1, is_long: true },
];

/// The points of a username that is a word of the query, of one that starts with it, and of one that differs by typos.
const USERNAME: u32 = 10;
const USERNAME_PREFIX: u32 = 6;
const USERNAME_TYPO: u32 = 3;

/// The points of a username or name that starts with the whole query: more than all others of 20 words together.
const WHOLE: u32 = 1000;

/// The query string of a search for users.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct UserQuery {
    /// Words of the username, the name or the bio, or prefixes of words. Each must be found; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: String,
    /// Only users in this country, in upper or lower case.
    #[schema(min_length = 1, max_length = 60)]
    country: Option<String>,
    /// Only users in this state.
    #[schema(min_length = 1, max_length = 60)]
    state: Option<String>,
    /// Only users in this city.
    #[schema(min_length = 1, max_length = 60)]
    city: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// A page of users. Those whose username or name starts with the query are first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundUsers {
    pub items: Vec<FoundUser>,
    pub total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A user who was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundUser {
    pub user: UserView,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

impl FoundUser {
    fn new(user: User, mut highlights: Highlights) -> Self {
        keep_present(&mut highlights, |field| match field {
            "name" => user.name.as_deref(),
            "bio" => user.bio.as_deref(),
            _ => None,
        });
        Self { user: user.into(), highlights }
    }
}

#[derive(Debug)]
struct UserSearch {
    words: Words,
    filters: Vec<Value>,
    clock: Clock,
}

pub fn route() -> Route {
    Route::get("searchUsers", PATH, SIGNED_IN, search)
        .summary("Search the users by username, name and bio")
        .patterns(&[&CALLER, &rates::COUNT, &SEARCH, &FOUND_USERS])
        .timeout(TIMEOUT)
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new("/chat/search/users?q=bob"))
}

async fn search(cx: Context, Query(query): Query<UserQuery>) -> Result<Json<FoundUsers>, Problem> {
    searcher(&cx).await?;
    let words = Words::parse(&query.q).map_err(|fault| Problem::faults(vec![fault]))?;
    let filters = all_named([("country", &query.country), ("state", &query.state), ("city", &query.city)]);
    let mut search = UserSearch { words, filters, clock: cx.engines().clock.clone() };
    let FoundPage { items, total, next_cursor, .. } =
        page::page(&cx, &mut search, query.limit, query.cursor.as_deref()).await?;
    Ok(Json(FoundUsers { items, total, next_cursor }))
}

/// Returns a text as usernames are stored: in lower case and without the `@` by which a message mentions them.
fn username_of(text: &str) -> String {
    text.trim_start_matches('@').to_lowercase()
}

impl Searched for UserSearch {
    type Item = FoundUser;

    fn query(&self, marks: &Marks, _: bool) -> SearchQuery {
        let of_username = |word: &str| {
            let word = username_of(word);
            vec![
                scored(USERNAME, json!({ "term": { "username": word } })),
                scored(USERNAME_PREFIX, prefix("username", &word)),
                scored(USERNAME_TYPO, typos("username", &word, "and")),
            ]
        };
        let whole = self.words.joined();
        let starts = json!({ "bool": { "should": [
            prefix("username", &username_of(&whole)),
            prefix("nameKey", &whole),
        ] } });
        let mut filters = vec![equal("entity", "user")];
        filters.extend(self.filters.iter().cloned());
        SearchQuery {
            must: self.words.clauses(&FIELDS, of_username),
            should: vec![scored(WHOLE, starts)],
            filters,
            excluded: vec![json!({ "range": { "bannedUntil": { "gt": self.clock.micros() } } })],
            highlight: Some(self.words.highlight(&FIELDS, marks)),
            sort: json!([{ "_score": "desc" }, { "username": "asc" }, { "pk": "asc" }]),
            ..SearchQuery::default()
        }
    }

    async fn load(&mut self, cx: &Context, hits: Vec<Hit>) -> Result<Loaded<FoundUser>, Problem> {
        let keys: Vec<Key> = hits.iter().map(|hit| hit.key.clone()).collect();
        let stored = cx.access().table(&FOUND_USERS, &schema::USERS).batch_get(&keys).await?;
        let is_banned = |user: &User| user.ban.as_ref().is_some_and(|ban| ban.lasts(&self.clock));
        let mut items = Vec::with_capacity(hits.len());
        for (stored, hit) in stored.into_iter().zip(hits) {
            let user = stored.map(|stored| stored.read::<User>()).transpose()?;
            let present = user.filter(|user| user.deleted_at.is_none() && !is_banned(user));
            items.push(present.map(|user| FoundUser::new(user, hit.highlights)));
        }
        Ok(Loaded { items, is_narrowed: false })
    }
}
