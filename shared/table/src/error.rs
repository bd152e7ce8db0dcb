//! Errors of calls to DynamoDB, S3, SQS, EventBridge, API Gateway and Secrets Manager.

use std::error::Error as StdError;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::access::Undeclared;
use crate::attribute::Item;
use crate::key::{Key, KeyTooLong};
use crate::no_answer;
use crate::rev::Rev;

/// Why a call failed. Nothing was written, except possibly where the error is [`Error::Engine`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The item or object does not exist.
    #[error("the item does not exist")]
    NotFound,
    /// The item or object already exists.
    #[error("the item already exists")]
    Exists,
    /// The item has changed since it was read. `current` is its present revision.
    #[error("the item has changed since it was read")]
    Stale { current: Option<Rev> },
    /// Conditions of a write or of a transaction's actions failed.
    #[error("the conditions of {} actions failed", .0.len())]
    ConditionFailed(Vec<Failed>),
    /// Other writes to the same items conflicted for ten seconds.
    #[error("other writes to the same items keep conflicting; retry later")]
    Conflict,
    /// DynamoDB throttled the request for ten seconds.
    #[error("DynamoDB is throttling; retry later")]
    Throttled,
    /// The item exceeds DynamoDB's 400 KB, or a transaction its 4 MB.
    #[error("the item exceeds the size limit of DynamoDB")]
    TooLarge,
    #[error(transparent)]
    Key(#[from] KeyTooLong),
    /// No template of the table builds this key.
    #[error("the key {key:?} belongs to no entity of table `{table}`")]
    ForeignKey { table: &'static str, key: Key },
    /// The name would leave its prefix, or the folder of a local bucket.
    #[error("`{0}` is not a valid name of an object")]
    ForeignName(String),
    /// Another request has used the same idempotency key.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    #[error(transparent)]
    Undeclared(#[from] Undeclared),
    /// An item does not fit the type that it is read as, or a value cannot be written as an item.
    #[error("an item does not fit its type: {0}")]
    Misfit(String),
    /// The engine failed, did not answer, or refused the request for a reason that the caller cannot fix.
    #[error("{engine} failed: {}", no_answer::describe(.source.as_ref()))]
    Engine { engine: &'static str, source: Box<dyn StdError + Send + Sync> },
}

/// An answer of S3 with status 403.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Refusal(pub(crate) Box<dyn StdError + Send + Sync>);

/// An action whose condition failed, and the item that it met.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// The action's index in the transaction.
    pub index: usize,
    pub cause: Cause,
    /// The present item, if there is one.
    pub item: Option<Item>,
}

/// Why the condition of an action failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The item to update, delete or check does not exist.
    Missing,
    /// The item to create already exists.
    Exists,
    /// The item has changed since it was read.
    Stale,
    /// The item exists, and one of the action's own conditions does not hold.
    Unmet,
}

impl Error {
    /// Whether S3 refused the request with 403. That may be temporary after a change of policy.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Engine { source, .. } if source.is::<Refusal>())
    }

    /// Returns the failure of the action with this index, if it failed.
    pub fn failed(&self, index: usize) -> Option<&Failed> {
        match self {
            Self::ConditionFailed(failed) => failed.iter().find(|failed| failed.index == index),
            _ => None,
        }
    }

    /// Converts an error of DynamoDB that is not about a single item.
    pub(crate) fn of_dynamodb<E, R>(error: SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        match error.code() {
            Some("ProvisionedThroughputExceededException" | "RequestLimitExceeded" | "ThrottlingException") => {
                Self::Throttled
            }
            Some("ValidationException") if error.message().is_some_and(speaks_of_size) => Self::TooLarge,
            _ => Self::Engine { engine: "DynamoDB", source: Box::new(error) },
        }
    }
}

/// Whether a validation error is about an item's size. DynamoDB has one code for all invalid requests.
pub(crate) fn speaks_of_size(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    (message.contains("item size") || message.contains("size of items")) && message.contains("exceed")
}
