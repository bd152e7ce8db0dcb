//! The load of a gazetteer: it writes only what differs, and completes a load that was interrupted.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt, stream};
use table::access::OnTable;
use table::{Access, AccessPattern, Action, Changes, Error, Key, Stored};

use super::{Gazetteer, GazetteerError};
use crate::keys::PlaceWordKey;
use crate::names::{PlaceId, PlaceWord};
use crate::places::item::{Place, Source};
use crate::places::words::{MAX_PLACES, WordItem};
use crate::places::{count_children, find_consistent};
use crate::schema::ARCHIVE;

const TABLE: OnTable = OnTable("archive");

/// The calls of a load.
pub const LOAD: AccessPattern = AccessPattern::new(
    "loadGazetteer",
    &[TABLE.batch_get(), TABLE.query(), TABLE.put(), TABLE.update(), TABLE.delete()],
);

/// The most new places of one transaction. Its last action counts them in their parent.
const MAX_CREATIONS: usize = 90;

/// The items that are compared at once, and the words of one transaction.
const BATCH: usize = 100;

/// The concurrent requests.
const CONCURRENCY: usize = 32;

/// How often a write that another one forestalled is decided again.
const MAX_ATTEMPTS: usize = 8;

/// Whether a load writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Write,
    /// Only compares and counts.
    DryRun,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub created: u64,
    pub updated: u64,
    /// Places that are as the gazetteer has them.
    pub unchanged: u64,
    /// Places that an administrator has changed or replaced. They stay as they are.
    pub kept: u64,
    /// The words that were written.
    pub words: u64,
}

/// The words that places get and lose.
type WordChanges = BTreeMap<PlaceWord, [BTreeSet<PlaceId>; 2]>;

/// What a load has found and done so far.
struct Load<'a> {
    access: &'a Access,
    mode: Mode,
    loaded: Loaded,
    /// Every place as it is in the table now.
    present: BTreeMap<PlaceId, Place>,
    words: WordChanges,
    advanced: &'a (dyn Fn(u64, u64) + Send + Sync),
    done: u64,
    total: u64,
}

/// A place of the gazetteer beside the item of the table.
enum Compared {
    Absent,
    Kept(Place),
    Same(Place),
    Differs(Stored, Place),
}

