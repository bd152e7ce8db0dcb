//! The mirror's adapters against engines in process: dynoxide for DynamoDB, s3s-fs for S3.

// Clippy knows tests by their attribute, and not what they share.
#![allow(clippy::unwrap_used)]

mod process;

use process::{ORCHARD, engines, serve_objects, serve_tables};
use table::create_tables;

#[tokio::test]
async fn tables_keep_the_contract() {
    let engines = engines(&serve_tables().await, "");
    create_tables(engines.dynamodb(), &engines.config, &ORCHARD).await.unwrap();
    mirror::contract::tables(&engines, &ORCHARD).await.unwrap();
}

#[tokio::test]
async fn objects_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    for bucket in ["test-orchard", "test-orchard-failures"] {
        std::fs::create_dir(folder.path().join(bucket)).unwrap();
    }
    let engines = engines("", &serve_objects(folder.path()).await);
    mirror::contract::objects(&engines, &ORCHARD).await.unwrap();
}
