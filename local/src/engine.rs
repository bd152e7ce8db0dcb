//! The engines of one machine: what speaks DynamoDB's, OpenSearch's and S3's protocols to the systems.

pub mod dynamodb_local;
pub mod dynoxide;
pub mod objects;
pub mod opensearch;
pub mod osmem;
