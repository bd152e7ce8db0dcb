//! The sequence, which allocates the ids of all entities. An id is never allocated twice.

use std::ops::RangeInclusive;

use serde::Serialize;
use table::{Action, Error};
use web::{Context, Problem};

use crate::access::NEXT_IDS;
use crate::keys::SequenceKey;
use crate::names::{FIRST_ID, LAST_OF_SEQUENCE};
use crate::schema::ARCHIVE;

/// The sequence as it is created.
#[derive(Debug, Serialize)]
struct NewSequence {
    /// The last number that was allocated.
    value: u64,
}

/// Allocates the next id of an entity.
pub async fn next_id<I>(cx: &Context, id: impl Fn(u64) -> Option<I>) -> Result<I, Problem> {
    let number = *next_numbers(cx, 1).await?.start();
    id(number).ok_or_else(|| Problem::internal(format!("the sequence gave {number}, which is no id")))
}

/// Allocates the next numbers. The first request creates the sequence.
async fn next_numbers(cx: &Context, count: u32) -> Result<RangeInclusive<u64>, Problem> {
    let table = cx.access().table(&NEXT_IDS, &ARCHIVE);
    let numbers = match table.next_numbers(table::Key::from(SequenceKey {}), count).await {
        Err(Error::NotFound) => {
            create(cx).await?;
            table.next_numbers(table::Key::from(SequenceKey {}), count).await?
        }
        numbers => numbers?,
    };
    if *numbers.end() > LAST_OF_SEQUENCE {
        return Err(Problem::internal(format!("the sequence is used up at {LAST_OF_SEQUENCE}")));
    }
    Ok(numbers)
}

async fn create(cx: &Context) -> Result<(), Problem> {
    let new = Action::create(&ARCHIVE, SequenceKey {}, &NewSequence { value: FIRST_ID - 1 })?;
    match cx.access().write(&NEXT_IDS, new).await {
        // Another request has created it.
        Ok(_) | Err(Error::Exists) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
