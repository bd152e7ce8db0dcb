//! `GET /agencies`: all of them, by creation.

use jiff::Timestamp;
use serde::Deserialize;
use table::Position;
use table::clock::rfc3339;
use utoipa::ToSchema;
use web::{Answer, Fault, Limit, Order, Page, Problem, Request};

use super::AgencyView;
use crate::access::BY_CREATION;
use crate::item::{AGENCY, Agency};
use crate::schema::{AGENCIES, BY_TYPE};

#[derive(Debug, Deserialize, ToSchema)]
pub struct AgenciesQuery {
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
    cursor: Option<String>,
    /// Only what was created then or later: RFC 3339, such as `2026-01-01T00:00:00Z`.
    #[serde(default)]
    #[schema(nullable = false)]
    from: Option<String>,
    /// Only what was created then or earlier.
    #[serde(default)]
    #[schema(nullable = false)]
    to: Option<String>,
    #[serde(default = "newest_first")]
    #[schema(default = "desc")]
    order: Order,
}

const fn newest_first() -> Order {
    Order::Desc
}

/// Before and after every time that is stored.
const ALL_TIME: (&str, &str) = ("0", "9999-99");

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let query: AgenciesQuery = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let mut faults = Vec::new();
    let mut bound = |name, text: Option<String>, otherwise: &str| match text.map(|text| time(name, &text)) {
        None => otherwise.to_owned(),
        Some(Ok(time)) => time,
        Some(Err(fault)) => {
            faults.push(fault);
            String::new()
        }
    };
    let (from, to) = (bound("from", query.from, ALL_TIME.0), bound("to", query.to, ALL_TIME.1));
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    // DynamoDB refuses a range that ends before it begins.
    if from > to {
        return Ok(Answer::ok(&Page::<AgencyView> { items: Vec::new(), next_cursor: None }));
    }
    let agencies = request.access().table(&BY_CREATION, &AGENCIES).query(AGENCY).index(BY_TYPE).between(from, to);
    let agencies = if query.order == Order::Desc { agencies.backward() } else { agencies };
    let page = agencies.after(after).page(query.limit.0).await?;
    let items = page.items.iter().map(|stored| Ok(stored.read::<Agency>()?.into())).collect::<Result<_, Problem>>()?;
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page::<AgencyView> { items, next_cursor }))
}

/// The time as items have it, so that text order is time order.
fn time(name: &'static str, text: &str) -> Result<String, Fault> {
    let fault = || Fault::parameter(name, "must be a time as RFC 3339 has it, such as 2026-01-01T00:00:00Z");
    text.parse::<Timestamp>().map(rfc3339).map_err(|_| fault())
}
