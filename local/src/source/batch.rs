//! Delivery of a shard's records to a function, as by Lambda's event source mapping with `ReportBatchItemFailures`,
//! `BisectBatchOnFunctionError`, a maximum record age and an on-failure destination.
//!
//! | the function | effect |
//! |---|---|
//! | reports no failures | the batch is done |
//! | reports failures | records before the first failure are done, the others are delivered again |
//! | fails, times out, or returns a response that is unreadable or names an unknown record | the batch is split in two
//! halves, which are delivered in order |
//! | fails on a single record | the record is delivered again |
//!
//! Records that still fail beyond the maximum age are discarded, and delivery continues with the next.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Deserialize;

use super::Settings;
use super::record::Record;

/// Records to deliver, in batches, oldest first.
#[derive(Debug)]
pub struct Batches {
    waiting: VecDeque<Vec<Record>>,
    /// Consecutive failures without any record done.
    failures: u32,
}

/// The outcome of an invocation.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The response's `batchItemFailures`, which may be empty.
    Reported(Vec<String>),
    /// A function error, or an unreadable response, with the reason.
    Failed(String),
}

/// The effect of an outcome.
#[derive(Debug, Default)]
pub struct Step {
    /// The sequence number of the last record that is done, for the checkpoint.
    pub done: Option<String>,
    /// Records for the on-failure destination. They count as done.
    pub given_up: Vec<Record>,
}

impl Batches {
    /// Splits records into batches within the limits of records and bytes.
    pub fn cut(records: Vec<Record>, settings: &Settings) -> Self {
        let mut waiting: VecDeque<Vec<Record>> = VecDeque::new();
        let mut bytes = 0;
        for record in records {
            let size = record.json.len() + 1;
            match waiting.back_mut() {
                Some(batch) if batch.len() < settings.batch_records && bytes + size <= settings.batch_bytes => {
                    bytes += size;
                    batch.push(record);
                }
                _ => {
                    bytes = size;
                    waiting.push_back(vec![record]);
                }
            }
        }
        Self { waiting, failures: 0 }
    }

    /// Returns the next batch.
    pub fn next(&self) -> Option<&[Record]> {
        self.waiting.front().map(Vec::as_slice)
    }

    /// Returns the number of consecutive failures, which determines the wait before the next delivery.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Applies the outcome of delivering the next batch.
    pub fn settle(&mut self, outcome: Outcome, now: Timestamp, settings: &Settings) -> Step {
        let Some(mut batch) = self.waiting.pop_front() else {
            table::never!("the outcome of a delivery without a batch");
            return Step::default();
        };
        let last = |records: &[Record]| records.last().map(|record| record.sequence_number.clone());
        let positions = match &outcome {
            Outcome::Reported(failures) => failures.iter().map(|failure| position(&batch, failure)).collect(),
            Outcome::Failed(_) => None,
        };
        // An unknown record fails the whole batch, as a function error does.
        let fails_whole_batch = positions.is_none();
        let failed = positions.map_or(Some(0), |known: Vec<usize>| known.into_iter().min());
        let Some(first) = failed else {
            self.failures = 0;
            return Step { done: last(&batch), given_up: Vec::new() };
        };

        let mut rest = batch.split_off(first);
        let mut done = last(&batch);
        if done.is_some() {
            self.failures = 0;
        }
        let expired = rest.iter().take_while(|record| record.expired(now, settings)).count();
        let later = rest.split_off(expired);
        let given_up = rest;
        if !given_up.is_empty() {
            self.failures = 0;
            done = last(&given_up);
        }
        let mut rest = later;
        let is_split = given_up.is_empty() && fails_whole_batch && rest.len() > 1;
        if is_split {
            let second = rest.split_off(rest.len().div_ceil(2));
            self.waiting.push_front(second);
        } else if given_up.is_empty() {
            self.failures += 1;
        }
        if !rest.is_empty() {
            self.waiting.push_front(rest);
        }
        Step { done, given_up }
    }
}

impl Record {
    /// Whether the record is too old for a retry, by the time of its write or, if a test has advanced the clock, by the
    /// time since it was read.
    fn expired(&self, now: Timestamp, settings: &Settings) -> bool {
        let since = |from: Timestamp, to: Timestamp| to.duration_since(from).unsigned_abs();
        let waited = if now > self.seen { since(self.seen, now) } else { Default::default() };
        let present = Timestamp::now();
        let age = if present > self.created { since(self.created, present) } else { Default::default() };
        waited.max(age) > settings.maximum_age
    }
}

fn position(batch: &[Record], sequence_number: &str) -> Option<usize> {
    batch.iter().position(|record| record.sequence_number == sequence_number)
}

/// Reads a response as Lambda does. An empty one and `null` are success. One that has not the documented form fails the
/// whole batch.
pub fn read_response(answer: &[u8]) -> Outcome {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "batchItemFailures")]
        failures: Option<Vec<Failure>>,
    }
    #[derive(Deserialize)]
    struct Failure {
        #[serde(rename = "itemIdentifier")]
        identifier: String,
    }
    if answer.trim_ascii().is_empty() {
        return Outcome::Reported(Vec::new());
    }
    match serde_json::from_slice::<Option<Answer>>(answer) {
        Ok(answer) => {
            let failures = answer.and_then(|answer| answer.failures).unwrap_or_default();
            Outcome::Reported(failures.into_iter().map(|failure| failure.identifier).collect())
        }
        Err(error) => Outcome::Failed(format!("the response is not a list of batch item failures: {error}")),
    }
}

