//! The progress of an audit, which it saves in the state table, and from which the next run resumes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::Key;
use table::schema::Table;

use super::digests::{Digests, PARTS};
use super::findings::{NO_TABLE, TableAudit};
use super::options::AuditPurpose;
use crate::group::after;
use crate::ports::{Fault, Note, Ports, State, Time};
use crate::retry::retry_passing;

/// The age of the progress from which no run is under way any more. A run saves it every four minutes, and once it has
/// settled what seems to differ, with up to six waits. A run of the schedule ends long before the next one.
const SILENCE: Duration = Duration::from_mins(20);

/// The state of an audit between two steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuditProgress {
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub(super) started: i64,
    /// When the first of several audits was started that were not finished and are started over.
    #[serde(default)]
    pub(super) first_started: Option<i64>,
    pub(super) repairs: bool,
    /// The only table that is compared.
    pub(super) only: Option<String>,
    pub(super) phase: AuditPhase,
    /// Which of two sets of notes has the digests, so that one is always whole. None before they were saved.
    pub(super) slot: Option<u8>,
    /// The buckets whose keys are looked at, once they are known.
    pub(super) buckets: Option<String>,
    /// The tables that are compared, in their order.
    pub(super) compared: Vec<String>,
    /// When it was saved, in microseconds since 1970-01-01T00:00:00Z.
    #[serde(default)]
    pub(super) saved: i64,
    /// The result of each table so far.
    pub(super) tables: BTreeMap<String, TableAudit>,
}

/// A part of an audit. Tables are given by their positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AuditPhase {
    /// The digests of the tables.
    DigestItems {
        table: usize,
        segments: Vec<Cursor>,
    },
    /// The digests of the index.
    DigestDocuments {
        after: Option<String>,
    },
    /// A look at the items of buckets that differ.
    LookAtItems {
        table: usize,
        segments: Vec<Cursor>,
    },
    /// A look at the documents of buckets that differ.
    LookAtDocuments {
        after: Option<String>,
    },
    LookAtMarkers {
        after: Option<String>,
    },
    Finished,
}

/// The position in a segment of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Cursor {
    Start,
    After { pk: String, sk: Option<String> },
    Done,
}

/// The notes of the audits of a generation for one purpose.
#[derive(Debug)]
pub(super) struct Notes<'n, P> {
    pub(super) ports: &'n P,
    pub(super) generation: &'n str,
    pub(super) purpose: AuditPurpose,
}

/// A progress that the state table has.
#[derive(Debug)]
pub(super) struct SavedProgress {
    pub(super) epoch: u64,
    pub(super) progress: Option<AuditProgress>,
}

impl AuditProgress {
    /// Returns the result of a table, or of the documents that fit no table.
    pub(super) fn result(&mut self, table: Option<&Table>) -> &mut TableAudit {
        let name = table.map_or(NO_TABLE, |table| table.name);
        let (started, full, repairs) = (self.started, self.only.is_none(), self.repairs);
        self.tables.entry(name.to_owned()).or_insert_with(|| TableAudit::new(name, started, full, repairs))
    }

    /// Returns since when an audit was started, and none was finished.
    pub(super) fn first_started(&self) -> i64 {
        self.first_started.unwrap_or(self.started)
    }

    /// Whether the audit is under way, or was until a short time ago.
    pub(super) fn is_under_way(&self, now_micros: i64) -> bool {
        self.phase != AuditPhase::Finished && now_micros < after(self.saved, SILENCE)
    }
}

impl Cursor {
    pub(super) fn after(next: Option<Key>) -> Self {
        next.map_or(Self::Done, |Key { pk, sk }| Self::After { pk, sk })
    }

    pub(super) fn key(&self) -> Option<Key> {
        match self {
            Self::After { pk, sk } => Some(Key { pk: pk.clone(), sk: sk.clone() }),
            Self::Start | Self::Done => None,
        }
    }
}

