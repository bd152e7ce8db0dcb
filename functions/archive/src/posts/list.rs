//! `GET /archive/posts`

use web::{Context, Page, PageQuery, Problem, Query, Route, Sample, problem};

use super::{LIST, PostView};
use crate::access::{CALLER, LISTED};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::Post;
use crate::keys::PostKey;
use crate::listed::listed;
use crate::names::Role;

pub fn route() -> Route {
    Route::get("listPosts", LIST, SIGNED_IN, list)
        .summary("List the posts by collection")
        .patterns(&[&CALLER, &LISTED])
        .problems(&[problem::FORBIDDEN])
        .sample(Sample::new(LIST))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<PostView>, Problem> {
    Caller::with_role(&cx, Role::Volunteer).await?;
    listed::<PostKey, Post, _>(&cx, query).await
}
