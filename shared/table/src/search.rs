//! Reading OpenSearch: `POST /{alias}/_search`, whole or not at all.

use std::time::Duration;

use opensearch::SearchParts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Trace;
use crate::access::{Access, AccessPattern, Call, Undeclared};
use crate::engines::SearchClientError;

/// Longer than any search we make, shorter than a client waits.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Undeclared(#[from] Undeclared),
    /// OpenSearch does not take this query (400): its reason.
    #[error("OpenSearch refused the query: {0}")]
    Refused(String),
    /// OpenSearch does not answer, or would answer in part. Only what searches is affected, and it may be over soon.
    #[error("OpenSearch is not available: {0}")]
    Unavailable(String),
}

impl Access {
    /// The answer to a search of an alias in its logical name. An answer without all shards, or cut off by time, is
    /// none: it would look complete. It is read straight into its type, so that numbers can keep their digits.
    pub async fn search<T: DeserializeOwned>(
        &self,
        pattern: &'static AccessPattern,
        alias: &'static str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, SearchError> {
        let call = Call::Search { alias };
        self.permit(pattern, call)?;
        let name = self.engines().config.search_name(alias);
        let client = self.engines().search()?;
        let index = [name.as_str()];
        let send = || {
            let mut search = client.search(SearchParts::Index(&index));
            if let Some((name, value)) = Trace::current_header() {
                search = search.header(name, value);
            }
            search.allow_partial_search_results(false).request_timeout(PATIENCE).body(body).send()
        };
        let sent = match send().await {
            // Lambda closes connections that were idle, and tells only who uses them (best practices, keep-alive).
            Err(error) if !error.is_timeout() => send().await,
            sent => sent,
        };
        self.record(pattern, call, (0.0, 0.0));
        let answer = sent?;
        let status = answer.status_code().as_u16();
        let body = answer.text().await?;
        match status {
            200 => complete(&body),
            400 => Err(SearchError::Refused(body)),
            _ => Err(SearchError::Unavailable(format!("status {status}: {body}"))),
        }
    }
}

/// What tells a whole answer from a part of one.
#[derive(Deserialize)]
struct Extent {
    timed_out: bool,
    _shards: Shards,
}

#[derive(Deserialize)]
struct Shards {
    total: u32,
    successful: u32,
}

/// Reads the answer to a search; none that was cut off by time, or lacks a shard.
pub fn complete<T: DeserializeOwned>(answer: &str) -> Result<T, SearchError> {
    let unreadable = |error: serde_json::Error| SearchError::Unavailable(error.to_string());
    let Extent { timed_out, _shards: Shards { total, successful } } =
        serde_json::from_str(answer).map_err(unreadable)?;
    if timed_out {
        return Err(SearchError::Unavailable("the search was cut off by time".to_owned()));
    }
    if total != successful {
        return Err(SearchError::Unavailable("not all shards answered".to_owned()));
    }
    serde_json::from_str(answer).map_err(unreadable)
}

impl From<opensearch::Error> for SearchError {
    fn from(error: opensearch::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<SearchClientError> for SearchError {
    fn from(error: SearchClientError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
