//! Real places for a first look, and what a rule makes of them, sent through the gateway like any administrator's
//! requests. What is there already stays as it is, so loading twice changes nothing, and a load that was broken off is
//! completed by the next. What somebody has changed, renamed or deleted since is no reason to fail.

pub mod agencies;
mod data;
pub mod judged;
mod lattice;
mod offers;
mod outline;
mod people;
mod target;
pub mod tracker;

use std::collections::HashMap;

use futures::stream::{self, Stream, StreamExt};
use reqwest::StatusCode;

use crate::Progress;
pub use data::{Feature, Name, Samples};
use offers::DATES;
pub use people::PEOPLE;
use target::{Answered, Outcome, Target};

const STAGE: &str = "parks";

/// How many requests are under way at once.
const AT_ONCE: usize = 8;

/// How much sample data to load. The small sample is a part of the large one: each can be loaded before the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// About 300 items of all systems, loaded within seconds.
    Small,
    /// Every country of the world, and more.
    World,
}

/// What became of the samples: collections, geozones, facilities, activities, products, dates and relationships.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub made: u64,
    /// Were there before, or lie below what has been deleted since.
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
    #[error("the gateway did not answer {request}: {reason}")]
    Gateway { request: String, reason: String },
    #[error("{request} was answered with {status}: {body}")]
    Unexpected { request: String, status: StatusCode, body: String },
}

/// Sends the samples of this size to the gateway at this address, with an administrator's token.
pub async fn load(size: Size, gateway: &str, token: &str, progress: &Progress) -> Result<Loaded, SampleError> {
    progress.started(STAGE);
    let samples = tokio::task::spawn_blocking(move || Samples::read(size)).await;
    send(samples.map_err(|error| SampleError::Unreadable(error.to_string()))??, gateway, token, progress).await
}

/// Sends these. Each kind goes after those that it needs to be there.
pub async fn load_these(
    samples: Samples,
    gateway: &str,
    token: &str,
    progress: &Progress,
) -> Result<Loaded, SampleError> {
    progress.started(STAGE);
    send(samples, gateway, token, progress).await
}

async fn send(samples: Samples, gateway: &str, token: &str, progress: &Progress) -> Result<Loaded, SampleError> {
    let target = &Target::new(gateway, token);
    let mut load = Load::new(progress, samples.count());
    let Samples { collections, features, activities, relationships } = samples;
    for features in [collections, features] {
        load.all(features.into_iter().map(|feature| target.make(feature))).await?;
    }
    let mut products = Vec::new();
    let mut requests = Vec::new();
    for activity in activities {
        if load.found.contains_key(&activity.facility) {
            products.extend(activity.product.map(|product| (activity.feature.name.clone(), product)));
            requests.push(target.make(activity.feature));
        }
    }
    load.all(requests).await?;
    let products = products.into_iter().filter_map(|(activity, product)| Some((load.found.get(&activity)?, product)));
    let requests: Vec<_> = products.map(|(activity, product)| target.offer(activity.clone(), product)).collect();
    let offered = load.all(requests).await?;
    load.all(offered.into_iter().map(|product| target.seed(product, DATES))).await?;
    let planned = relationships.len();
    let ends = |[one, other]: [Name; 2]| Some((load.path(&one)?, load.path(&other)?));
    let related: Vec<_> = relationships.into_iter().filter_map(ends).collect();
    // The others have an end that was refused.
    load.total -= (planned - related.len()) as u64;
    load.all(related.iter().map(|(one, other)| target.relate(one, other))).await?;
    Ok(load.finish())
}

/// A load under way.
struct Load<'a> {
    progress: &'a Progress,
    total: u64,
    loaded: Loaded,
    found: HashMap<Name, Found>,
}

/// Where an item is.
#[derive(Clone, Debug)]
struct Found {
    path: String,
    /// By this load.
    made: bool,
}

impl<'a> Load<'a> {
    fn new(progress: &'a Progress, total: u64) -> Self {
        Self { progress, total, loaded: Loaded::default(), found: HashMap::new() }
    }

    /// Sends some at once and counts what became of them. Returns the paths at which there is something to go on with.
    async fn all<R>(&mut self, requests: impl IntoIterator<Item = R>) -> Result<Vec<String>, SampleError>
    where
        R: Future<Output = Result<Answered, SampleError>>,
    {
        let answers = stream::iter(requests).buffer_unordered(AT_ONCE);
        self.count(std::pin::pin!(answers)).await
    }

    async fn count(
        &mut self,
        mut answers: impl Stream<Item = Result<Answered, SampleError>> + Unpin,
    ) -> Result<Vec<String>, SampleError> {
        let mut paths = Vec::new();
        while let Some(answered) = answers.next().await {
            let Answered { name, outcome, path } = answered?;
            let made = matches!(outcome, Outcome::Done { made: 1.., .. });
            match outcome {
                Outcome::Done { made, present } => {
                    self.loaded.made += made;
                    self.loaded.present += present;
                }
                Outcome::Refused(refused) => self.loaded.refused.push(refused),
            }
            if let Some(path) = path {
                if let Some(name) = name {
                    self.found.insert(name, Found { path: path.clone(), made });
                }
                paths.push(path);
            }
            let done = self.loaded.made + self.loaded.present + self.loaded.refused.len() as u64;
            self.progress.advanced(STAGE, done, Some(self.total));
        }
        Ok(paths)
    }

    fn path(&self, name: &Name) -> Option<String> {
        self.found.get(name).map(|found| found.path.clone())
    }

    fn finish(mut self) -> Loaded {
        self.loaded.refused.sort_by(|one, other| one.feature.cmp(&other.feature));
        let Loaded { made, present, refused } = &self.loaded;
        let summary = format!("{made} made, {present} there before, {} refused", refused.len());
        self.progress.finished(STAGE, summary);
        self.loaded
    }
}
