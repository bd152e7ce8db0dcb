//! One run of an audit in one generation.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use futures::future::try_join_all;
use futures::stream::{self, StreamExt, TryStreamExt};
use table::schema::{Search, Table};

use super::content::{canonical, digest, members};
use super::difference::{Difference, RepairEnd, repair};
use super::digests::{Buckets, Digests};
use super::findings::{AuditEnd, DifferenceKind, GenerationAudit, NO_TABLE, TableAudit};
use super::look::{Candidate, Look, Looker, Side, Verdict, is_tombstone};
use super::options::{AuditOptions, AuditPurpose};
use super::progress::{AuditPhase, AuditProgress, Cursor, Notes, SavedProgress};
use super::reference::{Reference, Wanted};
use crate::documents::Documents;
use crate::fill::{SEGMENTS, check_wanted, searchable};
use crate::fold::Presence;
use crate::generation::Generation;
use crate::group::after;
use crate::item::{Item, presence, rev_value};
use crate::ports::{DocumentPage, Fault, Index, Items, Page, Ports, Segment, State, StoredDocument, Time};
use crate::quarantine::Subject;
use crate::requests::CONCURRENCY;
use crate::retry::retry_passing;

/// A step of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditStep {
    /// Items of a table were read, for the first time or again.
    Items { table: &'static str, items: usize, again: bool },
    /// Documents of the index were read, for the first time or again.
    Documents { documents: usize, again: bool },
    /// The audit waits for keys that seem to differ.
    Waiting { keys: usize },
    /// Differences were repaired.
    Repaired { differences: usize },
}

/// How often a key is looked at before it is skipped, since it changes all the time.
const MAX_LOOKS: usize = 6;

/// The limits of the number of documents on a page, and the number of bytes that a page should have. Since the bytes of
/// a page are not known before, a page of an index with shapes, of up to 2 MB each, has fewer documents.
const MIN_DOCUMENTS: usize = 20;
const MAX_DOCUMENTS: usize = 1000;
const MAX_DOCUMENTS_WITH_SHAPES: usize = 50;
const PAGE_BYTES: usize = 4_000_000;

/// The age after which an audit that was stopped is started over. That of a rebuild is not, since it would never end
/// for tables that take longer, and it is resumed for the same index only, each of whose differing keys is read again.
const MAX_AGE: Duration = Duration::from_hours(72);

impl AuditStep {
    /// Returns the number of items or documents that were read.
    pub const fn read(self) -> usize {
        match self {
            Self::Items { items: read, .. } | Self::Documents { documents: read, .. } => read,
            Self::Waiting { .. } | Self::Repaired { .. } => 0,
        }
    }
}

struct Run<'r, P, D, F> {
    ports: &'r P,
    documents: &'r D,
    looker: Looker<'r, P, F>,
    notes: Notes<'r, P>,
    tables: Vec<&'static Table>,
    options: AuditOptions,
    until: Option<i64>,
    step: &'r (dyn Fn(AuditStep) + Sync),
    progress: AuditProgress,
    /// The progress that the state table has, when it was saved, and its epoch.
    saved: AuditProgress,
    saved_at: i64,
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
    /// The kind as which it was counted, if its repair has failed.
    found: Option<DifferenceKind>,
}

/// Audits a generation, or resumes an audit of the same purpose that was stopped. `until` is the time at which the run
/// ends, in microseconds. The reference says which documents search must have. `step` is called after every step.
pub(crate) async fn audit_generation<P: Ports, D: Documents, F: Reference>(
    ports: &P,
    documents: &D,
    reference: &F,
    generation: &Generation,
    options: AuditOptions,
    until: Option<i64>,
    step: &(dyn Fn(AuditStep) + Sync),
) -> Result<GenerationAudit, Fault> {
    let notes = Notes { ports, generation: &generation.index, purpose: options.purpose };
    let looker = Looker { ports, reference, generation };
    let mut run = Run::start(documents, looker, notes, options, until, step).await?;
    let ended = run.steps().await?;
    Ok(GenerationAudit {
        generation: generation.index.clone(),
        ended,
        tables: run.progress.tables.into_values().collect(),
    })
}

