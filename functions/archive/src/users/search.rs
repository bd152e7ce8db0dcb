//! `GET /archive/search/users`

use std::collections::BTreeMap;

use serde::Serialize;
use table::Stored;
use utoipa::ToSchema;
use web::search::{Highlights, Piece, Total};
use web::{Context, Json, Problem, Query, Route, Sample, problem};

use super::UserView;
use crate::access::{CALLER, SEARCH, SEARCH_HITS};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::User;
use crate::names::Role;
use crate::schema::ARCHIVE;
use crate::word_search::{Searched, TIMEOUT, WordQuery};

const PATH: &str = "/archive/search/users";

/// A page of users.
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
    pub score: f64,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

const SEARCHED: Searched = Searched { entities: &["user"], names: &["name", "email"], others: &[] };

pub fn route() -> Route {
    Route::get("searchUsers", PATH, SIGNED_IN, search)
        .summary("Search the users by name and email address")
        .patterns(&[&CALLER, &SEARCH, &SEARCH_HITS])
        .timeout(TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/archive/search/users?q=field"))
}

async fn search(cx: Context, Query(query): Query<WordQuery>) -> Result<Json<FoundUsers>, Problem> {
    Caller::with_role(&cx, Role::Administrator).await?;
    let found = SEARCHED.search(&cx, &query).await?;
    let stored = cx.access().table(&SEARCH_HITS, &ARCHIVE).batch_get(&found.keys()).await?;
    let user = |(stored, score): (Option<Stored>, f64)| -> Result<Option<FoundUser>, Problem> {
        let Some(user) = stored.map(|stored| stored.read::<User>()).transpose()? else { return Ok(None) };
        let texts = [("name", user.name.as_deref()), ("email", user.email.as_deref())];
        let texts = texts.into_iter().filter_map(|(field, text)| Some((field, text?)));
        let highlights = found.highlights(texts);
        Ok(Some(FoundUser { user: user.into(), score, highlights }))
    };
    let users = stored.into_iter().zip(found.scores()).map(user).collect::<Result<_, _>>()?;
    let total = found.total;
    let (items, next_cursor) = found.page(&cx, users)?;
    Ok(Json(FoundUsers { items, total, next_cursor }))
}
