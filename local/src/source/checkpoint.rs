//! How far each shard of a stream was handled, kept in a file per table.

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

/// How far a shard was handled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Position {
    /// Up to this sequence number.
    After(String),
    /// To its end: it is closed, and its children go on.
    Finished,
}

impl Checkpoints {
    /// What the file says about this stream. A stream of another name has not been read yet: its table was made anew.
    pub fn open(folder: &Path, table: &str, stream_arn: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = folder.join(format!("{table}.json"));
        let kept = match std::fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text)?,
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

    /// Before which sequence number every record was handled; nothing as long as none was. The last one stays: the next
    /// number follows it.
    pub fn handled_before(&self) -> Option<u128> {
        let after = |position: &Position| match position {
            Position::After(number) => number.parse().ok(),
            Position::Finished => None,
        };
        self.kept.shards.values().filter_map(after).min()
    }

    /// Replaces the file in one step, so that a process which dies here leaves the old one or the new one.
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
    fn a_position_is_there_after_a_restart_and_not_for_another_stream() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Checkpoints::open(folder.path(), "toys", "arn-1").unwrap();
        assert_eq!(first.position("shard"), None);
        first.save("shard", Position::After("21".to_owned())).unwrap();

        let again = Checkpoints::open(folder.path(), "toys", "arn-1").unwrap();
        assert_eq!(again.position("shard"), Some(&Position::After("21".to_owned())));
        assert_eq!(Checkpoints::open(folder.path(), "toys", "arn-2").unwrap().position("shard"), None);
    }

    #[test]
    fn what_all_shards_have_passed_was_handled() {
        let folder = tempfile::tempdir().unwrap();
        let mut checkpoints = Checkpoints::open(folder.path(), "toys", "arn").unwrap();
        assert_eq!(checkpoints.handled_before(), None);
        checkpoints.save("parent", Position::Finished).unwrap();
        assert_eq!(checkpoints.handled_before(), None);
        // DynamoDB's have 21 to 40 digits. As numbers: the first is the smaller text.
        for (shard, number) in [("one", "1000000000000000000000"), ("other", "900000000000000000000")] {
            checkpoints.save(shard, Position::After(number.to_owned())).unwrap();
        }
        assert_eq!(checkpoints.handled_before(), Some(900_000_000_000_000_000_000));
    }
}