/// Loads a gazetteer. `advanced` is called with the places and words that are done, and their number.
pub async fn load(
    access: &Access,
    gazetteer: &Gazetteer,
    mode: Mode,
    now: &str,
    advanced: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<Loaded, GazetteerError> {
    let places = gazetteer.places(now)?;
    let total = places.len() as u64;
    let mut load = Load {
        access,
        mode,
        loaded: Loaded::default(),
        present: BTreeMap::new(),
        words: WordChanges::new(),
        advanced,
        done: 0,
        total,
    };
    let mut levels: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
    for place in places {
        levels.entry(place.level).or_default().push(place);
    }
    for mut level in levels.into_values() {
        // Neighbours share a partition of the index, which takes 1 000 writes a second.
        level.sort_by_key(|place| scattered(place.id));
        load.level(level).await?;
    }
    load.write_words().await?;
    Ok(load.loaded)
}

impl Load<'_> {
    /// Loads the places of a level. Those of the levels above are present.
    async fn level(&mut self, places: Vec<Place>) -> Result<(), GazetteerError> {
        let places = places.into_iter().map(|place| self.beneath(place)).collect::<Result<Vec<_>, _>>()?;
        let access = self.access;
        let batches = stream::iter(places.chunks(BATCH)).map(|batch| compare(access, batch));
        let compared: Vec<Vec<Compared>> = batches.buffered(CONCURRENCY).try_collect().await?;
        let mut new: BTreeMap<Option<PlaceId>, Vec<Place>> = BTreeMap::new();
        let mut changed = Vec::new();
        for (place, compared) in places.into_iter().zip(compared.into_iter().flatten()) {
            match compared {
                Compared::Absent => {
                    self.gains(&place, &BTreeSet::new());
                    self.present.insert(place.id, place.clone());
                    new.entry(place.parent_id).or_default().push(place);
                }
                Compared::Kept(present) => {
                    self.loaded.kept += 1;
                    self.present.insert(present.id, present);
                    self.advance(1);
                }
                Compared::Same(present) => {
                    self.loaded.unchanged += 1;
                    self.gains(&present, &BTreeSet::new());
                    self.present.insert(present.id, present);
                    self.advance(1);
                }
                Compared::Differs(stored, before) => {
                    let after =
                        Place { child_count: before.child_count, created_at: before.created_at.clone(), ..place };
                    self.gains(&after, &before.words());
                    self.present.insert(after.id, after.clone());
                    changed.push((stored, before, after));
                }
            }
        }
        self.create(new).await?;
        self.update(changed).await
    }

    /// Returns the place beneath its parent as that is now: an administrator may have changed or replaced it.
    fn beneath(&self, place: Place) -> Result<Place, GazetteerError> {
        let mut parent = place.parent_id.and_then(|id| self.present.get(&id));
        while let Some(other) = parent.and_then(|parent| parent.replaced_by) {
            parent = self.present.get(&other);
        }
        match (place.parent_id, parent) {
            (Some(id), Some(parent)) if parent.id != id || parent.source != Source::Geonames => {
                let name = place.name.clone();
                super::named(place, &name, Some(parent))
            }
            _ => Ok(place),
        }
    }

    /// Notes the words of a place, and those that it had before.
    fn gains(&mut self, place: &Place, before: &BTreeSet<PlaceWord>) {
        let words = place.words();
        for lost in before.difference(&words) {
            let [_, losing] = self.words.entry(lost.clone()).or_default();
            losing.insert(place.id);
        }
        for word in words {
            let [gaining, _] = self.words.entry(word).or_default();
            gaining.insert(place.id);
        }
    }

    /// Creates places, parent by parent, so that no two transactions count in the same parent at once.
    async fn create(&mut self, new: BTreeMap<Option<PlaceId>, Vec<Place>>) -> Result<(), GazetteerError> {
        if self.mode == Mode::DryRun {
            let count = new.values().map(|places| places.len() as u64).sum();
            self.loaded.created += count;
            self.advance(count);
            return Ok(());
        }
        let mut families: Vec<(Option<Place>, Vec<Place>)> = new
            .into_iter()
            .map(|(parent, places)| (parent.and_then(|id| self.present.get(&id).cloned()), places))
            .collect();
        families.sort_by_key(|(parent, _)| parent.as_ref().map(|parent| scattered(parent.id)));
        let access = self.access;
        let created = stream::iter(families.into_iter().map(|(parent, places)| async move {
            for batch in places.chunks(MAX_CREATIONS) {
                create(access, parent.as_ref(), batch).await?;
            }
            Ok::<_, GazetteerError>(places.len() as u64)
        }));
        let mut created = created.buffer_unordered(CONCURRENCY);
        while let Some(count) = created.try_next().await? {
            self.loaded.created += count;
            self.done += count;
            (self.advanced)(self.done, self.total);
        }
        Ok(())
    }

    async fn update(&mut self, changed: Vec<(Stored, Place, Place)>) -> Result<(), GazetteerError> {
        for (stored, before, after) in changed {
            if self.mode == Mode::Write {
                let parents = [before.parent_id, after.parent_id].map(|id| id.and_then(|id| self.present.get(&id)));
                update(self.access, &stored, &before, &after, parents).await?;
            }
            self.loaded.updated += 1;
            self.advance(1);
        }
        Ok(())
    }

    async fn write_words(&mut self) -> Result<(), GazetteerError> {
        let words: Vec<(PlaceWord, [BTreeSet<PlaceId>; 2])> = std::mem::take(&mut self.words).into_iter().collect();
        self.total += words.len() as u64;
        let (access, mode) = (self.access, self.mode);
        let weights: BTreeMap<PlaceId, u64> = self.present.values().map(|place| (place.id, place.weight)).collect();
        let weights = &weights;
        let batches = stream::iter(words.chunks(BATCH)).map(|batch| async move {
            Ok::<_, GazetteerError>((batch.len(), words_of(access, mode, batch, weights).await?))
        });
        let mut batches = batches.buffer_unordered(CONCURRENCY);
        while let Some((count, written)) = batches.try_next().await? {
            self.loaded.words += written;
            self.done += count as u64;
            (self.advanced)(self.done, self.total);
        }
        Ok(())
    }

    fn advance(&mut self, count: u64) {
        self.done += count;
        (self.advanced)(self.done, self.total);
    }
}

