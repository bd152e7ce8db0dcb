//! State machines of Step Functions, whose executions an operator starts.

use serde_json::Value;
use table::never;
use table::schema::System;

use super::function::{Function, resource};
use super::names;
use super::node::{Map, Node, attribute, sub};
use super::policy::{allow, role_of};

/// Returns a state machine and its role, which may only invoke the function.
pub fn of(system: &System, function: &Function, name: &str, definition: &str) -> Map {
    let called = attribute(function.resource("Function"), "Arn");
    let role = resource(name, "StateMachineRole");
    let properties = map! {
        "StateMachineName" => sub(names::function(system.name, name)),
        "RoleArn" => attribute(role.as_str(), "Arn"),
        "Definition" => node(parsed(definition)),
        "DefinitionSubstitutions" => map! { "Function" => called.clone() },
        "Tags" => names::tag_list(system.name),
    };
    let invoke = allow("Invoke", &["lambda:InvokeFunction"], called, None);
    vec![
        (
            resource(name, "StateMachine"),
            map! { "Type" => "AWS::StepFunctions::StateMachine", "Properties" => properties },
        ),
        (role, role_of("states.amazonaws.com", system.name, vec![invoke])),
    ]
}

/// Returns a definition in the Amazon States Language as a value.
pub fn parsed(definition: &str) -> Value {
    serde_json::from_str(definition).unwrap_or_else(|error| {
        never!("a state machine's definition is no JSON: {error}");
        Value::Null
    })
}

/// Returns JSON as a node. CloudFormation takes neither nulls nor, in a definition, fractions.
fn node(value: Value) -> Node {
    match value {
        Value::Object(members) => Node::Map(members.into_iter().map(|(name, value)| (name, node(value))).collect()),
        Value::Array(values) => Node::List(values.into_iter().map(node).collect()),
        Value::String(text) => Node::Text(text),
        Value::Bool(flag) => Node::Flag(flag),
        Value::Number(number) => Node::Number(number.as_u64().unwrap_or_else(|| {
            never!("a state machine's definition has the number {number}");
            0
        })),
        Value::Null => {
            never!("a state machine's definition has a null");
            Node::Text(String::new())
        }
    }
}
