//! One run of an audit in one generation.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use futures::future::try_join_all;
use futures::stream::{self, StreamExt, TryStreamExt};
use table::schema::{Search, Table};

use super::content::{canonical, digest, members};
use super::digests::{Buckets, Digests};
use super::findings::{Ended, GenerationAudit, Kind, NO_TABLE, TableAudit};
use super::look::{Candidate, Look, Looker, Side, is_tombstone};
use super::options::AuditOptions;
use super::patience::patiently;
use super::progress::{self, AuditProgress, Cursor, Phase, read_digests, write_digests};
use super::reference::{Reference, Wanted};
use super::time::after;
use crate::documents::Documents;
use crate::fill::searchable;
use crate::fold::Presence;
use crate::generation::Generation;
use crate::item::{Item, presence, rev_value};
use crate::ports::{DocumentPage, Fault, Index, Items, Page, Ports, Segment, State, StoredDocument, Time};
use crate::quarantine::Subject;
use crate::repair::repair_generation;
use crate::report::RepairOutcome;
use crate::requests::CONCURRENCY;
use crate::rules::Rules;

/// A step of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Items of a table were read, for the first time or again.
    Items { table: &'static str, items: usize, again: bool },
    /// Documents of the index were read, for the first time or again.
    Documents { documents: usize, again: bool },
    /// The audit waits for keys that seem to differ.
    Waiting { keys: usize },
    /// Differences were repaired.
    Repaired { differences: usize },
}

/// The number of segments of a table, which are scanned concurrently.
const SEGMENTS: u32 = 4;

/// How often a key is looked at before it is skipped, since it changes all the time.
const MAX_LOOKS: usize = 6;

/// The limits of the number of documents on a page, and the number of bytes that a page should have.
const DOCUMENTS: std::ops::RangeInclusive<usize> = 20..=1000;
const PAGE_BYTES: usize = 4_000_000;

/// The age after which an audit that was stopped is started over.
const MAX_AGE: Duration = Duration::from_hours(72);

struct Run<'r, P, D, F> {
    ports: &'r P,
    documents: &'r D,
    looker: Looker<'r, P, F>,
    tables: Vec<&'static Table>,
    options: AuditOptions,
    until: Option<i64>,
    progress: AuditProgress,
    /// The progress that the state table has, when it was written, and its epoch.
    kept: AuditProgress,
    kept_at: i64,
    epoch: u64,
    digests: Digests,
    buckets: Option<Buckets>,
    suspects: VecDeque<Suspect>,
    /// The number of documents of the next page.
    limit: usize,
}

/// A key that seems to differ.
struct Suspect {
    candidate: Candidate,
    look: Look,
    /// When the same state was seen first.
    since: i64,
    looks: usize,
}

/// Audits a generation, or resumes an audit that was stopped. `until` is the time at which the run ends, in
/// microseconds. The reference says which documents search must have.
pub(crate) async fn audit_generation<R: Rules, P: Ports, D: Documents, F: Reference>(
    ports: &P,
    documents: &D,
    reference: &F,
    generation: &Generation,
    options: AuditOptions,
    until: Option<i64>,
    step: &(impl Fn(Step) + Sync),
) -> Result<GenerationAudit, Fault> {
    let mut run = Run::start(ports, documents, reference, generation, options, until).await?;
    let ended = run.steps::<R>(step).await?;
    Ok(GenerationAudit {
        generation: generation.index.clone(),
        ended,
        tables: run.progress.tables.into_values().collect(),
    })
}

/// Returns the name of the note with a table's result.
pub(super) fn result_name(table: &str) -> String {
    format!("result#{table}")
}

