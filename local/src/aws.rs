//! Clients and facts that only the machine's own event sources need.

use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodbstreams::config::{BehaviorVersion, Credentials, Region};
use table::Config;

/// A client for the streams of the configured DynamoDB.
pub fn streams(config: &Config) -> aws_sdk_dynamodbstreams::Client {
    let (id, secret) = config.credentials.clone().unwrap_or_default();
    let mut built = aws_sdk_dynamodbstreams::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(config.region.clone()))
        .credentials_provider(Credentials::new(id, secret, None, None, "configuration"));
    built.set_endpoint_url(config.dynamodb.clone());
    aws_sdk_dynamodbstreams::Client::from_conf(built.build())
}

/// The stream of a table, by its physical name.
pub async fn stream_arn(client: &aws_sdk_dynamodb::Client, table: &str) -> Result<String, String> {
    let described = client.describe_table().table_name(table).send().await;
    let described = described.map_err(|error| DisplayErrorContext(error).to_string())?;
    let arn = described.table.and_then(|table| table.latest_stream_arn);
    arn.ok_or_else(|| format!("the table `{table}` has no stream"))
}
