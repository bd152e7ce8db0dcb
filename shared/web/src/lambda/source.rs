//! Detection of the source of an invocation, for a function that serves a whole system.

use serde::Deserialize;
use table::schema::{EventSource, System};

use crate::socket::SocketEventKind;

/// The source of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Http,
    /// An event source of the system, with its event handler.
    Event(String),
}

/// The members by which events differ. Other members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    request_context: Option<RequestContext>,
    #[serde(rename = "Records", default)]
    records: Vec<Record>,
    source: Option<String>,
    #[serde(default)]
    resources: Vec<String>,
    #[serde(rename = "RequestType")]
    request_type: Option<serde::de::IgnoredAny>,
}

/// The context of a request, or of an event of a WebSocket API. Only the latter has a type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestContext {
    event_type: Option<SocketEventKind>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    event_source: Option<String>,
    #[serde(rename = "eventSourceARN")]
    event_source_arn: Option<String>,
    s3: Option<S3>,
}

#[derive(Deserialize)]
struct S3 {
    bucket: Named,
    object: Keyed,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Keyed {
    key: String,
}

impl Source {
    /// Returns `None` for an event of no declared source. The names of buckets may have a suffix.
    pub fn of(payload: &str, system: &System, bucket_suffix: &str) -> Option<Self> {
        let envelope: Envelope = serde_json::from_str(payload).ok()?;
        let socket_event = match envelope.request_context {
            Some(RequestContext { event_type: None }) => return Some(Self::Http),
            Some(RequestContext { event_type }) => event_type,
            None => None,
        };
        if let Some(kind) = socket_event {
            return of_socket(kind, system).map(|handler| Self::Event(handler.to_owned()));
        }
        let handler = match (envelope.records.first(), envelope.source.as_deref()) {
            (Some(record), _) => of_record(record, system, bucket_suffix)?,
            (None, Some("aws.events" | "aws.scheduler")) => of_schedule(&envelope.resources, system)?,
            (None, _) if envelope.request_type.is_some() => of_deployment(system)?,
            (None, _) => return None,
        };
        Some(Self::Event(handler.to_owned()))
    }
}

fn of_record(record: &Record, system: &System, bucket_suffix: &str) -> Option<&'static str> {
    let matches = |source: &EventSource| match (source, record.event_source.as_deref(), &record.s3) {
        (EventSource::Streams { handler, .. }, Some("aws:dynamodb"), _) => Some(*handler),
        (EventSource::Objects { bucket, prefix, handler }, Some("aws:s3"), Some(s3))
            if s3.bucket.name.strip_suffix(bucket_suffix).is_some_and(|name| name.ends_with(bucket))
                && s3.object.key.starts_with(prefix) =>
        {
            Some(*handler)
        }
        (EventSource::Queue { name, handler }, Some("aws:sqs"), _) => {
            // The name of the queue has the prefix of the deployment.
            record.event_source_arn.as_ref()?.ends_with(name).then_some(*handler)
        }
        _ => None,
    };
    system.sources.iter().find_map(matches)
}

/// Finds the handler of a schedule by the name of its rule. The rule of an only schedule may have any name.
fn of_schedule(rules: &[String], system: &System) -> Option<&'static str> {
    let scheduled: Vec<&'static str> = system
        .sources
        .iter()
        .filter_map(|source| match source {
            EventSource::Schedule { handler, .. } => Some(*handler),
            _ => None,
        })
        .collect();
    let by_name = scheduled.iter().find(|handler| rules.iter().any(|rule| rule.contains(**handler)));
    match scheduled.as_slice() {
        [only] => Some(only),
        _ => by_name.copied(),
    }
}

fn of_socket(kind: SocketEventKind, system: &System) -> Option<&'static str> {
    system.sources.iter().find_map(|source| match source {
        EventSource::Socket { connect, disconnect, receive } => Some(match kind {
            SocketEventKind::Connect => *connect,
            SocketEventKind::Disconnect => *disconnect,
            SocketEventKind::Message => *receive,
        }),
        _ => None,
    })
}

fn of_deployment(system: &System) -> Option<&'static str> {
    system.sources.iter().find_map(|source| match source {
        EventSource::Deployment { handler } => Some(*handler),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    static SYSTEM: System = System {
        name: "zoo",
        tables: &[],
        buckets: &[],
        secrets: &[],
        sources: &[
            EventSource::Streams { handler: "mirror", filtered: false },
            EventSource::Objects { bucket: "zoo", prefix: "photos/", handler: "checkPhoto" },
            EventSource::Queue { name: "zoo-meals", handler: "serveMeal" },
            EventSource::Schedule { every_minutes: 1, handler: "runJobs" },
            EventSource::Schedule { every_minutes: 1440, handler: "sweep" },
            EventSource::Deployment { handler: "openGates" },
            EventSource::Socket { connect: "enter", disconnect: "leave", receive: "hear" },
        ],
    };

    #[test]
    fn payload_determines_source_and_handler() {
        let cases = [
            (r#"{"version": "2.0", "requestContext": {"http": {}}}"#, Some(Source::Http)),
            (r#"{"requestContext": {"routeKey": "$connect", "eventType": "CONNECT"}}"#, Some(event("enter"))),
            (r#"{"requestContext": {"routeKey": "$disconnect", "eventType": "DISCONNECT"}}"#, Some(event("leave"))),
            (r#"{"requestContext": {"routeKey": "$default", "eventType": "MESSAGE"}}"#, Some(event("hear"))),
            (r#"{"requestContext": {"eventType": "OTHER"}}"#, None),
            (r#"{"Records": [{"eventSource": "aws:dynamodb", "dynamodb": {}}]}"#, Some(event("mirror"))),
            (
                r#"{"Records": [{"eventSource": "aws:s3",
                    "s3": {"bucket": {"name": "test-zoo-1-r"}, "object": {"key": "photos/1"}}}]}"#,
                Some(event("checkPhoto")),
            ),
            (
                r#"{"Records": [{"eventSource": "aws:s3",
                    "s3": {"bucket": {"name": "zoo-1-r"}, "object": {"key": "films/1"}}}]}"#,
                None,
            ),
            (r#"{"source": "aws.events", "resources": ["arn:aws:events:a:1:rule/zoo-sweep"]}"#, Some(event("sweep"))),
            (r#"{"source": "aws.events", "resources": []}"#, None),
            (r#"{"RequestType": "Create", "ResponseURL": "https://x.example"}"#, Some(event("openGates"))),
            (
                r#"{"Records": [{"eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:a:1:test-zoo-meals"}]}"#,
                Some(event("serveMeal")),
            ),
            (r#"{"Records": [{"eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:a:1:zoo-visits"}]}"#, None),
            (r#"{"Records": [{"eventSource": "aws:sqs"}]}"#, None),
            (r#"{"Records": [{"eventSource": "aws:kinesis"}]}"#, None),
            ("[]", None),
        ];
        for (payload, expected) in cases {
            assert_eq!(Source::of(payload, &SYSTEM, "-1-r"), expected, "{payload}");
        }
    }

    fn event(handler: &str) -> Source {
        Source::Event(handler.into())
    }
}