impl<'r, P: Ports, D: Documents, F: Reference> Run<'r, P, D, F> {
    async fn start(
        ports: &'r P,
        documents: &'r D,
        reference: &'r F,
        generation: &'r Generation,
        options: AuditOptions,
        until: Option<i64>,
    ) -> Result<Self, Fault> {
        let now = ports.time().micros();
        let is_included = |table: &&Table| options.only.is_none_or(|only| std::ptr::eq(only, *table));
        let tables: Vec<_> = searchable(documents.tables()).filter(is_included).collect();
        let kept = progress::read(ports, &generation.index).await?;
        let only = options.only.map(|table| table.name.to_owned());
        let compared: Vec<String> = tables.iter().map(|table| table.name.to_owned()).collect();
        let resumed = kept.progress.filter(|progress| {
            let fits = progress.repairs == options.repairs && progress.only == only;
            // Positions of another release may be those of other tables.
            let is_of_these = progress.compared == compared;
            fits && is_of_these && progress.phase != Phase::Finished && now < after(progress.started, MAX_AGE)
        });
        let resumed = match resumed {
            Some(progress) => {
                Some(digests_of(ports, &generation.index, &progress).await?.map(|digests| (progress, digests)))
            }
            None => None,
        };
        let (progress, digests) = resumed.flatten().unwrap_or_else(|| {
            let full = only.is_none();
            let names = tables.iter().map(|table| table.name).chain(full.then_some(NO_TABLE));
            let result = |name: &str| (name.to_owned(), TableAudit::new(name, now, full, options.repairs));
            let tables = names.map(result).collect();
            let progress = AuditProgress {
                started: now,
                repairs: options.repairs,
                only,
                phase: Phase::DigestItems { table: 0, segments: segments() },
                slot: None,
                buckets: None,
                compared,
                tables,
            };
            (progress, Digests::default())
        });
        let mut run = Self {
            ports,
            documents,
            looker: Looker { ports, reference, generation },
            tables,
            options,
            until,
            buckets: progress.buckets.as_deref().and_then(Buckets::of_text),
            kept: progress.clone(),
            progress,
            kept_at: now,
            epoch: kept.epoch,
            digests,
            suspects: VecDeque::new(),
            limit: *DOCUMENTS.start(),
        };
        // From now on, no earlier run can keep its progress.
        run.write().await?;
        Ok(run)
    }

    async fn steps<R: Rules>(&mut self, step: &(impl Fn(Step) + Sync)) -> Result<Ended, Fault> {
        loop {
            if self.progress.phase == Phase::Finished {
                self.finish().await?;
                return Ok(Ended::Finished);
            }
            let now = self.ports.time().micros();
            let is_late = self.until.is_some_and(|until| until <= now);
            if is_late || after(self.kept_at, self.options.keep) <= now {
                self.settle_suspects::<R>(step).await?;
                self.keep().await?;
            }
            if is_late {
                return Ok(Ended::Stopped);
            }
            match self.progress.phase.clone() {
                Phase::DigestItems { table, segments } => self.digest_items(table, segments, step).await?,
                Phase::DigestDocuments { after } => self.digest_documents(after, step).await?,
                Phase::LookAtItems { table, segments } => self.look_at_items::<R>(table, segments, step).await?,
                Phase::LookAtDocuments { after } => self.look_at_documents::<R>(after, step).await?,
                Phase::LookAtMarkers { after } => self.look_at_markers::<R>(after, step).await?,
                Phase::Finished => {}
            }
        }
    }

    async fn digest_items(
        &mut self,
        place: usize,
        segments: Vec<Cursor>,
        step: &(impl Fn(Step) + Sync),
    ) -> Result<(), Fault> {
        let Some(&table) = self.tables.get(place) else {
            self.refresh().await?;
            self.progress.phase = Phase::DigestDocuments { after: None };
            return Ok(());
        };
        let (items, segments) = self.scan(table, segments).await?;
        let read = items.len();
        let digests: Vec<_> = items.iter().map(|item| self.wanted_digest(table, item)).collect();
        let digests: Vec<_> = stream::iter(digests).buffered(CONCURRENCY).try_collect().await?;
        for (id, digest) in digests.into_iter().flatten() {
            self.progress.result(Some(table)).items += 1;
            self.digests.add(&id, digest);
        }
        step(Step::Items { table: table.name, items: read, again: false });
        self.progress.phase = match is_done(&segments) {
            false => Phase::DigestItems { table: place, segments },
            true => Phase::DigestItems { table: place + 1, segments: self::segments() },
        };
        Ok(())
    }

