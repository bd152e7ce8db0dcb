//! The sample event of each operation is answered by the platform as the sample says.

#![allow(clippy::unwrap_used, reason = "tests say what they expect by unwrapping it")]

use local::{Options, Platform, Progress};
use table::Clock;
use xtask::rehearsal::Stage;

#[tokio::test]
async fn every_sample_event_is_answered_as_it_says() {
    let state = tempfile::tempdir().unwrap();
    let options = Options::new(xtask::systems::served(), state.path().join("state"));
    let platform = Platform::start(options, &Progress::silent()).await.unwrap();
    let token = platform.identity.token("samples", &["parks-admin"], &Clock::system()).unwrap();
    let systems = xtask::systems::all();
    let client = reqwest::Client::new();
    for declared in &systems {
        let stage = Stage { app: &declared.app, client: &client, url: &platform.url, token: &token };
        assert_eq!(stage.forgotten(declared.rehearsal), Vec::<&str>::new());
        let answers = stage.rehearse(declared.rehearsal).await.unwrap();
        let wrong: Vec<_> = answers.iter().filter(|answered| !answered.is_expected()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    platform.stop().await;
}
