//! The routes that every system has: its API description and its health check.

use std::time::Duration;

use http::Method;
use serde::Serialize;
use table::AccessPattern;
use utoipa::ToSchema;

use crate::route::{Route, Sample, Serve};
use crate::who::Who;
use crate::{Context, Json, Problem};

/// The health of a system. The status is always 200: a system whose search lags still serves its other routes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok`, or `degraded` if search does not respond or lags
    status: &'static str,
    /// Why it is degraded: `search is down`, `search reads another index`, `search lags`, or `unknown` if that could not
    /// be read
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The age of search in seconds, if it lags: writes since then may be missing in searches
    #[serde(skip_serializing_if = "Option::is_none")]
    search_age: Option<u64>,
}

impl Health {
    pub const OK: Self = Self { status: "ok", reason: None, search_age: None };

    pub const SEARCH_IS_DOWN: Self = Self { reason: Some("search is down"), ..Self::DEGRADED };

    /// Searches find documents of an index that is not kept equal to the tables.
    pub const SEARCH_READS_ANOTHER_INDEX: Self = Self { reason: Some("search reads another index"), ..Self::DEGRADED };

    pub const UNKNOWN: Self = Self { reason: Some("unknown"), ..Self::DEGRADED };

    const DEGRADED: Self = Self { status: "degraded", reason: None, search_age: None };

    /// Returns the health of a system whose search lags by this time.
    pub const fn search_lags(age: Duration) -> Self {
        Self { reason: Some("search lags"), search_age: Some(age.as_secs()), ..Self::DEGRADED }
    }
}

pub(crate) fn routes(system: &str) -> [Route; 2] {
    let description = format!("/{system}/openapi.json");
    [
        Route::bare(Method::GET, "getApiDescription", description, Who::Public, Serve::Description)
            .summary("Get the API description in OpenAPI 3.1")
            .memory(MIN_MEMORY)
            .answers::<serde_json::Value>(200)
            .sample(Sample::own_path()),
        health_route(system, health).memory(MIN_MEMORY),
    ]
}

/// Returns the health check by a handler of the system.
pub(crate) fn health_by<F, Fut>(system: &str, patterns: &'static [&'static AccessPattern], check: F) -> Route
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Json<Health>, Problem>> + Send + 'static,
{
    health_route(system, check).patterns(patterns).memory(CHECK_MEMORY)
}

fn health_route<F, Fut>(system: &str, check: F) -> Route
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Json<Health>, Problem>> + Send + 'static,
{
    let route = Route::get(HEALTH, format!("/{system}/health"), Who::Public, check);
    route.summary("Get the health of the system").sample(Sample::own_path())
}

/// The memory in MB of a check that makes requests to engines.
const CHECK_MEMORY: u64 = 256;

/// The name of the health check.
pub(crate) const HEALTH: &str = "getHealth";

/// Lambda's smallest memory in MB, which is enough without requests to engines.
const MIN_MEMORY: u64 = 128;

/// The health of a system without search: the process responds.
async fn health(_: Context) -> Result<Json<Health>, Problem> {
    Ok(Json(Health::OK))
}
