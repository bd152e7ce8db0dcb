//! The health check of a system with search: whether search answers from an index that the mirror writes, and whether it
//! is behind the tables.
//!
//! A check costs two queries, of the heartbeats and of the config item, half a read unit each, and one search for a
//! single document. If the document is of an index that is not written, another search and another read confirm this.
//! Whether search is behind is what the mirror last saved, so an idle system is never behind. A mirror that is not called
//! at all saves nothing, which only alarms tell.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use table::item::Stored;
use table::schema::{System, Table};
use table::{Access, AccessPattern, Error, Query, SearchError};
use tokio::time::timeout;
use web::{App, Context, Health, Json};

use crate::engines::{SearchResponse, read_generations};
use crate::generation::{Generations, Phase};
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
    let requests = Requests { access: cx.access(), system, pattern, state };
    let (found, heartbeats, config) =
        tokio::join!(in_time(requests.search()), in_time(requests.heartbeats()), in_time(requests.config()));
    if let (Some(found), Some(Some(config))) = (&found, &config)
        && found.is_of_another_index(config)
        && requests.still_finds_another_index(config).await
    {
        return Health::SEARCH_READS_ANOTHER_INDEX;
    }
    let now = cx.engines().clock.micros() / 1000;
    let lag = heartbeats.map(|all| all.iter().filter_map(|one| one.lag(now)).max());
    summarize(found.is_some(), config.is_some(), lag)
}

/// What the requests of a check need.
#[derive(Clone, Copy, Debug)]
struct Requests<'c> {
    access: &'c Access,
    system: &'static System,
    pattern: &'static AccessPattern,
    state: &'static Table,
}

/// The index of a document that was found.
#[derive(Debug, Deserialize)]
struct Hit {
    _index: String,
}

impl<'c> Requests<'c> {
    async fn search(self) -> Result<SearchResponse<Hit>, SearchError> {
        let body = json!({ "size": 1, "_source": false, "track_total_hits": false });
        self.access.search(self.pattern, self.system.name, &body).await
    }

    async fn heartbeats(self) -> Result<Vec<Heartbeat>, Error> {
        self.query(Heartbeat::PK).all().await?.iter().map(Stored::read).collect()
    }

    fn query(self, pk: &str) -> Query<'c> {
        self.access.table(self.pattern, self.state).query(pk)
    }

    async fn config(self) -> Result<Option<Generations>, Error> {
        read_config(&self.query(CONFIG_PK).all().await?)
    }

    async fn config_consistent(self) -> Result<Option<Generations>, Error> {
        read_config(&self.query(CONFIG_PK).consistent().all().await?)
    }

    /// Searches once more between two reads of the same config item. The first search may have read the alias before a
    /// command moved it.
    async fn still_finds_another_index(self, before: &Generations) -> bool {
        let found = in_time(self.search()).await;
        let after = in_time(self.config_consistent()).await.flatten();
        after.as_ref() == Some(before) && found.is_some_and(|found| found.is_of_another_index(before))
    }
}

impl SearchResponse<Hit> {
    /// Whether a document was found in an index that the mirror does not write, so that the readers' alias is wrong.
    /// While no index serves, readers search the last one.
    fn is_of_another_index(&self, config: &Generations) -> bool {
        let is_filled = |index: &str| config.written.iter().any(|one| one.is_filled() && one.index == index);
        config.of(Phase::Serving).is_some() && self.hits.hits.iter().any(|hit| !is_filled(&hit._index))
    }
}

/// Reads the config item. Returns `None` if there is none yet.
fn read_config(items: &[Stored]) -> Result<Option<Generations>, Error> {
    let Some(stored) = items.first() else { return Ok(None) };
    let unreadable = || Error::Misfit("the config item of the mirror".to_owned());
    read_generations(&stored.item).map(Some).ok_or_else(unreadable)
}

/// Returns the answer to a request, or `None` if it failed or took too long.
async fn in_time<T, E>(request: impl Future<Output = Result<T, E>>) -> Option<T> {
    timeout(TIMEOUT, request).await.ok()?.ok()
}

/// `lag` is the age of search in milliseconds if it lags, or `None` if it could not be read. While search is down, the
/// mirror cannot write either, so it lags too.
fn summarize(search_answers: bool, has_config: bool, lag: Option<Option<i64>>) -> Health {
    match lag {
        _ if !search_answers => Health::SEARCH_IS_DOWN,
        Some(lag) if has_config => {
            lag.map_or(Health::OK, |age| Health::search_lags(Duration::from_millis(age.unsigned_abs())))
        }
        _ => Health::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Hits;
    use crate::generation::Generation;

    #[test]
    fn search_that_is_down_is_not_reported_as_lagging() {
        for lag in [None, Some(None), Some(Some(90_000))] {
            assert_eq!(summarize(false, true, lag), Health::SEARCH_IS_DOWN, "{lag:?}");
        }
        assert_eq!(summarize(true, true, Some(Some(90_000))), Health::search_lags(Duration::from_secs(90)));
        assert_eq!(summarize(true, true, Some(None)), Health::OK);
        assert_eq!(
            (summarize(true, true, None), summarize(true, false, Some(None))),
            (Health::UNKNOWN, Health::UNKNOWN)
        );
    }

    #[test]
    fn document_of_an_index_that_is_not_written_shows_a_wrong_alias() {
        let another = |phases: &[Phase], index: &str| {
            let written = phases.iter().zip(1..);
            let written =
                written.map(|(&phase, number)| Generation { index: format!("toy-{number}"), mapping: 1, phase });
            let config = Generations { written: written.collect(), ..Generations::none("toy") };
            let hits = vec![Hit { _index: index.to_owned() }];
            SearchResponse { hits: Hits { hits } }.is_of_another_index(&config)
        };
        assert!(!another(&[Phase::Serving], "toy-1") && another(&[Phase::Serving], "toy-2"));
        assert!(!another(&[Phase::Serving, Phase::Audited], "toy-2"));
        assert!(another(&[Phase::Serving, Phase::Filling], "toy-2"));
        // The index that is replaced is searched until the alias is moved to the new one.
        assert!(!another(&[Phase::Filling], "toy-9") && !another(&[Phase::Audited], "toy-9"));
    }
}
