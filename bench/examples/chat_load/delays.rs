//! Percentiles of delays.

use std::time::Duration;

/// Prints the median and the 99th percentile of delays, if there are any.
pub fn print_delays(name: &str, delays: impl Iterator<Item = Duration>) {
    let mut delays: Vec<Duration> = delays.collect();
    if delays.is_empty() {
        return;
    }
    delays.sort_unstable();
    let at = |percent: usize| {
        let index = (delays.len() * percent / 100).min(delays.len().saturating_sub(1));
        delays.get(index).map_or(f64::NAN, |delay| delay.as_secs_f64() * 1e3)
    };
    println!("{name}: p50 {:.0} ms, p99 {:.0} ms, most {:.0} ms", at(50), at(99), at(100));
}
