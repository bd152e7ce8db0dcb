//! Sample events of Lambda, one per operation and event handler.

use std::fs;
use std::path::Path;

use md5::{Digest, Md5};
use serde_json::{Value, json};
use table::schema::{EventSource, SOCKET_STAGE};
use web::{App, EventHandler, operation};

use crate::description::marked;
use crate::failure::{Doing, Failure};
use crate::infra::function::resource;
use crate::records;

/// Returns the name of each operation and event handler of a system with its event as text. `records` are those of its
/// mirror's event.
pub fn of(app: &App, records: &[Value]) -> Vec<(&'static str, String)> {
    let system = app.system();
    let requests = app.routes().map(|route| (route.name(), marked(&operation::sample_event(route))));
    let sources = system.sources.iter().flat_map(|source| {
        names(source).map(move |(name, handler)| (name, marked(&event(app, source, handler, records))))
    });
    requests.chain(sources).collect()
}

/// Returns the name of each sample event of a source, with its handler. A handler may also have events of a state machine,
/// which are called by the name of that.
pub fn names(source: &EventSource) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    let machine = match source {
        EventSource::StateMachine { name, .. } => Some(*name),
        _ => None,
    };
    source.handlers().map(move |handler| (machine.unwrap_or(handler), handler))
}

/// Reads the file of an event.
pub fn read(root: &Path, system: &str, name: &str) -> Result<String, Failure> {
    let path = format!("events/{system}/{name}.json");
    fs::read_to_string(root.join(&path)).doing(path)
}

fn event(app: &App, source: &EventSource, handler: &str, records: &[Value]) -> Value {
    let system = app.system();
    match source {
        EventSource::Streams { .. } | EventSource::Records { .. } => json!({ "Records": records }),
        EventSource::Objects { bucket, prefix, .. } => object_created(bucket, prefix),
        EventSource::Queue { name, .. } => {
            let declared = app.event_handlers().iter().find(|declared| declared.name() == handler);
            message(name, declared.map_or("", EventHandler::declared_message))
        }
        EventSource::Schedule { .. } => scheduled(system.name, handler),
        EventSource::Deployment { .. } => deployed(system.name, handler),
        EventSource::StateMachine { .. } => first_call(),
        EventSource::Socket { connect, .. } if *connect == handler => socket("CONNECT", "$connect"),
        EventSource::Socket { receive, .. } if *receive == handler => socket("MESSAGE", "$default"),
        EventSource::Socket { .. } => socket("DISCONNECT", "$disconnect"),
    }
}

/// Returns S3's notification of a new object ("Event message structure").
fn object_created(bucket: &str, prefix: &str) -> Value {
    json!({ "Records": [{
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": records::REGION,
        "eventTime": "2026-01-01T00:00:00.000Z",
        "eventName": "ObjectCreated:Put",
        "userIdentity": { "principalId": "AWS:AIDASAMPLE" },
        "requestParameters": { "sourceIPAddress": "203.0.113.1" },
        "responseElements": { "x-amz-request-id": "SAMPLE", "x-amz-id-2": "SAMPLE" },
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "sample",
            "bucket": {
                "name": bucket,
                "ownerIdentity": { "principalId": "SAMPLE" },
                "arn": format!("arn:aws:s3:::{bucket}"),
            },
            "object": {
                "key": format!("{prefix}{}", records::OBJECT),
                "size": 5_000_000,
                "eTag": "9b2cf535f27731c974343645a3985328",
                "sequencer": "00000000006745A4D0",
            },
        },
    }] })
}

/// Returns Lambda's event of a message ("Using Lambda with Amazon SQS").
fn message(queue: &str, body: &str) -> Value {
    json!({ "Records": [{
        "messageId": records::OBJECT,
        "receiptHandle": "SAMPLE",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1767225600000",
            "SenderId": "AIDASAMPLE",
            "ApproximateFirstReceiveTimestamp": "1767225600001",
        },
        "messageAttributes": {},
        "md5OfBody": Md5::digest(body).iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        "eventSource": "aws:sqs",
        "eventSourceARN": format!("arn:aws:sqs:{}:123456789012:{queue}", records::REGION),
        "awsRegion": records::REGION,
    }] })
}

/// Returns API Gateway's event of a connection ("Set up route selection for a WebSocket API").
fn socket(kind: &str, route: &str) -> Value {
    let mut context = json!({
        "routeKey": route,
        "eventType": kind,
        "messageDirection": "IN",
        "stage": SOCKET_STAGE,
        "connectedAt": 1_767_225_600_000_i64,
        "requestTime": "01/Jan/2026:00:00:00 +0000",
        "requestTimeEpoch": 1_767_225_600_001_i64,
        "identity": { "sourceIp": "203.0.113.1" },
        "requestId": records::OBJECT,
        "extendedRequestId": "SAMPLE=",
        "domainName": format!("a1b2c3d4e5.execute-api.{}.amazonaws.com", records::REGION),
        "connectionId": "SAMPLEofAnIdentifier=",
        "apiId": "a1b2c3d4e5",
    });
    match kind {
        "CONNECT" => json!({
            "requestContext": context,
            "headers": { "Sec-WebSocket-Version": "13", "X-Forwarded-For": "203.0.113.1" },
            "queryStringParameters": { "ticket": "SAMPLE" },
            "isBase64Encoded": false,
        }),
        "MESSAGE" => json!({
            "requestContext": context,
            "body": json!({ "action": "ping", "id": "1" }).to_string(),
            "isBase64Encoded": false,
        }),
        _ => {
            if let Some(context) = context.as_object_mut() {
                context.insert("disconnectStatusCode".to_owned(), json!(1000));
                context.insert("disconnectReason".to_owned(), json!(""));
            }
            json!({ "requestContext": context, "isBase64Encoded": false })
        }
    }
}

/// Returns EventBridge's event of a schedule.
fn scheduled(system: &str, handler: &str) -> Value {
    json!({
        "version": "0",
        "id": records::OBJECT,
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": "2026-01-01T00:00:00Z",
        "region": records::REGION,
        "resources": [format!("arn:aws:events:{}:123456789012:rule/{system}-{handler}", records::REGION)],
        "detail": {},
    })
}

/// Returns the first call of an execution that resumes a rebuild.
fn first_call() -> Value {
    json!({ "RequestType": "Rebuild", "order": { "begin": false } })
}

/// Returns CloudFormation's request for a custom resource, without the URL for the response.
fn deployed(system: &str, handler: &str) -> Value {
    let region = records::REGION;
    let function = format!("arn:aws:lambda:{region}:123456789012:function:{system}-{handler}");
    json!({
        "RequestType": "Create",
        "RequestId": records::OBJECT,
        "StackId": format!("arn:aws:cloudformation:{region}:123456789012:stack/{system}/{}", records::OBJECT),
        "ResourceType": format!("Custom::{}", resource(handler, "")),
        "LogicalResourceId": resource(handler, "Resource"),
        "ResourceProperties": { "ServiceToken": function, "ServiceTimeout": "3600" },
    })
}
