//! The files of a run: chunks of rows, and what was computed from all of them. They are JSON lines or JSON.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table::Access;
use table::objects::Objects;
use utoipa::ToSchema;
use web::Problem;

use crate::access::{FILES, READ_FILE, REPORTS, WORK, WORK_FILES};
use crate::names::{PostId, RecordId, RunNumber};
use crate::record::{Correction, Event, Person};
use crate::schema::BUCKET;

/// Rows of one chunk. A step writes one chunk, and a row has at most 32 KB.
pub const ROWS: usize = 500;

/// A row of a file that has no error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChunkRow {
    pub row: u32,
    pub values: Vec<String>,
    pub people: Vec<Person>,
    /// With their places.
    pub events: Vec<Event>,
    pub keywords: Vec<String>,
    pub household: Option<String>,
    pub relation: Option<String>,
}

/// What matching and grouping need of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexRow {
    pub row: u32,
    pub line: u64,
    /// The columns whose cells begin on a later line than the cell before them, with that line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_lines: Vec<(usize, u64)>,
    /// The digest of its cells in hex.
    pub digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub household: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Person>,
    /// The first day on which the public may see the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
}

impl IndexRow {
    /// Returns the line on which the cell of a column begins.
    pub fn line_of(&self, column: usize) -> u64 {
        self.later_lines.iter().rfind(|(first, _)| *first <= column).map_or(self.line, |(_, line)| *line)
    }
}

/// A place text that means no place, or with words left over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnresolvedText {
    pub text: String,
    /// How often the file has it.
    pub count: u32,
    /// Whether some of its words name a place.
    pub in_part: bool,
}

/// The kinds of files that a run stores while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkFile {
    /// [`ChunkRow`]s.
    Rows,
    /// [`IndexRow`]s.
    Index,
    /// The problems of a chunk.
    Problems,
    /// [`UnresolvedText`]s.
    Unresolved,
    /// What matching has decided for the rows of a chunk.
    Decided,
    /// Households with their members.
    Households,
    /// The ids of the records of the last run that no row matches, as one file.
    Gone,
    /// The [`GoneDay`]s of these records, as one file. Not in [`WorkFile::Gone`], whose lines earlier versions read.
    GoneDays,
}

impl WorkFile {
    const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Index => "index",
            Self::Problems => "problems",
            Self::Unresolved => "unresolved",
            Self::Decided => "decided",
            Self::Households => "households",
            Self::Gone => "gone",
            Self::GoneDays => "gone-days",
        }
    }
}

/// The files of one run.
#[derive(Clone, Copy, Debug)]
pub struct RunFiles<'a> {
    access: &'a Access,
    post: PostId,
    run: RunNumber,
}

impl<'a> RunFiles<'a> {
    pub fn new(access: &'a Access, post: PostId, run: RunNumber) -> Self {
        Self { access, post, run }
    }

