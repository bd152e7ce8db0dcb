//! What the templates must say, whatever the systems declare. `nothing_generated_has_drifted` holds that the files say the
//! same as the values that are looked at here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use table::{AccessPattern, Call};
use web::{App, Who};
use xtask::infra::function::resource;
use xtask::infra::{shared, system};

mod alarms;
mod api;
mod callers;
mod event_bus;
mod import;
mod queues;
mod secrets;
mod sockets;
mod stacks;
mod state_machines;

/// That these answer without a token, and no others do, is tried in `tests/rehearsal.rs`.
#[test]
fn nothing_is_open_by_accident() {
    for declared in xtask::systems::all() {
        let name = declared.app.system().name;
        let public = xtask::public(name).unwrap();
        let public: BTreeSet<&str> = public.iter().map(String::as_str).collect();
        let open = |who| matches!(who, Who::Public | Who::Views { .. });
        let routes = declared.app.routes();
        let named: BTreeSet<&str> = routes.filter(|route| open(route.who())).map(|route| route.name()).collect();
        assert_eq!(named, public, "{name}: these routes need no token");

        let description: Value = read(&format!("{}/openapi.json", xtask::systems::folder(name)));
        let operations = members(&description["paths"]).flat_map(|(_, methods)| members(methods));
        let described: BTreeSet<&str> = operations
            .filter(|(_, operation)| operation["operationId"].is_string())
            .filter(|(_, operation)| {
                let security = operation["security"].as_array().expect("each operation says what it takes");
                security.is_empty() || security.iter().any(|scheme| scheme.as_object().is_some_and(|it| it.is_empty()))
            })
            .map(|(_, operation)| operation["operationId"].as_str().unwrap())
            .collect();
        assert_eq!(described, public, "{name}: these operations are described as open");
    }
}

/// DynamoDB supports two readers of a shard: the mirror, and one beside it.
#[test]
fn no_reader_loses_a_record_of_a_stream() {
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let streamed = of_type(&template, "AWS::DynamoDB::Table")
            .filter(|(_, table)| !table["StreamSpecification"].is_null())
            .inspect(|(name, table)| {
                assert_eq!(table["StreamSpecification"]["StreamViewType"], "NEW_AND_OLD_IMAGES", "{system}: {name}");
            })
            .count();
        let mut mapped: BTreeMap<String, usize> = BTreeMap::new();
        for (name, mapping) in stream_mappings(&template) {
            *mapped.entry(text(&mapping["FunctionName"]["Ref"])).or_default() += 1;
            assert_eq!(mapping["FunctionResponseTypes"], serde_json::json!(["ReportBatchItemFailures"]), "{name}");
            assert_eq!(mapping["BisectBatchOnFunctionError"], true, "{name}");
            assert_eq!(mapping["StartingPosition"], "TRIM_HORIZON", "{name}");
            let age = mapping["MaximumRecordAgeInSeconds"].as_u64().unwrap();
            assert!((60..24 * 3600).contains(&age), "{name}: the stream keeps its records for a day only");
            assert!(mapping["MaximumRetryAttempts"].is_null(), "{name}: records are given up by age, not by count");
            let destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0].as_str();
            let bucket = &template["Resources"][destination.unwrap()];
            assert_eq!(bucket["Type"], "AWS::S3::Bucket", "{name}: what is given up goes to S3");
        }
        let mirrored = declared.app.system().mirrored().count();
        assert!(mirrored > 0 && mapped.len() <= 2, "{system}: {mapped:?}");
        for (function, tables) in mapped {
            let expected = if function == MIRROR { mirrored } else { streamed };
            assert_eq!(tables, expected, "{system}: {function}");
        }
    }
}

