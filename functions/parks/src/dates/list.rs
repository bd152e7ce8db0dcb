//! `GET` of the dates of a product, in pages.

use serde::Deserialize;
use table::{EntityKey, Position};
use utoipa::ToSchema;
use web::{Answer, Fault, Limit, Order, Page, Problem, Request};

use super::{ProductDateView, ReadDate, among};
use crate::access;
use crate::days::{Day, Days};
use crate::entity::{ItemPath, Product};
use crate::items;
use crate::view::{AskedView, View};

#[derive(Debug, Deserialize, ToSchema)]
pub struct DatesQuery {
    /// The first day; from the beginning without it.
    #[serde(default)]
    #[schema(nullable = false)]
    pub from: Option<Day>,
    /// The last day; to the end without it.
    #[serde(default)]
    #[schema(nullable = false)]
    pub to: Option<Day>,
    #[serde(default)]
    pub order: Order,
    #[serde(default)]
    pub limit: Limit,
    #[serde(default)]
    #[schema(nullable = false)]
    pub cursor: Option<String>,
    /// `public` shows an administrator what visitors see.
    #[serde(default)]
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

/// Dates are seen exactly where their product is.
pub async fn list(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<Product> = request.path()?;
    let query: DatesQuery = request.query()?;
    let view = View::of(&request, query.view);
    let (from, to) = (query.from.unwrap_or(Day::FIRST), query.to.unwrap_or(Day::LAST));
    let days = Days::new(from, to).ok_or_else(|| {
        Problem::faults(vec![Fault::parameter("to", format!("must not lie before `from`, which is {from}"))])
    })?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let product = Product::at(&path.parts).ok_or_else(Problem::not_found)?;
    let read = items::read(&request, &access::ITEM, Some(product.key()), view).await?;
    if read.item.deleted() {
        return Err(Problem::not_found());
    }
    let dates = among(request.access(), &product, days).after(after);
    let dates = if view == View::Administrator { dates.consistent() } else { dates };
    let dates = if query.order == Order::Desc { dates.backward() } else { dates };
    let page = dates.page(query.limit.0).await?;
    let read = page.items.into_iter().filter_map(|stored| ReadDate::new(stored).transpose());
    let items: Vec<ProductDateView> = read.map(|date| Ok(date?.view(view))).collect::<Result<_, Problem>>()?;
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(view.cached(Answer::ok(&Page { items, next_cursor })))
}
