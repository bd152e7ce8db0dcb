//! The account's event bus (EventBridge), by one access pattern.

use std::time::Duration;

use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use serde_json::Value;

use crate::access::{Access, AccessPattern, Call};
use crate::error::Error;

/// An event of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct BusEvent {
    /// The kind of event, which is its `detail-type`, such as `order.paid`.
    pub kind: &'static str,
    /// When it happened, since 1970.
    pub time: Duration,
    /// An object of JSON.
    pub detail: Value,
}

/// The most events of one call, and of one request ("PutEvents", Amazon EventBridge API Reference).
pub const MAX_BUS_EVENTS: usize = 10;

impl Access {
    /// Puts at most [`MAX_BUS_EVENTS`] events of a source on the bus. After an error any of them may be on the bus.
    pub async fn put_events(
        &self,
        pattern: &'static AccessPattern,
        source: &'static str,
        events: &[BusEvent],
    ) -> Result<(), Error> {
        let call = Call::EventBus { source };
        self.permit(pattern, call)?;
        let engines = self.engines();
        let entry = |event: &BusEvent| {
            PutEventsRequestEntry::builder()
                .event_bus_name(&engines.config.event_bus)
                .source(engines.config.event_source(source))
                .detail_type(event.kind)
                .time(DateTime::from_millis(i64::try_from(event.time.as_millis()).unwrap_or(i64::MAX)))
                .detail(event.detail.to_string())
                .build()
        };
        let put = engines.eventbridge().put_events().set_entries(Some(events.iter().map(entry).collect())).send().await;
        self.record(pattern, call, (0.0, 0.0));
        let put = put.map_err(|error| Error::Engine { engine: ENGINE, source: Box::new(error) })?;
        // The request succeeds although some of its events are refused, by throttling for example.
        match put.entries().iter().find(|entry| entry.error_code().is_some()) {
            None if put.failed_entry_count() == 0 => Ok(()),
            refused => {
                let code = refused.and_then(|entry| entry.error_code()).unwrap_or("no reason");
                let reason = format!("{} of {} events were refused: {code}", put.failed_entry_count(), events.len());
                Err(Error::Engine { engine: ENGINE, source: reason.into() })
            }
        }
    }
}

const ENGINE: &str = "EventBridge";
