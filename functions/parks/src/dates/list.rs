//! `GET` of the dates of a product

use serde::Deserialize;
use table::{EntityKey, Position};
use utoipa::ToSchema;
use web::{Context, Fault, Limit, Order, Page, Path, Problem, Query, Route, Sample, problem, response_bytes};

use super::{ALL, LoadedDate, ProductDateView, among};
use crate::access::{DATES, ITEM};
use crate::days::{Day, Days};
use crate::entity::{ItemPath, Product};
use crate::items::LoadedItem;
use crate::view::{Cached, EVERYONE, MAX_BYTES, View, ViewParameter};

#[derive(Debug, Deserialize, ToSchema)]
pub struct DatesQuery {
    /// The first day; by default the first of all.
    from: Option<Day>,
    /// The last day; by default the last of all.
    to: Option<Day>,
    #[serde(default)]
    order: Order,
    #[serde(default)]
    limit: Limit,
    cursor: Option<String>,
    /// `public` shows an administrator the visitors' view.
    view: Option<ViewParameter>,
}

pub fn route() -> Route {
    Route::get("listProductDates", ALL, EVERYONE, list)
        .summary("List the dates of a product in order")
        .patterns(&[&ITEM, &DATES])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates?from=2025-12-01&to=2025-12-31"))
}

/// A view shows the dates of a product if it shows the product and that is not deleted. A page with long texts ends
/// before `limit`.
async fn list(
    cx: Context,
    Path(path): Path<ItemPath<Product>>,
    Query(query): Query<DatesQuery>,
) -> Result<Cached<Page<ProductDateView>>, Problem> {
    let view = View::of(&cx, query.view);
    let (from, to) = (query.from.unwrap_or(Day::FIRST), query.to.unwrap_or(Day::LAST));
    let days = Days::new(from, to).ok_or_else(|| {
        Problem::faults(vec![Fault::parameter("to", format!("must not be before `from`, which is {from}"))])
    })?;
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    if LoadedItem::load(&cx, &ITEM, path.key.key(), view).await?.item.deleted() {
        return Err(Problem::not_found());
    }
    let dates = among(cx.access(), &path.key, days)?.after(after);
    let dates = if view == View::Administrator { dates.consistent() } else { dates };
    let dates = if query.order == Order::Desc { dates.backward() } else { dates };
    let found = dates.page(query.limit.0).await?;
    let (mut items, mut bytes, mut last, mut next) = (Vec::new(), 0, None, found.next);
    for stored in found.items {
        let position = dates.position_of(&stored);
        let Some(date) = LoadedDate::new(stored)? else { continue };
        let date = date.view(view);
        bytes += response_bytes(&date)?;
        if bytes > MAX_BYTES && !items.is_empty() {
            next = last;
            break;
        }
        items.push(date);
        last = position;
    }
    let next_cursor = cx.cursor_to(next)?;
    Ok(Cached(view, Page { items, next_cursor }))
}
