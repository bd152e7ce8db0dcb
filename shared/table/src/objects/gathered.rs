//! A list that grows batch by batch and is one object in the end: what was wrong with the rows of a file.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Objects;
use crate::error::Error;

const JSON: &str = "application/json";

/// How much of a list is kept, and in how many objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gathered {
    /// How many entries there were, also those that were not kept.
    pub entries: u64,
    parts: u64,
    /// Whether it was put together.
    #[serde(default)]
    whole: bool,
}

impl Gathered {
    /// Keeps the entries of a batch, over those that an earlier try of the same batch has kept; beyond `most` in all
    /// they are only counted.
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

    /// Puts together what was kept, as `whole` wants it. Doing it again makes the same.
    pub async fn gather(
        &mut self,
        objects: Objects<'_>,
        name: &str,
        whole: impl FnOnce(Vec<Value>) -> Value,
    ) -> Result<(), Error> {
        if self.entries == 0 {
            return Ok(());
        }
        let mut all: Vec<Value> = Vec::new();
        for number in 0..self.parts {
            let kept = objects.get(&part(name, number)).await?;
            all.extend(serde_json::from_slice::<Vec<Value>>(&kept).map_err(|error| Error::Misfit(error.to_string()))?);
        }
        objects.put(&object(name), Bytes::from(whole(all).to_string()), JSON).await?;
        self.whole = true;
        Ok(())
    }

    /// A link to what was put together, if it was.
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
