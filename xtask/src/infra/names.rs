//! Physical names in templates: the parameter `Prefix`, then the logical name.

use table::schema::SOCKET_STAGE;

use super::node::{Node, sub};

/// Returns the name of a resource, such as `ParksMirrorTable` of `parks-mirror`.
pub fn resource(name: &str, kind: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.chain([kind.to_owned()]).collect()
}

pub fn function(system: &str, operation: &str) -> String {
    format!("${{Prefix}}{system}-{operation}")
}

pub fn table(table: &str) -> String {
    format!("${{Prefix}}{table}")
}

/// Returns the name of a bucket, which account and region make unique in all of AWS.
pub fn bucket(bucket: &str) -> String {
    format!("${{Prefix}}{bucket}{BUCKET_SUFFIX}")
}

pub const BUCKET_SUFFIX: &str = "-${AWS::AccountId}-${AWS::Region}";

/// Returns the log group of all functions of a system.
pub fn log_group(system: &str) -> String {
    format!("/cairn/${{Prefix}}{system}")
}

/// Returns the log group of a system's API. With another prefix each log group would take space in a policy of the
/// account, whose size is limited ("Enable logging to CloudWatch Logs", Amazon CloudWatch Logs User Guide).
pub fn access_log_group(system: &str) -> String {
    format!("/aws/vendedlogs/cairn/${{Prefix}}{system}/access")
}

/// Returns the log group of a system's WebSocket API.
pub fn socket_log_group(system: &str) -> String {
    format!("/aws/vendedlogs/cairn/${{Prefix}}{system}/socket-access")
}

/// Returns the name in Parameter Store under which the shared stack publishes the endpoint of search.
pub fn kept(name: &str) -> String {
    format!("/cairn/${{Prefix}}search/{name}")
}

pub fn table_arn(name: &str) -> String {
    format!("{}:table/{}", regional("dynamodb"), table(name))
}

pub fn bucket_arn(name: &str) -> String {
    format!("arn:${{AWS::Partition}}:s3:::{}", bucket(name))
}

pub fn log_group_arn(system: &str) -> String {
    format!("{}:log-group:{}", regional("logs"), log_group(system))
}

pub fn queue(name: &str) -> String {
    format!("${{Prefix}}{name}")
}

pub fn queue_arn(name: &str) -> String {
    format!("{}:{}", regional("sqs"), queue(name))
}

/// Returns the ARN of the event bus, which is a parameter.
pub fn event_bus_arn() -> String {
    format!("{}:event-bus/${{EventBus}}", regional("events"))
}

/// Returns the source of a system's events.
pub fn event_source(system: &str) -> String {
    format!("${{Prefix}}{system}")
}

/// Returns the ARN of the connections of the system's socket, for a method of the management API ("Control access to
/// your WebSocket APIs with AWS IAM authorization", Amazon API Gateway Developer Guide).
pub fn connections_arn(method: &str) -> String {
    format!("{}:${{SocketApi}}/{SOCKET_STAGE}/{method}/@connections/*", regional("execute-api"))
}

/// Returns the URL of the system's WebSocket API: with `wss` for clients, with `https` for its management API.
pub fn socket_url(scheme: &str) -> String {
    format!("{scheme}://${{SocketApi}}.execute-api.${{AWS::Region}}.${{AWS::URLSuffix}}/{SOCKET_STAGE}")
}

pub fn secret(name: &str) -> String {
    format!("${{Prefix}}{name}")
}

/// The URL of a queue before its name ("Amazon SQS queue and message identifiers", Amazon SQS Developer Guide).
pub const QUEUE_URLS: &str = "https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/";

/// Returns a path of the search domain. Its indexes and aliases have the prefix.
pub fn search_arn(path: &str) -> Node {
    sub(format!("${{SearchDomainArn}}/${{Prefix}}{}", path.replace("/_alias/", "/_alias/${Prefix}")))
}

/// Returns the beginning of an ARN in this account and region.
pub fn regional(service: &str) -> String {
    format!("arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}")
}

/// Returns the tags of a resource, for cost allocation.
pub fn tags(system: &str) -> Node {
    map! { TAG => system }
}

/// Returns the tags as a list, for types of CloudFormation that need one.
pub fn tag_list(system: &str) -> Node {
    list![map! { "Key" => TAG, "Value" => system }]
}

pub const TAG: &str = "cairn:system";