    /// Returns the id of an item that may have a document, with the digest of that document.
    async fn wanted_digest(&self, table: &'static Table, item: &Item) -> Result<Option<(String, u64)>, Fault> {
        let Some(key) = item.image().ok().and_then(|image| image.key(table).ok()) else { return Ok(None) };
        let entity = table.entity_of(&key).filter(|entity| entity.search == Search::Document);
        let Some(entity) = entity else { return Ok(None) };
        let id = key.document_id();
        // Its bucket differs from that of the index, so that it is looked at.
        let to_be_looked_at = || digest(&["look at the item", &id]);
        let Presence::At(rev) = presence(rev_value(item.as_str())) else {
            let digest = to_be_looked_at();
            return Ok(Some((id, digest)));
        };
        let (reference, rev) = (self.looker.reference, rev.number());
        let wanted = patiently(self.ports.time(), || reference.wanted(entity, &key, rev, item, &[])).await?;
        let digest = match wanted {
            Wanted::Document(wanted) => {
                let sum = digest(&[&id, &rev.to_string(), &canonical(&wanted.source)]);
                if wanted.lacks_an_object() { sum.wrapping_add(to_be_looked_at()) } else { sum }
            }
            // Its tombstone may have been swept.
            Wanted::Hidden => 0,
            Wanted::Unfit => to_be_looked_at(),
        };
        Ok(Some((id, digest)))
    }

    async fn digest_documents(&mut self, after: Option<String>, step: &(impl Fn(Step) + Sync)) -> Result<(), Fault> {
        let DocumentPage { documents, next } = self.document_page(after.as_deref()).await?;
        for document in &documents {
            let StoredDocument { id, version, source } = document;
            let fields = members(source);
            let candidate = Candidate::of_document(self.documents.tables(), id, &fields);
            if !self.is_included(&candidate) {
                continue;
            }
            if is_tombstone(&fields) {
                // Only that of a hidden item has an even version. It must be the item's.
                if version % 2 == 0 {
                    self.digests.subtract(id, digest(&["look at the tombstone", id]));
                }
                continue;
            }
            self.progress.result(candidate.table()).documents += 1;
            self.digests.subtract(id, digest(&[id, &version.to_string(), &canonical(source)]));
        }
        step(Step::Documents { documents: documents.len(), again: false });
        self.progress.phase = match next {
            Some(next) => Phase::DigestDocuments { after: Some(next) },
            None => {
                let buckets = self.digests.differing();
                let phase = if buckets.is_empty() {
                    Phase::LookAtMarkers { after: None }
                } else {
                    Phase::LookAtItems { table: 0, segments: segments() }
                };
                self.progress.buckets = Some(buckets.text());
                self.buckets = Some(buckets);
                phase
            }
        };
        Ok(())
    }

    async fn look_at_items<R: Rules>(
        &mut self,
        place: usize,
        segments: Vec<Cursor>,
        step: &(impl Fn(Step) + Sync),
    ) -> Result<(), Fault> {
        let Some(&table) = self.tables.get(place) else {
            self.settle_suspects::<R>(step).await?;
            self.refresh().await?;
            self.progress.phase = Phase::LookAtDocuments { after: None };
            return Ok(());
        };
        let (items, segments) = self.scan(table, segments).await?;
        let keys = items.iter().filter_map(|item| item.image().ok()?.key(table).ok());
        let candidates: Vec<_> = keys
            .filter(|key| table.entity_of(key).is_some_and(|entity| entity.search == Search::Document))
            .filter(|key| self.differs(&key.document_id()))
            .map(|key| Candidate::Item { table, key })
            .collect();
        self.suspect::<R>(Side::Items, candidates, step).await?;
        step(Step::Items { table: table.name, items: items.len(), again: true });
        self.progress.phase = match is_done(&segments) {
            false => Phase::LookAtItems { table: place, segments },
            true => Phase::LookAtItems { table: place + 1, segments: self::segments() },
        };
        Ok(())
    }

