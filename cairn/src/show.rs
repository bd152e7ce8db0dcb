//! Progress on standard error: bars in a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use local::Progress;
use local::progress::{Event, Stage};

/// The display of all stages in progress.
#[derive(Clone)]
pub struct Show {
    bars: Option<MultiProgress>,
    stages: Arc<Mutex<HashMap<Stage, Shown>>>,
}

struct Shown {
    started: Instant,
    printed: Instant,
    bar: Option<ProgressBar>,
}

/// The interval of progress lines if there are no bars.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Prints a line on standard error. If nothing reads it any more, the line is dropped: `eprintln!` would panic, and a
/// platform would end without stopping, as when Ctrl-C kills `tee` first in `cargo local 2>&1 | tee log`.
pub fn print_message(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

impl Show {
    pub fn new() -> Self {
        let bars = io::stderr().is_terminal().then(MultiProgress::new);
        Self { bars, stages: Arc::default() }
    }

    pub fn progress(&self) -> Progress {
        let show = self.clone();
        Progress::new(move |event| show.show(event))
    }

    /// Removes all bars.
    pub fn clear(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
        }
    }

    fn show(&self, event: Event) {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            // A stage whose steps start it has started once.
            Event::Started(stage) if stages.contains_key(stage) => {}
            Event::Started(stage) => {
                let bar = self.bars.as_ref().map(|bars| {
                    let bar = bars.add(ProgressBar::no_length()).with_style(spinner()).with_message(stage);
                    bar.enable_steady_tick(Duration::from_millis(100));
                    bar
                });
                if bar.is_none() {
                    print_message(format_args!("{stage} ..."));
                }
                let now = Instant::now();
                stages.insert(stage, Shown { started: now, printed: now, bar });
            }
            Event::Advanced { stage, done, total } => {
                let Some(shown) = stages.get_mut(stage) else { return };
                if let Some(bar) = &shown.bar {
                    if let Some(total) = total
                        && bar.length() != Some(total)
                    {
                        bar.set_style(measured());
                        bar.set_length(total);
                    }
                    bar.set_position(done);
                } else if shown.printed.elapsed() >= LINE_INTERVAL {
                    shown.printed = Instant::now();
                    let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
                    print_message(format_args!("{stage}: {done}{of}"));
                }
            }
            Event::Finished { stage, outcome } => {
                let Some(shown) = stages.remove(stage) else { return };
                let line = format!("{stage}: {outcome} ({:.1} s)", shown.started.elapsed().as_secs_f64());
                if let Some(bar) = shown.bar {
                    bar.finish_and_clear();
                }
                self.line(&line);
            }
            Event::Note(line) => self.line(&line),
        }
    }

    fn line(&self, line: &str) {
        match &self.bars {
            Some(bars) => {
                let _ = bars.println(line);
            }
            None => print_message(line),
        }
    }
}

fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg:<10} {elapsed}").unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn measured() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg:<10} {wide_bar} {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
