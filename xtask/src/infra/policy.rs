//! The policy of a function's role: its declared calls, its log stream and its traces.

use std::collections::{BTreeMap, BTreeSet};

use table::Grant;
use table::grant::Resource;

use super::function::Function;
use super::names::{
    self, bucket_arn, connections_arn, event_bus_arn, log_group_arn, queue_arn, search_arn, table_arn, tag_list,
};
use super::node::{Node, attribute, sub};

/// Returns the role of a function.
pub fn role(system: &str, function: &Function, more: Vec<Node>) -> Node {
    let mut statements = vec![logs(system), traces()];
    statements.extend(declared(&function.grants));
    statements.extend(more);
    role_of("lambda.amazonaws.com", system, statements)
}

/// Returns a role that a service of AWS assumes.
pub fn role_of(service: &str, system: &str, statements: Vec<Node>) -> Node {
    let trusted = map! {
        "Effect" => "Allow",
        "Principal" => map! { "Service" => service },
        "Action" => "sts:AssumeRole",
    };
    map! {
        "Type" => "AWS::IAM::Role",
        "Properties" => map! {
            "AssumeRolePolicyDocument" => map! { "Version" => VERSION, "Statement" => list![trusted] },
            "Policies" => list![map! {
                "PolicyName" => "declared",
                "PolicyDocument" => map! { "Version" => VERSION, "Statement" => statements },
            }],
            "Tags" => tag_list(system),
        },
    }
}

pub const VERSION: &str = "2012-10-17";

/// Returns the permissions for logs. Functions may not create log groups, which would have no retention period.
fn logs(system: &str) -> Node {
    allow("Logs", &["logs:CreateLogStream", "logs:PutLogEvents"], sub(format!("{}:*", log_group_arn(system))), None)
}

fn traces() -> Node {
    allow("Traces", &["xray:PutTelemetryRecords", "xray:PutTraceSegments"], "*".into(), None)
}

/// Returns one statement for each resource, with all allowed actions.
fn declared(grants: &BTreeSet<Grant>) -> Vec<Node> {
    let mut resources: BTreeMap<&Resource, Vec<&str>> = BTreeMap::new();
    for grant in grants {
        resources.entry(&grant.resource).or_default().push(grant.action);
    }
    resources.into_iter().map(|(resource, actions)| statement(resource, &actions)).collect()
}

fn statement(resource: &Resource, actions: &[&str]) -> Node {
    match resource {
        Resource::Table(table) => allow(&sid("Table", table), actions, sub(table_arn(table)), None),
        Resource::Attributes { table, attributes } => {
            let attributes: Vec<Node> = attributes.iter().map(|name| name.as_str().into()).collect();
            let condition = map! {
                "ForAllValues:StringEquals" => map! { "dynamodb:Attributes" => attributes },
                // Without it a response could contain attributes that the policy excludes.
                "StringEqualsIfExists" => map! { "dynamodb:ReturnValues" => list!["NONE", "UPDATED_OLD", "UPDATED_NEW"] },
            };
            allow(&sid("Stamp", table), actions, sub(table_arn(table)), Some(condition))
        }
        Resource::Index { table, index } => {
            let arn = sub(format!("{}/index/{index}", table_arn(table)));
            allow(&sid("Index", &format!("{table} {index}")), actions, arn, None)
        }
        Resource::Objects { bucket, prefix } => {
            let arn = sub(format!("{}/{prefix}*", bucket_arn(bucket)));
            allow(&sid("Objects", &format!("{bucket} {prefix}")), actions, arn, None)
        }
        Resource::Names { bucket, prefix } => {
            let condition = map! { "StringLike" => map! { "s3:prefix" => format!("{prefix}*") } };
            allow(&sid("Names", &format!("{bucket} {prefix}")), actions, sub(bucket_arn(bucket)), Some(condition))
        }
        Resource::Secret(secret) => {
            allow(&sid("Secret", secret), actions, attribute(names::resource(secret, "Secret"), "Id"), None)
        }
        Resource::Queue(queue) => allow(&sid("Queue", queue), actions, sub(queue_arn(queue)), None),
        Resource::EventBus { source } => {
            let source = list![sub(names::event_source(source))];
            let condition = map! {
                "ForAllValues:StringEquals" => map! { "events:source" => source },
                // A request without a source would satisfy the condition above.
                "Null" => map! { "events:source" => "false" },
            };
            allow(&sid("Events", ""), actions, sub(event_bus_arn()), Some(condition))
        }
        Resource::Connections { method } => {
            allow(&sid("Connections", &method.to_ascii_lowercase()), actions, sub(connections_arn(method)), None)
        }
        Resource::Search { path } => allow(&sid("Search", path), actions, search_arn(path), None),
    }
}

/// Returns a statement that allows these actions.
pub fn allow(sid: &str, actions: &[&str], resource: Node, condition: Option<Node>) -> Node {
    let actions: Vec<Node> = actions.iter().map(|action| (*action).into()).collect();
    let mut statement = vec![
        ("Sid".to_owned(), Node::from(sid)),
        ("Effect".to_owned(), "Allow".into()),
        ("Action".to_owned(), actions.into()),
        ("Resource".to_owned(), resource),
    ];
    statement.extend(condition.map(|condition| ("Condition".to_owned(), condition)));
    Node::Map(statement)
}

/// Returns a statement's id, which may have letters and digits only.
fn sid(kind: &str, name: &str) -> String {
    let name = name.replace("??????", "generation");
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    std::iter::once(kind.to_owned()).chain(words.map(capital)).collect()
}
