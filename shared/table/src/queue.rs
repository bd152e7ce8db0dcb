//! Queues of SQS, by one access pattern.

use std::time::Duration;

use serde::Serialize;

use crate::access::{Access, AccessPattern, Call};
use crate::error::Error;

/// A queue to which messages are sent. Its handler receives each message at least once, in no certain order.
#[derive(Clone, Copy, Debug)]
pub struct Queue<'a> {
    access: &'a Access,
    pattern: &'static AccessPattern,
    name: &'static str,
}

impl Access {
    /// Returns the queue with this logical name.
    pub fn queue(&self, pattern: &'static AccessPattern, name: &'static str) -> Queue<'_> {
        Queue { access: self, pattern, name }
    }
}

impl Queue<'_> {
    /// Sends a message with this body as JSON. After an error the message may have been sent.
    pub async fn send(&self, body: &(impl Serialize + Sync)) -> Result<(), Error> {
        self.send_after(body, Duration::ZERO).await
    }

    /// Sends a message that is delivered after a delay of whole seconds, at most 15 minutes.
    pub async fn send_after(&self, body: &(impl Serialize + Sync), delay: Duration) -> Result<(), Error> {
        let call = Call::Queue { queue: self.name };
        self.access.permit(self.pattern, call)?;
        let body = serde_json::to_string(body).map_err(|error| Error::Misfit(error.to_string()))?;
        let engines = self.access.engines();
        let url = engines.config.queue_url(self.name).ok_or_else(|| Error::Engine {
            engine: "SQS",
            source: "the URL of queues is not configured; set CAIRN_QUEUES".into(),
        })?;
        let sent = engines.sqs().send_message().queue_url(url).message_body(body);
        let sent = sent.set_delay_seconds(i32::try_from(delay.as_secs()).ok().filter(|delay| *delay > 0)).send().await;
        self.access.record(self.pattern, call, (0.0, 0.0));
        sent.map(|_| ()).map_err(|error| Error::Engine { engine: "SQS", source: Box::new(error) })
    }
}
