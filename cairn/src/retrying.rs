//! The line that says that a command tries a step again.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use local::Progress;

/// The interval of the lines, since a step is tried again each few seconds.
const INTERVAL: Duration = Duration::from_mins(1);

/// Shows on the progress that a step has failed and is tried again.
#[derive(Debug)]
pub struct Retrying {
    progress: Progress,
    shown: Mutex<Option<Instant>>,
}

impl Retrying {
    pub fn new(progress: Progress) -> Self {
        Self { progress, shown: Mutex::default() }
    }

    /// Says why the step has failed, and for how long it is tried again, unless a line has just said so.
    pub fn show(&self, reason: &str, left: Duration) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.is_none_or(|shown| shown.elapsed() >= INTERVAL) {
            *shown = Some(Instant::now());
            self.progress.note(line(reason, left));
        }
    }
}

fn line(reason: &str, left: Duration) -> String {
    let reason = reason.trim_end_matches('.');
    match left.as_secs().div_ceil(60) {
        1 => format!("{reason}; trying again for a minute"),
        minutes => format!("{reason}; trying again for {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use local::progress::Event;

    use super::*;

    #[test]
    fn reason_and_time_left_are_said_once_a_minute() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&lines);
        let retrying = Retrying::new(Progress::new(move |event| {
            if let Event::Note(line) = event {
                notes.lock().unwrap().push(line);
            }
        }));
        for seconds in [5_400, 5_395] {
            retrying.show("search: it does not respond (connection refused)", Duration::from_secs(seconds));
        }
        let expected = "search: it does not respond (connection refused); trying again for 90 min";
        assert_eq!(*lines.lock().unwrap(), [expected]);
        assert_eq!(line("search: busy", Duration::from_secs(30)), "search: busy; trying again for a minute");
        assert_eq!(line("Retry shortly.", Duration::from_secs(90)), "Retry shortly; trying again for 2 min");
    }
}
