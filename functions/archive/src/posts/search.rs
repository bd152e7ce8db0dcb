//! `GET /archive/search/posts`

use std::collections::BTreeMap;

use serde::Serialize;
use table::Stored;
use utoipa::ToSchema;
use web::search::{Highlights, Piece, Total};
use web::{Context, Json, Problem, Query, Route, Sample, problem};

use super::PostView;
use crate::access::{CALLER, SEARCH, SEARCH_HITS};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::{MetadataValue, Post};
use crate::names::Role;
use crate::schema::ARCHIVE;
use crate::word_search::{Searched, TIMEOUT, WordQuery};

const PATH: &str = "/archive/search/posts";

/// A page of posts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundPosts {
    pub items: Vec<FoundPost>,
    pub total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A post that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundPost {
    pub post: PostView,
    pub score: f64,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

const SEARCHED: Searched = Searched { entities: &["post"], names: &["name"], others: &["metadata"] };

pub fn route() -> Route {
    Route::get("searchPosts", PATH, SIGNED_IN, search)
        .summary("Search the posts by their names and metadata")
        .patterns(&[&CALLER, &SEARCH, &SEARCH_HITS])
        .timeout(TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/archive/search/posts?q=baptisms"))
}

async fn search(cx: Context, Query(query): Query<WordQuery>) -> Result<Json<FoundPosts>, Problem> {
    Caller::with_role(&cx, Role::Volunteer).await?;
    let found = SEARCHED.search(&cx, &query).await?;
    let stored = cx.access().table(&SEARCH_HITS, &ARCHIVE).batch_get(&found.keys()).await?;
    let post = |(stored, score): (Option<Stored>, f64)| -> Result<Option<FoundPost>, Problem> {
        let Some(post) = stored.map(|stored| stored.read::<Post>()).transpose()? else { return Ok(None) };
        let metadata = post.metadata.values().filter_map(|value| match value {
            MetadataValue::Text(text) => Some(("metadata", text.as_str())),
            MetadataValue::Number(_) | MetadataValue::Boolean(_) => None,
        });
        let highlights = found.highlights([("name", post.name.as_str())].into_iter().chain(metadata));
        Ok(Some(FoundPost { post: post.into(), score, highlights }))
    };
    let posts = stored.into_iter().zip(found.scores()).map(post).collect::<Result<_, _>>()?;
    let total = found.total;
    let (items, next_cursor) = found.page(&cx, posts)?;
    Ok(Json(FoundPosts { items, total, next_cursor }))
}
