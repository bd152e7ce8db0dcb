//! Transaction conflicts, which local engines do not have by themselves. DynamoDB refuses a write that conflicts with a
//! concurrent write of the same item, and carries out none of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use serde_json::{Value, json};
use table::Engines;

use super::recorder;

/// Conflicts of a platform's later writes, until this is dropped.
#[must_use = "the conflicts end when this is dropped"]
pub struct Ongoing {
    conflicts: Arc<Conflicts>,
    engines: Arc<Engines>,
}

/// A filter that refuses a share of the writes and counts them.
pub struct Conflicts {
    rate: f64,
    /// Every write that contains this text is refused.
    always: Option<&'static str>,
    random: Mutex<fastrand::Rng>,
    refused: AtomicUsize,
}

impl Ongoing {
    /// Refuses this share of the writes of these engines.
    pub fn begin(engines: &Arc<Engines>, rate: f64) -> Self {
        let conflicts = Arc::new(Conflicts::at(rate));
        recorder::OF_THE_RUN.conflicts(engines, Arc::clone(&conflicts));
        Self { conflicts, engines: Arc::clone(engines) }
    }

    /// Returns the number of writes that were refused.
    pub fn count(&self) -> usize {
        self.conflicts.count()
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        recorder::OF_THE_RUN.end_conflicts(&self.engines);
    }
}

impl Conflicts {
    /// Creates a filter with this rate. 0.2 refuses every fifth write, at random.
    pub fn at(rate: f64) -> Self {
        let random = Mutex::new(fastrand::Rng::with_seed(7));
        Self { rate, always: None, random, refused: AtomicUsize::new(0) }
    }

    /// Also refuses every write that contains this text, including its retries.
    pub fn always(self, word: &'static str) -> Self {
        Self { always: Some(word), ..self }
    }

    /// Returns the number of writes that were refused.
    pub fn count(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// Returns DynamoDB's response if the write is to conflict. `target` is the request's `X-Amz-Target`.
    pub fn refusal(&self, target: &str, body: &Bytes) -> Option<Response<Full<Bytes>>> {
        let operation = target.rsplit('.').next().unwrap_or_default();
        let refuse = match operation {
            "TransactWriteItems" => cancelled,
            "PutItem" | "UpdateItem" | "DeleteItem" => rejected,
            _ => return None,
        };
        let doomed = self.always.is_some_and(|word| String::from_utf8_lossy(body).contains(word));
        let mut random = self.random.lock().unwrap();
        if !doomed && random.f64() >= self.rate {
            return None;
        }
        self.refused.fetch_add(1, Ordering::SeqCst);
        let body = refuse(&mut random, &serde_json::from_slice(body).unwrap());
        let response = Response::builder().status(400).header("content-type", "application/x-amz-json-1.0");
        Some(response.body(Full::new(body.to_string().into())).unwrap())
    }
}

/// Returns the response to a transaction with an item of a concurrent transaction.
fn cancelled(random: &mut fastrand::Rng, request: &Value) -> Value {
    let items = request["TransactItems"].as_array().unwrap().len();
    let met = random.usize(..items);
    let conflict = json!({ "Code": "TransactionConflict", "Message": "Transaction is ongoing for the item" });
    let reasons: Vec<Value> =
        (0..items).map(|item| if item == met { conflict.clone() } else { json!({ "Code": "None" }) }).collect();
    let codes: Vec<&str> = reasons.iter().map(|reason| reason["Code"].as_str().unwrap()).collect();
    let message = "Transaction cancelled, please refer cancellation reasons for specific reasons";
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": format!("{message} [{}]", codes.join(", ")),
        "CancellationReasons": reasons,
    })
}

/// Returns the response to a single write of an item of a concurrent transaction.
fn rejected(_: &mut fastrand::Rng, _: &Value) -> Value {
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
        "message": "Transaction is ongoing for the item",
    })
}
