//! A look at single keys: the document, then the item, then the marker. An item that was read before its document could
//! be older than it, and the document would seem to be ahead of the table.

use std::collections::HashMap;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::Key;
use table::schema::{Search, System, Table};

use super::content::{Members, canonical, digest, members};
use super::findings::DifferenceKind;
use super::reference::{Reference, Wanted, coarser, lacks_a_shape};
use crate::fold::Presence;
use crate::generation::Generation;
use crate::item::{Item, presence, rev_value};
use crate::ports::{Fault, Index, Items, Ports, State, StoredDocument};
use crate::quarantine::{OpenMarker, Subject};
use crate::requests::CONCURRENCY;
use crate::retry::retry_passing;

/// The number of documents that one request reads.
const READ_DOCUMENTS: usize = 50;

/// Looks at keys of one generation.
#[derive(Debug)]
pub(super) struct Looker<'l, P, F> {
    pub(super) ports: &'l P,
    pub(super) reference: &'l F,
    pub(super) generation: &'l Generation,
}

/// A key whose table and index may differ.
#[derive(Clone, Debug)]
pub(super) enum Candidate {
    Item {
        table: &'static Table,
        key: Key,
    },
    /// A document whose id fits no table.
    Document {
        id: String,
    },
}

/// The source of a candidate, which determines the kinds of differences that are looked for, so that none is counted
/// twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// An item: every kind but the others.
    Items,
    /// A document: ghosts.
    Documents,
    /// A marker: stale markers.
    Markers,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Equal,
    Differs(DifferenceKind),
    /// The document that search must have cannot be created now.
    Unknown,
}

/// The result of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) verdict: Verdict,
    /// A digest of all that was read. Two looks with the same digest saw the same state.
    pub(super) state: u64,
    /// The open marker.
    pub(super) marker: Option<OpenMarker>,
}

impl Candidate {
    /// Returns the candidate of a document. Its id is authoritative, since its fields may be damaged.
    pub(super) fn of_document(system: &'static System, id: &str, source: &Members<'_>) -> Self {
        let text = |name| super::content::text(source, name);
        let of_fields = text("pk").map(|pk| Key { pk, sk: text("sk") }).filter(|key| key.document_id() == id);
        let cuts = id.match_indices('#').filter_map(|(at, _)| Some(Key::new(id.get(..at)?, id.get(at + 1..)?)));
        let found = of_fields.into_iter().chain(cuts).chain([Key::partition(id)]).find_map(|key| {
            let tables = system.tables.iter().copied();
            let table = tables
                .filter(|table| table.sk.is_some() == key.sk.is_some())
                .find(|table| table.entity_of(&key).is_some_and(|entity| entity.search == Search::Document));
            table.map(|table| (table, key))
        });
        match found {
            Some((table, key)) => Self::Item { table, key },
            None => Self::Document { id: id.to_owned() },
        }
    }

    /// Returns the id of its document.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Item { key, .. } => key.document_id(),
            Self::Document { id } => id.clone(),
        }
    }

    pub(super) fn table(&self) -> Option<&'static Table> {
        match self {
            Self::Item { table, .. } => Some(table),
            Self::Document { .. } => None,
        }
    }

    fn marker_name(&self) -> Option<String> {
        match self {
            Self::Item { table, key } => Some(Subject::item(table, key).name()),
            Self::Document { .. } => None,
        }
    }
}

/// Whether readers do not see the document.
pub(super) fn is_tombstone(source: &Members<'_>) -> bool {
    source.get("deleted").is_some_and(|deleted| deleted.get() == "true")
}