    async fn look_at_documents<R: Rules>(
        &mut self,
        after: Option<String>,
        step: &(impl Fn(Step) + Sync),
    ) -> Result<(), Fault> {
        let DocumentPage { documents, next } = self.document_page(after.as_deref()).await?;
        let differing = documents.iter().filter(|document| self.differs(&document.id));
        let candidates: Vec<_> = differing
            .map(|document| (&document.id, members(&document.source)))
            .filter(|(_, fields)| !is_tombstone(fields))
            .map(|(id, fields)| Candidate::of_document(self.documents.tables(), id, &fields))
            .filter(|candidate| self.is_included(candidate))
            .collect();
        self.suspect::<R>(Side::Documents, candidates, step).await?;
        step(Step::Documents { documents: documents.len(), again: true });
        self.progress.phase = match next {
            Some(next) => Phase::LookAtDocuments { after: Some(next) },
            None => {
                self.settle_suspects::<R>(step).await?;
                Phase::LookAtMarkers { after: None }
            }
        };
        Ok(())
    }

    async fn look_at_markers<R: Rules>(
        &mut self,
        after: Option<String>,
        step: &(impl Fn(Step) + Sync),
    ) -> Result<(), Fault> {
        let (ports, index) = (self.ports, &self.looker.generation.index);
        let page = || ports.state().markers_after(index, after.as_deref());
        let markers = patiently(ports.time(), page).await?;
        let next = markers.last().map(|marker| marker.subject.name());
        let of_marker = |subject| match subject {
            Subject::Item { table, key } => {
                let table = self.tables.iter().copied().find(|known| known.name == table)?;
                Some(Candidate::Item { table, key })
            }
            Subject::Record(_) => None,
        };
        let candidates = markers.into_iter().filter_map(|marker| of_marker(marker.subject)).collect();
        self.suspect::<R>(Side::Markers, candidates, step).await?;
        self.progress.phase = match next {
            Some(next) => Phase::LookAtMarkers { after: Some(next) },
            None => {
                self.settle_suspects::<R>(step).await?;
                Phase::Finished
            }
        };
        Ok(())
    }

    /// Looks at keys, and remembers those that seem to differ.
    async fn suspect<R: Rules>(
        &mut self,
        side: Side,
        candidates: Vec<Candidate>,
        step: &(impl Fn(Step) + Sync),
    ) -> Result<(), Fault> {
        let looks = self.looker.look(side, &candidates).await?;
        let since = self.ports.time().micros();
        let differing = candidates.into_iter().zip(looks).filter(|(_, look)| look.kind.is_some());
        self.suspects.extend(differing.map(|(candidate, look)| Suspect { candidate, look, since, looks: 1 }));
        if self.suspects.len() >= self.options.suspects {
            self.settle_suspects::<R>(step).await?;
        }
        Ok(())
    }

    /// Looks at the suspects again, each some time after the look before, until each is a difference or none.
    async fn settle_suspects<R: Rules>(&mut self, step: &(impl Fn(Step) + Sync)) -> Result<(), Fault> {
        let side = match self.progress.phase {
            Phase::LookAtDocuments { .. } => Side::Documents,
            Phase::LookAtMarkers { .. } => Side::Markers,
            _ => Side::Items,
        };
        while let Some(last) = self.suspects.back() {
            let ripe = after(last.since, self.options.wait);
            let left = u64::try_from(ripe.saturating_sub(self.ports.time().micros())).unwrap_or_default();
            step(Step::Waiting { keys: self.suspects.len() });
            if left > 0 {
                self.ports.time().wait(Duration::from_micros(left)).await;
            }
            let suspects: Vec<_> = self.suspects.drain(..).collect();
            let candidates: Vec<_> = suspects.iter().map(|suspect| suspect.candidate.clone()).collect();
            let looks = self.looker.look(side, &candidates).await?;
            let now = self.ports.time().micros();
            let mut confirmed = Vec::new();
            for (suspect, look) in suspects.into_iter().zip(looks) {
                match look.kind {
                    None => {}
                    Some(kind) if look == suspect.look => confirmed.push((suspect.candidate, look, kind)),
                    Some(_) if suspect.looks < MAX_LOOKS => {
                        self.suspects.push_back(Suspect { look, since: now, looks: suspect.looks + 1, ..suspect });
                    }
                    Some(_) => self.progress.result(suspect.candidate.table()).busy += 1,
                }
            }
            self.confirm::<R>(confirmed, side, step).await?;
        }
        Ok(())
    }

