//! The routes that every system has: its API description and its health check.

use http::Method;
use serde::Serialize;
use utoipa::ToSchema;

use crate::route::{Route, Sample, Serve};
use crate::who::Who;
use crate::{Context, Json, Problem};

/// The process responds. The check makes no request to the engines.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
}

pub(crate) fn routes(system: &str) -> [Route; 2] {
    let description = format!("/{system}/openapi.json");
    [
        Route::bare(Method::GET, "getApiDescription", description, Who::Public, Serve::Description)
            .summary("Get the API description in OpenAPI 3.1")
            .memory(MIN_MEMORY)
            .answers::<serde_json::Value>(200)
            .sample(Sample::own_path()),
        Route::get("getHealth", format!("/{system}/health"), Who::Public, health)
            .summary("Get the health of the system")
            .memory(MIN_MEMORY)
            .sample(Sample::own_path()),
    ]
}

/// Lambda's smallest memory in MB, which is enough without requests to engines.
const MIN_MEMORY: u64 = 128;

async fn health(_: Context) -> Result<Json<Health>, Problem> {
    Ok(Json(Health { status: "ok" }))
}
