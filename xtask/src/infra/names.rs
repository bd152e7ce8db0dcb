//! Physical names in templates: the parameter `Prefix`, then the logical name.

use super::node::{Node, sub};

pub fn function(system: &str, operation: &str) -> String {
    format!("${{Prefix}}{system}-{operation}")
}

pub fn table(table: &str) -> String {
    format!("${{Prefix}}{table}")
}

/// A bucket's name is unique in the world by the account and the region.
pub fn bucket(bucket: &str) -> String {
    format!("${{Prefix}}{bucket}{BUCKET_SUFFIX}")
}

pub const BUCKET_SUFFIX: &str = "-${AWS::AccountId}-${AWS::Region}";

/// One for all functions of a system.
pub fn log_group(system: &str) -> String {
    format!("/cairn/${{Prefix}}{system}")
}

/// Of a system's API. API Gateway writes it by CloudWatch's delivery of logs, which adds to a policy of the account for
/// each group of another name until that is full ("Enable logging to CloudWatch Logs", Amazon CloudWatch Logs User Guide).
pub fn access_log_group(system: &str) -> String {
    format!("/aws/vendedlogs/cairn/${{Prefix}}{system}/access")
}

/// In Parameter Store, by which the shared stack tells the systems where search is.
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

/// A path of the search domain. Indexes and aliases in it have the prefix.
pub fn search_arn(path: &str) -> Node {
    sub(format!("${{SearchDomainArn}}/${{Prefix}}{}", path.replace("/_alias/", "/_alias/${Prefix}")))
}

/// The beginning of an ARN of this account and region.
pub fn regional(service: &str) -> String {
    format!("arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}")
}

/// What whoever pays sees at each resource that can be tagged.
pub fn tags(system: &str) -> Node {
    map! { TAG => system }
}

/// The same where CloudFormation wants a list.
pub fn tag_list(system: &str) -> Node {
    list![map! { "Key" => TAG, "Value" => system }]
}

pub const TAG: &str = "cairn:system";
