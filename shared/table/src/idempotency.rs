//! Requests that may be repeated and are carried out once.
//!
//! The transaction of a request also creates an item with the answer: `idempotency#{hash}`, `idempotency`, for 24
//! hours. A repeated request, later or concurrent, fails on that item and returns its answer.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::{Access, AccessPattern};
use crate::action::Action;
use crate::error::Error;
use crate::item::{Stored, from_item};
use crate::key::Key;
use crate::rev::Rev;
use crate::schema::{IDEMPOTENCY, Table};

/// How long an answer is kept, in seconds.
const RETENTION_SECONDS: i64 = 24 * 60 * 60;

/// One request that carries an `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq)]
pub struct Idempotency {
    /// The caller. Keys of different callers are independent.
    pub caller: String,
    /// The operation's name, such as `createBook`.
    pub operation: &'static str,
    /// The header's value.
    pub key: String,
    /// A hash of path, query and body, which detects another request under the same key.
    pub fingerprint: String,
}

/// The answer to the first request under a key. Its `ETag` is the revision of the item that holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstAnswer {
    pub status: u16,
    pub location: Option<String>,
    pub body: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    fingerprint: String,
    expires: i64,
    #[serde(flatten)]
    answer: FirstAnswer,
}

impl Idempotency {
    /// Returns the answer to an earlier sending of this request, if there is one, or [`Error::KeyReused`] if another
    /// request has used its key. Handlers whose checks may fail the second time call it right after authorization.
    pub async fn earlier(
        &self,
        access: &Access,
        pattern: &'static AccessPattern,
        table: &'static Table,
    ) -> Result<Option<(Rev, FirstAnswer)>, Error> {
        let kept = access.table(pattern, table).get_consistent(self.item_key(table)).await?;
        kept.map(|kept| self.answer_in(&kept)).transpose()
    }

    fn item_key(&self, table: &Table) -> Key {
        let mut hash = Sha256::new();
        for part in [self.caller.as_str(), self.operation, &self.key] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finalize().iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let pk = IDEMPOTENCY.pk.replace("{hash}", &hash);
        Key { pk, sk: table.sk.and(IDEMPOTENCY.sk).map(str::to_owned) }
    }

    fn keep(&self, table: &'static Table, answer: FirstAnswer, seconds: i64) -> Result<Action, Error> {
        let kept = Kept { fingerprint: self.fingerprint.clone(), expires: seconds + RETENTION_SECONDS, answer };
        Action::create(table, self.item_key(table), &kept)
    }

    fn answer_in(&self, stored: &Stored) -> Result<(Rev, FirstAnswer), Error> {
        let kept: Kept = from_item(stored.item.clone())?;
        match stored.rev {
            Some(rev) if kept.fingerprint == self.fingerprint => Ok((rev, kept.answer)),
            Some(_) => Err(Error::KeyReused),
            None => Err(Error::Misfit("an answer under an idempotency key has no revision".to_owned())),
        }
    }
}

impl Access {
    /// Carries out a transaction once, however often its request is repeated. Returns the answer and its revision: this
    /// answer, or that of the first request. Failures have the indexes of `actions`.
    ///
    /// Without an idempotency key this is [`Access::transact`].
    pub async fn transact_once(
        &self,
        pattern: &'static AccessPattern,
        table: &'static Table,
        idempotency: Option<&Idempotency>,
        mut actions: Vec<Action>,
        answer: FirstAnswer,
    ) -> Result<(Rev, FirstAnswer), Error> {
        let kept_at = actions.len();
        if let Some(request) = idempotency {
            actions.push(request.keep(table, answer.clone(), self.engines().clock.seconds())?);
        }
        match (self.transact(pattern, &actions).await, idempotency) {
            (Ok(rev), _) => Ok((rev, answer)),
            (Err(error), Some(request)) => match error.failed(kept_at).and_then(|failed| failed.item.clone()) {
                Some(item) => request.answer_in(&Stored::new(table, item)?),
                None => Err(error),
            },
            (Err(error), None) => Err(error),
        }
    }
}
