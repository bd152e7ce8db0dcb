//! The progress of a command that fills an index from the tables.

use std::sync::atomic::{AtomicU64, Ordering};

use local::Progress;

/// The stage of the progress bar.
pub const FILLING: &str = "items";

/// The number of items that were scanned, shown on the progress.
#[derive(Debug)]
pub struct Filling {
    progress: Progress,
    done: AtomicU64,
    total: Option<u64>,
}

impl Filling {
    pub fn new(progress: Progress, total: Option<u64>) -> Self {
        Self { progress, done: AtomicU64::default(), total }
    }

    /// Adds the items of a page.
    pub fn scanned(&self, items: usize) {
        let items = items as u64;
        let done = self.done.fetch_add(items, Ordering::SeqCst) + items;
        self.progress.started(FILLING);
        self.progress.advanced(FILLING, done, self.total.map(|total| total.max(done)));
    }

    /// Ends the stage. A later one counts from 0 again.
    pub fn finished(&self) {
        self.progress.finished(FILLING, format!("{} scanned", self.done.swap(0, Ordering::SeqCst)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use local::progress::Event;

    use super::*;

    #[test]
    fn progress_counts_the_items_of_all_pages() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let filling = Filling::new(Progress::new(move |event| seen.lock().unwrap().push(event)), Some(3));
        for items in [2, 2] {
            filling.scanned(items);
        }
        filling.finished();
        let advanced = |done, total| Event::Advanced { stage: FILLING, done, total: Some(total) };
        let finished = Event::Finished { stage: FILLING, outcome: "4 scanned".to_owned() };
        let expected = [Event::Started(FILLING), advanced(2, 3), Event::Started(FILLING), advanced(4, 4), finished];
        assert_eq!(*events.lock().unwrap(), expected);
    }
}
