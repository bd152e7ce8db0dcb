//! Who may call a function, and which index a body may name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use xtask::infra::shared;

use super::sockets::socket_routes;
use super::{members, of_type, queue_mappings, routes, stream_mappings, systems, text};

/// Only the source of a function may call it. Three kinds of functions need no permission for that: Lambda itself polls the
/// streams and the queues, and the handler of a deployment is called with the permissions of the person who deploys, and
/// with those of the state machine's role.
#[test]
fn a_function_is_called_by_its_source_alone() {
    for (system, template) in systems() {
        let permission = |function: &Value, by: &str, source: Value| {
            json!({
                "FunctionName": { "Ref": function },
                "Action": "lambda:InvokeFunction",
                "Principal": format!("{by}.amazonaws.com"),
                "SourceArn": source,
            })
        };
        let mut expected = BTreeMap::new();
        for (method, path, function) in routes(&template) {
            let path = path.split('/').map(|part| if part.starts_with('{') { "*" } else { part });
            let path = path.collect::<Vec<_>>().join("/");
            let arn = format!(
                "arn:${{AWS::Partition}}:execute-api:${{AWS::Region}}:${{AWS::AccountId}}:${{Api}}/*/{method}{path}"
            );
            expected.insert(text(&function), permission(&function, "apigateway", json!({ "Fn::Sub": arn })));
        }
        for (function, key) in socket_routes(&template) {
            let arn = format!(
                "arn:${{AWS::Partition}}:execute-api:${{AWS::Region}}:${{AWS::AccountId}}:${{SocketApi}}/*/{key}"
            );
            expected.insert(function.clone(), permission(&json!(function), "apigateway", json!({ "Fn::Sub": arn })));
        }
        for (_, bucket) in of_type(&template, "AWS::S3::Bucket") {
            let notified = bucket["NotificationConfiguration"]["LambdaConfigurations"].as_array();
            for notified in notified.into_iter().flatten() {
                let function = &notified["Function"]["Fn::GetAtt"][0];
                let arn = format!("arn:${{AWS::Partition}}:s3:::{}", text(&bucket["BucketName"]));
                let mut by_bucket = permission(function, "s3", json!({ "Fn::Sub": arn }));
                // The ARN of a bucket names no account. EventBridge would not invoke a function whose permission has one.
                by_bucket["SourceAccount"] = json!({ "Ref": "AWS::AccountId" });
                expected.insert(text(function), by_bucket);
            }
        }
        for (name, rule) in of_type(&template, "AWS::Events::Rule") {
            let function = &rule["Targets"][0]["Arn"]["Fn::GetAtt"][0];
            let by_clock = permission(function, "events", json!({ "Fn::GetAtt": [name, "Arn"] }));
            expected.insert(text(function), by_clock);
        }
        let mut permitted = of_type(&template, "AWS::Lambda::Permission").collect::<Vec<_>>();
        for (function, expected) in &expected {
            let own =
                permitted.extract_if(.., |(_, permission)| permission["FunctionName"]["Ref"] == function.as_str());
            let own: Vec<_> = own.map(|(_, permission)| permission).collect();
            assert_eq!(own, [expected], "{system}: {function}");
        }
        assert!(permitted.is_empty(), "{system}: {permitted:#?}");
        let functions = of_type(&template, "AWS::Serverless::Function").map(|(name, _)| name);
        let uncalled: BTreeSet<String> =
            functions.filter(|name| !expected.contains_key(*name)).map(str::to_owned).collect();
        let mapped = queue_mappings(&template).chain(stream_mappings(&template));
        let mapped = mapped.map(|(_, mapping)| text(&mapping["FunctionName"]["Ref"]));
        let known = ["CreateIndexFunction"].map(str::to_owned).into_iter().chain(mapped);
        assert_eq!(uncalled, known.collect(), "{system}");
    }
}

/// Policies are about paths: a body that named another index would pass by them.
#[test]
fn a_body_names_no_index() {
    let template = serde_json::to_value(shared::node()).unwrap();
    let mut domains = members(&template["Resources"]).filter(|(_, it)| it["Type"] == "AWS::OpenSearchService::Domain");
    let (_, domain) = domains.next().unwrap();
    assert_eq!(domain["Properties"]["AdvancedOptions"]["rest.action.multi.allow_explicit_index"], "false");
}
