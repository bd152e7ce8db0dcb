//! The routes that every system has: its API description and whether it is up.

use http::Method;
use serde::Serialize;
use utoipa::ToSchema;

use crate::route::{Handler, Route, Sample};
use crate::who::Who;
use crate::{Answer, Problem, Request};

/// The system is up: its process answers. Engines are not asked.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
}

pub(crate) fn routes(system: &str) -> [Route; 2] {
    let description = format!("/{system}/openapi.json");
    [
        Route::with_handler(Method::GET, "getApiDescription", description, Who::Public, Handler::Description)
            .summary("This API in OpenAPI 3.1")
            .memory(LEAST_MEMORY)
            .answers::<serde_json::Value>(200)
            .sample(Sample::own_path()),
        Route::get("getHealth", format!("/{system}/health"), Who::Public, health)
            .summary("Whether the system is up")
            .memory(LEAST_MEMORY)
            .answers::<Health>(200)
            .sample(Sample::own_path()),
    ]
}

/// In MB, the least that Lambda gives: neither asks an engine.
const LEAST_MEMORY: u64 = 128;

async fn health(_: Request) -> Result<Answer, Problem> {
    Ok(Answer::ok(&Health { status: "ok" }))
}
