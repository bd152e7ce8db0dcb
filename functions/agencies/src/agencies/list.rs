//! `GET /agencies`

use jiff::Timestamp;
use serde::Deserialize;
use table::Position;
use table::clock::rfc3339;
use utoipa::ToSchema;
use web::{Context, Fault, Limit, Order, Page, Problem, Query, Route, Sample};

use super::{AgencyView, LIST};
use crate::access::BY_CREATION;
use crate::authorization::PLATFORM_ADMINS;
use crate::item::{AGENCY, Agency};
use crate::schema::{AGENCIES, BY_TYPE};

#[derive(Debug, Deserialize, ToSchema)]
pub struct AgenciesQuery {
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// Only agencies created at this time or later: RFC 3339, such as `2026-01-01T00:00:00Z`.
    from: Option<String>,
    /// Only agencies created at this time or earlier.
    to: Option<String>,
    #[serde(default = "newest_first")]
    #[schema(default = "desc")]
    order: Order,
}

const fn newest_first() -> Order {
    Order::Desc
}

/// Bounds below and above every stored time.
const ALL_TIME: (&str, &str) = ("0", "9999-99");

pub fn route() -> Route {
    Route::get("listAgencies", LIST, PLATFORM_ADMINS, list)
        .summary("List all agencies by creation, newest first")
        .patterns(&[&BY_CREATION])
        .sample(Sample::new("/agencies?from=2026-01-01T00:00:00Z"))
}

async fn list(cx: Context, Query(query): Query<AgenciesQuery>) -> Result<Page<AgencyView>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
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
    // DynamoDB refuses a range whose end is before its start.
    if from > to {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    }
    let agencies = cx.access().table(&BY_CREATION, &AGENCIES).query(AGENCY).index(BY_TYPE).between(from, to);
    let agencies = if query.order == Order::Desc { agencies.backward() } else { agencies };
    let page = agencies.after(after).page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<Agency>()?.into()))
}

/// The time as items store it, so that text order is time order.
fn time(name: &'static str, text: &str) -> Result<String, Fault> {
    let fault = || Fault::parameter(name, "must be an RFC 3339 time, such as 2026-01-01T00:00:00Z");
    text.parse::<Timestamp>().map(rfc3339).map_err(|_| fault())
}
