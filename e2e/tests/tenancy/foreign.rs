//! Requests for foreign items have the same response as requests for absent items, in status, header fields and body,
//! with any headers and body of the request.

use futures::stream::{self, StreamExt};
use reqwest::Method;
use serde_json::Value;
use tokio::join;

use super::Part;
use super::operations::Operation;
use super::stage::{Stage, absent_for_foreign, filled};
use crate::harness::{Answer, Call, User};

pub async fn as_if_absent(stage: &Stage, part: Part) {
    for operation in part.of(stage).filter(|operation| operation.names().next().is_some()) {
        for (name, user) in &stage.principals {
            let stated = stage.stated(operation, name);
            let outside = stage.parts.outsiders.contains(name) && stage.hides(operation, name);
            if outside || stated == 404 {
                let asked = if outside { Asked::Oddly } else { Asked::Plainly };
                equal(stage, operation, user, (&stage.own(operation), &stage.absent(operation)), asked).await;
            }
        }
        for name in stage.parts.insiders {
            below_ones_own(stage, operation, stage.user(name)).await;
        }
    }
    assert_eq!(stage.restore().await, Vec::<String>::new(), "something was changed");
}

/// The first names of a path are the caller's own, and the others are foreign or absent.
async fn below_ones_own(stage: &Stage, operation: &Operation, user: &User) {
    let own = stage.values(operation, |thing| &thing.own);
    let foreign = stage.values(operation, |thing| &thing.foreign);
    let absent = stage.values(operation, |thing| &thing.absent);
    for depth in 0..own.len() {
        if foreign[depth..] != absent[depth..] && !stage.is_open(operation, depth) {
            let below = |rest: &[String]| operation.path(&[&own[..depth], &rest[depth..]].concat());
            let asked = if depth == 0 { Asked::Oddly } else { Asked::BelowOnesOwn };
            equal(stage, operation, user, (&below(&foreign), &below(&absent)), asked).await;
        }
    }
}

/// The variants of a request for a foreign item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The sample request.
    Plainly,
    /// The sample request with conditions and with faults.
    Oddly,
    /// The same for items below the caller's own, which the response may name.
    BelowOnesOwn,
}

/// Asserts that both paths have the same response. The requests are refused, so they do not depend on each other.
async fn equal(stage: &Stage, operation: &Operation, user: &User, paths: (&str, &str), asked: Asked) {
    let requests = requests(stage, operation, user).await.into_iter();
    let requests = requests.filter(|(what, _)| *what == "as it stands" || asked != Asked::Plainly);
    let compare = |(what, change): (&'static str, Change)| async move {
        let [foreign, absent] = [paths.0, paths.1].map(|path| change(operation.call(user, path)));
        let (foreign, absent) = join!(foreign.into_future(), absent.into_future());
        let told = format!("{what}: {}\nand {}", foreign.told(), absent.told());
        // A list below an absent item is empty.
        assert!(foreign.status >= 400 || operation.only_reads(), "{told}");
        let of_what_is_stored = [304, 409, 412, 422].contains(&foreign.status);
        assert!(!of_what_is_stored || asked == Asked::BelowOnesOwn, "it tells what is stored, {told}");
        assert_eq!(foreign.but_for_the_request(), absent.but_for_the_request(), "{told}");
    };
    stream::iter(requests.map(compare)).buffer_unordered(AT_ONCE).collect::<()>().await;
}

/// The requests that are compared at once, each with its counterpart.
const AT_ONCE: usize = 4;

type Change = Box<dyn Fn(Call) -> Call>;

/// Returns the sample request and its variants.
async fn requests(stage: &Stage, operation: &Operation, user: &User) -> Vec<(&'static str, Change)> {
    let tag = tag(stage, operation).await;
    let mut requests: Vec<(&'static str, Change)> = vec![("as it stands", Box::new(|call| call))];
    if user.is_anonymous() {
        return requests;
    }
    for (what, name, value) in [
        ("if it is there", "if-match", "*"),
        ("if it is stale", "if-match", "\"2\""),
        ("if it is absent", "if-none-match", "*"),
        ("once", "idempotency-key", "a key of their own"),
    ] {
        if operation.takes(name) {
            requests.push((what, Box::new(move |call| call.header(name, value))));
        }
    }
    for name in ["if-match", "if-none-match"].into_iter().filter(|name| operation.takes(name)) {
        let tag = tag.clone();
        requests.push(("with its tag", Box::new(move |call| call.header(name, tag.clone()))));
    }
    if operation.only_reads() {
        return requests;
    }
    let content_type = operation.content_type().to_owned();
    for (what, body) in [("no JSON", "{"), ("a list", "[]"), ("an unknown member", r#"{"unknown": 1}"#)] {
        let content_type = content_type.clone();
        requests.push((what, Box::new(move |call| call.bytes(&content_type, body))));
    }
    if operation.takes_a_body {
        requests.push(("plain text", Box::new(|call| call.bytes("text/plain", "{}"))));
        let content_type = content_type.clone();
        requests.push(("nothing in it", Box::new(move |call| call.bytes(&content_type, "{}"))));
    }
    requests
}

/// Returns the entity tag of the item in the sample's path, read by a principal with access.
async fn tag(stage: &Stage, operation: &Operation) -> String {
    let reads = |other: &&Operation| other.method == Method::GET && other.template == operation.template;
    let Some(reading) = stage.operations.iter().find(reads) else { return "\"4\"".to_owned() };
    let may_read = |(name, _): &&(&str, _)| stage.stated(reading, name) == 200;
    let Some((_, reader)) = stage.principals.iter().find(may_read) else { return "\"4\"".to_owned() };
    let read = reading.call(reader, &stage.own(reading)).await;
    if read.header("etag").is_empty() { "\"4\"".to_owned() } else { read.tag() }
}

/// Asserts that bodies with foreign names have the same response as bodies with absent names.
pub async fn named_in_bodies(stage: &Stage) {
    for (name, principal, body) in &stage.parts.bodies {
        let operation = stage.operations.iter().find(|operation| operation.name == *name).unwrap();
        let (user, path) = (stage.user(principal), stage.own(operation));
        let send = async |body: String| operation.with_body(user, &path, operation.content_type(), &body).await;
        let own = send(filled(stage, body, |thing| &thing.own)).await;
        stage.restore().await;
        let foreign = send(filled(stage, body, |thing| &thing.foreign)).await;
        let absent = send(filled(stage, body, |thing| &thing.absent)).await;
        let told = |answer: &Answer| -> (u16, Value) {
            let (status, _, body) = answer.but_for_the_request();
            (status, absent_for_foreign(stage, &body))
        };
        assert!(foreign.status >= 400, "{}", foreign.told());
        assert_eq!(told(&foreign), told(&absent), "{}", foreign.told());
        assert!(told(&foreign) != told(&own), "it is refused, whatever it names: {}", own.told());
        assert_eq!(stage.restore().await, Vec::<String>::new(), "something was changed");
    }
}