/// Ends the audit of a rebuild that was stopped, so that no other rebuild resumes it.
pub(crate) async fn end_rebuild_audit<P: Ports>(ports: &P, generation: &str) -> Result<(), Fault> {
    let notes = Notes { ports, generation, purpose: AuditPurpose::Rebuild };
    match notes.progress().await? {
        SavedProgress { epoch, progress: Some(progress) } if progress.phase != AuditPhase::Finished => {
            notes.write_progress(epoch, &AuditProgress { phase: AuditPhase::Finished, ..progress }).await
        }
        _ => Ok(()),
    }
}

/// Returns the name of the note with a table's result.
pub(super) fn result_name(table: &str) -> String {
    format!("result#{table}")
}

impl<'r, P: Ports, D: Documents, F: Reference> Run<'r, P, D, F> {
    async fn start(
        documents: &'r D,
        looker: Looker<'r, P, F>,
        notes: Notes<'r, P>,
        options: AuditOptions,
        until: Option<i64>,
        step: &'r (dyn Fn(AuditStep) + Sync),
    ) -> Result<Self, Fault> {
        let ports = looker.ports;
        let now = ports.time().micros();
        let (only, repairs) = (options.purpose.only(), options.purpose.repairs());
        let is_included = |table: &&Table| only.is_none_or(|only| std::ptr::eq(only, *table));
        let tables: Vec<_> = searchable(documents.tables()).filter(is_included).collect();
        let only = only.map(|table| table.name.to_owned());
        let compared: Vec<String> = tables.iter().map(|table| table.name.to_owned()).collect();
        let SavedProgress { epoch, progress: saved } = notes.progress().await?;
        let unfinished = saved.as_ref().filter(|progress| progress.phase != AuditPhase::Finished);
        let first_started = unfinished.map_or(now, AuditProgress::first_started);
        let resumed = saved.filter(|progress| {
            let fits = progress.repairs == repairs && progress.only == only;
            // Positions of another release may be those of other tables.
            let is_of_these = progress.compared == compared;
            let is_young = options.purpose.is_rebuild() || now < after(progress.started, MAX_AGE);
            fits && is_of_these && progress.phase != AuditPhase::Finished && is_young
        });
        let resumed = match resumed {
            Some(progress) => digests_of(&notes, &progress).await?.map(|digests| (progress, digests)),
            None => None,
        };
        let (progress, digests) = resumed.unwrap_or_else(|| {
            let full = only.is_none();
            let names = tables.iter().map(|table| table.name).chain(full.then_some(NO_TABLE));
            let rebuild = options.purpose.is_rebuild();
            let result =
                |name: &str| (name.to_owned(), TableAudit { rebuild, ..TableAudit::new(name, now, full, repairs) });
            let tables = names.map(result).collect();
            let progress = AuditProgress {
                started: now,
                first_started: Some(first_started),
                repairs,
                only,
                phase: AuditPhase::DigestItems { table: 0, segments: segments() },
                slot: None,
                buckets: None,
                compared,
                saved: now,
                tables,
            };
            (progress, Digests::default())
        });
        let mut run = Self {
            ports,
            documents,
            looker,
            notes,
            tables,
            options,
            until,
            step,
            buckets: progress.buckets.as_deref().and_then(Buckets::of_text),
            saved: progress.clone(),
            progress,
            saved_at: now,
            epoch,
            digests,
            suspects: VecDeque::new(),
            limit: MIN_DOCUMENTS,
        };
        run.check_wanted().await?;
        // From now on, no earlier run can save its progress.
        run.write().await?;
        Ok(run)
    }

    async fn steps(&mut self) -> Result<AuditEnd, Fault> {
        loop {
            self.check_wanted().await?;
            if self.progress.phase == AuditPhase::Finished {
                self.finish().await?;
                return Ok(AuditEnd::Finished);
            }
            let now = self.ports.time().micros();
            let is_late = self.until.is_some_and(|until| until <= now);
            if is_late || after(self.saved_at, self.options.save_interval) <= now {
                self.settle_suspects().await?;
                self.save().await?;
            }
            if is_late {
                return Ok(AuditEnd::Stopped);
            }
            match self.progress.phase.clone() {
                AuditPhase::DigestItems { table, segments } => self.digest_items(table, segments).await?,
                AuditPhase::DigestDocuments { after } => self.digest_documents(after).await?,
                AuditPhase::LookAtItems { table, segments } => self.look_at_items(table, segments).await?,
                AuditPhase::LookAtDocuments { after } => self.look_at_documents(after).await?,
                AuditPhase::LookAtMarkers { after } => self.look_at_markers(after).await?,
                AuditPhase::Finished => {}
            }
        }
    }