impl<P: Ports, F: Reference> Looker<'_, P, F> {
    /// Looks at each candidate. Returns one result for each, in their order.
    pub(super) async fn look(&self, side: Side, candidates: &[Candidate]) -> Result<Vec<Look>, Fault> {
        let mut looks = Vec::with_capacity(candidates.len());
        for some in candidates.chunks(READ_DOCUMENTS) {
            looks.extend(self.look_at(side, some).await?);
        }
        Ok(looks)
    }

    async fn look_at(&self, side: Side, candidates: &[Candidate]) -> Result<Vec<Look>, Fault> {
        let (ports, time) = (self.ports, self.ports.time());
        let alias = self.generation.write_alias();
        let ids: Vec<String> = candidates.iter().map(Candidate::id).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let documents = retry_passing(time, || ports.index().read_documents(&alias, &ids)).await?;
        if documents.len() != candidates.len() {
            return Err(Fault::lasting("search", "the response does not have one document for each id"));
        }
        let reads: Vec<_> = candidates.iter().map(|candidate| self.read_item(candidate)).collect();
        let items: Vec<Option<Item>> = stream::iter(reads).buffered(CONCURRENCY).try_collect().await?;
        let mut names: Vec<String> = candidates.iter().filter_map(Candidate::marker_name).collect();
        names.sort_unstable();
        names.dedup();
        let open = if names.is_empty() {
            HashMap::new()
        } else {
            retry_passing(time, || ports.state().open(&self.generation.index, &names)).await?
        };
        let seen = candidates.iter().zip(documents).zip(items);
        let looks: Vec<_> = seen
            .map(|((candidate, document), item)| {
                let marker = candidate.marker_name().and_then(|name| open.get(&name).copied());
                self.judge(side, candidate, document, item, marker)
            })
            .collect();
        stream::iter(looks).buffered(CONCURRENCY).try_collect().await
    }

    async fn read_item(&self, candidate: &Candidate) -> Result<Option<Item>, Fault> {
        match candidate {
            Candidate::Item { table, key } => {
                retry_passing(self.ports.time(), || self.ports.items().read(table, key)).await
            }
            Candidate::Document { .. } => Ok(None),
        }
    }

    async fn judge(
        &self,
        side: Side,
        candidate: &Candidate,
        document: Option<StoredDocument>,
        item: Option<Item>,
        marker: Option<OpenMarker>,
    ) -> Result<Look, Fault> {
        let seen = Seen::of(document.as_ref(), marker);
        let (verdict, marker_is_stale) = match (candidate, &item) {
            (Candidate::Document { .. }, _) | (_, None) if side == Side::Documents && seen.is_live => {
                (Verdict::Differs(DifferenceKind::Ghost), false)
            }
            (Candidate::Document { .. }, _) | (_, None) => (Verdict::Equal, marker.is_some()),
            (Candidate::Item { .. }, Some(_)) if side == Side::Documents => (Verdict::Equal, false),
            (Candidate::Item { table, key }, Some(item)) => self.compare(table, key, item, &seen).await?,
        };
        let verdict = match side {
            Side::Items | Side::Documents => verdict,
            Side::Markers if marker_is_stale => Verdict::Differs(DifferenceKind::StaleMarker),
            Side::Markers => Verdict::Equal,
        };
        let version = document.as_ref().map_or(0, |document| document.version).to_string();
        let (source, item) = (&seen.canonical, item.as_ref().map_or("", Item::as_str));
        let opened = marker.map(|marker| format!("{} {}", marker.rev, marker.since)).unwrap_or_default();
        let state = digest(&[&version, source, item, &opened]);
        Ok(Look { verdict, state, marker })
    }

    /// Compares an item with its document. The second value is whether its marker is stale.
    async fn compare(
        &self,
        table: &'static Table,
        key: &Key,
        item: &Item,
        seen: &Seen<'_>,
    ) -> Result<(Verdict, bool), Fault> {
        let searchable = |entity: &&table::schema::Entity| entity.search == Search::Document;
        let Some(entity) = table.entity_of(key).filter(searchable) else { return Ok((Verdict::Equal, false)) };
        let differs = |kind| Ok((Verdict::Differs(kind), false));
        let can_have_document = key.check_length().is_ok();
        let Presence::At(rev) = presence(rev_value(item.as_str())) else {
            // Any marker excuses an item whose key can have no document: a repair would only set the same one again.
            let excuses = |marker: OpenMarker| !can_have_document || marker.keeps_in_quarantine(None);
            let is_quarantined = !seen.is_live && seen.marker.is_some_and(excuses);
            return if is_quarantined { Ok((Verdict::Equal, false)) } else { differs(DifferenceKind::Stale) };
        };
        let rev = rev.number();
        // An item is also in quarantine after its tombstone was swept.
        let marker = seen.marker.filter(|marker| !seen.is_live && marker.keeps_in_quarantine(Some(rev)));
        let wanted = if can_have_document {
            let reference = self.reference;
            retry_passing(self.ports.time(), || reference.wanted(entity, key, rev, item, &[])).await?
        } else {
            Wanted::Unfit
        };
        let wanted = match wanted {
            Wanted::Unknown => return Ok((Verdict::Unknown, false)),
            Wanted::Unfit if seen.is_live => return differs(DifferenceKind::Stale),
            // The marker may also be that of a state with a higher revision. No repair lowers one.
            Wanted::Unfit if seen.marker.is_some_and(|marker| marker.rev >= rev) => {
                return Ok((Verdict::Equal, false));
            }
            Wanted::Unfit => return differs(DifferenceKind::Unmarked),
            // Its tombstone may have been swept.
            Wanted::Hidden if !seen.is_live && seen.version.is_none_or(|version| version == rev) => {
                return Ok((Verdict::Equal, seen.marker.is_some()));
            }
            // It cannot get a revision above its tombstone. Any other is repaired by a tombstone at its revision, which
            // also clears its marker.
            Wanted::Hidden if marker.is_some_and(|marker| marker.code.is_above_its_item()) => {
                return Ok((Verdict::Equal, false));
            }
            Wanted::Hidden => return differs(DifferenceKind::Stale),
            Wanted::Document(_) if marker.is_some() => return Ok((Verdict::Equal, false)),
            Wanted::Document(_) if !seen.is_live => return differs(DifferenceKind::Lost),
            Wanted::Document(_) if seen.version != Some(rev) => return differs(DifferenceKind::Stale),
            Wanted::Document(wanted) => wanted,
        };
        // Also one above the item: a host whose clock is behind may have lowered the revision. If the marker belongs to a
        // later state than the one that was just read, the next look differs from this one.
        let marker_is_stale = seen.marker.is_some();
        let lacks_a_shape = lacks_a_shape(&wanted, &seen.source);
        if canonical(&wanted.source) == seen.canonical {
            let missing = Verdict::Differs(DifferenceKind::MissingShape);
            return Ok((if lacks_a_shape { missing } else { Verdict::Equal }, marker_is_stale));
        }
        if let Some(levels) = coarser(&wanted, &seen.source) {
            let (reference, levels) = (self.reference, levels.as_slice());
            let degraded =
                retry_passing(self.ports.time(), || reference.wanted(entity, key, rev, item, levels)).await?;
            match degraded {
                Wanted::Unknown => return Ok((Verdict::Unknown, false)),
                Wanted::Document(degraded) if canonical(&degraded.source) == seen.canonical => {
                    return Ok((Verdict::Differs(DifferenceKind::Degraded), marker_is_stale));
                }
                Wanted::Document(_) | Wanted::Hidden | Wanted::Unfit => {}
            }
        }
        differs(if lacks_a_shape { DifferenceKind::MissingShape } else { DifferenceKind::Corrupt })
    }
}

/// What the index and the quarantine have of a key.
struct Seen<'d> {
    version: Option<u64>,
    source: Members<'d>,
    canonical: String,
    is_live: bool,
    /// The open marker.
    marker: Option<OpenMarker>,
}

impl<'d> Seen<'d> {
    fn of(document: Option<&'d StoredDocument>, marker: Option<OpenMarker>) -> Self {
        let source = document.map(|document| members(&document.source)).unwrap_or_default();
        Self {
            version: document.map(|document| document.version),
            is_live: document.is_some() && !is_tombstone(&source),
            canonical: document.map(|document| canonical(&document.source)).unwrap_or_default(),
            source,
            marker,
        }
    }
}
