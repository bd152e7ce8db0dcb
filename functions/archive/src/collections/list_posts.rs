//! `GET /archive/collections/{collectionId}/posts`

use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{CollectionPath, ONE};
use crate::access::{CALLER, LISTED, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::Post;
use crate::keys::{CollectionKey, PostKey};
use crate::names::Role;
use crate::posts::PostView;
use crate::schema::{ARCHIVE, INDEX};

pub fn route() -> Route {
    Route::get("listCollectionPosts", format!("{ONE}/posts"), SIGNED_IN, list)
        .summary("List the posts of a collection")
        .patterns(&[&CALLER, &ONE_ITEM, &LISTED])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new("/archive/collections/7000000002/posts"))
}

async fn list(
    cx: Context,
    Path(CollectionPath { collection_id: id }): Path<CollectionPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<PostView>, Problem> {
    Caller::with_role(&cx, Role::Volunteer).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let collection = cx.access().table(&ONE_ITEM, &ARCHIVE).get(CollectionKey { collection: id }).await?;
    collection.ok_or_else(Problem::not_found)?;
    let partition = <PostKey as table::EntityKey>::SK.unwrap_or_default();
    let posts = cx.access().table(&LISTED, &ARCHIVE).query(partition).index(INDEX);
    // Equality: collection 12 does not show the posts of 120.
    let page = posts.between(id.to_string(), id.to_string()).after(after).page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<Post>()?.into()))
}