    /// Counts differences, and repairs them.
    async fn confirm<R: Rules>(
        &mut self,
        confirmed: Vec<(Candidate, Look, Kind)>,
        side: Side,
        step: &(impl Fn(Step) + Sync),
    ) -> Result<(), Fault> {
        if confirmed.is_empty() {
            return Ok(());
        }
        for (candidate, _, kind) in &confirmed {
            let id = candidate.id();
            tracing::warn!(generation = self.looker.generation.index, kind = kind.name(), id, "search differs");
            let table = candidate.table();
            self.progress.result(table).found(*kind, &id);
            self.kept.result(table).found(*kind, &id);
        }
        if !self.options.repairs {
            confirmed
                .iter()
                .for_each(|(candidate, _, kind)| self.progress.result(candidate.table()).repaired(*kind, false));
            return Ok(());
        }
        // What was found is kept first, since after a crash the next run finds it repaired.
        self.write().await?;
        let repairs: Vec<_> = confirmed.iter().map(|(candidate, look, _)| self.repair::<R>(candidate, look)).collect();
        let repaired: Vec<bool> = stream::iter(repairs).buffered(CONCURRENCY).try_collect().await?;
        step(Step::Repaired { differences: repaired.iter().filter(|repaired| **repaired).count() });
        // A repair writes a shape in full again, which OpenSearch may refuse again.
        let shapes: Vec<_> = confirmed.iter().filter(|(_, _, kind)| !kind.is_difference()).collect();
        let again: Vec<_> = shapes.iter().map(|(candidate, ..)| candidate.clone()).collect();
        let mut again = self.looker.look(side, &again).await?.into_iter();
        for ((candidate, _, kind), repaired) in confirmed.iter().zip(repaired) {
            let stays = !kind.is_difference() && again.next().is_some_and(|look| look.kind == Some(*kind));
            self.progress.result(candidate.table()).repaired(*kind, repaired && !stays);
        }
        Ok(())
    }

    /// Repairs one key. Returns false if nothing can repair it.
    async fn repair<R: Rules>(&self, candidate: &Candidate, look: &Look) -> Result<bool, Fault> {
        let Candidate::Item { table, key } = candidate else { return Ok(false) };
        let (ports, generation) = (self.ports, self.looker.generation);
        if look.kind == Some(Kind::StaleMarker) {
            let (name, upto) = (Subject::item(table, key).name(), look.marker.unwrap_or_default());
            patiently(ports.time(), || ports.state().clear(&generation.index, &name, upto)).await?;
            return Ok(true);
        }
        let repair = || repair_generation::<R, _, _>(ports, self.documents, generation, table, key);
        match patiently(ports.time(), repair).await {
            Ok(RepairOutcome::Quarantined { .. }) => Ok(true),
            Ok(_) => Ok(true),
            Err(fault) => {
                tracing::error!(id = candidate.id(), %fault, "a document could not be repaired");
                Ok(false)
            }
        }
    }

    async fn scan(&self, table: &'static Table, segments: Vec<Cursor>) -> Result<(Vec<Item>, Vec<Cursor>), Fault> {
        let ports = self.ports;
        let pages = segments.iter().zip(0..).map(|(cursor, number)| async move {
            if *cursor == Cursor::Done {
                return Ok((Vec::new(), Cursor::Done));
            }
            let (last, segment) = (cursor.key(), Segment { number, of: SEGMENTS });
            let Page { items, next } =
                patiently(ports.time(), || ports.items().scan(table, segment, last.as_ref())).await?;
            Ok::<_, Fault>((items, Cursor::after(next)))
        });
        let (items, segments): (Vec<_>, Vec<_>) = try_join_all(pages).await?.into_iter().unzip();
        Ok((items.into_iter().flatten().collect(), segments))
    }

