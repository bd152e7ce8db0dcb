//! The conversion of requests to engines into the actions and resources of IAM. Names are logical: they do not have the
//! prefix of their platform.
//!
//! The result is `None` if a request names no resource with this prefix. Ports are reused, so that the last requests of
//! a stopped platform may reach the relay of another.

use std::collections::HashMap;

use http::Method;
use reqwest::Url;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use table::grant::Resource;

use super::Use;

/// The members of a request to DynamoDB, or of an item of a transaction.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Named {
    table_name: Option<String>,
    index_name: Option<String>,
    key: HashMap<String, IgnoredAny>,
    expression_attribute_names: HashMap<String, String>,
    request_items: HashMap<String, IgnoredAny>,
    transact_items: Vec<HashMap<String, Named>>,
}

/// Returns the actions of a transaction, which are those of its items (DynamoDB, "Using IAM with DynamoDB
/// transactions").
pub fn dynamodb(prefix: &str, target: &str, body: &[u8]) -> Option<Vec<Use>> {
    let operation = target.rsplit('.').next().unwrap();
    let named: Named = serde_json::from_slice(body).ok()?;
    if operation == "TransactWriteItems" || operation == "TransactGetItems" {
        let items = named.transact_items.into_iter().flatten();
        return items.map(|(kind, named)| on_item(prefix, transacted(&kind), named)).collect();
    }
    if named.request_items.is_empty() {
        return Some(vec![on_item(prefix, operation, named)?]);
    }
    let on_table =
        |table: String| Some(Use::new(format!("dynamodb:{operation}"), Resource::Table(logical(prefix, &table)?)));
    named.request_items.into_keys().map(on_table).collect()
}

fn transacted(kind: &str) -> &str {
    match kind {
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        "Delete" => "DeleteItem",
        "ConditionCheck" => "ConditionCheckItem",
        "Get" => "GetItem",
        other => other,
    }
}

fn on_item(prefix: &str, operation: &str, named: Named) -> Option<Use> {
    let table = logical(prefix, &named.table_name?)?;
    let resource = match named.index_name {
        Some(index) => Resource::Index { table, index },
        None if operation == "UpdateItem" => {
            let names = named.key.into_keys().chain(named.expression_attribute_names.into_values());
            let mut attributes: Vec<String> = names.collect();
            attributes.sort();
            attributes.dedup();
            Resource::Attributes { table, attributes }
        }
        None => Resource::Table(table),
    };
    Some(Use::new(format!("dynamodb:{operation}"), resource))
}

/// Returns the resource of an object, which is identified by the first segment of its name.
pub fn s3(prefix: &str, method: &Method, path: &str) -> Option<Use> {
    let action = match *method {
        Method::GET | Method::HEAD => "s3:GetObject".to_owned(),
        // A multipart upload is created and completed by POST (S3, "Multipart upload API and permissions").
        Method::PUT | Method::POST => "s3:PutObject".to_owned(),
        Method::DELETE => "s3:DeleteObject".to_owned(),
        _ => format!("s3:{method}"),
    };
    let (bucket, name) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
    let folder = name.split_inclusive('/').next().unwrap_or_default().to_owned();
    Some(Use::new(action, Resource::Objects { bucket: logical(prefix, bucket)?, prefix: folder }))
}

/// Returns the action that a signed link allows.
pub fn link(link: &Url) -> Use {
    let method = match link.query_pairs().find(|(name, _)| name == "x-id").map(|(_, operation)| operation).as_deref() {
        Some("GetObject") => Method::GET,
        Some("PutObject") => Method::PUT,
        other => panic!("{link} allows {other:?}"),
    };
    let bucket = link.path_segments().into_iter().flatten().next().unwrap_or_default();
    let prefix = bucket.split_inclusive('-').next().filter(|part| part.ends_with('-')).unwrap_or_default();
    s3(prefix, &method, link.path()).unwrap()
}

/// Returns the action on a queue, whose name is the end of its URL.
pub fn sqs(prefix: &str, target: &str, body: &[u8]) -> Option<Use> {
    let action = format!("sqs:{}", target.rsplit('.').next().unwrap());
    let body: Value = serde_json::from_slice(body).ok()?;
    let queue = body["QueueUrl"].as_str()?.rsplit('/').next()?;
    Some(Use::new(action, Resource::Queue(logical(prefix, queue)?)))
}

/// Returns an action on the event bus for each event, by its source.
pub fn event_bus(prefix: &str, target: &str, body: &[u8]) -> Option<Vec<Use>> {
    let action = format!("events:{}", target.rsplit('.').next().unwrap());
    let body: Value = serde_json::from_slice(body).ok()?;
    let sources = body["Entries"].as_array()?.iter().map(|entry| logical(prefix, entry["Source"].as_str()?));
    sources.map(|source| Some(Use::new(action.clone(), Resource::EventBus { source: source? }))).collect()
}

/// Returns the action on a connection, by the method of the management API.
pub fn socket(method: &Method) -> Use {
    Use::new("execute-api:ManageConnections", Resource::Connections { method: method.to_string() })
}

/// Returns the action on a secret, which is requested by its name.
pub fn secrets(prefix: &str, target: &str, body: &[u8]) -> Option<Use> {
    let action = format!("secretsmanager:{}", target.rsplit('.').next().unwrap());
    let body: Value = serde_json::from_slice(body).ok()?;
    Some(Use::new(action, Resource::Secret(logical(prefix, body["SecretId"].as_str()?)?)))
}

pub fn search(prefix: &str, method: &Method, path: &str) -> Option<Use> {
    let method = method.as_str();
    let method = format!("{}{}", &method[..1], method[1..].to_lowercase());
    let path = path.trim_start_matches('/');
    let path = if path.starts_with('_') { path.to_owned() } else { logical(prefix, path)? };
    let path = path.replace(&format!("/_alias/{prefix}"), "/_alias/");
    Some(Use::new(format!("es:ESHttp{method}"), Resource::Search { path }))
}

fn logical(prefix: &str, name: &str) -> Option<String> {
    name.strip_prefix(prefix).map(str::to_owned)
}