    fn work(&self) -> Objects<'a> {
        self.access.objects(&WORK_FILES, BUCKET, WORK.prefix)
    }

    fn files(&self) -> Objects<'a> {
        self.access.objects(&READ_FILE, BUCKET, FILES.prefix)
    }

    fn name(&self, kind: WorkFile, chunk: u32) -> String {
        format!("{}/{}/{}-{chunk:05}.jsonl", self.post, self.run.0, kind.name())
    }

    /// Stores a chunk as JSON lines.
    pub async fn store<T: Serialize>(&self, kind: WorkFile, chunk: u32, lines: &[T]) -> Result<(), Problem> {
        Ok(self.work().put(&self.name(kind, chunk), to_lines(lines)?, LINES).await?)
    }

    /// Loads a chunk.
    pub async fn load<T: DeserializeOwned>(&self, kind: WorkFile, chunk: u32) -> Result<Vec<T>, Problem> {
        from_lines(&self.work().get(&self.name(kind, chunk)).await?)
    }

    /// Deletes the chunks of these kinds. Deleting again does no harm.
    pub async fn delete(&self, kinds: &[WorkFile], chunks: u32) -> Result<(), Problem> {
        for chunk in 0..chunks {
            let deletions = kinds.iter().map(|kind| {
                let (work, name) = (self.work(), self.name(*kind, chunk));
                async move { work.delete(&name).await }
            });
            futures::future::try_join_all(deletions).await?;
        }
        Ok(())
    }

    /// Stores what a later run needs to find its rows in this one. It stays as long as the post.
    pub async fn keep_index(&self, rows: &[KeptRow]) -> Result<(), Problem> {
        Ok(self.files().put(&kept_name(self.post, self.run), to_lines(rows)?, LINES).await?)
    }

    /// Loads what [`RunFiles::keep_index`] of this run has stored.
    pub async fn kept_index(&self) -> Result<Vec<KeptRow>, Problem> {
        from_lines(&self.files().get(&kept_name(self.post, self.run)).await?)
    }

    /// Stores the corrections by hand of this run, before its records are deleted. They stay as long as the post.
    pub async fn keep_corrections(&self, records: &[KeptCorrections]) -> Result<(), Problem> {
        Ok(self.files().put(&corrections_name(self.post, self.run), to_lines(records)?, LINES).await?)
    }

    /// Loads what [`RunFiles::keep_corrections`] of this run has stored.
    pub async fn kept_corrections(&self) -> Result<Vec<KeptCorrections>, Problem> {
        from_lines(&self.files().get(&corrections_name(self.post, self.run)).await?)
    }

    /// Stores the report of all problems as CSV.
    pub async fn store_report(&self, csv: Vec<u8>) -> Result<(), Problem> {
        let reports = self.access.objects(&WORK_FILES, BUCKET, REPORTS.prefix);
        Ok(reports.put(&report_name(self.post, self.run), csv.into(), "text/csv; charset=utf-8").await?)
    }

    /// Stores the place texts without a place.
    pub async fn store_unresolved(&self, texts: &[UnresolvedText]) -> Result<(), Problem> {
        let reports = self.access.objects(&WORK_FILES, BUCKET, REPORTS.prefix);
        let json = serde_json::to_vec(texts).map_err(Problem::internal)?;
        Ok(reports.put(&unresolved_name(self.post, self.run), json.into(), "application/json").await?)
    }
}

/// A row of a run as later runs find it. Or a row of an earlier run that was taken down and that the file of this run does
/// not have: it stays known, so that no later file brings it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRow {
    /// 0 for a row that the file does not have.
    pub row: u32,
    pub digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub household: Option<String>,
    /// The record of its first publication, if that was an earlier run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permanent_id: Option<RecordId>,
    /// The first day on which the public may see the record without its corrections by hand, or
    /// [`OPEN`](crate::record::OPEN). Absent if it is not known: earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
}

impl KeptRow {
    /// Whether the file of the run has it.
    pub fn is_in_file(&self) -> bool {
        self.row > 0
    }
}

/// The corrections by hand of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptCorrections {
    pub permanent_id: RecordId,
    pub corrections: BTreeMap<String, Correction>,
    /// The first day on which the public may see the record with them, or [`OPEN`](crate::record::OPEN). Absent if it is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
}

/// The first open day of a record of the last run that a file does not have any more, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoneDay {
    pub permanent_id: RecordId,
    /// The first day on which the public could have seen it, or [`OPEN`](crate::record::OPEN).
    pub visible_from: u32,
}

const LINES: &str = "application/jsonl";

/// Returns the name of the rows that a run keeps, under the prefix of files.
pub fn kept_name(post: PostId, run: RunNumber) -> String {
    format!("{post}/rows-{}.jsonl", run.0)
}

/// Returns the name of the corrections that a withdrawn run keeps, under the prefix of files.
pub fn corrections_name(post: PostId, run: RunNumber) -> String {
    format!("{post}/corrections-{}.jsonl", run.0)
}

/// Returns the name of a file, under the prefix of files.
pub fn file_name(post: PostId, sha256: &str) -> String {
    format!("{post}/{sha256}")
}

/// Returns the name of the report of a run, under the prefix of reports.
pub fn report_name(post: PostId, run: RunNumber) -> String {
    format!("{post}/{}.csv", run.0)
}

/// Returns the name of the place texts without a place of a run, under the prefix of reports.
pub fn unresolved_name(post: PostId, run: RunNumber) -> String {
    format!("{post}/{}-unresolved.json", run.0)
}

fn to_lines<T: Serialize>(values: &[T]) -> Result<Bytes, Problem> {
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, value).map_err(Problem::internal)?;
        lines.push(b'\n');
    }
    Ok(lines.into())
}

fn from_lines<T: DeserializeOwned>(lines: &[u8]) -> Result<Vec<T>, Problem> {
    serde_json::Deserializer::from_slice(lines).into_iter().collect::<Result<_, _>>().map_err(Problem::internal)
}