#[test]
fn nothing_that_a_function_was_told_once_is_lost() {
    for (system, template) in systems() {
        let told: BTreeSet<&str> = of_type(&template, "AWS::Lambda::Permission")
            .filter(|(_, permission)| permission["Principal"] == "s3.amazonaws.com")
            .map(|(_, permission)| permission["FunctionName"]["Ref"].as_str().unwrap())
            .collect();
        let kept: BTreeSet<&str> = of_type(&template, "AWS::Lambda::EventInvokeConfig")
            .filter(|(_, config)| config["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][1] == "Arn")
            .map(|(_, config)| config["FunctionName"]["Ref"].as_str().unwrap())
            .collect();
        assert_eq!(told, kept, "{system}");
    }
}

#[test]
fn tables_can_be_restored_and_not_deleted() {
    for (system, template) in systems() {
        let tables: Vec<_> = of_type(&template, "AWS::DynamoDB::Table").collect();
        assert!(!tables.is_empty(), "{system}");
        for (name, table) in tables {
            assert_eq!(table["BillingMode"], "PAY_PER_REQUEST", "{name}");
            assert_eq!(table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true, "{name}");
            assert_eq!(table["DeletionProtectionEnabled"]["Ref"], "DeletionProtection", "{name}");
            let expires = serde_json::json!({ "AttributeName": "expires", "Enabled": true });
            assert_eq!(table["TimeToLiveSpecification"], expires, "{name}");
            assert_eq!(template["Resources"][name]["DeletionPolicy"], "RetainExceptOnCreate", "{name}");
        }
        assert_eq!(template["Parameters"]["DeletionProtection"]["Default"], "true");
    }
}

#[test]
fn buckets_are_private_and_encrypted() {
    for (_, template) in systems() {
        for (name, bucket) in of_type(&template, "AWS::S3::Bucket") {
            let all = ["BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"];
            assert!(all.iter().all(|way| bucket["PublicAccessBlockConfiguration"][way] == true), "{name} is private");
            let encryption = &bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"][0];
            assert_eq!(encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"], "AES256", "{name}");
            assert_eq!(bucket["OwnershipControls"]["Rules"][0]["ObjectOwnership"], "BucketOwnerEnforced", "{name}");
            assert_eq!(bucket["VersioningConfiguration"]["Status"], "Enabled", "{name}");
            assert!(!bucket["LifecycleConfiguration"]["Rules"].as_array().unwrap().is_empty(), "{name}");
            assert_eq!(template["Resources"][name]["DeletionPolicy"], "RetainExceptOnCreate", "{name}");
            let refuses = of_type(&template, "AWS::S3::BucketPolicy").any(|(_, policy)| {
                let statement = &policy["PolicyDocument"]["Statement"][0];
                let tls = &statement["Condition"]["Bool"]["aws:SecureTransport"];
                policy["Bucket"]["Ref"] == name && statement["Effect"] == "Deny" && tls == "false"
            });
            assert!(refuses, "{name} refuses whoever comes without TLS");
        }
    }
}

#[test]
fn every_function_has_a_role_of_its_own_and_logs_where_it_is_told() {
    for (system, template) in systems() {
        assert_eq!(template["Globals"]["Function"]["LoggingConfig"]["LogGroup"]["Ref"], "Logs");
        let mut roles = BTreeSet::new();
        for (name, function) in of_type(&template, "AWS::Serverless::Function") {
            let role = function["Role"]["Fn::GetAtt"][0].as_str().unwrap();
            assert_eq!(template["Resources"][role]["Type"], "AWS::IAM::Role", "{name}");
            assert!(roles.insert(role.to_owned()), "{name} has the role of another function");
        }
        for (_, machine) in of_type(&template, "AWS::StepFunctions::StateMachine") {
            assert!(roles.insert(text(&machine["RoleArn"]["Fn::GetAtt"][0])), "{system}");
        }
        assert_eq!(roles.len(), of_type(&template, "AWS::IAM::Role").count(), "{system}: a role of nothing");
    }
}

/// For a group of any other name, each API would add to one policy of the account until that is full.
#[test]
fn the_access_log_is_where_log_delivery_writes() {
    for (system, template) in systems() {
        for (stage, properties) in of_type(&template, "AWS::ApiGatewayV2::Stage") {
            let settings = &properties["AccessLogSettings"];
            let settings = if settings["Fn::If"].is_null() { settings } else { &settings["Fn::If"][1] };
            let group = text(&settings["DestinationArn"]["Fn::GetAtt"][0]);
            let name = text(&template["Resources"][&group]["Properties"]["LogGroupName"]["Fn::Sub"]);
            assert!(name.starts_with("/aws/vendedlogs/"), "{system}: {stage}: {name}");
        }
    }
}

#[test]
fn no_policy_is_wider_than_it_must_be() {
    let may: Value = read("infra/wildcards.json");
    let may = may.as_array().unwrap();
    let mut needed = BTreeSet::new();
    let names: Vec<&str> = systems().into_iter().map(|(name, _)| name).collect();
    for (role, statement) in statements() {
        let (actions, resource) = (texts(&statement["Action"]), text(&statement["Resource"]));
        assert_eq!(statement["Effect"], "Allow", "{role}");
        for action in &actions {
            assert!(!action.contains('*') && action.contains(':'), "{role} may {action}");
            assert_ne!(action, "logs:CreateLogGroup", "{role}: such a group would be kept for ever");
        }
        if !resource.contains(['*', '?']) {
            continue;
        }
        let allows = |entry: &Value| {
            let named = texts(&entry["actions"]);
            let ends = entry["ends"].as_str().unwrap();
            let mut ends = names.iter().map(|name| ends.replace("{system}", name));
            let before = ends.find_map(|ends| resource.strip_suffix(&ends));
            before.is_some_and(|it| !it.contains(['*', '?'])) && actions.iter().all(|action| named.contains(action))
        };
        let entry = may.iter().position(allows);
        let entry =
            entry.unwrap_or_else(|| panic!("{role} may {actions:?} on {resource}: not in infra/wildcards.json"));
        needed.extend(actions.into_iter().map(|action| (entry, action)));
    }
    for (at, entry) in may.iter().enumerate() {
        for words in ["reason", "page"] {
            assert!(entry[words].as_str().is_some_and(|it| it.len() > 20), "{}: the {words} is missing", entry["ends"]);
        }
        for action in texts(&entry["actions"]) {
            assert!(needed.contains(&(at, action.clone())), "infra/wildcards.json: nothing needs {action}");
        }
    }
}

/// Nobody writes what the table's owner wrote but the owner: the mirror sets `rev`, and sees no other attribute by it.
#[test]
fn the_mirror_changes_nothing_but_a_revision() {
    for (system, template) in systems() {
        let mirrored = || stream_mappings(&template).filter(|(_, mapping)| mapping["FunctionName"]["Ref"] == MIRROR);
        let mirrors =
            mirrored().map(|(_, mapping)| mapping["FunctionName"]["Ref"].as_str().unwrap().replace("Function", "Role"));
        // Who makes an index writes each item's document as its record would.
        let made = members(&template["Resources"]).filter(|(_, it)| text(&it["Type"]).starts_with("Custom::"));
        let makers = made.map(|(_, it)| {
            let function = it["Properties"]["ServiceToken"]["Fn::GetAtt"][0].as_str().unwrap();
            function.replace("Function", "Role")
        });
        let mirrors: BTreeSet<String> = mirrors.chain(makers).collect();
        assert_eq!(mirrors.len(), 2, "{system}");
        let tables = mirrored().map(|(_, mapping)| {
            let table = text(&mapping["EventSourceArn"]["Fn::GetAtt"][0]);
            format!("table/{}", text(&template["Resources"][table]["Properties"]["TableName"]))
        });
        let tables: Vec<String> = tables.collect();
        let mut limited = 0;
        for role in &mirrors {
            for statement in own_statements(&template["Resources"][role]) {
                let written = texts(&statement["Action"]);
                let resource = text(&statement["Resource"]);
                let writes = written.iter().any(|action| {
                    ["PutItem", "DeleteItem", "UpdateItem", "BatchWriteItem"]
                        .iter()
                        .any(|write| action.ends_with(write))
                });
                if !writes || !tables.iter().any(|table| resource.ends_with(table.as_str())) {
                    continue;
                }
                assert_eq!(written, ["dynamodb:UpdateItem"], "{role} on {resource}");
                let attributes = texts(&statement["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]);
                let [keys @ .., rev] = attributes.as_slice() else { panic!("{role} on {resource}") };
                assert!(
                    rev == "rev" && keys.iter().all(|name| ["pk", "sk"].contains(&name.to_lowercase().as_str())),
                    "{role} on {resource}: {attributes:?}"
                );
                let shown = texts(&statement["Condition"]["StringEqualsIfExists"]["dynamodb:ReturnValues"]);
                assert_eq!(shown, ["NONE", "UPDATED_OLD", "UPDATED_NEW"], "{role} on {resource}");
                limited += 1;
            }
        }
        assert_eq!(limited, mirrors.len() * tables.len(), "{system}");
    }
}

/// Lambda calls a function that has failed twice more, after one minute and two, and CloudFormation waits for all of that.
#[test]
fn a_deployment_waits_for_what_its_function_makes() {
    for (system, template) in systems() {
        let made: Vec<_> =
            members(&template["Resources"]).filter(|(_, it)| text(&it["Type"]).starts_with("Custom::")).collect();
        let [(_, made)] = made.as_slice() else { panic!("{system}: {made:?}") };
        let name = made["Properties"]["ServiceToken"]["Fn::GetAtt"][0].as_str().unwrap();
        let timeout = template["Resources"][name]["Properties"]["Timeout"].as_u64().unwrap();
        assert!(3 * timeout + 180 < made["Properties"]["ServiceTimeout"].as_u64().unwrap(), "{system}");
        let fewer =
            of_type(&template, "AWS::Lambda::EventInvokeConfig").any(|(_, it)| it["FunctionName"]["Ref"] == name);
        assert!(!fewer, "{system}: {name} is not called three times");
        let after = texts(&made["DependsOn"]);
        for kind in ["AWS::DynamoDB::Table", "AWS::Logs::LogGroup"] {
            for (needed, _) in of_type(&template, kind).filter(|(name, _)| !name.ends_with("AccessLogs")) {
                assert!(after.iter().any(|it| it == needed), "{system}: {name} does not wait for {needed}");
            }
        }
    }
}

/// The function of the mirror.
const MIRROR: &str = "MirrorFunction";

/// The template of each system, with its name.
fn systems() -> Vec<(&'static str, Value)> {
    let all = xtask::systems::all();
    let templates: Vec<_> = all
        .iter()
        .map(|declared| (declared.app.system().name, serde_json::to_value(system::node(&declared.app)).unwrap()))
        .collect();
    assert!(!templates.is_empty());
    templates
}

/// The names and properties of the resources of a type.
fn of_type<'a>(template: &'a Value, kind: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    members(&template["Resources"])
        .filter(move |(_, resource)| resource["Type"] == kind)
        .map(|(name, resource)| (name, &resource["Properties"]))
}

/// The mappings of streams. Those of queues begin nowhere.
fn stream_mappings(template: &Value) -> impl Iterator<Item = (&str, &Value)> {
    of_type(template, "AWS::Lambda::EventSourceMapping").filter(|(_, mapping)| !mapping["StartingPosition"].is_null())
}

/// The mappings of queues.
fn queue_mappings(template: &Value) -> impl Iterator<Item = (&str, &Value)> {
    of_type(template, "AWS::Lambda::EventSourceMapping").filter(|(_, mapping)| mapping["StartingPosition"].is_null())
}

/// Method, path and function of each operation of the API description by which API Gateway makes its routes.
fn routes(template: &Value) -> impl Iterator<Item = (String, &str, Value)> {
    let paths = members(&template["Resources"]["Api"]["Properties"]["Body"]["paths"]);
    let operations = paths.flat_map(|(path, item)| {
        let operations = members(item).filter(|(method, _)| *method != "parameters");
        operations.map(move |(method, operation)| (method.to_uppercase(), path, operation))
    });
    operations.map(|(method, path, operation)| {
        let function = &operation["x-amazon-apigateway-integration"]["uri"]["Fn::GetAtt"];
        assert_eq!(function[1], "Arn", "{method} {path}");
        (method, path, function[0].clone())
    })
}

/// Every statement that allows something to a role or to a service, with where it stands.
fn statements() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let shared = ("shared", serde_json::to_value(shared::node()).unwrap());
    for (system, template) in systems().into_iter().chain([shared]) {
        for (name, resource) in members(&template["Resources"]) {
            match resource["Type"].as_str().unwrap() {
                "AWS::IAM::Role" => {
                    assert!(resource["Properties"]["ManagedPolicyArns"].is_null(), "{name}");
                    found.extend(
                        own_statements(resource).map(|statement| (format!("{system}: {name}"), statement.clone())),
                    );
                }
                "AWS::Logs::ResourcePolicy" => {
                    let document = text(&resource["Properties"]["PolicyDocument"]);
                    let document: Value = serde_json::from_str(&document).unwrap();
                    let statements = document["Statement"].as_array().unwrap().clone();
                    found.extend(statements.into_iter().map(|statement| (format!("{system}: {name}"), statement)));
                }
                kind => assert!(!kind.starts_with("AWS::IAM::"), "{name} is a {kind}, which nothing here looks at"),
            }
        }
    }
    assert!(found.len() > 100);
    found
}

fn own_statements(role: &Value) -> impl Iterator<Item = &Value> {
    let policies = role["Properties"]["Policies"].as_array().unwrap();
    policies.iter().flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().unwrap())
}

/// Returns the statements about a service in the policies of functions, each with the function.
fn statements_on<'a>(template: &'a Value, service: &str) -> Vec<(String, &'a Value)> {
    let roles = of_type(template, "AWS::IAM::Role").map(|(name, _)| (name, &template["Resources"][name]));
    let statements = roles.flat_map(|(name, role)| own_statements(role).map(move |statement| (name, statement)));
    let is_on = |statement: &Value| texts(&statement["Action"]).iter().any(|action| action.starts_with(service));
    let on_service = statements.filter(|(_, statement)| is_on(statement));
    on_service.map(|(name, statement)| (name.strip_suffix("Role").unwrap_or(name).to_owned(), statement)).collect()
}

/// Returns the declared calls of a system, each with its function.
fn declared_calls(app: &App) -> impl Iterator<Item = (String, &'static Call)> {
    let routes = app.routes().map(|route| (route.name(), route.declared_patterns()));
    let handlers = app.event_handlers().iter().map(|own| (own.name(), own.declared_patterns()));
    let calls = |patterns: &'static [&'static AccessPattern]| patterns.iter().flat_map(|pattern| pattern.calls);
    routes.chain(handlers).flat_map(move |(name, patterns)| calls(patterns).map(move |call| (resource(name, ""), call)))
}

/// A text, a reference, or a text with references in it, as one text.
fn text(value: &Value) -> String {
    let sub = value.as_str().or_else(|| value["Fn::Sub"].as_str());
    let name = || value["Ref"].as_str();
    let attribute = || value["Fn::GetAtt"].as_array().map(|parts| format!("{}.{}", parts[0], parts[1]));
    sub.or_else(name).map(str::to_owned).or_else(attribute).unwrap_or_else(|| panic!("{value} is no text"))
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(text).collect()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value))
}

fn read(path: &str) -> Value {
    serde_json::from_str(&super::source::read(path)).unwrap()
}
