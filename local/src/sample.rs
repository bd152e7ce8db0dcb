//! The samples of parks: real places, with activities and products by a rule. A load sends them through the gateway, as
//! an administrator. Existing items stay as they are. So a second load changes nothing, and completes one that was
//! interrupted. Items that users have changed, renamed or deleted since do not make it fail.

pub mod agencies;
pub mod archive;
pub mod chat;
mod data;
mod feature;
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
pub use data::Samples;
pub use feature::{Feature, Name};
use offers::DATES;
pub use people::PEOPLE;
use target::{Answered, Outcome, Target};

const STAGE: &str = "parks";

/// The number of concurrent requests.
const CONCURRENCY: usize = 8;

/// The size of the sample. The small sample is a part of the large one, and each can be loaded before the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// About 1 000 items of all systems, loaded within seconds.
    Small,
    /// Every country of the world, and more.
    World,
}

/// The result of a load of collections, geozones, facilities, activities, products, dates and relationships.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The number of created items.
    pub made: u64,
    /// The number of items that existed, or whose parent was deleted since.
    pub present: u64,
    /// The features that broke a rule, with their first fault.
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
    #[error("reading the samples in this program failed: {0}")]
    Unreadable(String),
    #[error("creating the client failed: {0}")]
    Client(String),
    #[error("the gateway did not answer `{request}`: {reason}")]
    Gateway { request: String, reason: String },
    #[error("the gateway answered `{request}` with {status}: {body}")]
    Unexpected { request: String, status: StatusCode, body: String },
}

impl SampleError {
    fn unreadable(error: impl ToString) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// Loads the samples of this size through the gateway, with an administrator's token.
pub async fn load(size: Size, gateway: &str, token: &str, progress: &Progress) -> Result<Loaded, SampleError> {
    progress.started(STAGE);
    let samples = tokio::task::spawn_blocking(move || Samples::read(size)).await;
    send(samples.map_err(SampleError::unreadable)??, gateway, token, progress).await
}

/// Loads these samples. Each kind is sent after the kinds that it depends on.
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
    let target = &Target::new(gateway, token)?;
    let mut load = Load::new(progress, samples.count());
    let Samples { collections, features, activities, relationships } = samples;
    for features in [collections, features] {
        load.all(features.into_iter().map(|feature| target.create(feature))).await?;
    }
    let mut products = Vec::new();
    let mut requests = Vec::new();
    for activity in activities {
        if load.found.contains_key(&activity.facility) {
            products.extend(activity.product.map(|product| (activity.feature.name.clone(), product)));
            requests.push(target.create(activity.feature));
        }
    }
    load.all(requests).await?;
    let products = products.into_iter().filter_map(|(activity, product)| Some((load.found.get(&activity)?, product)));
    let requests: Vec<_> = products.map(|(activity, product)| target.offer(activity.clone(), product)).collect();
    let offered = load.all(requests).await?;
    load.all(offered.into_iter().map(|product| target.seed(product, DATES))).await?;
    let planned = relationships.len();
    let paths = |[one, other]: [Name; 2]| Some((load.path(&one)?, load.path(&other)?));
    let related: Vec<_> = relationships.into_iter().filter_map(paths).collect();
    // The other relationships have an item that was refused.
    load.total -= (planned - related.len()) as u64;
    load.all(related.iter().map(|(one, other)| target.relate(one, other))).await?;
    Ok(load.finish())
}

/// A load in progress.
struct Load<'a> {
    progress: &'a Progress,
    total: u64,
    loaded: Loaded,
    found: HashMap<Name, Found>,
}

/// An item of the platform.
#[derive(Clone, Debug)]
struct Found {
    path: String,
    /// Whether this load created it.
    made: bool,
}

impl<'a> Load<'a> {
    fn new(progress: &'a Progress, total: u64) -> Self {
        Self { progress, total, loaded: Loaded::default(), found: HashMap::new() }
    }

    /// Sends requests concurrently and counts their outcomes. Returns the paths of the items that exist.
    async fn all<R>(&mut self, requests: impl IntoIterator<Item = R>) -> Result<Vec<String>, SampleError>
    where
        R: Future<Output = Result<Answered, SampleError>>,
    {
        let answers = stream::iter(requests).buffer_unordered(CONCURRENCY);
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
        let summary = format!("{made} created, {present} existed, {} refused", refused.len());
        self.progress.finished(STAGE, summary);
        self.loaded
    }
}
