//! A rebuild as calls of the function `createIndex`, which a state machine of Step Functions makes until the index has
//! every document. The state is the config item. The state machine only knows which call is next, so an execution that
//! was stopped, or a second one, does no harm.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use web::{Event, EventFailure};

use crate::advance::{Advanced, Bounds, advance, fill_share};
use crate::audit::AuditOptions;
use crate::context::AWAIT_BATCHES;
use crate::engines::Production;
use crate::fill::{SHARES, Share};
use crate::group::after;
use crate::mirrored::Mirrored;
use crate::ports::{Fault, Ports as _, Time as _};
use crate::rebuild::{Goal, Progress, Rebuild, refused};

/// The definition of the state machine, in the Amazon States Language.
pub(crate) const DEFINITION: &str = include_str!("rebuild_machine.json");

/// The `RequestType` of a call, by which it differs from the requests of CloudFormation.
const REQUEST_TYPE: &str = "Rebuild";

/// How long a difference must last in the audit of the new index. Until then a write may be on its way.
const AUDIT_WAIT: Duration = Duration::from_secs(5);

/// The part of a call's time after which no further page is written.
const RESERVE: Duration = Duration::from_secs(5);

/// The input of a call, which is the output of the call before.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct RebuildCall {
    #[serde(rename = "RequestType")]
    request_type: String,
    #[serde(default)]
    order: Options,
    /// The epoch after which the state machine has waited.
    waited: Option<u64>,
    /// The share that this call fills.
    share: Option<u32>,
}

/// The input of an execution, which an operator gives.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Options {
    /// Whether another rebuild begins if none is under way.
    begin: bool,
    replace: bool,
    accept_quarantine: bool,
    skip_audit: bool,
}

/// The member of an event that tells a call from other events.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "RequestType")]
    request_type: Option<Value>,
}

/// Whether an event is a call of a rebuild.
pub(crate) fn is_rebuild_call(payload: &[u8]) -> bool {
    let envelope: Result<Envelope, _> = serde_json::from_slice(payload);
    envelope.is_ok_and(|envelope| envelope.request_type.is_some_and(|kind| kind == REQUEST_TYPE))
}

impl RebuildCall {
    fn rebuild(&self) -> Rebuild {
        let Options { begin: begins, replace: replaces, accept_quarantine: accepts_quarantine, skip_audit } =
            self.order;
        let audit = (!skip_audit).then_some(AUDIT_WAIT);
        // The state machine waits, and repeats a call that has failed.
        Rebuild {
            goal: Goal::Serve,
            begins,
            replaces,
            wait: Duration::ZERO,
            accepts_quarantine,
            audit,
            patience: Duration::ZERO,
        }
    }

    /// Returns the input of the next call, with the name of what is next and more members.
    fn then(&self, next: &str, more: Value) -> Value {
        let call = Self { order: Options { begin: false, ..self.order }, ..self.clone() };
        let mut output = json!(call);
        if let (Some(members), Value::Object(more)) = (output.as_object_mut(), more) {
            members.insert("next".to_owned(), json!(next));
            members.extend(more);
        }
        output
    }

    fn after(&self, advanced: Advanced) -> Value {
        match advanced {
            Advanced::Published { epoch } => {
                let waited = Self { waited: Some(epoch), ..self.clone() };
                waited.then("wait", json!({ "waitSeconds": AWAIT_BATCHES.as_secs() }))
            }
            Advanced::Filling => {
                let order = Options { begin: false, ..self.order };
                let share = |share| Self { order, share: Some(share), ..self.clone() };
                self.then("fill", json!({ "shares": (0..SHARES).map(share).collect::<Vec<_>>() }))
            }
            Advanced::Stopped => self.then("again", json!({})),
            Advanced::Audited => self.then("done", json!({ "serves": false })),
            Advanced::Reached => self.then("done", json!({ "serves": true })),
        }
    }
}