impl<P: Ports> Notes<'_, P> {
    /// Reads the progress.
    pub(super) async fn progress(&self) -> Result<SavedProgress, Fault> {
        let note = self.read(&self.progress_name()).await?;
        // A progress that another release wrote in another form is started over.
        let progress = note.as_ref().and_then(|note| serde_json::from_str(&note.text).ok());
        Ok(SavedProgress { epoch: note.map_or(0, |note| note.epoch), progress })
    }

    /// Whether an audit is under way, or was until a short time ago.
    pub(super) async fn is_under_way(&self) -> Result<bool, Fault> {
        let SavedProgress { progress, .. } = self.progress().await?;
        Ok(progress.is_some_and(|progress| progress.is_under_way(self.ports.time().micros())))
    }

    /// Writes the progress, if no other run has done so since the epoch was read.
    pub(super) async fn write_progress(&self, epoch: u64, progress: &AuditProgress) -> Result<(), Fault> {
        let text = serde_json::to_string(progress).map_err(|error| Fault::lasting("mirror", error))?;
        self.write(&self.progress_name(), Note { epoch: epoch + 1, text }).await
    }

    /// Reads the digests of a slot. Returns `None` if they are not whole.
    pub(super) async fn digests(&self, slot: u8) -> Result<Option<Digests>, Fault> {
        let mut texts = Vec::new();
        for part in 0..PARTS {
            texts.extend(self.read(&self.digests_name(slot, part)).await?.map(|note| note.text));
        }
        Ok(Digests::of_texts(&texts))
    }

    /// Writes the digests into a slot that no progress names.
    pub(super) async fn write_digests(&self, slot: u8, digests: &Digests) -> Result<(), Fault> {
        for (part, text) in digests.texts().into_iter().enumerate() {
            self.replace(&self.digests_name(slot, part), text).await?;
        }
        Ok(())
    }

    /// Writes a note whatever its epoch.
    pub(super) async fn replace(&self, name: &str, text: String) -> Result<(), Fault> {
        let epoch = self.read(name).await?.map_or(0, |note| note.epoch) + 1;
        self.write(name, Note { epoch, text }).await
    }

    async fn read(&self, name: &str) -> Result<Option<Note>, Fault> {
        retry_passing(self.ports.time(), || self.ports.state().note(self.generation, name)).await
    }

    async fn write(&self, name: &str, note: Note) -> Result<(), Fault> {
        let write = || self.ports.state().write_note(self.generation, name, &note);
        if retry_passing(self.ports.time(), write).await? {
            return Ok(());
        }
        // The answer to an attempt that succeeded may have been lost.
        if self.read(name).await?.as_ref() == Some(&note) {
            return Ok(());
        }
        let reason = format!("another audit of {} has taken over; this run stops", self.generation);
        Err(Fault::lasting("mirror", reason))
    }

    fn progress_name(&self) -> String {
        progress_name(self.purpose)
    }

    fn digests_name(&self, slot: u8, part: usize) -> String {
        format!("digests#{}#{slot}-{part}", self.purpose.name())
    }
}

fn progress_name(purpose: AuditPurpose) -> String {
    format!("progress#{}", purpose.name())
}

/// Returns the progress that the audit of a generation for this purpose has last saved.
pub(super) async fn saved_progress(
    state: &impl State,
    generation: &str,
    purpose: AuditPurpose,
) -> Result<Option<AuditProgress>, Fault> {
    let note = state.note(generation, &progress_name(purpose)).await?;
    Ok(note.and_then(|note| serde_json::from_str(&note.text).ok()))
}

/// Returns the number of items and documents that the audit of a rebuild has read, as it has last saved its progress.
/// Returns `None` if no such audit is under way.
pub(crate) async fn read_by_rebuild_audit(state: &impl State, generation: &str) -> Result<Option<u64>, Fault> {
    let progress = saved_progress(state, generation, AuditPurpose::Rebuild).await?;
    let under_way = progress.filter(|progress| progress.phase != AuditPhase::Finished);
    Ok(under_way.map(|progress| progress.tables.values().map(|table| table.items + table.documents).sum()))
}
