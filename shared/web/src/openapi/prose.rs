//! What the API description says in sentences: of the system as a whole, and of each operation what its declaration
//! holds beside its summary.

use std::collections::BTreeSet;

use crate::route::{Body, Route};
use crate::who::Who;

/// What holds for every operation.
pub(super) const EVERYWHERE: &str = "\
Names are in camelCase. What is sent with an unknown field or parameter is refused, and what has no value is left out of \
an answer.

A refusal is a problem (RFC 9457). Its `type` never changes its meaning, and `errors` tells all that is wrong with a \
request at once, each with its place.

An `ETag` names the state that is answered and, where an operation has several representations, which of them. \
`If-Match` refuses a change that was decided on another state, and takes the tag of any representation. \
`If-None-Match` spares an answer that the client has already.

A list goes on where its `nextCursor`, sent as `cursor`, says.";

/// Who may call an operation, and what its header fields and its body may do.
pub(super) fn of(route: &Route) -> String {
    let mut said = vec![caller(route.who())];
    let types: BTreeSet<&str> = route.content_types().collect();
    if let (Some(first), true) = (route.content_types().next(), types.len() > 1) {
        let others: Vec<String> = types.iter().filter(|other| **other != first).map(|own| format!("`{own}`")).collect();
        said.push(format!("It answers `{first}`, or {} where `Accept` says so.", others.join(" or ")));
    }
    if !matches!(route.body, Body::None) {
        said.push(format!("Its body has at most {}.", size(route.body_limit)));
    }
    if route.creates {
        said.push("The same request with the same `Idempotency-Key` gets the first answer again for 24 hours.".into());
    }
    if route.if_match {
        said.push("It heeds `If-Match`.".into());
    }
    if route.if_none_match {
        said.push("It heeds `If-None-Match`.".into());
    }
    if route.answers.iter().any(|answer| answer.status == 202) {
        said.push("Work that takes longer goes on after an answer of 202, which gives its job.".into());
    }
    said.join(" ")
}

fn caller(who: Who) -> String {
    match who {
        Who::Public => "Anyone may call it.".into(),
        Who::Views { fuller } => format!("Anyone may call it; `{fuller}` sees more."),
        Who::SignedIn => "Whoever is signed in may call it.".into(),
        Who::Role(role) => format!("It needs the role `{role}`."),
        Who::AnyRole(roles) => format!("It needs one of the roles `{}`.", roles.join("`, `")),
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
