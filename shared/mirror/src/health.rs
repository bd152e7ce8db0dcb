//! The health check of a system with search: whether search answers from an index that the mirror writes, and whether it
//! is behind the tables.
//!
//! A check costs two queries, of the heartbeats and of the config item, half a read unit each, and one search for a
//! single document. Whether search is behind is what the mirror last saved, so an idle system is never behind. A mirror
//! that is not called at all saves nothing, which only alarms tell.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use table::item::Stored;
use table::schema::{System, Table};
use table::{Access, AccessPattern};
use tokio::time::timeout;
use web::{App, Context, Health, Json};

use crate::generation::Phase;
use crate::heartbeat::Heartbeat;
use crate::schema::{CONFIG_PK, state_table_name};

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
    let body = json!({ "size": 1, "_source": false, "track_total_hits": false });
    let search = timeout(TIMEOUT, cx.access().search::<Found>(pattern, system.name, &body));
    let heartbeats = timeout(TIMEOUT, read::<Heartbeat>(cx.access(), pattern, (state, Heartbeat::PK)));
    let config = timeout(TIMEOUT, read::<Config>(cx.access(), pattern, (state, CONFIG_PK)));
    let (found, heartbeats, config) = tokio::join!(search, heartbeats, config);
    let now = cx.engines().clock.micros() / 1000;
    let heartbeats = heartbeats.ok().and_then(Result::ok);
    let lag = heartbeats.map(|all| all.iter().filter_map(|one| one.lag(now)).max());
    let found = found.ok().and_then(Result::ok);
    summarize(found.as_ref(), config.ok().and_then(Result::ok).as_deref(), lag)
}

/// The response to a search for one document.
#[derive(Deserialize)]
struct Found {
    hits: Hits,
}

#[derive(Deserialize)]
struct Hits {
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    _index: String,
}

/// The generations of the config item.
#[derive(Deserialize)]
struct Config {
    generations: Vec<Written>,
}

#[derive(Deserialize)]
struct Written {
    index: String,
    phase: String,
}

/// `found` and `config` are `None` if they could not be read. `lag` is the age of search in milliseconds if it lags, or
/// `None` if it could not be read. While search is down, the mirror cannot write either, so it lags too.
fn summarize(found: Option<&Found>, config: Option<&[Config]>, lag: Option<Option<i64>>) -> Health {
    let Some(found) = found else { return Health::SEARCH_IS_DOWN };
    let (Some(config), Some(lag)) = (config, lag) else { return Health::UNKNOWN };
    if reads_another_index(found, config) {
        return Health::SEARCH_READS_ANOTHER_INDEX;
    }
    lag.map_or(Health::OK, |age| Health::search_lags(Duration::from_millis(age.unsigned_abs())))
}

/// Whether a document was found in an index that the mirror does not write, so that the readers' alias is wrong. While
/// no index that was filled is written, readers search the last one.
fn reads_another_index(found: &Found, config: &[Config]) -> bool {
    let is_filled = |written: &&Written| written.phase != Phase::Filling.name();
    let mut filled = config.iter().flat_map(|config| &config.generations).filter(is_filled).peekable();
    filled.peek().is_some() && found.hits.hits.iter().any(|hit| filled.clone().all(|filled| filled.index != hit._index))
}

async fn read<T: DeserializeOwned>(
    access: &Access,
    pattern: &'static AccessPattern,
    (state, pk): (&'static Table, &str),
) -> Result<Vec<T>, table::Error> {
    let items = access.table(pattern, state).query(pk).all().await?;
    items.iter().map(Stored::read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(indexes: &[&str]) -> Found {
        let hits = indexes.iter().map(|index| Hit { _index: (*index).to_owned() });
        Found { hits: Hits { hits: hits.collect() } }
    }

    fn config(phases: &[Phase]) -> Vec<Config> {
        let written = phases.iter().zip(1..);
        let written =
            written.map(|(phase, number)| Written { index: format!("toy-{number}"), phase: phase.name().to_owned() });
        vec![Config { generations: written.collect() }]
    }

    #[test]
    fn search_that_is_down_is_not_reported_as_lagging() {
        let (found, config) = (found(&[]), config(&[Phase::Serving]));
        let health = |search_answers: bool, lag| summarize(search_answers.then_some(&found), Some(&config), lag);
        for lag in [None, Some(None), Some(Some(90_000))] {
            assert_eq!(health(false, lag), Health::SEARCH_IS_DOWN, "{lag:?}");
        }
        assert_eq!(health(true, Some(Some(90_000))), Health::search_lags(Duration::from_secs(90)));
        assert_eq!((health(true, Some(None)), health(true, None)), (Health::OK, Health::UNKNOWN));
        assert_eq!(summarize(Some(&found), None, Some(None)), Health::UNKNOWN);
    }

    #[test]
    fn document_of_an_index_that_is_not_written_shows_a_wrong_alias() {
        let another = |phases: &[Phase], index| reads_another_index(&found(&[index]), &config(phases));
        assert!(!another(&[Phase::Serving], "toy-1") && another(&[Phase::Serving], "toy-2"));
        assert!(!another(&[Phase::Serving, Phase::Audited], "toy-2"));
        assert!(another(&[Phase::Serving, Phase::Filling], "toy-2"));
        // The index that is replaced is searched until the new one is full.
        assert!(!another(&[Phase::Filling], "toy-9"));
    }
}