    /// Checks that the generation is still written. A rebuild must still fill it, and any other audit must not compare an
    /// index that is being filled.
    async fn check_wanted(&self) -> Result<(), Fault> {
        let (ports, generation) = (self.ports, self.looker.generation);
        if self.options.purpose.is_rebuild() {
            return retry_passing(ports.time(), || check_wanted(ports, generation)).await;
        }
        let config = retry_passing(ports.time(), || ports.state().generations()).await?;
        let is_this = |written: &Generation| written.index == generation.index && written.is_filled();
        if config.is_some_and(|config| config.written.iter().any(is_this)) {
            return Ok(());
        }
        Err(Fault::lasting("mirror", format!("{} is not written any more, or is filled again", generation.index)))
    }

    async fn digest_items(&mut self, place: usize, segments: Vec<Cursor>) -> Result<(), Fault> {
        let Some(&table) = self.tables.get(place) else {
            self.refresh().await?;
            self.progress.phase = AuditPhase::DigestDocuments { after: None };
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
        (self.step)(AuditStep::Items { table: table.name, items: read, again: false });
        self.progress.phase = match is_done(&segments) {
            false => AuditPhase::DigestItems { table: place, segments },
            true => AuditPhase::DigestItems { table: place + 1, segments: self::segments() },
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
        let wanted = retry_passing(self.ports.time(), || reference.wanted(entity, &key, rev, item, &[])).await?;
        let digest = match wanted {
            Wanted::Document(wanted) => {
                let sum = digest(&[&id, &rev.to_string(), &canonical(&wanted.source)]);
                if wanted.lacks_an_object() { sum.wrapping_add(to_be_looked_at()) } else { sum }
            }
            // Its tombstone may have been swept.
            Wanted::Hidden => 0,
            Wanted::Unfit | Wanted::Unknown => to_be_looked_at(),
        };
        Ok(Some((id, digest)))
    }

    async fn digest_documents(&mut self, after: Option<String>) -> Result<(), Fault> {
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
        (self.step)(AuditStep::Documents { documents: documents.len(), again: false });
        self.progress.phase = match next {
            Some(next) => AuditPhase::DigestDocuments { after: Some(next) },
            None => {
                let buckets = self.digests.differing();
                let phase = if buckets.is_empty() {
                    AuditPhase::LookAtMarkers { after: None }
                } else {
                    AuditPhase::LookAtItems { table: 0, segments: segments() }
                };
                self.progress.buckets = Some(buckets.text());
                self.buckets = Some(buckets);
                phase
            }
        };
        Ok(())
    }

    async fn look_at_items(&mut self, place: usize, segments: Vec<Cursor>) -> Result<(), Fault> {
        let Some(&table) = self.tables.get(place) else {
            self.settle_suspects().await?;
            self.refresh().await?;
            self.progress.phase = AuditPhase::LookAtDocuments { after: None };
            return Ok(());
        };
        let (items, segments) = self.scan(table, segments).await?;
        let keys = items.iter().filter_map(|item| item.image().ok()?.key(table).ok());
        let candidates: Vec<_> = keys
            .filter(|key| table.entity_of(key).is_some_and(|entity| entity.search == Search::Document))
            .filter(|key| self.differs(&key.document_id()))
            .map(|key| Candidate::Item { table, key })
            .collect();
        self.suspect(Side::Items, candidates).await?;
        (self.step)(AuditStep::Items { table: table.name, items: items.len(), again: true });
        self.progress.phase = match is_done(&segments) {
            false => AuditPhase::LookAtItems { table: place, segments },
            true => AuditPhase::LookAtItems { table: place + 1, segments: self::segments() },
        };
        Ok(())
    }

    async fn look_at_documents(&mut self, after: Option<String>) -> Result<(), Fault> {
        let DocumentPage { documents, next } = self.document_page(after.as_deref()).await?;
        let differing = documents.iter().filter(|document| self.differs(&document.id));
        let candidates: Vec<_> = differing
            .map(|document| (&document.id, members(&document.source)))
            .filter(|(_, fields)| !is_tombstone(fields))
            .map(|(id, fields)| Candidate::of_document(self.documents.tables(), id, &fields))
            .filter(|candidate| self.is_included(candidate))
            .collect();
        self.suspect(Side::Documents, candidates).await?;
        (self.step)(AuditStep::Documents { documents: documents.len(), again: true });
        self.progress.phase = match next {
            Some(next) => AuditPhase::LookAtDocuments { after: Some(next) },
            None => {
                self.settle_suspects().await?;
                AuditPhase::LookAtMarkers { after: None }
            }
        };
        Ok(())
    }

    async fn look_at_markers(&mut self, after: Option<String>) -> Result<(), Fault> {
        let (ports, index) = (self.ports, &self.looker.generation.index);
        let page = || ports.state().markers_after(index, after.as_deref());
        let markers = retry_passing(ports.time(), page).await?;
        let next = markers.last().map(|marker| marker.subject.name());
        let of_marker = |subject| match subject {
            Subject::Item { table, key } => {
                let table = self.tables.iter().copied().find(|known| known.name == table)?;
                Some(Candidate::Item { table, key })
            }
            Subject::Record(_) => None,
        };
        let candidates = markers.into_iter().filter_map(|marker| of_marker(marker.subject)).collect();
        self.suspect(Side::Markers, candidates).await?;
        self.progress.phase = match next {
            Some(next) => AuditPhase::LookAtMarkers { after: Some(next) },
            None => {
                self.settle_suspects().await?;
                AuditPhase::Finished
            }
        };
        Ok(())
    }

    /// Looks at keys, and remembers those that seem to differ.
    async fn suspect(&mut self, side: Side, candidates: Vec<Candidate>) -> Result<(), Fault> {
        let looks = self.looker.look(side, &candidates).await?;
        let since = self.ports.time().micros();
        for (candidate, look) in candidates.into_iter().zip(looks) {
            match look.verdict {
                Verdict::Equal => {}
                Verdict::Differs(_) => {
                    self.suspects.push_back(Suspect { candidate, look, since, looks: 1, found: None });
                }
                Verdict::Unknown => self.progress.result(candidate.table()).busy += 1,
            }
        }
        if self.suspects.len() >= self.options.max_suspects {
            self.settle_suspects().await?;
        }
        Ok(())
    }

    /// Looks at the suspects again, each some time after the look before, until each is none or a difference whose repair
    /// has ended. Once the next look would be too late, it is the last one, and keys that have changed until then are
    /// busy.
    async fn settle_suspects(&mut self) -> Result<(), Fault> {
        let side = match self.progress.phase {
            AuditPhase::LookAtDocuments { .. } => Side::Documents,
            AuditPhase::LookAtMarkers { .. } => Side::Markers,
            _ => Side::Items,
        };
        while let Some(last) = self.suspects.back() {
            let ripe = after(last.since, self.options.wait);
            let is_last_look = self.until.is_some_and(|until| until <= ripe);
            let left = u64::try_from(ripe.saturating_sub(self.ports.time().micros())).unwrap_or_default();
            (self.step)(AuditStep::Waiting { keys: self.suspects.len() });
            if left > 0 {
                self.ports.time().wait(Duration::from_micros(left)).await;
            }
            let suspects: Vec<_> = self.suspects.drain(..).collect();
            let candidates: Vec<_> = suspects.iter().map(|suspect| suspect.candidate.clone()).collect();
            let looks = self.looker.look(side, &candidates).await?;
            let now = self.ports.time().micros();
            let mut confirmed = Vec::new();
            for (suspect, look) in suspects.into_iter().zip(looks) {
                let table = suspect.candidate.table();
                match look.verdict {
                    Verdict::Equal => {
                        if let Some(kind) = suspect.found {
                            self.progress.result(table).repaired(kind);
                        }
                    }
                    Verdict::Differs(kind) if look == suspect.look => {
                        let candidate = suspect.candidate.clone();
                        confirmed.push((suspect, Difference { candidate, kind, marker: look.marker }));
                    }
                    Verdict::Differs(_) if suspect.looks < MAX_LOOKS && !is_last_look => {
                        self.suspects.push_back(Suspect { look, since: now, looks: suspect.looks + 1, ..suspect });
                    }
                    Verdict::Differs(_) | Verdict::Unknown => match suspect.found {
                        Some(kind) => self.progress.result(table).not_repaired(kind, None),
                        None => self.progress.result(table).busy += 1,
                    },
                }
            }
            self.confirm(confirmed, side, is_last_look).await?;
        }
        Ok(())
    }

    /// Counts differences, and repairs them. Those whose repair has failed are suspects again, unless this was their last
    /// look.
    async fn confirm(
        &mut self,
        confirmed: Vec<(Suspect, Difference)>,
        side: Side,
        is_last_look: bool,
    ) -> Result<(), Fault> {
        if confirmed.is_empty() {
            return Ok(());
        }
        let generation = &self.looker.generation.index;
        for (_, Difference { candidate, kind, .. }) in confirmed.iter().filter(|(suspect, _)| suspect.found.is_none()) {
            let (id, table) = (candidate.id(), candidate.table());
            tracing::warn!(generation, kind = kind.name(), id, "document differs from its item");
            self.progress.result(table).found(*kind, &id);
            // That of a rebuild may be repaired in vain many times before its index serves.
            if !self.options.purpose.is_rebuild() {
                self.saved.result(table).found(*kind, &id);
            }
        }
        let (suspects, differences): (Vec<_>, Vec<_>) = confirmed.into_iter().unzip();
        if !self.options.purpose.repairs() {
            for Difference { candidate, kind, .. } in &differences {
                self.progress.result(candidate.table()).not_repaired(*kind, None);
            }
            return Ok(());
        }
        // What was found is saved first, since after a crash the next run finds it repaired.
        self.write().await?;
        let ends = repair(self.ports, self.documents, self.looker.generation, &differences).await?;
        (self.step)(AuditStep::Repaired {
            differences: ends.iter().filter(|end| **end == RepairEnd::Repaired).count(),
        });
        // A repair writes a shape in full again, which OpenSearch may refuse again.
        let shapes = differences.iter().filter(|difference| !difference.kind.is_difference());
        let shapes: Vec<_> = shapes.map(|difference| difference.candidate.clone()).collect();
        let mut shapes = self.looker.look(side, &shapes).await?.into_iter();
        for ((suspect, difference), end) in suspects.into_iter().zip(differences).zip(ends) {
            let present = if difference.kind.is_difference() { None } else { shapes.next() };
            let stays = present.is_some_and(|look| look.verdict == Verdict::Differs(difference.kind));
            let end = match end {
                RepairEnd::Repaired if stays => RepairEnd::Impossible,
                end => end,
            };
            self.end_repair(suspect, &difference, end, is_last_look)?;
        }
        Ok(())
    }

    /// Counts a repair that has ended, or looks at its key again later. Fails if the repair of a rebuild has failed: its
    /// index must not serve, so the rebuild waits and resumes the audit.
    fn end_repair(
        &mut self,
        suspect: Suspect,
        difference: &Difference,
        end: RepairEnd,
        is_last_look: bool,
    ) -> Result<(), Fault> {
        let kind = suspect.found.unwrap_or(difference.kind);
        let result = self.progress.result(difference.candidate.table());
        match end {
            RepairEnd::Repaired => result.repaired(kind),
            RepairEnd::Impossible => result.not_repaired(kind, None),
            RepairEnd::Failed { reason } if self.options.purpose.is_rebuild() => {
                let (index, id) = (&self.looker.generation.index, difference.candidate.id());
                return Err(Fault::passing("mirror", format!("{id} of {index} could not be repaired: {reason}")));
            }
            RepairEnd::Failed { .. } if suspect.looks < MAX_LOOKS && !is_last_look => {
                let (since, looks) = (self.ports.time().micros(), suspect.looks + 1);
                self.suspects.push_back(Suspect { since, looks, found: Some(kind), ..suspect });
            }
            RepairEnd::Failed { reason } => result.not_repaired(kind, Some(reason)),
        }
        Ok(())
    }

    async fn scan(&self, table: &'static Table, segments: Vec<Cursor>) -> Result<(Vec<Item>, Vec<Cursor>), Fault> {
        let ports = self.ports;
        let pages = segments.iter().zip(0..).map(|(cursor, number)| async move {
            if *cursor == Cursor::Done {
                return Ok((Vec::new(), Cursor::Done));
            }
            let (last, segment) = (cursor.key(), Segment { number, of: SEGMENTS });
            let Page { items, next } =
                retry_passing(ports.time(), || ports.items().scan(table, segment, last.as_ref())).await?;
            Ok::<_, Fault>((items, Cursor::after(next)))
        });
        let (items, segments): (Vec<_>, Vec<_>) = try_join_all(pages).await?.into_iter().unzip();
        Ok((items.into_iter().flatten().collect(), segments))
    }

    /// Reads a page of documents. The next page has so many that it has about [`PAGE_BYTES`]. After a fault it has few,
    /// since it may have failed because of its bytes.
    async fn document_page(&mut self, after: Option<&str>) -> Result<DocumentPage, Fault> {
        let (ports, alias) = (self.ports, self.looker.generation.write_alias());
        let mut limits = std::iter::once(self.limit).chain(std::iter::repeat(MIN_DOCUMENTS));
        let page = || ports.index().documents(&alias, after, limits.next().unwrap_or(MIN_DOCUMENTS));
        let page = retry_passing(ports.time(), page).await?;
        let bytes: usize = page.documents.iter().map(|document| document.source.len() + 200).sum();
        if !page.documents.is_empty() {
            let fitting = PAGE_BYTES.saturating_mul(page.documents.len()) / bytes.max(1);
            // A page may be much larger than the one before.
            let most = page.documents.len().saturating_mul(4).min(self.max_documents());
            self.limit = fitting.min(most).max(MIN_DOCUMENTS);
        }
        Ok(page)
    }

    fn max_documents(&self) -> usize {
        let has_shapes = self.documents.mapping().body.contains("\"geo_shape\"");
        if has_shapes { MAX_DOCUMENTS_WITH_SHAPES } else { MAX_DOCUMENTS }
    }

    async fn refresh(&self) -> Result<(), Fault> {
        let (ports, index) = (self.ports, &self.looker.generation.index);
        retry_passing(ports.time(), || ports.index().refresh(index)).await
    }

    fn differs(&self, id: &str) -> bool {
        self.buckets.as_ref().is_some_and(|buckets| buckets.contain(id))
    }

    fn is_included(&self, candidate: &Candidate) -> bool {
        let Some(only) = self.options.purpose.only() else { return true };
        candidate.table().is_some_and(|table| std::ptr::eq(table, only))
    }

    /// Saves the progress. There must be no suspects, since they are not saved.
    async fn save(&mut self) -> Result<(), Fault> {
        // Settling may have taken long, and nothing may be written behind the end of a generation.
        self.check_wanted().await?;
        if matches!(self.progress.phase, AuditPhase::DigestItems { .. } | AuditPhase::DigestDocuments { .. }) {
            let slot = self.progress.slot.map_or(0, |slot| 1 - slot);
            self.notes.write_digests(slot, &self.digests).await?;
            self.progress.slot = Some(slot);
        }
        self.saved = self.progress.clone();
        self.write().await?;
        self.saved_at = self.ports.time().micros();
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Fault> {
        self.saved.saved = self.ports.time().micros();
        self.notes.write_progress(self.epoch, &self.saved).await?;
        self.epoch += 1;
        Ok(())
    }

    /// Saves the end of an audit, with its results if it is a full one.
    async fn finish(&mut self) -> Result<(), Fault> {
        let now = self.ports.time().micros();
        for result in self.progress.tables.values_mut() {
            result.ended = Some(now);
            if self.options.purpose.is_full() {
                let text = serde_json::to_string(result).map_err(|error| Fault::lasting("mirror", error))?;
                self.notes.replace(&result_name(&result.table), text).await?;
            }
        }
        self.save().await
    }
}

/// Returns the digests of an audit that was stopped. Returns `None` if they are not known, so that the audit is started
/// over.
async fn digests_of<P: Ports>(notes: &Notes<'_, P>, progress: &AuditProgress) -> Result<Option<Digests>, Fault> {
    match (&progress.phase, progress.slot) {
        (AuditPhase::DigestItems { .. } | AuditPhase::DigestDocuments { .. }, Some(slot)) => notes.digests(slot).await,
        // Nothing was digested yet.
        (AuditPhase::DigestItems { .. } | AuditPhase::DigestDocuments { .. }, None) => Ok(Some(Digests::default())),
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
