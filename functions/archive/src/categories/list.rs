//! `GET /archive/categories`

use web::{Context, Page, PageQuery, Problem, Query, Route, Sample, Who};

use super::{CategoryView, LIST};
use crate::access::LISTED;
use crate::item::Category;
use crate::keys::CategoryKey;
use crate::listed::listed;

pub fn route() -> Route {
    Route::get("listCategories", LIST, Who::Public, list)
        .summary("List the categories by name")
        .patterns(&[&LISTED])
        .sample(Sample::new(LIST))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<CategoryView>, Problem> {
    listed::<CategoryKey, Category, _>(&cx, query).await
}