    /// Reads a page of documents. The next page has so many that it has about [`PAGE_BYTES`].
    async fn document_page(&mut self, after: Option<&str>) -> Result<DocumentPage, Fault> {
        let (ports, alias, limit) = (self.ports, self.looker.generation.write_alias(), self.limit);
        let page = patiently(ports.time(), || ports.index().documents(&alias, after, limit)).await?;
        let bytes: usize = page.documents.iter().map(|document| document.source.len() + 200).sum();
        if !page.documents.is_empty() {
            let fitting = PAGE_BYTES.saturating_mul(page.documents.len()) / bytes.max(1);
            // A page may be much larger than the one before.
            self.limit = fitting.min(limit.saturating_mul(4)).clamp(*DOCUMENTS.start(), *DOCUMENTS.end());
        }
        Ok(page)
    }

    async fn refresh(&self) -> Result<(), Fault> {
        let (ports, index) = (self.ports, &self.looker.generation.index);
        patiently(ports.time(), || ports.index().refresh(index)).await
    }

    fn differs(&self, id: &str) -> bool {
        self.buckets.as_ref().is_some_and(|buckets| buckets.contain(id))
    }

    fn is_included(&self, candidate: &Candidate) -> bool {
        let Some(only) = self.options.only else { return true };
        candidate.table().is_some_and(|table| std::ptr::eq(table, only))
    }

    /// Keeps the progress. There must be no suspects, since they are not kept.
    async fn keep(&mut self) -> Result<(), Fault> {
        if matches!(self.progress.phase, Phase::DigestItems { .. } | Phase::DigestDocuments { .. }) {
            let slot = self.progress.slot.map_or(0, |slot| 1 - slot);
            write_digests(self.ports, &self.looker.generation.index, slot, &self.digests).await?;
            self.progress.slot = Some(slot);
        }
        self.kept = self.progress.clone();
        self.write().await?;
        self.kept_at = self.ports.time().micros();
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Fault> {
        progress::write(self.ports, &self.looker.generation.index, self.epoch, &self.kept).await?;
        self.epoch += 1;
        Ok(())
    }

    /// Keeps the results of a finished audit.
    async fn finish(&mut self) -> Result<(), Fault> {
        let (ports, index) = (self.ports, &self.looker.generation.index);
        let now = ports.time().micros();
        for result in self.progress.tables.values_mut() {
            result.ended = Some(now);
            let text = serde_json::to_string(result).map_err(|error| Fault::lasting("mirror", error))?;
            progress::replace(ports, index, &result_name(&result.table), text).await?;
        }
        self.keep().await
    }
}

/// Returns the digests of an audit that was stopped. Returns `None` if they are not known, so that the audit is started
/// over.
async fn digests_of<P: Ports>(ports: &P, generation: &str, progress: &AuditProgress) -> Result<Option<Digests>, Fault> {
    match (&progress.phase, progress.slot) {
        (Phase::DigestItems { .. } | Phase::DigestDocuments { .. }, Some(slot)) => {
            read_digests(ports, generation, slot).await
        }
        // Nothing was digested yet.
        (Phase::DigestItems { .. } | Phase::DigestDocuments { .. }, None) => Ok(Some(Digests::default())),
        _ => Ok(progress.buckets.as_deref().and_then(Buckets::of_text).map(|_| Digests::default())),
    }
}

fn segments() -> Vec<Cursor> {
    vec![Cursor::Start; SEGMENTS as usize]
}

fn is_done(segments: &[Cursor]) -> bool {
    segments.iter().all(|segment| *segment == Cursor::Done)
}

impl<P, D, F> fmt::Debug for Run<'_, P, D, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.progress)
    }
}
