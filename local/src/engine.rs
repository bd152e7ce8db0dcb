//! The local engines for DynamoDB, OpenSearch, S3, SQS, EventBridge and Secrets Manager.

pub mod dynamodb_local;
pub mod dynoxide;
pub mod event_bus;
pub mod objects;
pub mod opensearch;
pub mod osmem;
pub mod queues;
pub mod secrets;
