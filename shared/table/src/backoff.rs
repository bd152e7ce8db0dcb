//! Waiting before a call is repeated, or work is done again on what is now there.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Pauses of random length (full jitter) whose bound doubles from 25 ms to 1 s, for ten seconds in all.
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
    /// The longest that an operation is tried again for.
    pub const LONGEST: Duration = Duration::from_secs(10);

    pub fn new() -> Self {
        Self { bound: Duration::from_millis(25), end: Instant::now() + Self::LONGEST }
    }

    /// Waits, or says that it has been long enough.
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
    async fn it_gives_up_after_ten_seconds() {
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
