//! The health check of a system with search: whether search answers, and whether it is behind the tables.
//!
//! A check costs one query of the heartbeats, half a read unit, and one search without hits. Whether search is behind
//! is what the mirror last saved, so an idle system is never behind. A mirror that is not called at all saves nothing,
//! which only alarms tell.

use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::json;
use table::item::Stored;
use table::schema::{System, Table};
use table::{Access, AccessPattern};
use tokio::time::timeout;
use web::{App, Context, Health, Json};

use crate::heartbeat::Heartbeat;
use crate::schema::state_table_name;

/// The time limit of each request. A search that takes longer counts as down.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Lets the health check of an app tell whether search is behind. The first of the patterns declares a query of the
/// system's state table and a search of its alias.
pub fn health(app: App, patterns: &'static [&'static AccessPattern; 1]) -> App {
    let ([pattern], system) = (*patterns, app.system());
    app.health(patterns, move |cx: Context| async move { Ok(Json(check(&cx, system, pattern).await)) })
}

async fn check(cx: &Context, system: &'static System, pattern: &'static AccessPattern) -> Health {
    let name = state_table_name(system.name);
    let Some(&state) = system.tables.iter().find(|table| table.name == name) else {
        table::never!("the system {} has no state table", system.name);
        return Health::UNKNOWN;
    };
    let body = json!({ "size": 0, "track_total_hits": false });
    let search = timeout(TIMEOUT, cx.access().search::<IgnoredAny>(pattern, system.name, &body));
    let (found, heartbeats) = tokio::join!(search, timeout(TIMEOUT, heartbeats(cx.access(), pattern, state)));
    let now = cx.engines().clock.micros() / 1000;
    let lag = heartbeats.map(|read| read.map(|all| all.iter().filter_map(|one| one.lag(now)).max()));
    match (found, lag) {
        (_, Ok(Ok(Some(age)))) => Health::search_lags(Duration::from_millis(age.unsigned_abs())),
        (Ok(Ok(_)), Ok(Ok(None))) => Health::OK,
        (Ok(Ok(_)), _) => Health::UNKNOWN,
        (_, _) => Health::SEARCH_IS_DOWN,
    }
}

async fn heartbeats(
    access: &Access,
    pattern: &'static AccessPattern,
    state: &'static Table,
) -> Result<Vec<Heartbeat>, table::Error> {
    let items = access.table(pattern, state).query(Heartbeat::PK).all().await?;
    items.iter().map(Stored::read).collect()
}
