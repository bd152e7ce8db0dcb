//! The duration of each test of a run. The slowest tests and themes are printed at its end.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// The durations of a run.
pub static OF_THE_RUN: Durations = Durations(Mutex::new(Vec::new()));

/// Names and durations of tests, in the order in which the tests ended.
pub struct Durations(Mutex<Vec<(String, Duration)>>);

/// The number of tests and of themes that are printed.
const PRINTED: usize = 10;

impl Durations {
    pub fn add(&self, test: &str, duration: Duration) {
        self.0.lock().unwrap().push((test.to_owned(), duration));
    }

    /// Prints the slowest tests and themes, the slowest first. Tests run at once, so the time of a theme is a share of
    /// more than the time of the run.
    pub fn print_slowest(&self) {
        let durations = self.0.lock().unwrap().clone();
        let total: Duration = durations.iter().map(|(_, duration)| *duration).sum();
        let mut themes: BTreeMap<String, Duration> = BTreeMap::new();
        for (test, duration) in &durations {
            let (theme, _) = test.split_once("::").unwrap_or((test, ""));
            *themes.entry(theme.to_owned()).or_default() += *duration;
        }
        println!("The slowest tests:");
        print(durations);
        println!("The slowest of {} themes, which took {:.0} s in sum:", themes.len(), total.as_secs_f64());
        print(themes.into_iter().collect());
    }
}

fn print(mut durations: Vec<(String, Duration)>) {
    durations.sort_by_key(|(_, duration)| std::cmp::Reverse(*duration));
    for (name, duration) in durations.iter().take(PRINTED) {
        println!("{:7.1} s  {name}", duration.as_secs_f64());
    }
    println!();
}
