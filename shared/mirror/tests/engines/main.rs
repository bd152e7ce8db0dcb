//! The mirror's adapters against engines in process: dynoxide for DynamoDB, s3s-fs for S3.

// Clippy knows tests by their attribute, and not what they share.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod process;
mod reads;

use std::collections::BTreeSet;

use process::{ORCHARD, engines, serve_objects, serve_tables};
use reads::Requests;
use table::create_tables;

#[tokio::test]
async fn tables_keep_the_contract() {
    let engines = engines(&serve_tables().await, "");
    create_tables(engines.dynamodb(), &engines.config, &ORCHARD).await.unwrap();
    mirror::contract::tables(&engines, &ORCHARD).await.unwrap();
}

/// Every write must be seen, which an engine in process shows to all reads.
#[tokio::test]
async fn every_read_of_a_table_is_consistent() {
    let requests = Requests::default();
    let engines = engines(&requests.relay(&serve_tables().await), "");
    create_tables(engines.dynamodb(), &engines.config, &ORCHARD).await.unwrap();
    mirror::contract::tables(&engines, &ORCHARD).await.unwrap();
    let reads = requests.reads();
    let actions: BTreeSet<_> = reads.iter().map(|(action, _)| action.as_str()).collect();
    assert_eq!(actions, BTreeSet::from(["BatchGetItem", "GetItem", "Query", "Scan"]));
    let others: BTreeSet<_> = reads.iter().filter(|(_, consistent)| !consistent).collect();
    assert_eq!(others, BTreeSet::new());
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
