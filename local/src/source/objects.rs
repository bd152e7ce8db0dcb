//! Object events: a handler is called for every stored object under a declared prefix.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::error::DisplayErrorContext;
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use table::Clock;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::{Function, MAX_TIMEOUT};
use crate::engine::objects::Stored;

/// A notification of a bucket: a prefix and the handler to call.
#[derive(Debug)]
pub struct Notification<F> {
    /// The bucket's physical name.
    pub bucket: String,
    pub prefix: &'static str,
    pub function: Arc<F>,
    pub handler: &'static str,
}

/// Objects whose events have not been handled yet.
#[derive(Clone, Debug)]
pub struct Pending {
    count: watch::Receiver<u64>,
    /// Barriers: each is passed once all events that were sent before it are counted.
    barriers: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

impl Pending {
    /// Waits until the events of all objects stored so far are handled or discarded.
    pub async fn settled(&self) {
        let (barrier, passed) = oneshot::channel();
        let _ = self.barriers.send(barrier);
        let _ = passed.await;
        let mut pending = self.count.clone();
        let _ = pending.wait_for(|pending| *pending == 0).await;
    }
}

/// The waits between the attempts of a failing invocation. Lambda makes three attempts, minutes apart.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// The characters of a key that are escaped in an event. S3 encodes keys there as forms do, with `+` for a space.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b' ');

/// Calls handlers for stored objects until `stop` turns true, and then finishes the calls in progress.
pub fn start<F: Function>(
    notifications: Vec<Notification<F>>,
    mut stored: mpsc::UnboundedReceiver<Stored>,
    clock: Clock,
    mut stop: watch::Receiver<bool>,
) -> (Pending, impl Future<Output = ()> + Send + use<F>) {
    let (count, pending) = watch::channel(0);
    let (barriers, mut reached) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
    let run = async move {
        let mut running = JoinSet::new();
        loop {
            let object = tokio::select! {
                // Events come before barriers, so that a barrier is passed once all earlier ones are counted.
                biased;
                _ = stop.wait_for(|stop| *stop) => None,
                object = stored.recv() => object,
                Some(barrier) = reached.recv() => {
                    let _ = barrier.send(());
                    continue;
                }
            };
            let Some(object) = object else { break };
            for notification in matching(&notifications, &object) {
                count.send_modify(|count| *count += 1);
                let function = Arc::clone(&notification.function);
                let call = deliver(function, notification.handler, payload(&object, &clock));
                let count = count.clone();
                running.spawn(async move {
                    call.await;
                    count.send_modify(|count| *count -= 1);
                });
            }
            while running.try_join_next().is_some() {}
        }
        while running.join_next().await.is_some() {}
    };
    (Pending { count: pending, barriers }, run)
}

/// Sends the events of all existing objects again, since some may have been lost with the process. Handlers ignore
/// objects that they have handled.
pub async fn resend<F>(
    client: &Client,
    notifications: &[Notification<F>],
    stored: &mpsc::UnboundedSender<Stored>,
) -> Result<usize, String> {
    let prefixes: BTreeSet<(&str, &str)> =
        notifications.iter().map(|notification| (notification.bucket.as_str(), notification.prefix)).collect();
    let mut told = 0;
    for (bucket, prefix) in prefixes {
        let mut pages = client.list_objects_v2().bucket(bucket).prefix(prefix).into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| DisplayErrorContext(error).to_string())?;
            for object in page.contents.unwrap_or_default() {
                let Some(key) = object.key else { continue };
                let entity_tag = object.e_tag.unwrap_or_default().trim_matches('"').to_owned();
                let size = object.size.and_then(|size| u64::try_from(size).ok()).unwrap_or_default();
                let _ = stored.send(Stored { bucket: bucket.to_owned(), key, size, entity_tag });
                told += 1;
            }
        }
    }
    Ok(told)
}

fn matching<'a, F>(
    notifications: &'a [Notification<F>],
    object: &'a Stored,
) -> impl Iterator<Item = &'a Notification<F>> {
    notifications
        .iter()
        .filter(|notification| notification.bucket == object.bucket && object.key.starts_with(notification.prefix))
}

async fn deliver<F: Function>(function: Arc<F>, handler: &'static str, payload: Bytes) {
    let mut waits = RETRIES.into_iter();
    while let Err(error) = function.invoke(handler, payload.clone(), MAX_TIMEOUT).await {
        let Some(wait) = waits.next() else {
            return tracing::error!(handler, error, "object event failed; will retry at the next start");
        };
        tracing::warn!(handler, error, "object event failed; will retry");
        tokio::time::sleep(wait).await;
    }
}

/// S3's notification ("Event message structure").
fn payload(object: &Stored, clock: &Clock) -> Bytes {
    let key = utf8_percent_encode(&object.key, ESCAPED).to_string().replace(' ', "+");
    let event = json!({"Records": [{
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": "local",
        "eventTime": format!("{:.3}", clock.now()),
        "eventName": "ObjectCreated:Put",
        "userIdentity": {"principalId": "local"},
        "requestParameters": {"sourceIPAddress": "127.0.0.1"},
        "responseElements": {},
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "local",
            "bucket": {
                "name": object.bucket,
                "ownerIdentity": {"principalId": "local"},
                "arn": format!("arn:aws:s3:::{}", object.bucket),
            },
            "object": {
                "key": key,
                "size": object.size,
                "eTag": object.entity_tag,
                "sequencer": format!("{:016X}", clock.micros()),
            },
        },
    }]});
    Bytes::from(event.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_in_an_event_is_encoded_as_by_s3() {
        let object = Stored {
            bucket: "toy".to_owned(),
            key: "uploads/a b+ü.json".to_owned(),
            size: 3,
            entity_tag: "t".to_owned(),
        };
        let event: serde_json::Value = serde_json::from_slice(&payload(&object, &Clock::system())).unwrap();
        assert_eq!(event["Records"][0]["s3"]["object"]["key"], "uploads/a+b%2B%C3%BC.json");
        assert_eq!(event["Records"][0]["s3"]["bucket"]["name"], "toy");
    }
}
