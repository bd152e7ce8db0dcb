//! `cargo xtask import STACK PREFIX ACCOUNT REGION`: writes a template by which a new stack imports the tables, the
//! buckets, the secrets and the search domain that a deleted one left. CloudFormation needs a template with these resources only,
//! and a list of their physical names.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::failure::{Doing, Failure};
use crate::infra::{shared, system};
use crate::systems;

/// The deployment that left the resources.
pub struct Deployment<'a> {
    pub prefix: &'a str,
    pub account: &'a str,
    pub region: &'a str,
}

/// The input of an import by CloudFormation.
pub struct Import {
    pub template: Value,
    /// The parameter of `aws cloudformation create-change-set`.
    pub resources_to_import: Value,
}

/// Writes both files below `target/import`, and returns their paths from the root.
pub fn write(root: &Path, stack: &str, deployment: &Deployment) -> Result<[String; 2], Failure> {
    if deployment.account.len() != 12 || !deployment.account.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(Failure::new(format!("`{}` is not an account of AWS, which has 12 digits", deployment.account)));
    }
    let whole = match stack {
        "shared" => shared::node(),
        system => system::node(&systems::one(system)?.app),
    };
    let import = import(&serde_json::to_value(whole).doing("serialising the template")?, deployment);
    let folder = "target/import";
    fs::create_dir_all(root.join(folder)).doing(folder)?;
    let files = [format!("{folder}/{stack}.json"), format!("{folder}/{stack}-resources.json")];
    for (file, content) in files.iter().zip([import.template, import.resources_to_import]) {
        fs::write(root.join(file), format!("{content:#}\n")).doing(file)?;
    }
    Ok(files)
}

/// Reduces the template of a stack to the resources that outlive it.
pub fn import(whole: &Value, deployment: &Deployment) -> Import {
    let mut kept = members(&whole["Resources"]);
    kept.retain(|_, resource| resource["DeletionPolicy"].is_string());
    let listed = kept.iter().map(|(name, resource)| {
        let (property, physical) = name_of(resource, &kept, deployment);
        json!({
            "ResourceType": resource["Type"],
            "LogicalResourceId": name,
            "ResourceIdentifier": { property: physical },
        })
    });
    let resources_to_import = listed.collect();
    for resource in kept.values_mut() {
        // The resources that these name did not outlive the stack. The next deployment adds them.
        remove(resource, &["DependsOn", "Condition"]);
        remove(&mut resource["Properties"], &["NotificationConfiguration", "LogPublishingOptions"]);
    }
    let said = Value::Object(kept.clone()).to_string();
    let mut parameters = members(&whole["Parameters"]);
    parameters
        .retain(|name, _| said.contains(&format!(r#"{{"Ref":"{name}"}}"#)) || said.contains(&format!("${{{name}}}")));
    // With the default prefix the import would look for resources that do not exist.
    if let Some(default) = parameters.get_mut("Prefix").and_then(|prefix| prefix.get_mut("Default")) {
        *default = deployment.prefix.into();
    }
    let template = json!({ "AWSTemplateFormatVersion": "2010-09-09", "Parameters": parameters, "Resources": kept });
    Import { template, resources_to_import }
}

/// Returns the property that identifies a resource of this type, and its value in the account.
fn name_of(resource: &Value, all: &Map<String, Value>, deployment: &Deployment) -> (&'static str, String) {
    let property = match resource["Type"].as_str() {
        Some("AWS::DynamoDB::Table") => "TableName",
        Some("AWS::S3::Bucket") => "BucketName",
        Some("AWS::S3::BucketPolicy") => "Bucket",
        Some("AWS::OpenSearchService::Domain") => "DomainName",
        Some("AWS::SecretsManager::Secret") => "Name",
        other => {
            table::never!("a resource of type {other:?} outlives its stack");
            "DomainName"
        }
    };
    let name = resource.pointer(&format!("/Properties/{property}")).unwrap_or(&Value::Null);
    if let Some(bucket) = name["Ref"].as_str().and_then(|bucket| all.get(bucket)) {
        return (property, name_of(bucket, all, deployment).1);
    }
    let Deployment { prefix, account, region } = deployment;
    let given = [("${Prefix}", prefix), ("${AWS::AccountId}", account), ("${AWS::Region}", region)];
    let Some(name) = name["Fn::Sub"].as_str() else {
        table::never!("a resource that outlives its stack has no name: {resource}");
        return (property, String::new());
    };
    let name = given.into_iter().fold(name.to_owned(), |name, (variable, value)| name.replace(variable, value));
    match resource["Type"].as_str() {
        // Its ARN identifies it, which ends in six random characters.
        Some("AWS::SecretsManager::Secret") => {
            ("Id", format!("arn:aws:secretsmanager:{region}:{account}:secret:{name}-??????"))
        }
        _ => (property, name),
    }
}

fn members(object: &Value) -> Map<String, Value> {
    object.as_object().cloned().unwrap_or_default()
}

fn remove(object: &mut Value, names: &[&str]) {
    if let Some(members) = object.as_object_mut() {
        members.retain(|name, _| !names.contains(&name.as_str()));
    }
}
