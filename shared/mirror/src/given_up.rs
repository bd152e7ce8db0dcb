//! The objects in which Lambda keeps records that a function gave up.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::json::Reader;

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
/// Lambda Developer Guide), as one function sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GivenUpObject {
    /// The event that the function gave up.
    Event(String),
    /// An object of the function without an event, or one that is no JSON, so that its function is not known.
    Unreadable,
    /// An object of another function.
    Other,
}

impl GivenUpObject {
    pub(crate) fn of(body: &[u8], function: &str) -> Self {
        #[derive(Deserialize)]
        struct Retained {
            payload: String,
        }
        match is_of_function(body, function) {
            Some(true) => {
                serde_json::from_slice(body).map_or(Self::Unreadable, |Retained { payload }| Self::Event(payload))
            }
            None if serde_json::from_slice::<IgnoredAny>(body).is_err() => Self::Unreadable,
            Some(false) | None => Self::Other,
        }
    }
}

/// Returns whether an object is of this function, from the first bytes of the object. Returns `None` if they do not name a
/// function.
pub(crate) fn is_of_function(start: &[u8], function: &str) -> Option<bool> {
    // The first bytes may end within a character.
    let start = start.utf8_chunks().next()?.valid();
    let mut arn = None;
    // They usually end within a member, which is no fault if the function stands before it.
    let _ = Reader::new(start).object(|reader, name| {
        if name != "requestContext" {
            return reader.value().map(drop);
        }
        reader.object(|reader, name| {
            if name == "functionArn" {
                arn = Some(reader.string()?.into_owned());
                return Ok(());
            }
            reader.value().map(drop)
        })
    });
    // `arn:aws:lambda:{region}:{account}:function:{function}`, perhaps with a version.
    let arn = arn?;
    let (_, name) = arn.split_once(":function:").unwrap_or_default();
    Some(name.split(':').next() == Some(function))
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
            let object = GivenUpObject::of(body.as_bytes(), "cairn-toy-mirror");
            let expected = if expected { GivenUpObject::Event("{}".to_owned()) } else { GivenUpObject::Other };
            assert_eq!(object, expected, "{arn}");
        }
    }

    #[test]
    fn object_of_the_function_without_an_event_is_unreadable() {
        let context = r#""requestContext":{"condition":"x","functionArn":"a:function:toy-mirror"}"#;
        for (body, expected) in [
            (format!("{{{context}}}"), GivenUpObject::Unreadable),
            (format!(r#"{{{context},"payload":{{}}}}"#), GivenUpObject::Unreadable),
            (format!(r#"{{{context},"payload":"cut "#), GivenUpObject::Unreadable),
            (String::new(), GivenUpObject::Unreadable),
            ("{".to_owned(), GivenUpObject::Unreadable),
            ("{}".to_owned(), GivenUpObject::Other),
        ] {
            assert_eq!(GivenUpObject::of(body.as_bytes(), "toy-mirror"), expected, "{body}");
        }
    }

    #[test]
    fn function_is_known_from_the_start_of_an_object() {
        let body = r#"{"requestContext":{"functionArn":"a:function:toy-mirror"},"payload":"é"}"#.as_bytes();
        for (bytes, expected) in [(20, None), (body.len() - 3, Some(true)), (body.len(), Some(true))] {
            assert_eq!(is_of_function(&body[..bytes], "toy-mirror"), expected, "{bytes}");
        }
        assert_eq!(is_of_function(body, "toy-live"), Some(false));
    }
}
