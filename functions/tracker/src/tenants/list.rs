//! `GET /tracker/tenants`

use serde::Deserialize;
use utoipa::ToSchema;
use web::search::Highlights;
use web::{Context, Fault, Json, Limit, Order, Page, Problem, Query, Route, Sample, problem};

use super::LIST;
use super::search::search;
use crate::access::{BY_NAME, SEARCH};
use crate::authorization::PLATFORM_ADMINS;
use crate::by_name::{NameQuery, page};
use crate::keys::DirectoryKey;
use crate::views::{TenantEntry, TenantPage};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantsQuery {
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// The order of names. Not with `q`, which sorts by relevance.
    order: Option<Order>,
    /// Only names that start with this; case and accents are ignored. Not with `q`.
    #[schema(min_length = 1, max_length = 200)]
    prefix: Option<String>,
    /// Words of the name, at most 20; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: Option<String>,
}

/// The sort key of directory rows, and so their partition in the index.
const DIRECTORY: &str = "directory";

pub fn route() -> Route {
    Route::get("listTenants", LIST, PLATFORM_ADMINS, list)
        .summary("List all tenants by name, or search them by the words of their names")
        .patterns(&[&BY_NAME, &SEARCH])
        .problems(&[problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new(LIST))
}

async fn list(cx: Context, Query(query): Query<TenantsQuery>) -> Result<Json<TenantPage>, Problem> {
    let TenantsQuery { limit, cursor, order, prefix, q } = query;
    if let Some(q) = q {
        let excluded = [("order", order.is_some()), ("prefix", prefix.is_some())];
        let sent = excluded.into_iter().filter(|(_, is_sent)| *is_sent);
        let faults: Vec<_> = sent.map(|(name, _)| Fault::parameter(name, "cannot be combined with `q`")).collect();
        return if faults.is_empty() {
            search(&cx, &q, limit.0, cursor.as_deref()).await.map(Json)
        } else {
            Err(Problem::faults(faults))
        };
    }
    let query = NameQuery { limit, cursor, order: order.unwrap_or_default(), prefix };
    let entry = |DirectoryKey { tenant }: DirectoryKey, name| TenantEntry {
        id: tenant,
        name,
        score: None,
        highlights: Highlights::new(),
    };
    let Page { items, next_cursor } = page(&cx, DIRECTORY, &query, entry).await?;
    Ok(Json(TenantPage { items, total: None, next_cursor }))
}
