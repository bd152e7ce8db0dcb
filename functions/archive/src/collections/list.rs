//! `GET /archive/collections`

use web::{Context, Page, PageQuery, Problem, Query, Route, Sample, Who};

use super::{CollectionView, LIST};
use crate::access::LISTED;
use crate::item::Collection;
use crate::keys::CollectionKey;
use crate::listed::listed;

pub fn route() -> Route {
    Route::get("listCollections", LIST, Who::Public, list)
        .summary("List the collections by name")
        .patterns(&[&LISTED])
        .sample(Sample::new(LIST))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<CollectionView>, Problem> {
    listed::<CollectionKey, Collection, _>(&cx, query).await
}
