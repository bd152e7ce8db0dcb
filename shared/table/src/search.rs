//! Searches: `POST /{alias}/_search` of OpenSearch, with complete answers only.

use std::time::Duration;

use opensearch::SearchParts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Trace;
use crate::access::{Access, AccessPattern, Call, Undeclared};
use crate::engines::SearchClientError;
use crate::no_answer;

/// Longer than any of our searches takes, shorter than a client waits.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Undeclared(#[from] Undeclared),
    /// OpenSearch rejected the query with 400, for this reason.
    #[error("OpenSearch rejected the query: {0}")]
    Refused(String),
    /// OpenSearch did not answer, or only in part. This may be temporary.
    #[error("OpenSearch is not available: {0}")]
    Unavailable(String),
}

impl Access {
    /// Searches an alias with this logical name. An answer that timed out or lacks a shard is an error, since it would
    /// look complete. The answer is read directly into its type, so that numbers can keep their digits.
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
            search.allow_partial_search_results(false).request_timeout(TIMEOUT).body(body).send()
        };
        let sent = match send().await {
            // Lambda closes idle connections, and the client notices only at their next use (best practices,
            // keep-alive).
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

/// The members of an answer that say whether it is complete.
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

/// Reads the answer to a search. Refuses one that timed out or lacks a shard.
pub fn complete<T: DeserializeOwned>(answer: &str) -> Result<T, SearchError> {
    let unreadable = |error: serde_json::Error| SearchError::Unavailable(error.to_string());
    let Extent { timed_out, _shards: Shards { total, successful } } =
        serde_json::from_str(answer).map_err(unreadable)?;
    if timed_out {
        return Err(SearchError::Unavailable("the search timed out".to_owned()));
    }
    if total != successful {
        return Err(SearchError::Unavailable("not all shards answered".to_owned()));
    }
    serde_json::from_str(answer).map_err(unreadable)
}

impl From<opensearch::Error> for SearchError {
    fn from(error: opensearch::Error) -> Self {
        Self::Unavailable(no_answer::describe(&error))
    }
}

impl From<SearchClientError> for SearchError {
    fn from(error: SearchClientError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
