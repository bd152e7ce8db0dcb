//! The number that a request allocates for an issue.

use std::sync::{Mutex, PoisonError};

use table::Error;
use web::{Context, Problem, problem};

use super::MAX_NUMBER;
use crate::access::NEXT_NUMBER;
use crate::project::Schema;
use crate::projects::counter;
use crate::schema::TRACKER;

/// The number that a request allocates, shared by its attempts. A number that no issue gets is skipped, and the log says
/// so.
pub struct Allocation<'a> {
    cx: &'a Context,
    allocated: Mutex<Option<Allocated>>,
}

#[derive(Clone, Copy)]
struct Allocated {
    number: u64,
    schema_rev: i64,
}

impl<'a> Allocation<'a> {
    pub fn new(cx: &'a Context) -> Self {
        Self { cx, allocated: Mutex::new(None) }
    }

    /// Allocates the next number of a project, or returns the one that an earlier attempt has allocated. Under another
    /// schema revision the counter may have been lowered, so the earlier number is given up.
    pub async fn number(&self, schema: &Schema) -> Result<u64, Problem> {
        let schema_rev = schema.project.schema_rev;
        let earlier = *self.allocated.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Allocated { number, .. }) = earlier.filter(|earlier| earlier.schema_rev == schema_rev) {
            return Ok(number);
        }
        let next = self.cx.access().table(&NEXT_NUMBER, &TRACKER).next_numbers(counter(schema.id), 1).await;
        let number = match next {
            Ok(numbers) => *numbers.end(),
            // The project is being deleted.
            Err(Error::NotFound) => return Err(Problem::not_found()),
            Err(error) => return Err(error.into()),
        };
        if number > MAX_NUMBER {
            return Err(problem::TAKEN.because(format!("The project has no number left up to {MAX_NUMBER}.")));
        }
        self.replace(Some(Allocated { number, schema_rev }));
        Ok(number)
    }

    /// Notes that an issue has the number.
    pub fn mark_used(&self) {
        *self.allocated.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn replace(&self, allocated: Option<Allocated>) {
        let mut own = self.allocated.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Allocated { number, .. }) = std::mem::replace(&mut *own, allocated) {
            let request = self.cx.id();
            tracing::warn!(request.id = request, number, "an allocated issue number was not used and is skipped");
        }
    }
}

impl Drop for Allocation<'_> {
    fn drop(&mut self) {
        self.replace(None);
    }
}
