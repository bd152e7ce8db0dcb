//! The local engines for DynamoDB, OpenSearch, S3 and SQS.

pub mod dynamodb_local;
pub mod dynoxide;
pub mod objects;
pub mod opensearch;
pub mod osmem;
pub mod queues;
