//! Real places for a first look: collections, boundaries and named points, sent through the gateway like any
//! administrator's requests. What is there already stays as it is, so loading twice changes nothing.

mod data;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Progress;
use data::Feature;

const STAGE: &str = "samples";

/// How many requests are under way at once.
const AT_ONCE: usize = 8;

/// What became of the samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub made: u64,
    /// Were there before.
    pub present: u64,
    /// Broke a rule: the feature by name, and the first fault.
    pub refused: Vec<Refused>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Path of the list and external id, such as `/parks/geozones/countries 124`.
    pub feature: String,
    pub name: String,
    pub fault: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error("the samples that are part of this program cannot be read: {0}")]
    Unreadable(String),
    #[error("the gateway did not answer {feature}: {reason}")]
    Gateway { feature: String, reason: String },
    #[error("{feature} was answered with {status}: {body}")]
    Unexpected { feature: String, status: StatusCode, body: String },
}

/// Where the samples go, and as whom.
#[derive(Clone, Debug)]
struct Target {
    client: Client,
    gateway: String,
    token: String,
}

enum Outcome {
    Made,
    Present,
    Refused(Refused),
}

/// Sends every sample to the gateway at this address, with an administrator's token.
pub async fn load(gateway: &str, token: &str, progress: &Progress) -> Result<Loaded, SampleError> {
    let target = Target { client: Client::new(), gateway: gateway.to_owned(), token: token.to_owned() };
    let (collections, features) = tokio::task::spawn_blocking(|| Ok((data::collections()?, data::features()?)))
        .await
        .map_err(|error| SampleError::Unreadable(error.to_string()))??;
    let total = (collections.len() + features.len()) as u64;
    progress.started(STAGE);
    let mut loaded = Loaded::default();
    // What lies in a collection needs it to be there.
    for collection in collections {
        loaded.count(target.send(collection).await?);
    }
    let done = Arc::new(AtomicU64::new(loaded.made + loaded.present));
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut requests = JoinSet::new();
    for feature in features {
        let place = Arc::clone(&places).acquire_owned().await;
        let (target, done, progress) = (target.clone(), Arc::clone(&done), progress.clone());
        requests.spawn(async move {
            let outcome = target.send(feature).await;
            progress.advanced(STAGE, done.fetch_add(1, Ordering::Relaxed) + 1, Some(total));
            drop(place);
            outcome
        });
        while let Some(outcome) = requests.try_join_next() {
            loaded.count(flat(outcome)?);
        }
    }
    while let Some(outcome) = requests.join_next().await {
        loaded.count(flat(outcome)?);
    }
    loaded.refused.sort_by(|one, other| one.feature.cmp(&other.feature));
    let summary = format!("{} made, {} there before, {} refused", loaded.made, loaded.present, loaded.refused.len());
    progress.finished(STAGE, summary);
    Ok(loaded)
}

fn flat(outcome: Result<Result<Outcome, SampleError>, tokio::task::JoinError>) -> Result<Outcome, SampleError> {
    outcome.map_err(|error| SampleError::Unreadable(error.to_string()))?
}

impl Loaded {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Made => self.made += 1,
            Outcome::Present => self.present += 1,
            Outcome::Refused(refused) => self.refused.push(refused),
        }
    }
}

impl Target {
    async fn send(&self, feature: Feature) -> Result<Outcome, SampleError> {
        let named = format!("{} {}", feature.list, feature.id);
        let silent = |error: reqwest::Error| SampleError::Gateway { feature: named.clone(), reason: error.to_string() };
        let request = self.client.post(format!("{}{}", self.gateway, feature.list)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").body(feature.body);
        let response: Response = request.send().await.map_err(silent)?;
        let status = response.status();
        let body = response.text().await.map_err(silent)?;
        match status {
            StatusCode::CREATED => Ok(Outcome::Made),
            StatusCode::CONFLICT => Ok(Outcome::Present),
            StatusCode::BAD_REQUEST => {
                Ok(Outcome::Refused(Refused { feature: named, name: feature.name, fault: first_fault(&body) }))
            }
            status => Err(SampleError::Unexpected { feature: named, status, body }),
        }
    }
}

/// The first fault of a problem, with its place and how many more there are.
fn first_fault(problem: &str) -> String {
    let problem: Value = serde_json::from_str(problem).unwrap_or_default();
    problem.get("detail").and_then(Value::as_str).unwrap_or("no reason was given").to_owned()
}
