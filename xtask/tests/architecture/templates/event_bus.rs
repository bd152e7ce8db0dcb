//! The event bus: the functions that put events on it, and the source of these events.

use std::collections::BTreeSet;

use serde_json::json;

use super::{members, own_statements, systems, text, texts};

#[test]
fn function_puts_events_as_declared_and_of_its_own_system_alone() {
    let mut all = 0;
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let mut allowed = BTreeSet::new();
        for (role, resource) in members(&template["Resources"]).filter(|(_, it)| it["Type"] == "AWS::IAM::Role") {
            for statement in own_statements(resource) {
                let actions = texts(&statement["Action"]);
                if actions.iter().any(|action| action.starts_with("events:")) {
                    assert_eq!(actions, ["events:PutEvents"], "{system}: {role}");
                    let bus = "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/${EventBus}";
                    assert_eq!(text(&statement["Resource"]), bus, "{system}: {role}");
                    let source = json!({ "Fn::Sub": format!("${{Prefix}}{system}") });
                    let condition = json!({
                        "ForAllValues:StringEquals": { "events:source": [source] },
                        "Null": { "events:source": "false" },
                    });
                    assert_eq!(statement["Condition"], condition, "{system}: {role}");
                    allowed.insert(role.strip_suffix("Role").unwrap_or(role).to_owned());
                }
            }
        }
        let routes = declared.app.routes().map(|route| (route.name(), route.declared_patterns()));
        let handlers = declared.app.event_handlers().iter().map(|own| (own.name(), own.declared_patterns()));
        let puts = |patterns: &[&table::AccessPattern]| {
            patterns.iter().flat_map(|pattern| pattern.calls).any(|call| matches!(call, table::Call::EventBus { .. }))
        };
        let capital = |name: &str| {
            let (first, rest) = name.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        };
        let putting = routes.chain(handlers).filter(|(_, patterns)| puts(patterns)).map(|(name, _)| capital(name));
        assert_eq!(allowed, putting.collect(), "{system}");
        let bus = &template["Globals"]["Function"]["Environment"]["Variables"]["CAIRN_EVENT_BUS"];
        let expected = if allowed.is_empty() { json!(null) } else { json!({ "Ref": "EventBus" }) };
        assert_eq!(*bus, expected, "{system}");
        assert_eq!(template["Parameters"]["EventBus"].is_null(), allowed.is_empty(), "{system}");
        all += allowed.len();
    }
    assert!(all > 0);
}
