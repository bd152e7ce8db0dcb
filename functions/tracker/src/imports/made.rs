//! Which records of a file have become issues. A batch is several transactions, and its checkpoint is one more; each keeps
//! here what it makes, so that a run that does a batch again makes only what is missing of it. The issues themselves do
//! not tell: somebody may have moved or deleted them meanwhile.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use table::{Access, Action, Backoff, Changes, EntityKey, Error, Rev, item};

use super::ImportParams;
use crate::access::IMPORT_ROWS;
use crate::keys::MadeKey;
use crate::names::{GateNumber, WorkId};
use crate::schema::TRACKER;
use crate::work::KEPT;

/// So many records in a row are one worker's: few, so that all work on a batch that is small, and several, so that a
/// transaction of theirs is not.
const IN_A_ROW: u64 = 4;

/// What the workers of an import have made from its checkpoint on.
#[derive(Debug, Default)]
pub struct Made(HashMap<GateNumber, OfWorker>);

/// The same of one worker, who alone writes it.
#[derive(Clone, Debug, Default)]
pub struct OfWorker {
    /// Of the item, once there is one.
    rev: Option<Rev>,
    records: BTreeSet<u64>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MadeItem {
    records: BTreeSet<u64>,
    #[serde(rename = "expires")]
    expires: i64,
}

/// The worker whose record it is, in whatever batches the file is read.
pub fn worker_of(record: u64) -> GateNumber {
    GateNumber::of_worker((record / IN_A_ROW) as usize)
}

impl Made {
    pub async fn read(access: &Access, work: WorkId, params: &ImportParams) -> Result<Self, Error> {
        let pk = MadeKey { work, worker: worker_of(0) }.key().pk;
        let mut made = Self::default();
        for stored in access.table(&IMPORT_ROWS, &TRACKER).query(pk).consistent().all().await? {
            let Some(MadeKey { worker, .. }) = MadeKey::parse(&stored.key) else { continue };
            let MadeItem { mut records, .. } = stored.read()?;
            // What lies before the checkpoint is never done again.
            records.retain(|record| *record >= params.offset.records);
            made.0.insert(worker, OfWorker { rev: item::rev(&stored.item), records });
        }
        Ok(made)
    }

    /// The same at the end of an import: no other run makes anything any more, since each worker's item is another then.
    pub async fn close(access: &Access, work: WorkId, params: &ImportParams) -> Result<Self, Error> {
        let mut backoff = Backoff::new();
        loop {
            let made = Self::read(access, work, params).await?;
            let close = |worker| made.of(worker).keep(access, &MadeKey { work, worker }, std::iter::empty());
            let actions = GateNumber::all().map(close).collect::<Result<Vec<_>, _>>()?;
            match access.transact(&IMPORT_ROWS, &actions).await {
                Ok(_) => return Ok(made),
                Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn has(&self, record: u64) -> bool {
        self.0.values().any(|of| of.records.contains(&record))
    }

    /// How many records there are.
    pub fn count(&self) -> u64 {
        self.0.values().map(|of| of.records.len() as u64).sum()
    }

    pub fn of(&self, worker: GateNumber) -> OfWorker {
        self.0.get(&worker).cloned().unwrap_or_default()
    }
}

impl OfWorker {
    /// What keeps these records beside those before, unless another run has made any since.
    pub fn keep(
        &mut self,
        access: &Access,
        key: &MadeKey,
        records: impl Iterator<Item = u64>,
    ) -> Result<Action, Error> {
        self.records.extend(records);
        let expires = access.engines().clock.seconds() + KEPT;
        let made = MadeItem { records: self.records.clone(), expires };
        let Some(rev) = self.rev else { return Action::create(&TRACKER, key, &made) };
        Ok(Action::update(&TRACKER, key, Changes::between(&MadeItem::default(), &made)?).if_rev(rev))
    }

    /// The revision of what was kept last.
    pub fn kept(&mut self, rev: Rev) {
        self.rev = Some(rev);
    }
}
