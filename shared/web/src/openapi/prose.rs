//! The prose of the API description: the overview of a system, and the description of each operation by its declaration.

use std::collections::BTreeSet;

use crate::route::{Body, Route};
use crate::who::Who;

/// The conventions of every operation.
pub(super) const OVERVIEW: &str = "\
Names are in camelCase. A request with an unknown field or parameter is refused. A response omits fields that have no \
value.

Errors are problem details (RFC 9457). The meaning of a `type` never changes, and `errors` lists all faults of a request \
together, each with its pointer, parameter or header.

An `ETag` identifies the state of a resource and, if an operation has several representations, the representation. \
`If-Match` refuses a change of a resource that has changed since, and accepts the tag of any representation. \
`If-None-Match` saves a response that the client already has.

Lists are paginated: send `nextCursor` as `cursor` to get the next page. A query string has at most 5000 bytes, without \
`cursor`.";

/// Describes the callers, header fields and body of an operation.
pub(super) fn of(route: &Route) -> String {
    let mut sentences = vec![caller(route.who())];
    let types: BTreeSet<&str> = route.content_types().collect();
    if let (Some(first), true) = (route.content_types().next(), types.len() > 1) {
        let others: Vec<String> = types.iter().filter(|other| **other != first).map(|own| format!("`{own}`")).collect();
        sentences.push(format!("Responds with `{first}`, or with {} if `Accept` prefers it.", others.join(" or ")));
    }
    if !matches!(route.body, Body::None) {
        sentences.push(format!("The request body has at most {}.", size(route.body_limit)));
    }
    if route.creates {
        sentences.push(
            "A repeated request with the same `Idempotency-Key` gets the first response again for 24 hours.".into(),
        );
    }
    if route.if_match {
        sentences.push("Honours `If-Match`.".into());
    }
    if route.if_none_match {
        sentences.push("Honours `If-None-Match`.".into());
    }
    if route.answers.iter().any(|answer| answer.status == 202) {
        sentences.push("Longer work continues in a job, which a response of 202 contains.".into());
    }
    sentences.join(" ")
}

fn caller(who: Who) -> String {
    match who {
        Who::Public => "Public.".into(),
        Who::Views { fuller } => format!("Public; a caller with the role `{fuller}` sees more."),
        Who::SignedIn => "Requires a valid token.".into(),
        Who::Role(role) => format!("Requires the role `{role}`."),
        Who::AnyRole(roles) => format!("Requires one of the roles `{}`.", roles.join("`, `")),
    }
}

fn size(bytes: usize) -> String {
    const KIB: usize = 1024;
    match bytes {
        whole if whole % (KIB * KIB) == 0 => format!("{} MiB", whole / KIB / KIB),
        whole if whole % KIB == 0 => format!("{} KiB", whole / KIB),
        other => format!("{other} bytes"),
    }
}
