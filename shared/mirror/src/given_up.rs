//! The objects in which Lambda keeps records that a function gave up.

use std::time::Duration;

use serde::Deserialize;

/// The age at which records that were given up may be redriven: 15 minutes, after which no invocation uses what it
/// received before, and five for requests that are under way then, and for the difference between the clocks of S3 and of
/// this process.
pub(crate) const REDRIVE_AGE: Duration = Duration::from_mins(20);

/// Whether records that were given up at this time may be redriven.
pub(crate) fn may_redrive(since: i64, now_micros: i64) -> bool {
    let age = now_micros.saturating_sub(since);
    u128::try_from(age).unwrap_or_default() >= REDRIVE_AGE.as_micros()
}

/// An object of Lambda's on-failure destination ("Retain discarded records for a DynamoDB event source in Lambda", AWS
/// Lambda Developer Guide).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GivenUpRecords {
    request_context: RequestContext,
    /// The event.
    pub(crate) payload: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestContext {
    /// `arn:aws:lambda:{region}:{account}:function:{function}`, perhaps with a version.
    function_arn: String,
}

impl GivenUpRecords {
    /// Reads an object. Returns `None` if it is not of this function, or cannot be read.
    pub(crate) fn of_function(body: &[u8], function: &str) -> Option<Self> {
        let given_up: Self = serde_json::from_slice(body).ok()?;
        let (_, name) = given_up.request_context.function_arn.split_once(":function:")?;
        (name.split(':').next() == Some(function)).then_some(given_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_may_be_redriven_when_no_invocation_uses_it_any_more() {
        let minutes = |minutes: i64| minutes * 60_000_000;
        assert!(!may_redrive(minutes(5), minutes(4)));
        assert!(!may_redrive(minutes(5), minutes(24)));
        assert!(may_redrive(minutes(5), minutes(25)));
    }

    #[test]
    fn object_is_of_the_function_in_its_context() {
        for (arn, expected) in [
            ("arn:aws:lambda:ca-central-1:000000000000:function:cairn-toy-mirror", true),
            ("arn:aws:lambda:ca-central-1:000000000000:function:cairn-toy-mirror:7", true),
            ("arn:aws:lambda:ca-central-1:000000000000:function:cairn-toy-mirrors", false),
            ("cairn-toy-mirror", false),
        ] {
            let body = format!(r#"{{"requestContext":{{"functionArn":"{arn}"}},"payload":"{{}}"}}"#);
            let given_up = GivenUpRecords::of_function(body.as_bytes(), "cairn-toy-mirror");
            assert_eq!(given_up.map(|given_up| given_up.payload), expected.then(|| "{}".to_owned()), "{arn}");
        }
        assert!(GivenUpRecords::of_function(b"{}", "cairn-toy-mirror").is_none());
    }
}
