//! Pauses before a call is repeated, or a decision is made again on the current items.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Pauses of random length (full jitter). Their bound doubles from 25 ms to 1 s, for ten seconds in total.
#[derive(Debug)]
pub struct Backoff {
    bound: Duration,
    end: Instant,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

impl Backoff {
    /// How long an operation is retried at most.
    pub const LONGEST: Duration = Duration::from_secs(10);

    pub fn new() -> Self {
        Self { bound: Duration::from_millis(25), end: Instant::now() + Self::LONGEST }
    }

    /// Waits and returns true, or returns false if the ten seconds are over.
    pub async fn wait(&mut self) -> bool {
        let pause = self.bound.mul_f64(fastrand::f64());
        if Instant::now() + pause >= self.end {
            return false;
        }
        sleep(pause).await;
        self.bound = (self.bound * 2).min(Duration::from_secs(1));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn backoff_gives_up_after_ten_seconds() {
        let start = Instant::now();
        let mut backoff = Backoff::new();
        let mut pauses = 0;
        while backoff.wait().await {
            pauses += 1;
        }
        let waited = start.elapsed();
        assert!(pauses >= 10, "{pauses}");
        assert!(waited < Duration::from_secs(10) && waited > Duration::from_secs(8), "{waited:?}");
    }
}
