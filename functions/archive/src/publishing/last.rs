//! The run that was published last, as the next run and the end of its publication see it.

use table::{Access, Key};
use web::Problem;

use super::checkpoint::id_of;
use super::chunk::{KeptCorrections, KeptRow, RunFiles};
use crate::access::PUBLISH_STEP;
use crate::keys::{PostRunKey, RecordKey};
use crate::mapping::MappedColumn;
use crate::names::{PostId, RecordId, RunNumber};
use crate::record::{OPEN, Record, key_headers};
use crate::runs::Run;
use crate::schema::ARCHIVE;

/// A published run with its rows.
pub struct Last {
    pub run: Run,
    pub rows: Vec<KeptRow>,
}

impl Last {
    pub async fn load(access: &Access, post: PostId, run: RunNumber) -> Result<Self, Problem> {
        let stored = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(PostRunKey { post, run }).await?;
        let stored = stored.ok_or_else(|| Problem::internal("the last run of a post is not there"))?;
        let rows = RunFiles::new(access, post, run).kept_index().await?;
        Ok(Self { run: stored.read()?, rows })
    }

    /// Leaves out the keys of the rows if this mapping has other columns as the key, since they say nothing of its keys.
    pub fn with_keys_of(mut self, mapping: &[MappedColumn]) -> Self {
        if key_headers(&self.run.mapping) != key_headers(mapping) {
            self.rows.iter_mut().for_each(|row| row.key = None);
        }
        self
    }

    /// Returns the permanent id of the row with this index.
    pub fn permanent_id(&self, index: usize) -> Option<RecordId> {
        let row = self.rows.get(index)?;
        row.permanent_id.or_else(|| id_of(self.run.first_id?, row.row))
    }

    /// Reads the corrections by hand of its records, or what it has kept of them.
    pub async fn corrections(&self, access: &Access, post: PostId) -> Result<Vec<KeptCorrections>, Problem> {
        if self.run.corrected.is_empty() {
            return Ok(Vec::new());
        }
        if self.run.has_kept_corrections {
            return RunFiles::new(access, post, self.run.run).kept_corrections().await;
        }
        let corrected = self.rows.iter().enumerate().filter_map(|(index, row)| {
            let is_corrected = self.run.corrected.contains(&self.permanent_id(index)?);
            is_corrected.then_some(id_of(self.run.first_id?, row.row)?)
        });
        let keys: Vec<Key> = corrected.map(|record| RecordKey { record, post }.into()).collect();
        let mut corrections = Vec::new();
        for stored in access.table(&PUBLISH_STEP, &ARCHIVE).batch_get_consistent(&keys).await?.into_iter().flatten() {
            let Record { permanent_id, corrections: of_record, visible_from, .. } = stored.read()?;
            let visible_from = Some(visible_from.unwrap_or(OPEN));
            corrections.push(KeptCorrections { permanent_id, corrections: of_record, visible_from });
        }
        Ok(corrections)
    }
}
