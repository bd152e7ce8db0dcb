//! What engines refuse, as problems.

use table::Error;
use table::search::SearchError;

use super::{CONFLICT, Problem};

/// A handler that knows more, such as which reference was missing, says so itself before it comes to this.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::NotFound => Self::not_found(),
            Error::Exists => Self::exists("It exists already; change it instead, or choose another name."),
            Error::Stale { .. } => Self::stale(),
            Error::ConditionFailed(_) => CONFLICT.because("What is stored does not allow it.").caused_by(error),
            Error::Conflict => Self::conflict(),
            Error::Throttled => Self::too_many_requests(1).caused_by(error),
            Error::TooLarge => Self::too_large("The item would be larger than can be stored (400 KB)."),
            Error::Key(_) => Self::bad_request(format!("The names are too long together: {error}.")),
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
            SearchError::Refused(_) | SearchError::Undeclared(_) => Self::internal(error),
        }
    }
}
