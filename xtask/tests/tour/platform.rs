//! The platform of the tour.

use std::collections::BTreeMap;

use local::{Options, Platform, Progress, sample};
use table::Clock;
use tempfile::TempDir;

use crate::HERE;
use crate::curl::Request;
use crate::expected::Shown;

pub struct Toured {
    pub variables: BTreeMap<String, String>,
    platform: Platform,
    client: reqwest::Client,
    state: TempDir,
}

impl Toured {
    /// Starts the platform as `cargo local --sample` does, on a free port and with its own folder.
    pub async fn start() -> Self {
        let state = tempfile::tempdir().unwrap();
        let options = Options::new(local::systems::ALL.to_vec(), state.path().join("state"));
        let platform = Platform::start(options, &Progress::silent()).await.unwrap();
        let token = platform.identity.token("samples", &["parks-admin"], &Clock::system()).unwrap();
        sample::load(sample::Size::Small, &platform.url, &token, &Progress::silent()).await.unwrap();
        platform.searchable().await;
        Self { variables: BTreeMap::new(), platform, client: reqwest::Client::new(), state }
    }

    /// Returns the output of `cargo cairn token`.
    pub fn token(&self, role: &str) -> String {
        self.platform.identity.token(role, &[role], &Clock::system()).unwrap()
    }

    pub async fn send(&self, request: &Request) -> Shown {
        let here = self.platform.url.trim_start_matches("http://");
        let url = request.url.replace(HERE, here);
        let call = self.client.request(request.method.clone(), url).headers(request.headers.clone());
        let call = request.body.iter().fold(call, |call, body| call.body(body.clone()));
        let answer = call.send().await.unwrap();
        let mut head = String::new();
        if request.shows_head {
            head = format!("{:?} {}", answer.version(), answer.status());
            for (name, value) in answer.headers() {
                head.push_str(&format!("\n{name}: {}", value.to_str().unwrap().replace(here, HERE)));
            }
        }
        Shown { head, body: answer.text().await.unwrap().replace(here, HERE) }
    }

    pub async fn stop(self) {
        self.platform.stop().await;
        self.state.close().unwrap();
    }
}