/// Compares places of the gazetteer with the items of the table.
async fn compare(access: &Access, places: &[Place]) -> Result<Vec<Compared>, GazetteerError> {
    let keys: Vec<Key> = places.iter().filter_map(Place::key).collect();
    let found = access.table(&LOAD, &ARCHIVE).batch_get_consistent(&keys).await?;
    let mut compared = Vec::new();
    for (place, stored) in places.iter().zip(found) {
        // Under another name the place has another key.
        let found = match stored {
            Some(stored) => Some((stored.read::<Place>()?, stored)),
            None => find_consistent(access, &LOAD, place.id).await?.map(|(stored, place)| (place, stored)),
        };
        compared.push(match found {
            None => Compared::Absent,
            Some((present, _)) if present.source != Source::Geonames || present.replaced_by.is_some() => {
                Compared::Kept(present)
            }
            Some((present, stored)) => {
                let wanted = Place {
                    child_count: present.child_count,
                    created_at: present.created_at.clone(),
                    updated_at: present.updated_at.clone(),
                    ..place.clone()
                };
                if wanted == present { Compared::Same(present) } else { Compared::Differs(stored, present) }
            }
        });
    }
    Ok(compared)
}

/// Creates places and counts them in their parent.
async fn create(access: &Access, parent: Option<&Place>, places: &[Place]) -> Result<(), GazetteerError> {
    let mut actions = Vec::new();
    for place in places {
        actions.push(Action::create(&ARCHIVE, key(place)?, place)?);
    }
    if let Some(parent) = parent {
        actions.push(count_children(parent, i64::try_from(places.len()).unwrap_or(i64::MAX))?);
    }
    access.transact(&LOAD, &actions).await?;
    Ok(())
}

async fn update(
    access: &Access,
    stored: &Stored,
    before: &Place,
    after: &Place,
    [old_parent, new_parent]: [Option<&Place>; 2],
) -> Result<(), GazetteerError> {
    let mut actions = Vec::new();
    let key = key(after)?;
    if key == stored.key {
        actions.push(Action::update(&ARCHIVE, key, Changes::between(before, after)?).if_unchanged(stored));
    } else {
        actions.push(Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(stored));
        actions.push(Action::create(&ARCHIVE, key, after)?);
    }
    if before.parent_id != after.parent_id {
        for (parent, change) in [(old_parent, -1), (new_parent, 1)] {
            if let Some(parent) = parent {
                actions.push(count_children(parent, change)?);
            }
        }
    }
    access.transact(&LOAD, &actions).await?;
    Ok(())
}

fn key(place: &Place) -> Result<Key, Error> {
    place.key().ok_or_else(|| Error::Misfit(format!("place {} has no name", place.id)))
}

/// Writes the words of a batch that differ, and returns their number.
async fn words_of(
    access: &Access,
    mode: Mode,
    batch: &[(PlaceWord, [BTreeSet<PlaceId>; 2])],
    weights: &BTreeMap<PlaceId, u64>,
) -> Result<u64, GazetteerError> {
    let keys: Vec<Key> = batch.iter().map(|(word, _)| PlaceWordKey { word: word.clone() }.into()).collect();
    for _ in 0..MAX_ATTEMPTS {
        let stored = access.table(&LOAD, &ARCHIVE).batch_get_consistent(&keys).await?;
        let mut actions = Vec::new();
        for ((word, [gaining, losing]), stored) in batch.iter().zip(stored) {
            let mut item = stored.as_ref().map(Stored::read::<WordItem>).transpose()?.unwrap_or_default();
            item.places.retain(|place| !losing.contains(place));
            item.places.extend(gaining);
            keep_heaviest(&mut item.places, weights);
            actions.extend(item.replacing(word, stored.as_ref())?);
        }
        let count = actions.len() as u64;
        if count == 0 || mode == Mode::DryRun {
            return Ok(count);
        }
        match access.transact(&LOAD, &actions).await {
            Ok(_) => return Ok(count),
            // Another request has changed a word meanwhile.
            Err(Error::ConditionFailed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Conflict.into())
}

/// Keeps as many places as a word may have. Those that are not in the gazetteer are kept first.
fn keep_heaviest(places: &mut BTreeSet<PlaceId>, weights: &BTreeMap<PlaceId, u64>) {
    if places.len() <= MAX_PLACES {
        return;
    }
    let mut ordered: Vec<PlaceId> = places.iter().copied().collect();
    ordered.sort_by_key(|place| std::cmp::Reverse(weights.get(place).copied().unwrap_or(u64::MAX)));
    ordered.truncate(MAX_PLACES);
    *places = ordered.into_iter().collect();
}

/// Returns a number in whose order neighbours are far apart (SplitMix64).
fn scattered(id: PlaceId) -> u64 {
    let mixed = id.number().wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
