//! What can go wrong between a handler and DynamoDB or S3.

use std::error::Error as StdError;

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};

use crate::access::Undeclared;
use crate::item::Item;
use crate::key::{Key, KeyTooLong};
use crate::{Rev, item};

/// Why a call did not do what it was asked to. Nothing was written, unless the error is [`Error::Engine`]: then
/// nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The item or object does not exist.
    #[error("the item does not exist")]
    NotFound,
    /// The item or object exists already.
    #[error("the item exists already")]
    Exists,
    /// The item is not as it was read; what it carries now.
    #[error("the item has changed since it was read")]
    Stale { current: Option<Rev> },
    /// At least one action of a transaction could not be done, or one condition of a write did not hold.
    #[error("{} of the conditions did not hold", .0.len())]
    ConditionFailed(Vec<Failed>),
    /// Others kept changing the same items for ten seconds.
    #[error("others keep changing the same items")]
    Conflict,
    /// DynamoDB asks for less, and did so for ten seconds.
    #[error("DynamoDB is throttling")]
    Throttled,
    /// The item is over DynamoDB's 400 KB, or a transaction over its 4 MB.
    #[error("the item is larger than DynamoDB takes")]
    TooLarge,
    #[error(transparent)]
    Key(#[from] KeyTooLong),
    /// A key that no template of the table would build.
    #[error("no entity of table `{table}` has the key {key:?}")]
    ForeignKey { table: &'static str, key: Key },
    /// A name that would leave its prefix, or the folder of a local bucket.
    #[error("no object may be called `{0}`")]
    ForeignName(String),
    /// Another request came with the same idempotency key.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    #[error(transparent)]
    Undeclared(#[from] Undeclared),
    /// An item does not fit the type it is read as, or the reverse.
    #[error("an item does not fit its type: {0}")]
    Misfit(String),
    /// The engine failed, did not answer, or refused what no caller can mend.
    #[error("{engine} failed: {}", DisplayErrorContext(.source.as_ref()))]
    Engine { engine: &'static str, source: Box<dyn StdError + Send + Sync> },
}

/// What S3 has answered 403.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Refusal(pub(crate) Box<dyn StdError + Send + Sync>);

/// An action that could not be done, and what was in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// Its place in the transaction.
    pub index: usize,
    pub cause: Cause,
    /// The item as it is; absent where there is none.
    pub item: Option<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is no item to change, delete or check.
    Missing,
    /// There is an item where one was to be created.
    Exists,
    /// The item is not as it was read.
    Stale,
    /// The item is there, and one of the action's conditions does not hold.
    Unmet,
}

impl Error {
    /// Whether S3 refused the request (403). After a change of policy that may pass.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Engine { source, .. } if source.is::<Refusal>())
    }

    /// The failure of one action of a transaction, if it is among those that failed.
    pub fn failed(&self, index: usize) -> Option<&Failed> {
        match self {
            Self::ConditionFailed(failed) => failed.iter().find(|failed| failed.index == index),
            _ => None,
        }
    }

    /// The same for a write that stands alone: its cause is the error.
    pub(crate) fn of_single(self) -> Self {
        match self {
            Self::ConditionFailed(failed) => match failed.as_slice() {
                [Failed { cause: Cause::Missing, .. }] => Self::NotFound,
                [Failed { cause: Cause::Exists, .. }] => Self::Exists,
                [Failed { cause: Cause::Stale, item, .. }] => {
                    Self::Stale { current: item.as_ref().and_then(item::rev) }
                }
                _ => Self::ConditionFailed(failed),
            },
            other => other,
        }
    }

    /// An answer of DynamoDB that says nothing about a single item.
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

/// DynamoDB has one error code for everything wrong with a request; only its text tells a too large item.
pub(crate) fn speaks_of_size(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("item size") && message.contains("exceed")
}
