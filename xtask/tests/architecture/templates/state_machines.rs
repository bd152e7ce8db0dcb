//! The state machine of a rebuild: its role, and its definition in the Amazon States Language.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{members, of_type, systems, text};

#[test]
fn state_machine_may_only_invoke_the_function_that_creates_indexes() {
    for (system, template) in systems() {
        let machines: Vec<_> = of_type(&template, "AWS::StepFunctions::StateMachine").collect();
        let [(_, machine)] = machines.as_slice() else { panic!("{system}: {machines:?}") };
        let function = json!({ "Fn::GetAtt": ["CreateIndexFunction", "Arn"] });
        assert_eq!(machine["DefinitionSubstitutions"], json!({ "Function": function }), "{system}");
        assert_eq!(machine["StateMachineName"]["Fn::Sub"], format!("${{Prefix}}{system}-rebuildIndex"));
        let role = &template["Resources"][text(&machine["RoleArn"]["Fn::GetAtt"][0])]["Properties"];
        let trusted = &role["AssumeRolePolicyDocument"]["Statement"];
        assert_eq!(trusted[0]["Principal"], json!({ "Service": "states.amazonaws.com" }), "{system}");
        assert_eq!(trusted.as_array().map(Vec::len), Some(1), "{system}");
        let allowed = &role["Policies"][0]["PolicyDocument"]["Statement"];
        let expected =
            json!([{ "Sid": "Invoke", "Effect": "Allow", "Action": ["lambda:InvokeFunction"], "Resource": function }]);
        assert_eq!(allowed, &expected, "{system}");
    }
}

/// The definition of the first system, since all have the same.
fn definition() -> Value {
    let definitions: Vec<Value> = systems()
        .iter()
        .flat_map(|(_, template)| of_type(template, "AWS::StepFunctions::StateMachine"))
        .map(|(_, machine)| machine["Definition"].clone())
        .collect();
    let (first, others) = definitions.split_first().unwrap();
    assert!(others.iter().all(|other| other == first));
    first.clone()
}

/// Each list of states: that of the machine, and those of its maps.
fn state_lists(machine: &Value) -> Vec<&Value> {
    let nested = members(&machine["States"]).map(|(_, state)| &state["ItemProcessor"]);
    let nested = nested.filter(|processor| processor.is_object()).flat_map(state_lists);
    std::iter::once(machine).chain(nested).collect()
}

fn states(definition: &Value) -> impl Iterator<Item = (&str, &Value)> {
    state_lists(definition).into_iter().flat_map(|list| members(&list["States"]))
}

#[test]
fn each_state_is_reached_and_leads_to_a_state_of_its_list() {
    let definition = definition();
    for list in state_lists(&definition) {
        let mut reached = BTreeSet::from([text(&list["StartAt"])]);
        for (name, state) in members(&list["States"]) {
            let choices = state["Choices"].as_array().into_iter().flatten().map(|choice| &choice["Next"]);
            let next: Vec<&Value> = [&state["Next"], &state["Default"]]
                .into_iter()
                .chain(choices)
                .filter(|next| next.is_string())
                .collect();
            let ends = state["End"] == true || state["Type"] == "Succeed" || state["Type"] == "Fail";
            assert_ne!(next.is_empty(), !ends, "{name}");
            reached.extend(next.into_iter().map(text));
        }
        let known: BTreeSet<String> = members(&list["States"]).map(|(name, _)| name.to_owned()).collect();
        assert_eq!(reached, known);
    }
}

/// A call that fails is repeated for as long as a command would try: an hour and a half.
#[test]
fn each_call_is_repeated_after_any_error() {
    let definition = definition();
    let calls: Vec<_> = states(&definition).filter(|(_, state)| state["Type"] == "Task").collect();
    assert_eq!(calls.len(), 2);
    for (name, call) in calls {
        assert_eq!(call["Resource"], "${Function}", "{name}");
        let [retry] = call["Retry"].as_array().unwrap().as_slice() else { panic!("{name}") };
        assert_eq!(retry["ErrorEquals"], json!(["States.ALL"]), "{name}");
        let number = |member: &str| retry[member].as_u64().unwrap();
        let (mut pause, mut total) = (number("IntervalSeconds"), 0);
        for _ in 0..number("MaxAttempts") {
            total += pause;
            pause = (pause * number("BackoffRate")).min(number("MaxDelaySeconds"));
        }
        assert!((5_000..6_000).contains(&total), "{name}: {total} s");
    }
}

/// Step Functions keeps at most 25 000 events of an execution ("Step Functions service quotas"). A call and the choice
/// after it have seven.
#[test]
fn history_of_the_longest_execution_fits() {
    let definition = definition();
    let calls_of_15_minutes = definition["TimeoutSeconds"].as_u64().unwrap() / 900;
    assert!(8 * 7 * calls_of_15_minutes < 25_000);
}
