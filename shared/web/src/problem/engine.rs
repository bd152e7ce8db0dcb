//! Conversion of engine errors to problems.

use table::Error;
use table::search::SearchError;

use super::{CONFLICT, Problem};
use crate::Fault;

/// The default conversion. A handler that knows more about an error, such as the missing reference, converts it itself.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::NotFound => Self::not_found(),
            Error::Exists => Self::exists("A resource with this id already exists. Update it, or choose another id."),
            Error::Stale { .. } => Self::stale(),
            Error::ConditionFailed(_) => CONFLICT
                .because("The stored items do not allow this change. Read them again and retry.")
                .caused_by(error),
            Error::Conflict => Self::conflict(),
            Error::Throttled => Self::too_many_requests(1).caused_by(error),
            Error::TooLarge => {
                Self::too_large("The item would be larger than the 400 KB that can be stored. Send less data.")
            }
            Error::Key(_) => Self::bad_request(format!("The ids are too long together: {error}. Use shorter ones.")),
            Error::KeyReused => Self::key_reused(),
            Error::Engine { .. } => Self::unavailable(error),
            _ => Self::internal(error),
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Unavailable(_) => Self::search_unavailable(error),
            // Only words can be so many: routes limit their filters.
            SearchError::TooComplex(_) => {
                let detail =
                    "has too many or too long words for a search; in scripts without spaces each character is a word";
                Self::faults(vec![Fault::parameter("q", detail)]).caused_by(error)
            }
            SearchError::Refused(_) | SearchError::Undeclared(_) => Self::internal(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    #[test]
    fn engine_error_has_its_status_and_does_not_leak_its_cause() {
        let engine = || Error::Engine { engine: "DynamoDB", source: "10.0.0.1 refused".into() };
        let cases = [
            (Error::NotFound, 404, None),
            (Error::Exists, 409, None),
            (Error::Stale { current: None }, 412, None),
            (Error::Conflict, 409, Some("1")),
            (Error::Throttled, 429, Some("1")),
            (Error::TooLarge, 413, None),
            (Error::KeyReused, 422, None),
            (engine(), 503, Some("1")),
            (Error::Misfit("10.0.0.1".into()), 500, None),
        ];
        for (error, status, retry_after) in cases {
            let response = Problem::from(error).into_response("id-1");
            let seconds = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
            assert_eq!((response.status().as_u16(), seconds), (status, retry_after));
            assert!(!String::from_utf8_lossy(response.body()).contains("10.0.0.1"));
        }
        assert!(Problem::from(engine()).cause().is_some_and(|cause| cause.contains("10.0.0.1")));
    }

    #[test]
    fn search_that_is_too_complex_is_a_fault_of_its_words() {
        let response = Problem::from(SearchError::TooComplex("too_many_clauses".into())).into_response("id-1");
        let body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!((response.status().as_u16(), &body["errors"][0]["parameter"]), (400, &"q".into()), "{body}");
    }

    #[test]
    fn unavailable_search_is_search_unavailable() {
        let problem = Problem::from(SearchError::Unavailable("no shards".into()));
        assert_eq!((problem.kind().slug, problem.status().as_u16()), ("search-unavailable", 503));
    }
}
