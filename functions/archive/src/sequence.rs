//! The sequence, which allocates the ids of all entities. An id is never allocated twice.

use serde::Serialize;
use table::{Action, Error, Key, Sequence};
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

/// Allocates the next id of an entity. The first request creates the sequence.
pub async fn next_id<I>(cx: &Context, id: impl Fn(u64) -> Option<I>) -> Result<I, Problem> {
    let mut number = next_number(cx).await;
    if matches!(number, Err(Error::NotFound)) {
        create(cx).await?;
        number = next_number(cx).await;
    }
    let number = number.map_err(|error| match error {
        Error::ConditionFailed(_) => Problem::internal(format!("the sequence is used up at {LAST_OF_SEQUENCE}")),
        error => error.into(),
    })?;
    id(number).ok_or_else(|| Problem::internal(format!("the sequence gave {number}, which is no id")))
}

async fn next_number(cx: &Context) -> Result<u64, Error> {
    let sequence = Sequence::from(Key::from(SequenceKey {})).up_to(LAST_OF_SEQUENCE);
    Ok(*cx.access().table(&NEXT_IDS, &ARCHIVE).next_numbers(sequence, 1).await?.start())
}

async fn create(cx: &Context) -> Result<(), Problem> {
    let new = Action::create(&ARCHIVE, SequenceKey {}, &NewSequence { value: FIRST_ID - 1 })?;
    match cx.access().write(&NEXT_IDS, new).await {
        // Another request has created it.
        Ok(_) | Err(Error::Exists) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
