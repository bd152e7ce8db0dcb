//! `cairn create-index`: creates the index of a deployed system whose tables take longer than a function may run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use local::Progress;
use mirror::StatusWord;
use serde_json::json;

use crate::failure::Failure;
use crate::retrying::Retrying;
use crate::show::Show;
use crate::target::Target;

#[derive(Debug, Args)]
pub struct CreateIndex {
    #[command(flatten)]
    target: Target,
}

const FILLING: &str = "items";

impl CreateIndex {
    /// Creates the index, fills it from the tables, and points the readers' alias to it. After an interruption the next
    /// call resumes it. If the index exists, nothing changes.
    pub async fn run(self) -> Result<(), Failure> {
        let (engines, served) = self.target.open().await?;
        let show = Show::new();
        let step = shown(show.progress(), served.count_items(&engines).await);
        let generation = (served.first_index)(Arc::clone(&engines), Box::new(step)).await.map_err(Failure::new);
        show.clear();
        let generation = generation?;
        // An index that is published already may be lost.
        let status = mirror::status(served.system, &engines, (served.mapping)().version).await.map_err(Failure::new)?;
        if let (StatusWord::Down, Some(reason)) = (status.word, status.reason) {
            return Err(Failure::new(reason));
        }
        if self.target.json {
            println!("{:#}", json!({ "index": generation.index }));
        } else {
            println!("{}", generation.index);
        }
        Ok(())
    }
}

/// Returns a function that shows the steps of the first index. No audit follows, and nothing is paused for it.
fn shown(progress: Progress, total: Option<u64>) -> impl Fn(mirror::Progress) + Send + Sync {
    let (done, retrying) = (AtomicU64::default(), Retrying::new(progress.clone()));
    move |step| match step {
        mirror::Progress::Retrying { reason, left } => retrying.show(&reason, left),
        mirror::Progress::Scanned { items, .. } => {
            let done = done.fetch_add(items as u64, Ordering::SeqCst) + items as u64;
            progress.started(FILLING);
            progress.advanced(FILLING, done, total.map(|total| total.max(done)));
        }
        mirror::Progress::Filled => {
            progress.finished(FILLING, format!("{} scanned", done.load(Ordering::SeqCst)));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use local::progress::Event;

    use super::*;

    #[test]
    fn progress_counts_the_items_of_all_pages() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let step = shown(Progress::new(move |event| seen.lock().unwrap().push(event)), Some(3));
        for items in [2, 2] {
            step(mirror::Progress::Scanned { table: "parks", items });
        }
        step(mirror::Progress::Filled);
        let advanced = |done, total| Event::Advanced { stage: FILLING, done, total: Some(total) };
        let finished = Event::Finished { stage: FILLING, outcome: "4 scanned".to_owned() };
        let expected = [Event::Started(FILLING), advanced(2, 3), Event::Started(FILLING), advanced(4, 4), finished];
        assert_eq!(*events.lock().unwrap(), expected);
    }
}
