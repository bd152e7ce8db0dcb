//! What outlives a stack, and how the next one has it.

use std::collections::BTreeSet;

use serde_json::Value;
use xtask::import::{Deployment, Import, import};
use xtask::infra::shared;

use super::{members, systems, text, texts};

/// A table that is left behind is of use only if the next stack can have it.
#[test]
fn what_outlives_a_stack_can_be_imported_into_the_next() {
    let deployment = Deployment { prefix: "our-", account: "123456789012", region: "eu-central-1" };
    let mut all = BTreeSet::new();
    for (stack, whole) in systems().into_iter().chain([("shared", serde_json::to_value(shared::node()).unwrap())]) {
        let Import { template, resources_to_import } = import(&whole, &deployment);
        let stays = members(&whole["Resources"]).filter(|(_, resource)| !resource["DeletionPolicy"].is_null());
        let stays: Vec<&str> = stays.map(|(name, _)| name).collect();
        let kept: Vec<&str> = members(&template["Resources"]).map(|(name, _)| name).collect();
        assert!(!stays.is_empty() && kept == stays, "{stack}: {kept:?}, but {stays:?} stay");
        assert_eq!(template["Parameters"]["Prefix"]["Default"], "our-", "{stack}");
        let resources = resources_to_import.as_array().unwrap();
        let listed: Vec<String> = resources.iter().map(|resource| text(&resource["LogicalResourceId"])).collect();
        assert_eq!(listed, stays, "{stack}");
        for (name, resource) in members(&template["Resources"]) {
            for used in used(resource) {
                let known = ["Resources", "Parameters"].iter().any(|kind| !template[*kind][&used].is_null());
                assert!(known || used.starts_with("AWS::"), "{stack}: {name} names {used}, which is not there");
            }
        }
        all.extend(
            resources
                .iter()
                .map(|resource| format!("{} {}", text(&resource["ResourceType"]), resource["ResourceIdentifier"])),
        );
    }
    for expected in [
        r#"AWS::DynamoDB::Table {"TableName":"our-parks"}"#,
        r#"AWS::DynamoDB::Table {"TableName":"our-tracker-mirror"}"#,
        r#"AWS::SecretsManager::Secret {"Id":"arn:aws:secretsmanager:eu-central-1:123456789012:secret:our-chat-identity-??????"}"#,
        r#"AWS::OpenSearchService::Domain {"DomainName":"our-search"}"#,
        r#"AWS::S3::Bucket {"BucketName":"our-parks-failures-123456789012-eu-central-1"}"#,
        r#"AWS::S3::BucketPolicy {"Bucket":"our-parks-failures-123456789012-eu-central-1"}"#,
    ] {
        assert!(all.contains(expected), "{expected} is not among {all:#?}");
    }
}

/// What a part of a template names by `Ref`, `Fn::GetAtt` or `Fn::Sub`.
fn used(part: &Value) -> Vec<String> {
    match part {
        Value::Array(list) => list.iter().flat_map(used).collect(),
        Value::Object(all) => all
            .iter()
            .flat_map(|(function, value)| match (function.as_str(), value) {
                ("Ref", name) => vec![text(name)],
                ("Fn::GetAtt", of) => vec![text(&of[0])],
                ("Fn::Sub", Value::String(with)) => with
                    .split("${")
                    .skip(1)
                    .filter_map(|rest| rest.split_once('}'))
                    .map(|(name, _)| name.to_owned())
                    .collect(),
                ("DependsOn", names) => texts(names),
                ("Condition", Value::String(name)) => vec![name.clone()],
                (_, value) => used(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}
