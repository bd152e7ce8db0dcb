//! The routes that every system has: its API description and whether it is up.

use http::Method;
use serde::Serialize;
use utoipa::ToSchema;

use crate::route::{Route, Sample, Serve};
use crate::who::Who;
use crate::{Context, Json, Problem};

/// The system is up: its process answers. Engines are not asked.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
}

pub(crate) fn routes(system: &str) -> [Route; 2] {
    let description = format!("/{system}/openapi.json");
    [
        Route::bare(Method::GET, "getApiDescription", description, Who::Public, Serve::Description)
            .summary("This API in OpenAPI 3.1")
            .memory(LEAST_MEMORY)
            .answers::<serde_json::Value>(200)
            .sample(Sample::own_path()),
        Route::get("getHealth", format!("/{system}/health"), Who::Public, health)
            .summary("Whether the system is up")
            .memory(LEAST_MEMORY)
            .sample(Sample::own_path()),
    ]
}

/// In MB, the least that Lambda gives: neither asks an engine.
const LEAST_MEMORY: u64 = 128;

async fn health(_: Context) -> Result<Json<Health>, Problem> {
    Ok(Json(Health { status: "ok" }))
}
