//! The checkpoints of a stream's shards, in a file per table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The checkpoints of one stream.
#[derive(Debug)]
pub struct Checkpoints {
    file: PathBuf,
    kept: Kept,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    stream_arn: String,
    shards: BTreeMap<String, Position>,
}

/// The checkpoint of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Position {
    /// Records up to this sequence number were handled.
    After(String),
    /// The shard is closed and all its records were handled.
    Finished,
}

impl Checkpoints {
    /// Reads the checkpoints of a stream. If the file is about another stream, the table was created again, and there
    /// are none. Without checkpoints the stream is read again from its oldest record, so a file that a power cut has
    /// damaged is ignored.
    pub fn open(folder: &Path, table: &str, stream_arn: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = folder.join(format!("{table}.json"));
        let kept = match std::fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).unwrap_or_else(|error| {
                tracing::warn!(file = %file.display(), %error, "checkpoint is damaged; reading the stream again");
                Kept::default()
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(error),
        };
        let kept = if kept.stream_arn == stream_arn {
            kept
        } else {
            Kept { stream_arn: stream_arn.to_owned(), shards: BTreeMap::new() }
        };
        Ok(Self { file, kept })
    }

    pub fn position(&self, shard: &str) -> Option<&Position> {
        self.kept.shards.get(shard)
    }

    /// Returns the lowest sequence number of all checkpoints, before which every record was handled. The record itself
    /// must stay, since dynoxide counts on from it.
    pub fn handled_before(&self) -> Option<u128> {
        let after = |position: &Position| match position {
            Position::After(number) => number.parse().ok(),
            Position::Finished => None,
        };
        self.kept.shards.values().filter_map(after).min()
    }

    /// Saves the checkpoint of a shard. It replaces the file atomically.
    pub fn save(&mut self, shard: &str, position: Position) -> std::io::Result<()> {
        self.kept.shards.insert(shard.to_owned(), position);
        let partial = self.file.with_extension("partial");
        std::fs::write(&partial, serde_json::to_vec(&self.kept)?)?;
        std::fs::rename(&partial, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoint_is_kept_for_its_stream_only() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Checkpoints::open(folder.path(), "toys", "arn-1").unwrap();
        assert_eq!(first.position("shard"), None);
        first.save("shard", Position::After("21".to_owned())).unwrap();

        let again = Checkpoints::open(folder.path(), "toys", "arn-1").unwrap();
        assert_eq!(again.position("shard"), Some(&Position::After("21".to_owned())));
        assert_eq!(Checkpoints::open(folder.path(), "toys", "arn-2").unwrap().position("shard"), None);
    }

    #[test]
    fn damaged_file_has_no_checkpoints_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for damage in ["", "{\"stream_arn\":\"arn\"", "[]"] {
            std::fs::write(folder.path().join("toys.json"), damage).unwrap();
            let mut checkpoints = Checkpoints::open(folder.path(), "toys", "arn").unwrap();
            assert_eq!((checkpoints.position("shard"), checkpoints.handled_before()), (None, None));
            checkpoints.save("shard", Position::Finished).unwrap();
            let again = Checkpoints::open(folder.path(), "toys", "arn").unwrap();
            assert_eq!(again.position("shard"), Some(&Position::Finished));
        }
    }

    #[test]
    fn handled_before_is_the_lowest_checkpoint_of_all_shards() {
        let folder = tempfile::tempdir().unwrap();
        let mut checkpoints = Checkpoints::open(folder.path(), "toys", "arn").unwrap();
        assert_eq!(checkpoints.handled_before(), None);
        checkpoints.save("parent", Position::Finished).unwrap();
        assert_eq!(checkpoints.handled_before(), None);
        // DynamoDB's numbers have 21 to 40 digits. They must compare as numbers, since the first is the smaller text.
        for (shard, number) in [("one", "1000000000000000000000"), ("other", "900000000000000000000")] {
            checkpoints.save(shard, Position::After(number.to_owned())).unwrap();
        }
        assert_eq!(checkpoints.handled_before(), Some(900_000_000_000_000_000_000));
    }
}
