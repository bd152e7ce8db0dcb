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
    /// OpenSearch rejected the query, for this reason. The same query is rejected again.
    #[error("OpenSearch rejected the query: {0}")]
    Refused(String),
    /// The query has more words than OpenSearch can look for at once, or words that are too long to forgive typos.
    #[error("OpenSearch cannot answer a query of this size: {0}")]
    TooComplex(String),
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
            _ if is_too_complex(&body) => Err(SearchError::TooComplex(body)),
            400 => Err(SearchError::Refused(body)),
            _ => Err(SearchError::Unavailable(format!("status {status}: {body}"))),
        }
    }
}

/// The errors by which OpenSearch reports such a query, with the status 400 or one from 500.
const TOO_COMPLEX: [&str; 3] = ["too_many_nested_clauses", "too_many_clauses", "too_complex_to_determinize_exception"];

/// An error in an answer of OpenSearch, with the errors that have caused it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Failure {
    #[serde(rename = "type")]
    kind: String,
    root_cause: Vec<Failure>,
    caused_by: Option<Box<Failure>>,
}

impl Failure {
    fn is_too_complex(&self) -> bool {
        TOO_COMPLEX.contains(&self.kind.as_str())
            || self.root_cause.iter().any(Self::is_too_complex)
            || self.caused_by.as_ref().is_some_and(|cause| cause.is_too_complex())
    }
}

/// Whether the answer with an error says that the query can never be answered.
fn is_too_complex(answer: &str) -> bool {
    #[derive(Deserialize)]
    struct Failed {
        error: Failure,
    }
    serde_json::from_str(answer).is_ok_and(|failed: Failed| failed.error.is_too_complex())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_that_is_too_complex_is_no_outage() {
        let answer = |error: &str| format!(r#"{{"error":{error},"status":500}}"#);
        let failed = |members: &str| answer(&format!(r#"{{"type":"search_phase_execution_exception",{members}}}"#));
        for cause in [
            r#"{"type":"too_many_nested_clauses","reason":"maxClauseCount is set to 1024"}"#,
            r#"{"type":"too_complex_to_determinize_exception","reason":"Determinizing would require more effort"}"#,
        ] {
            assert!(is_too_complex(&failed(&format!(r#""root_cause":[{cause}]"#))));
            assert!(is_too_complex(&failed(&format!(r#""root_cause":[],"caused_by":{cause}"#))));
        }
        for other in [answer(r#""gateway""#), failed(r#""root_cause":[]"#), "<html>".to_owned()] {
            assert!(!is_too_complex(&other), "{other}");
        }
    }
}