/// Returns the payload of an invocation.
pub fn payload(batch: &[Record]) -> String {
    let mut text = String::with_capacity(batch.iter().map(|record| record.json.len() + 1).sum::<usize>() + 16);
    text.push_str(r#"{"Records":["#);
    for (index, record) in batch.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&record.json);
    }
    text.push_str("]}");
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn records(numbers: std::ops::Range<u32>) -> Vec<Record> {
        let now = Timestamp::now();
        let record = |number: u32| Record {
            sequence_number: number.to_string(),
            created: now,
            seen: now,
            json: format!("{{\"n\":{number:04}}}"),
        };
        numbers.map(record).collect()
    }

    fn numbers(records: &[Record]) -> Vec<&str> {
        records.iter().map(|record| record.sequence_number.as_str()).collect()
    }

    fn failing(numbers: &[&str]) -> Outcome {
        Outcome::Reported(numbers.iter().map(|number| (*number).to_owned()).collect())
    }

    #[test]
    fn batches_obey_both_limits() {
        let settings = Settings { batch_records: 3, batch_bytes: 22, ..Settings::default() };
        let batches = Batches::cut(records(0..5), &settings);
        let cut: Vec<_> = batches.waiting.iter().map(|batch| numbers(batch)).collect();
        assert_eq!(cut, [vec!["0", "1"], vec!["2", "3"], vec!["4"]]);
        let one_large = Settings { batch_bytes: 1, ..Settings::default() };
        assert_eq!(Batches::cut(records(0..1), &one_large).next().unwrap().len(), 1);
    }

    #[test]
    fn records_from_the_first_reported_failure_are_delivered_again() {
        let settings = Settings::default();
        let mut batches = Batches::cut(records(0..5), &settings);
        let step = batches.settle(failing(&["3", "2"]), Timestamp::now(), &settings);
        assert_eq!(step.done.as_deref(), Some("1"));
        assert_eq!(numbers(batches.next().unwrap()), ["2", "3", "4"]);
        let step = batches.settle(failing(&[]), Timestamp::now(), &settings);
        assert_eq!(step.done.as_deref(), Some("4"));
        assert!(batches.next().is_none());
    }

    #[test]
    fn report_of_an_unknown_record_splits_the_batch() {
        let settings = Settings::default();
        let mut batches = Batches::cut(records(0..3), &settings);
        let step = batches.settle(failing(&["2", "none"]), Timestamp::now(), &settings);
        assert_eq!(step.done, None);
        let halves: Vec<_> = batches.waiting.iter().map(|batch| numbers(batch)).collect();
        assert_eq!(halves, [vec!["0", "1"], vec!["2"]]);
    }

    #[test]
    fn failed_batch_is_split_until_the_failing_record_is_alone() {
        let settings = Settings::default();
        let mut batches = Batches::cut(records(0..8), &settings);
        let mut done = Vec::new();
        for _ in 0..32 {
            let Some(batch) = batches.next() else { break };
            let poisoned = numbers(batch).contains(&"5");
            if poisoned && batch.len() == 1 {
                break;
            }
            let outcome = if poisoned { Outcome::Failed("panic".to_owned()) } else { failing(&[]) };
            done.extend(batches.settle(outcome, Timestamp::now(), &settings).done);
        }
        assert_eq!(numbers(batches.next().unwrap()), ["5"]);
        assert_eq!(done, ["3", "4"]);
        batches.settle(Outcome::Failed("panic".to_owned()), Timestamp::now(), &settings);
        assert_eq!((batches.failures(), numbers(batches.next().unwrap())), (1, vec!["5"]));
    }

    #[test]
    fn only_failed_records_beyond_the_maximum_age_are_discarded() {
        let settings = Settings { maximum_age: Duration::from_secs(60), ..Settings::default() };
        let later = Timestamp::now() + Duration::from_secs(3600);
        let mut batches = Batches::cut(records(0..3), &settings);
        let step = batches.settle(failing(&[]), later, &settings);
        assert!(step.given_up.is_empty() && step.done.as_deref() == Some("2"), "old records are delivered, too");

        let mut recent = records(2..3);
        recent.iter_mut().for_each(|record| record.seen = later);
        let mut batches = Batches::cut([records(0..2), recent].concat(), &settings);
        let step = batches.settle(failing(&["1"]), later, &settings);
        assert_eq!((numbers(&step.given_up), step.done.as_deref()), (vec!["1"], Some("1")));
        assert_eq!(numbers(batches.next().unwrap()), ["2"]);
    }

    #[test]
    fn response_is_read_as_by_lambda() {
        for success in ["", "null", "{}", r#"{"batchItemFailures":null}"#, r#"{"batchItemFailures":[]}"#] {
            assert_eq!(read_response(success.as_bytes()), failing(&[]), "{success}");
        }
        let partial = r#"{"batchItemFailures":[{"itemIdentifier":"7"}]}"#;
        assert_eq!(read_response(partial.as_bytes()), failing(&["7"]));
        for failure in [
            "7",
            "\"ok\"",
            r#"{"batchItemFailures":[{"id":"7"}]}"#,
            r#"{"batchItemFailures":[{"itemIdentifier":null}]}"#,
        ] {
            assert!(matches!(read_response(failure.as_bytes()), Outcome::Failed(_)), "{failure}");
        }
    }
}
