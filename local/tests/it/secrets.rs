//! The local Secrets Manager: the SDK's requests.

use std::path::Path;
use std::sync::Arc;

use local::engine::secrets::Secrets;
use table::access::OnSecret;
use table::{Access, AccessPattern, Clock, Config, Engines, Error};

static SIGN: AccessPattern = AccessPattern::new("sign", &[OnSecret("toys").read()]);
static OUTSIDE: AccessPattern = AccessPattern::new("outside", &[OnSecret("../toys").read()]);
static GRANTED: &[&AccessPattern] = &[&SIGN, &OUTSIDE];

/// Starts Secrets Manager on a folder, for deployments with this prefix.
async fn open(folder: &Path, prefix: &str) -> (Secrets, Arc<Engines>) {
    let secrets = Secrets::start(folder).await.unwrap();
    let config = Config {
        prefix: prefix.to_owned(),
        secretsmanager: Some(secrets.endpoint.clone()),
        credentials: Some(("local".to_owned(), "local".to_owned())),
        ..Config::new("local", "http://127.0.0.1:1")
    };
    (secrets, Engines::new(config, Clock::system()))
}

#[tokio::test]
async fn secret_is_created_once_and_read_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (secrets, engines) = open(folder.path(), "dev-").await;
    secrets.create("dev-toys").unwrap();
    let first = Access::new(Arc::clone(&engines), GRANTED).secret(&SIGN, "toys").await.unwrap();
    secrets.create("dev-toys").unwrap();
    secrets.stop().await;
    let (_secrets, engines) = open(folder.path(), "dev-").await;
    assert_eq!(Access::new(engines, GRANTED).secret(&SIGN, "toys").await.unwrap(), first);
    assert_eq!(std::fs::read(folder.path().join("dev-toys")).unwrap().len(), 64);
}

#[tokio::test]
async fn secret_that_does_not_exist_is_an_engine_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toys"), "outside").unwrap();
    let inner = folder.path().join("inner");
    let (_secrets, engines) = open(&inner, "").await;
    for (pattern, name) in [(&SIGN, "toys"), (&OUTSIDE, "../toys")] {
        let access = Access::new(Arc::clone(&engines), GRANTED);
        let read = access.secret(pattern, name).await;
        assert!(matches!(read, Err(Error::Engine { engine: "Secrets Manager", .. })), "{name}: {read:?}");
    }
}
