//! `GET` of a date of a product

use serde::Deserialize;
use table::EntityKey;
use utoipa::ToSchema;
use web::{Answer, Context, IfNoneMatch, Path, Problem, Query, Route, Sample, problem};

use super::{DatePath, LoadedDate, ONE, ProductDateView, SAMPLE};
use crate::access::{DATE, ITEM};
use crate::entity::{ItemPath, Product};
use crate::items::LoadedItem;
use crate::view::{EVERYONE, View, ViewParameter};

#[derive(Debug, Deserialize, ToSchema)]
pub struct DateQuery {
    /// `public` shows an administrator the visitors' view.
    view: Option<ViewParameter>,
}

pub fn route() -> Route {
    Route::get("getProductDate", ONE, EVERYONE, get)
        .summary("Get a date of a product")
        .patterns(&[&ITEM, &DATE])
        .answers::<ProductDateView>(200)
        .answers_empty(304)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(
    cx: Context,
    Path(path): Path<ItemPath<Product, DatePath>>,
    Query(query): Query<DateQuery>,
    if_none_match: IfNoneMatch,
) -> Result<Answer, Problem> {
    let view = View::of(&cx, query.view);
    if LoadedItem::load(&cx, &ITEM, path.key.key(), view).await?.item.deleted() {
        return Err(Problem::not_found());
    }
    let date = LoadedDate::load(&cx, &path.key, path.below.date, view).await?;
    let tag = view.tag(date.tag());
    if if_none_match.has(tag.clone()) {
        return Ok(view.cached(Answer::not_modified(tag)));
    }
    Ok(view.cached(Answer::ok(&date.view(view)).etag(tag)))
}
