//! The table: one line for each figure, printed when it is known.

use std::time::Duration;

/// What was measured, and what it is to be compared with.
#[derive(Debug)]
pub struct Figure<'a> {
    pub name: &'a str,
    pub measured: String,
    pub goal: Goal,
    /// The baseline, measured in the same run; empty where the figure is one of its own.
    pub baseline: String,
    /// The figure over its baseline, as the goal counts it.
    pub ratio: Option<f64>,
}

/// What the figure should be, as text.
#[derive(Debug)]
pub enum Goal {
    None,
    Met(String),
    Missed(String),
}

impl Goal {
    pub fn at_least(least: f64, measured: f64, text: impl Into<String>) -> Self {
        if measured >= least { Self::Met(text.into()) } else { Self::Missed(text.into()) }
    }

    pub fn at_most(most: f64, measured: f64, text: impl Into<String>) -> Self {
        if measured <= most { Self::Met(text.into()) } else { Self::Missed(text.into()) }
    }

    pub fn within(most: Duration, measured: Duration) -> Self {
        Self::at_most(most.as_secs_f64(), measured.as_secs_f64(), format!("≤ {most:?}"))
    }
}

/// Where figures are written.
#[derive(Debug)]
pub struct Table(());

impl Table {
    /// Prints the head.
    pub fn begin() -> Self {
        line("figure", "measured", "goal", "", "baseline of the same run", "ratio");
        Self(())
    }

    pub fn add(&mut self, figure: &Figure<'_>) {
        let (goal, verdict) = match &figure.goal {
            Goal::None => ("", ""),
            Goal::Met(goal) => (goal.as_str(), "met"),
            Goal::Missed(goal) => (goal.as_str(), "MISSED"),
        };
        let ratio = figure.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        line(figure.name, &figure.measured, goal, verdict, &figure.baseline, &ratio);
    }
}

fn line(name: &str, measured: &str, goal: &str, verdict: &str, baseline: &str, ratio: &str) {
    println!("{name:<54} {measured:>20}  {goal:<16} {verdict:<6}  {baseline:<44} {ratio:>6}");
}

/// Milliseconds, to a hundredth.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// A rate, in thousands where there are thousands: `215 300 records/s`.
pub fn per_second(count: usize, time: Duration, unit: &str) -> String {
    let rate = (count as f64 / time.as_secs_f64()).round();
    if rate < 10_000.0 {
        return format!("{rate} {unit}/s");
    }
    let hundreds = (rate / 100.0).round() as u64 * 100;
    format!("{} {:03} {unit}/s", hundreds / 1000, hundreds % 1000)
}

/// 10^6 bytes.
pub fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
