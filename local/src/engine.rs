//! The local engines for DynamoDB, OpenSearch and S3.

pub mod dynamodb_local;
pub mod dynoxide;
pub mod objects;
pub mod opensearch;
pub mod osmem;
