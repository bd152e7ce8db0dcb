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
    let heartbeats = heartbeats.ok().and_then(Result::ok);
    let lag = heartbeats.map(|all| all.iter().filter_map(|one| one.lag(now)).max());
    summarize(matches!(found, Ok(Ok(_))), lag)
}

/// `lag` is the age of search in milliseconds if it lags, or `None` if it could not be read. While search is down, the
/// mirror cannot write either, so it lags too.
fn summarize(search_answers: bool, lag: Option<Option<i64>>) -> Health {
    match (search_answers, lag) {
        (false, _) => Health::SEARCH_IS_DOWN,
        (true, Some(Some(age))) => Health::search_lags(Duration::from_millis(age.unsigned_abs())),
        (true, Some(None)) => Health::OK,
        (true, None) => Health::UNKNOWN,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_that_is_down_is_not_reported_as_lagging() {
        for lag in [None, Some(None), Some(Some(90_000))] {
            assert_eq!(summarize(false, lag), Health::SEARCH_IS_DOWN, "{lag:?}");
        }
        assert_eq!(summarize(true, Some(Some(90_000))), Health::search_lags(Duration::from_secs(90)));
        assert_eq!((summarize(true, Some(None)), summarize(true, None)), (Health::OK, Health::UNKNOWN));
    }
}
