//! A list that grows batch by batch and finally becomes one object, such as the faults of a file's rows.

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Objects;
use crate::error::Error;

const JSON: &str = "application/json";

/// The number of parts that are read concurrently.
const CONCURRENCY: usize = 16;

/// A list in the making: its number of entries and of stored parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gathered {
    /// The number of entries, including those that were not stored.
    pub entries: u64,
    parts: u64,
    /// Whether the parts were joined into one object.
    #[serde(default)]
    whole: bool,
}

impl Gathered {
    /// Stores the entries of a batch, replacing those of an earlier attempt of the same batch. Entries beyond `most` in
    /// total are only counted.
    pub async fn add(&mut self, objects: Objects<'_>, name: &str, most: u64, entries: &[Value]) -> Result<(), Error> {
        let room = usize::try_from(most.saturating_sub(self.entries)).unwrap_or(usize::MAX);
        let kept = entries.get(..room.min(entries.len())).unwrap_or_default();
        self.entries += entries.len() as u64;
        if kept.is_empty() {
            return Ok(());
        }
        let body = Value::from(kept.to_vec()).to_string();
        objects.put(&part(name, self.parts), Bytes::from(body), JSON).await?;
        self.parts += 1;
        Ok(())
    }

    /// Joins the stored parts into one object, formatted by `whole`. Repeating it creates the same object.
    pub async fn gather(
        &mut self,
        objects: Objects<'_>,
        name: &str,
        whole: impl FnOnce(Vec<Value>) -> Value,
    ) -> Result<(), Error> {
        if self.entries == 0 {
            return Ok(());
        }
        let read = |number| async move {
            let kept = objects.get(&part(name, number)).await?;
            serde_json::from_slice::<Vec<Value>>(&kept).map_err(|error| Error::Misfit(error.to_string()))
        };
        let parts: Vec<Vec<Value>> = stream::iter(0..self.parts).map(read).buffered(CONCURRENCY).try_collect().await?;
        let all = parts.into_iter().flatten().collect();
        objects.put(&object(name), Bytes::from(whole(all).to_string()), JSON).await?;
        self.whole = true;
        Ok(())
    }

    /// Creates a download link of the joined object, if there is one.
    pub async fn link(&self, objects: Objects<'_>, name: &str) -> Result<Option<String>, Error> {
        if !self.whole {
            return Ok(None);
        }
        Ok(Some(objects.get_link(&object(name)).await?.url))
    }
}

fn part(name: &str, number: u64) -> String {
    format!("{name}/{number}.json")
}

fn object(name: &str) -> String {
    format!("{name}.json")
}
