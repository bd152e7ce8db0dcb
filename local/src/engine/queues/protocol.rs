//! SQS's JSON protocol ("Amazon SQS API Reference", JSON protocol), as far as the SDKs and the command line of AWS use it
//! to send, receive, delete and count messages.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use md5::{Digest, Md5};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::messages::{Failure, Message, Messages, Settings};

/// The account in the URLs of queues.
pub const ACCOUNT: &str = "000000000000";

/// The maximum size of a message in bytes ("Amazon SQS message quotas").
const MAX_BODY: usize = 1024 * 1024;

/// The maximum number of messages in a response.
const MAX_RECEIVED: u32 = 10;

/// The longest time for which a message can be hidden or delayed, in seconds.
const MAX_HIDDEN: u64 = 12 * 3600;
const MAX_DELAY: u64 = 900;

/// An error in SQS's form.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    /// The error's type in the JSON protocol.
    pub kind: &'static str,
    /// Its name in the older query protocol, which the SDKs report as the code.
    pub code: &'static str,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Send {
    queue_url: String,
    message_body: String,
    delay_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Receive {
    queue_url: String,
    max_number_of_messages: Option<u32>,
    visibility_timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Received {
    queue_url: String,
    receipt_handle: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Hide {
    queue_url: String,
    receipt_handle: String,
    visibility_timeout: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Named {
    queue_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OfQueue {
    queue_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct List {
    #[serde(default)]
    queue_name_prefix: String,
}

/// Answers a request for an operation such as `AmazonSQS.SendMessage`. `queues` is the URL of a queue before its name.
pub async fn answer(messages: &Arc<Messages>, queues: &str, target: &str, body: &[u8]) -> Result<Value, Refusal> {
    let url = |name: &str| format!("{queues}{name}");
    match target.strip_prefix("AmazonSQS.") {
        Some("SendMessage") => {
            let Send { queue_url, message_body, delay_seconds } = read(body)?;
            if message_body.is_empty() || message_body.len() > MAX_BODY {
                return Err(Refusal::invalid(format!("a message has from 1 to {MAX_BODY} bytes")));
            }
            let delay = seconds(delay_seconds.unwrap_or(0), MAX_DELAY)?;
            let digest = md5(&message_body);
            let id = messages.send(name_of(&queue_url), message_body, delay).await?;
            Ok(json!({ "MessageId": id, "MD5OfMessageBody": digest }))
        }
        Some("ReceiveMessage") => {
            let Receive { queue_url, max_number_of_messages, visibility_timeout } = read(body)?;
            let hidden = visibility_timeout.map(|time| seconds(time, MAX_HIDDEN)).transpose()?;
            let max = max_number_of_messages.unwrap_or(1);
            if !(1..=MAX_RECEIVED).contains(&max) {
                return Err(Refusal::invalid(format!("MaxNumberOfMessages must be from 1 to {MAX_RECEIVED}")));
            }
            let received = messages.receive(name_of(&queue_url), max, hidden).await?;
            Ok(json!({ "Messages": received.iter().map(message).collect::<Vec<_>>() }))
        }
        Some("DeleteMessage") => {
            let Received { queue_url, receipt_handle } = read(body)?;
            messages.delete(name_of(&queue_url), &receipt_handle).await?;
            Ok(json!({}))
        }
        Some("ChangeMessageVisibility") => {
            let Hide { queue_url, receipt_handle, visibility_timeout } = read(body)?;
            let time = seconds(visibility_timeout, MAX_HIDDEN)?;
            messages.hide(name_of(&queue_url), &receipt_handle, time).await?;
            Ok(json!({}))
        }
        Some("GetQueueUrl") => {
            let Named { queue_name } = read(body)?;
            messages.settings(&queue_name)?;
            Ok(json!({ "QueueUrl": url(&queue_name) }))
        }
        Some("GetQueueAttributes") => {
            let OfQueue { queue_url } = read(body)?;
            Ok(json!({ "Attributes": attributes(messages, name_of(&queue_url)).await? }))
        }
        Some("ListQueues") => {
            let List { queue_name_prefix } = read(body)?;
            let names = messages.names().into_iter().filter(|name| name.starts_with(&queue_name_prefix));
            Ok(json!({ "QueueUrls": names.map(|name| url(&name)).collect::<Vec<_>>() }))
        }
        _ => Err(Refusal {
            status: StatusCode::BAD_REQUEST,
            kind: "com.amazonaws.sqs#UnsupportedOperation",
            code: "AWS.SimpleQueueService.UnsupportedOperation",
            message: format!("the local SQS has no operation `{target}`"),
        }),
    }
}

/// Returns the attributes of a queue. Its counts include messages that the next receive removes.
async fn attributes(messages: &Arc<Messages>, queue: &str) -> Result<Value, Refusal> {
    let Settings { visibility_timeout, retention, dead_letters } = messages.settings(queue)?;
    let count = messages.count(queue).await?;
    let mut attributes = json!({
        "QueueArn": arn(queue),
        "ApproximateNumberOfMessages": count.visible.to_string(),
        "ApproximateNumberOfMessagesNotVisible": count.hidden.to_string(),
        "VisibilityTimeout": visibility_timeout.as_secs().to_string(),
        "MessageRetentionPeriod": retention.as_secs().to_string(),
    });
    if let (Some(dead), Some(members)) = (dead_letters, attributes.as_object_mut()) {
        let policy = json!({ "deadLetterTargetArn": arn(&dead.queue), "maxReceiveCount": dead.max_receives });
        members.insert("RedrivePolicy".to_owned(), policy.to_string().into());
    }
    Ok(attributes)
}

fn message(message: &Message) -> Value {
    json!({
        "MessageId": message.id,
        "ReceiptHandle": message.receipt(),
        "Body": message.body,
        "MD5OfBody": md5(&message.body),
        "Attributes": system_attributes(message),
    })
}

/// Returns the attributes that SQS itself gives a message.
pub fn system_attributes(message: &Message) -> Value {
    json!({
        "ApproximateReceiveCount": message.receives.to_string(),
        "SentTimestamp": (message.sent / 1000).to_string(),
        "SenderId": "local",
        "ApproximateFirstReceiveTimestamp": (message.first_received / 1000).to_string(),
    })
}

pub fn arn(queue: &str) -> String {
    format!("arn:aws:sqs:local:{ACCOUNT}:{queue}")
}

/// Returns the MD5 of a message's body in hexadecimal digits.
pub fn md5(body: &str) -> String {
    Md5::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the name of a queue, which is the end of its URL.
fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

fn seconds(time: u64, max: u64) -> Result<Duration, Refusal> {
    let within = (time <= max).then(|| Duration::from_secs(time));
    within.ok_or_else(|| Refusal::invalid(format!("{time} seconds are more than {max}")))
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::invalid(error.to_string()))
}

impl Refusal {
    fn invalid(message: String) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            kind: "com.amazonaws.sqs#InvalidParameterValueException",
            code: "InvalidParameterValue",
            message,
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::NoSuchQueue(_) => Self {
                status: StatusCode::BAD_REQUEST,
                kind: "com.amazonaws.sqs#QueueDoesNotExist",
                code: "AWS.SimpleQueueService.NonExistentQueue",
                message,
            },
            Failure::Store(_) | Failure::Dropped(_) => Self {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                kind: "com.amazonaws.sqs#InternalError",
                code: "InternalFailure",
                message,
            },
        }
    }
}
