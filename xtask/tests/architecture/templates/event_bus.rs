//! The event bus: the functions that put events on it, and the source of these events.

use std::collections::BTreeSet;

use serde_json::json;
use table::Call;

use super::{declared_calls, statements_on, systems, text, texts};

#[test]
fn function_puts_events_as_declared_and_of_its_own_system_alone() {
    let mut all = 0;
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let mut allowed = BTreeSet::new();
        for (function, statement) in statements_on(&template, "events:") {
            assert_eq!(texts(&statement["Action"]), ["events:PutEvents"], "{system}: {function}");
            let bus = "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/${EventBus}";
            assert_eq!(text(&statement["Resource"]), bus, "{system}: {function}");
            let source = json!({ "Fn::Sub": format!("${{Prefix}}{system}") });
            let condition = json!({
                "ForAllValues:StringEquals": { "events:source": [source] },
                "Null": { "events:source": "false" },
            });
            assert_eq!(statement["Condition"], condition, "{system}: {function}");
            allowed.insert(function);
        }
        let puts = declared_calls(&declared.app).filter(|(_, call)| matches!(call, Call::EventBus { .. }));
        assert_eq!(allowed, puts.map(|(function, _)| function).collect(), "{system}");
        let bus = &template["Globals"]["Function"]["Environment"]["Variables"]["CAIRN_EVENT_BUS"];
        let expected = if allowed.is_empty() { json!(null) } else { json!({ "Ref": "EventBus" }) };
        assert_eq!(*bus, expected, "{system}");
        assert_eq!(template["Parameters"]["EventBus"].is_null(), allowed.is_empty(), "{system}");
        all += allowed.len();
    }
    assert!(all > 0);
}
