//! The clock of the process, and the time limit of an invocation.

use std::future::pending;
use std::time::Duration;

use table::Clock;
use tokio::time::{Instant, sleep, sleep_until};

use crate::ports::Time;

#[derive(Debug)]
pub struct MachineTime<'e> {
    clock: &'e Clock,
    deadline: Option<Instant>,
}

/// The part of an invocation's time that is reserved for the response.
const MARGIN: Duration = Duration::from_secs(1);

impl<'e> MachineTime<'e> {
    pub fn new(clock: &'e Clock, deadline: Option<Instant>) -> Self {
        Self { clock, deadline: deadline.map(|deadline| deadline.checked_sub(MARGIN).unwrap_or(deadline)) }
    }
}

impl Time for MachineTime<'_> {
    fn micros(&self) -> i64 {
        self.clock.micros()
    }

    async fn pause(&self, up_to: Duration) {
        let millis = u64::try_from(up_to.as_millis()).unwrap_or(u64::MAX);
        sleep(Duration::from_millis(fastrand::u64(0..=millis))).await;
    }

    async fn wait(&self, exactly: Duration) {
        sleep(exactly).await;
    }

    async fn expired(&self) {
        match self.deadline {
            Some(deadline) => sleep_until(deadline).await,
            None => pending().await,
        }
    }
}
