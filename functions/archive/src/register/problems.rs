//! The problems of a run: their number by code, and the first of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::problem::{Code, Problem, Severity};

/// Problems that a run stores on its item. Its report has all of them.
const MAX_KEPT: usize = 50;

/// A collector that keeps the first 50 problems and counts all. Errors take the places of warnings, so that a file with many
/// warnings still says why it is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Problems {
    first: Vec<Problem>,
    by_code: BTreeMap<Code, u64>,
    fatal: u64,
    errors: u64,
    warnings: u64,
}

impl Problems {
    /// Adds a problem.
    pub fn add(&mut self, problem: Problem) {
        *self.by_code.entry(problem.code).or_default() += 1;
        match problem.severity {
            Severity::Fatal => self.fatal += 1,
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        if self.first.len() == MAX_KEPT
            && problem.severity != Severity::Warning
            && let Some(last) = self.first.iter().rposition(|kept| kept.severity == Severity::Warning)
        {
            self.first.remove(last);
        }
        if self.first.len() < MAX_KEPT {
            self.first.push(problem);
        }
    }

    /// Returns the problems that are kept, in the order in which they were added.
    pub fn first(&self) -> &[Problem] {
        &self.first
    }

    /// Returns the number of problems with each code that occurred.
    pub fn by_code(&self) -> &BTreeMap<Code, u64> {
        &self.by_code
    }

    /// Returns the number of problems with this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        match severity {
            Severity::Fatal => self.fatal,
            Severity::Error => self.errors,
            Severity::Warning => self.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_50_problems_are_kept_and_all_are_counted() {
        let mut problems = Problems::default();
        for line in 1..=120 {
            let code = if line % 3 == 0 { Code::LongRow } else { Code::ShortRow };
            problems.add(Problem::new(code, line, None, ""));
        }
        let kept: Vec<u64> = problems.first().iter().map(|problem| problem.line).collect();
        assert_eq!(kept.len(), 50);
        assert!((1..=40).all(|error| kept.contains(&(error * 3))), "all errors are kept: {kept:?}");
        assert_eq!(*problems.by_code(), BTreeMap::from([(Code::LongRow, 40), (Code::ShortRow, 80)]));
        let counts = [Severity::Fatal, Severity::Error, Severity::Warning].map(|severity| problems.count(severity));
        assert_eq!(counts, [0, 40, 80]);
    }

    #[test]
    fn error_after_50_warnings_takes_the_place_of_the_last() {
        let mut problems = Problems::default();
        for line in 1..=60 {
            problems.add(Problem::new(Code::ShortRow, line, None, ""));
        }
        problems.add(Problem::new(Code::LongRow, 61, None, ""));
        let kept: Vec<u64> = problems.first().iter().map(|problem| problem.line).collect();
        assert_eq!(kept, (1..=49).chain([61]).collect::<Vec<_>>());
    }
}
