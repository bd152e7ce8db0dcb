//! Messages of a queue: a handler is called for each, as by Lambda's event source mapping with a batch size of 1. After a
//! success the message is deleted. After a failure it stays hidden for the rest of its visibility timeout, and is then
//! delivered again ("Using Lambda with Amazon SQS", AWS Lambda Developer Guide).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use table::Engines;
use table::schema::QUEUE_CONCURRENCY;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Function, MAX_TIMEOUT};
use crate::engine::queues::messages::{Message, Messages};
use crate::engine::queues::protocol::{arn, md5, system_attributes};

/// The event source of a queue.
#[derive(Debug)]
pub struct Queue<F> {
    pub messages: Arc<Messages>,
    /// The queue's physical name.
    pub name: String,
    pub function: Arc<F>,
    pub handler: &'static str,
}

/// How often the queue is read without a new message, for those whose visibility timeout has passed.
const POLL: Duration = Duration::from_secs(1);

/// Calls the handler until `stop` turns true, and finishes the calls in progress. A process that winds down starts no
/// calls.
pub async fn run<F: Function>(queue: Queue<F>, engines: Arc<Engines>, mut stop: watch::Receiver<bool>) {
    let queue = Arc::new(queue);
    let (mut changes, mut moves) = (queue.messages.changes(), engines.clock.moves());
    let mut running = JoinSet::new();
    while !*stop.borrow() && stop.has_changed().is_ok() {
        changes.mark_unchanged();
        while running.len() < QUEUE_CONCURRENCY as usize && !engines.is_winding_down() {
            match queue.messages.receive(&queue.name, 1, None).await {
                Ok(received) if received.is_empty() => break,
                Ok(received) => {
                    for message in received {
                        running.spawn(deliver(Arc::clone(&queue), message));
                    }
                }
                Err(error) => {
                    tracing::warn!(queue = queue.name, %error, "receiving messages failed; will retry");
                    break;
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            _ = changes.changed() => {}
            _ = moves.changed() => {}
            Some(_) = running.join_next() => {}
            _ = stop.changed() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

async fn deliver<F: Function>(queue: Arc<Queue<F>>, message: Message) {
    let handler = queue.handler;
    if let Err(error) = queue.function.invoke(handler, payload(&queue.name, &message), MAX_TIMEOUT).await {
        let (id, receives) = (&message.id, message.receives);
        return tracing::warn!(handler, message.id = id, receives, error, "message failed; it stays in its queue");
    }
    if let Err(error) = queue.messages.delete(&queue.name, &message.receipt()).await {
        tracing::warn!(handler, message.id = message.id, %error, "deleting a message failed; it is delivered again");
    }
}

/// Returns Lambda's event of a message.
fn payload(queue: &str, message: &Message) -> Bytes {
    let event = json!({"Records": [{
        "messageId": message.id,
        "receiptHandle": message.receipt(),
        "body": message.body,
        "attributes": system_attributes(message),
        "messageAttributes": {},
        "md5OfBody": md5(&message.body),
        "eventSource": "aws:sqs",
        "eventSourceARN": arn(queue),
        "awsRegion": "local",
    }]});
    Bytes::from(event.to_string())
}