/// Makes a call. A refusal is an output, so that the state machine ends with its reason. Any other fault fails the
/// invocation, so that the state machine repeats the call.
pub(crate) async fn on_rebuild_call<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    let call: Result<RebuildCall, _> = serde_json::from_slice(&event.payload);
    let made = match &call {
        Ok(call) => take_call::<M>(&event, call).await,
        Err(error) => Err(refused(format_args!("the input is not an order of a rebuild: {error}"))),
    };
    match made {
        Ok(output) => Ok(output.to_string().into()),
        Err(fault) if fault.passing => Err(EventFailure::new(fault)),
        Err(fault) => {
            tracing::warn!(%fault, "the rebuild was refused");
            Ok(json!({ "next": "refused", "reason": fault.to_string() }).to_string().into())
        }
    }
}

async fn take_call<M: Mirrored>(event: &Event, call: &RebuildCall) -> Result<Value, Fault> {
    let (documents, shapes, engines) = (M::default(), M::shapes(event.access().clone()), event.engines());
    let system = documents.tables();
    let limit = event.deadline.saturating_duration_since(Instant::now());
    let deadline = event.deadline.checked_sub(RESERVE.min(limit / 2));
    let ports = Production::new(engines, system, &shapes, deadline)?;
    let step = |step| {
        if !matches!(step, Progress::Scanned { .. } | Progress::Auditing(_)) {
            tracing::info!(?step, "a step of the rebuild was made");
        }
    };
    if let Some(number) = call.share {
        let share = Share { number, of: SHARES };
        let ended = fill_share(&ports, &documents, share, &step).await?;
        return Ok(call.then(if ended { "done" } else { "again" }, json!({})));
    }
    let order = call.rebuild();
    let options = AuditOptions { wait: AUDIT_WAIT, ..AuditOptions::DAILY };
    let until = after(ports.time().micros(), limit.saturating_sub(options.reserve(limit)));
    let bounds = Bounds { waited: call.waited, until: Some(until), shares: SHARES };
    let alias = engines.config.search_name(system.name);
    let advanced = advance(&ports, &documents, &alias, (order, bounds), &step).await?;
    Ok(call.after(advanced))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(input: Value) -> RebuildCall {
        assert!(is_rebuild_call(input.to_string().as_bytes()));
        serde_json::from_value(input).unwrap()
    }

    #[test]
    fn output_of_a_call_is_the_input_of_the_next() {
        let first = call(json!({ "RequestType": "Rebuild", "order": { "begin": true, "replace": true } }));
        assert!(first.rebuild().begins && first.rebuild().replaces && first.rebuild().audit.is_some());
        let published = first.after(Advanced::Published { epoch: 7 });
        assert_eq!((&published["next"], &published["waitSeconds"]), (&json!("wait"), &json!(960)));
        let second = call(published);
        assert!(!second.rebuild().begins && second.rebuild().replaces);
        assert_eq!((second.waited, second.share), (Some(7), None));
        let filling = second.after(Advanced::Filling);
        let shares = filling["shares"].as_array().unwrap().iter().map(|share| call(share.clone()));
        let numbers: Vec<_> = shares.map(|share| share.share.unwrap()).collect();
        assert_eq!(numbers, (0..SHARES).collect::<Vec<_>>());
        let audited = call(filling).after(Advanced::Audited);
        assert_eq!((&audited["next"], &audited["serves"]), (&json!("done"), &json!(false)));
    }

    #[test]
    fn request_of_cloudformation_is_no_call() {
        for other in [r#"{"RequestType":"Create"}"#, "{}", "[]", "Rebuild"] {
            assert!(!is_rebuild_call(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn misspelt_order_is_refused() {
        let misspelt = json!({ "RequestType": "Rebuild", "order": { "replaces": true } });
        assert!(serde_json::from_value::<RebuildCall>(misspelt).is_err());
    }

    #[test]
    fn state_machine_has_a_choice_for_each_output() {
        let definition: Value = serde_json::from_str(DEFINITION).unwrap();
        let choices = definition["States"]["Decide"]["Choices"].as_array().unwrap().iter();
        let known: Vec<_> = choices.map(|choice| choice["StringEquals"].clone()).collect();
        let first = call(json!({ "RequestType": "Rebuild" }));
        for advanced in [
            Advanced::Published { epoch: 1 },
            Advanced::Filling,
            Advanced::Stopped,
            Advanced::Audited,
            Advanced::Reached,
        ] {
            assert!(known.contains(&first.after(advanced)["next"]), "{advanced:?}");
        }
    }
}
