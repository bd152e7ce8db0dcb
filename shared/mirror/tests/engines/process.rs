//! A system, and engines for it on ports of 127.0.0.1 that the operating system chooses.

use std::path::Path;
use std::sync::Arc;

use dynoxide::Database;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use table::schema::{Entity, Search, System, Table};
use table::{Clock, Config, Engines};
use tokio::net::TcpListener;

pub static ORCHARD: System =
    System { name: "orchard", tables: &[&TREES, &STATE], buckets: &[], secrets: &[], sources: &[] };

static TREES: Table = Table {
    name: "orchard-trees",
    pk: "PK",
    sk: Some("SK"),
    indexes: &[],
    entities: &[Entity { name: "tree", pk: "TREE#{tree}", sk: Some("{part}"), search: Search::Document }],
    stream: true,
};

static STATE: Table = mirror::schema::state_table("orchard-mirror");

pub fn engines(dynamodb: &str, s3: &str) -> Arc<Engines> {
    let config = Config {
        prefix: "test-".to_owned(),
        dynamodb: Some(dynamodb.to_owned()),
        s3: Some(s3.to_owned()),
        credentials: Some(("local".to_owned(), "local".to_owned())),
        ..Config::new("ca-central-1", "http://127.0.0.1:1")
    };
    Engines::new(config, Clock::system())
}

/// A new DynamoDB without tables.
pub async fn serve_tables() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    endpoint
}

/// S3 over a folder, a folder in it for each bucket.
pub async fn serve_objects(folder: &Path) -> String {
    let mut service = S3ServiceBuilder::new(FileSystem::new(folder).unwrap());
    service.set_auth(SimpleAuth::from_single("local", "local"));
    let service = service.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(
                async move { http1::Builder::new().serve_connection(TokioIo::new(connection), service).await },
            );
        }
    });
    endpoint
}
