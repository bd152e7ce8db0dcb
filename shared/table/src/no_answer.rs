//! Why a request was not answered, in the words of the cause: clients say "error sending request", whatever it was.

use std::error::Error;
use std::io::{self, ErrorKind};

/// Describes the error of a request to an engine. If there was no answer, it names the cause, such as `connection
/// refused`, `timed out` or `name not found`.
pub fn describe(error: &(dyn Error + 'static)) -> String {
    if let Some(cause) = chain(error).find_map(cause) {
        return format!("it does not respond ({cause})");
    }
    let outer = error.to_string();
    match chain(error).last().map(ToString::to_string) {
        Some(inner) if !outer.contains(&inner) => format!("{outer}: {inner}"),
        _ => outer,
    }
}

/// Returns the error and its causes, outermost first.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns the cause if this is the error of a connection.
fn cause(error: &(dyn Error + 'static)) -> Option<String> {
    let text = error.to_string();
    // The last error of these has no type of its own.
    if let Some(reason) = text.strip_prefix("failed to lookup address information: ") {
        return Some(format!("name not found: {reason}"));
    }
    if text.starts_with("invalid peer certificate") {
        return Some(text);
    }
    let named = error.downcast_ref::<io::Error>().and_then(|error| match error.kind() {
        ErrorKind::ConnectionRefused => Some("connection refused"),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => Some("connection closed"),
        ErrorKind::TimedOut => Some("timed out"),
        _ => None,
    });
    let is_timeout = || ["operation timed out", "request has timed out"].contains(&&*text);
    let said = if is_timeout() || text.contains("timeout occurred after") {
        Some("timed out")
    } else {
        text.contains("connection closed before message completed").then_some("connection closed")
    };
    named.or(said).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error that wraps another one and does not say which.
    #[derive(Debug, thiserror::Error)]
    #[error("error sending request")]
    struct Wrapped(#[source] Box<dyn Error + Send + Sync>);

    fn described(cause: impl Into<Box<dyn Error + Send + Sync>>) -> String {
        describe(&Wrapped(Box::new(Wrapped(cause.into()))))
    }

    #[test]
    fn cause_of_a_missing_answer_is_named() {
        let io = |kind, text: &str| io::Error::new(kind, text.to_owned());
        for (cause, expected) in [
            (io::Error::from(ErrorKind::ConnectionRefused), "connection refused"),
            (io::Error::from(ErrorKind::ConnectionReset), "connection closed"),
            (io::Error::from(ErrorKind::TimedOut), "timed out"),
            (io(ErrorKind::Other, "operation timed out"), "timed out"),
            (io(ErrorKind::Other, "HTTP connect timeout occurred after 3.1s"), "timed out"),
            (
                io(ErrorKind::Other, "failed to lookup address information: Name or service not known"),
                "name not found: Name or service not known",
            ),
            (
                io(ErrorKind::InvalidData, "invalid peer certificate: UnknownIssuer"),
                "invalid peer certificate: UnknownIssuer",
            ),
        ] {
            assert_eq!(described(cause), format!("it does not respond ({expected})"));
        }
    }

    #[test]
    fn other_errors_are_described_with_their_innermost_cause() {
        assert_eq!(described("no credentials"), "error sending request: no credentials");
        assert_eq!(describe(&io::Error::other("no credentials")), "no credentials");
    }
}
