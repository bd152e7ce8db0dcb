//! Transaction conflicts, which the engines of one machine never have by themselves: DynamoDB refuses a write that meets
//! another at the same item, and nothing of it is carried out.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use serde_json::{Value, json};

/// Refuses writes at a rate, and counts them.
pub struct Conflicts {
    rate: f64,
    /// Every write that says this is refused.
    always: Option<&'static str>,
    random: Mutex<fastrand::Rng>,
    refused: AtomicUsize,
}

impl Conflicts {
    /// 0.2 refuses every fifth write, at random.
    pub fn at(rate: f64) -> Self {
        let random = Mutex::new(fastrand::Rng::with_seed(7));
        Self { rate, always: None, random, refused: AtomicUsize::new(0) }
    }

    /// Besides refuses every write that says this, however often it is tried.
    pub fn always(self, word: &'static str) -> Self {
        Self { always: Some(word), ..self }
    }

    /// How many writes were refused.
    pub fn count(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// What DynamoDB answers to a write that meets another; none where it meets none. `target` is the request's
    /// `X-Amz-Target`.
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

/// A transaction, of which one item is in another that is under way.
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

/// A single write to an item that is in a transaction under way.
fn rejected(_: &mut fastrand::Rng, _: &Value) -> Value {
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
        "message": "Transaction is ongoing for the item",
    })
}
