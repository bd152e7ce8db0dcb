//! The client of DynamoDB Streams, which only the local event sources need.

use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodbstreams::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_http_client::Builder;
use table::Config;

use crate::engine::dynamodb_local::empty_maps::WithEmptyMaps;

/// Creates a client for the streams of the configured DynamoDB.
pub fn streams(config: &Config) -> aws_sdk_dynamodbstreams::Client {
    let (id, secret) = config.credentials.clone().unwrap_or_else(|| {
        table::never!("a local engine has no credentials");
        Default::default()
    });
    let mut built = aws_sdk_dynamodbstreams::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(config.region.clone()))
        .credentials_provider(Credentials::new(id, secret, None, None, "configuration"))
        // Without a proxy that the environment names.
        .http_client(WithEmptyMaps(Builder::new().build_http()));
    built.set_endpoint_url(config.dynamodb.clone());
    aws_sdk_dynamodbstreams::Client::from_conf(built.build())
}

/// Returns the ARN of the stream of a table, by the table's physical name.
pub async fn stream_arn(client: &aws_sdk_dynamodb::Client, table: &str) -> Result<String, String> {
    let described = client.describe_table().table_name(table).send().await;
    let described = described.map_err(|error| DisplayErrorContext(error).to_string())?;
    let arn = described.table.and_then(|table| table.latest_stream_arn);
    arn.ok_or_else(|| format!("the table `{table}` has no stream"))
}
