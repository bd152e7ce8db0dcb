//! The duration of each test of a run. The slowest tests are printed at its end.

use std::sync::Mutex;
use std::time::Duration;

/// The durations of a run.
pub static OF_THE_RUN: Durations = Durations(Mutex::new(Vec::new()));

/// Names and durations of tests, in the order in which the tests ended.
pub struct Durations(Mutex<Vec<(String, Duration)>>);

/// The number of tests that are printed.
const PRINTED: usize = 10;

impl Durations {
    pub fn add(&self, test: &str, duration: Duration) {
        self.0.lock().unwrap().push((test.to_owned(), duration));
    }

    /// Prints the slowest tests, the slowest first.
    pub fn print_slowest(&self) {
        let mut durations = self.0.lock().unwrap().clone();
        durations.sort_by_key(|(_, duration)| std::cmp::Reverse(*duration));
        println!("The slowest tests:");
        for (test, duration) in durations.iter().take(PRINTED) {
            println!("{:7.1} s  {test}", duration.as_secs_f64());
        }
        println!();
    }
}
