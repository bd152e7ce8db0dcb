//! The ports of the simulated world.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use table::schema::Table;
use table::{Key, Rev};

use super::reached::Rule;
use super::search::Disturbance;
use super::toy::Areas;
use super::world::{Call, Fate, Kind, Shared, World};
use crate::generation::Generations;
use crate::item::Item;
use crate::lines::{REQUIRE_ALIAS, Tombstone};
use crate::ports::{
    Checkpoint, DocumentPage, Failures, Fault, GivenUp, Index, Items, Note, Page, Ports, Quarantine, Reply, Segment,
    State, StoredDocument, Time,
};
use crate::quarantine::{Marker, OpenMarker};
use crate::schema::segment_sk;
use crate::settle::{repair, settle};

/// The number of markers on a page.
const MARKERS: usize = 250;

/// All engines and the clock as one value. Shapes are areas.
pub(crate) trait Together: Index + Items + State + Quarantine + Time {}

impl Together for Shared {}

impl<T: Together> Ports for T {
    type Index = Self;
    type Items = Self;
    type State = Self;
    type Quarantine = Self;
    type Shapes = Areas;
    type Time = Self;

    fn index(&self) -> &Self {
        self
    }

    fn items(&self) -> &Self {
        self
    }

    fn state(&self) -> &Self {
        self
    }

    fn quarantine(&self) -> &Self {
        self
    }

    fn shapes(&self) -> &Areas {
        &Areas
    }

    fn time(&self) -> &Self {
        self
    }
}

impl Index for Shared {
    async fn tombstones(&self, alias: &str, before: i64, limit: usize) -> Result<Vec<Tombstone>, Fault> {
        let alias = alias.to_owned();
        self.ask(Call::Tombstones, move |world, _| Ok(world.search.tombstones(&alias, before, limit, world.now))).await
    }

    async fn bulk(&self, alias: &str, lines: &str) -> Result<Reply, Fault> {
        let call = if lines.starts_with(REQUIRE_ALIAS) { Call::DeleteTombstones } else { Call::Bulk };
        self.send(call, alias, lines).await
    }

    async fn versions(&self, alias: &str, ids: &[&str]) -> Result<Vec<Option<u64>>, Fault> {
        let (alias, ids) = (alias.to_owned(), ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        let polled = self.polled();
        self.ask(Call::Versions, move |world, _| {
            let versions = world.search.versions(&alias, &ids);
            for (id, version) in ids.iter().zip(&versions) {
                world.reached.version_read(polled, id, *version);
            }
            Ok(versions)
        })
        .await
    }

    async fn create(&self, index: &str, body: &str) -> Result<bool, Fault> {
        let (index, body) = (index.to_owned(), body.to_owned());
        self.ask(Call::CreateIndex, move |world, _| Ok(world.search.create(&index, &body))).await
    }

    /// No schedule carries it out: it words an error, or lets an operator's order begin again.
    async fn exists(&self, index: &str) -> Result<bool, Fault> {
        Ok(self.world().search.exists(index))
    }

    async fn refresh(&self, index: &str) -> Result<(), Fault> {
        let index = index.to_owned();
        self.ask(Call::Refresh, move |world, _| world.search.refresh(&index).then_some(()).ok_or_else(missing)).await
    }

    async fn serve(&self, alias: &str, index: &str) -> Result<(), Fault> {
        let (alias, index) = (alias.to_owned(), index.to_owned());
        self.ask(Call::Serve, move |world, _| world.search.swap(&alias, &index).then_some(()).ok_or_else(missing)).await
    }

    async fn documents(&self, alias: &str, after: Option<&str>, limit: usize) -> Result<DocumentPage, Fault> {
        let (alias, after) = (alias.to_owned(), after.map(str::to_owned));
        self.ask(Call::Documents, move |world, _| {
            let mut documents = world.search.all(&alias, after.as_deref(), world.now);
            let next = documents.get(limit.saturating_sub(1)).map(|last| last.id.clone());
            documents.truncate(limit);
            Ok(DocumentPage { documents, next })
        })
        .await
    }

    async fn read_documents(&self, alias: &str, ids: &[&str]) -> Result<Vec<Option<StoredDocument>>, Fault> {
        let (alias, ids) = (alias.to_owned(), ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        self.ask(Call::ReadDocuments, move |world, _| Ok(world.search.read(&alias, &ids))).await
    }

    async fn swap(&self, alias: &str, index: &str) -> Result<(), Fault> {
        let (alias, index) = (alias.to_owned(), index.to_owned());
        self.ask(Call::Swap, move |world, _| world.search.swap(&alias, &index).then_some(()).ok_or_else(missing)).await
    }

    async fn delete(&self, alias: &str, serving: &str, index: &str) -> Result<(), Fault> {
        let (alias, serving, index) = (alias.to_owned(), serving.to_owned(), index.to_owned());
        self.ask(Call::DeleteIndex, move |world, _| {
            if !world.search.swap(&alias, &serving) && world.search.exists(&index) {
                return Err(missing());
            }
            world.search.remove(&index);
            Ok(())
        })
        .await
    }
}

fn missing() -> Fault {
    Fault::lasting("simulated", "no such index")
}

impl Shared {
    /// Sends a bulk request.
    async fn send(&self, call: Call, alias: &str, lines: &str) -> Result<Reply, Fault> {
        let (alias, lines) = (alias.to_owned(), lines.to_owned());
        self.ask(call, move |world, fate| {
            let disturbance = std::mem::take(&mut world.disturbance);
            let is_too_large = world.largest_bulk.is_some_and(|largest| lines.len() > largest);
            let fate = if is_too_large { Fate::Refused(413) } else { fate };
            let (status, mut body) = match fate {
                Fate::Refused(status) => {
                    world.refused_whole |= matches!(status, 400 | 413);
                    (status, Value::Null)
                }
                Fate::HalfApplied => world.search.bulk(&alias, &lines, &disturbance, world.now),
                _ => {
                    let disturbance = Disturbance { unapplied: BTreeSet::new(), ..disturbance };
                    world.search.bulk(&alias, &lines, &disturbance, world.now)
                }
            };
            world.reached.count_answers(status, &body);
            if fate == Fate::HalfApplied {
                world.reached.count("answer", "half applied");
            }
            if fate == Fate::Short {
                world.reached.count("answer", "too few");
                body["items"].as_array_mut().map(Vec::pop);
            }
            Ok(Reply { status, body: body.to_string().into() })
        })
        .await
    }
}

impl World {
    fn reached_item(&mut self, invocation: usize, key: &Key) {
        let is_repair = self.repairing.contains(&invocation);
        let rule: Rule = if is_repair { ("repair", repair) } else { ("settle", settle) };
        self.reached.item_read(invocation, key.document_id(), self.table.get(key), rule);
    }
}

impl Items for Shared {
    async fn read(&self, _: &'static Table, key: &Key) -> Result<Option<Item>, Fault> {
        let (key, polled) = (key.clone(), self.polled());
        self.ask(Call::ReadItem, move |world, _| {
            world.items_read += 1;
            world.reached_item(polled, &key);
            Ok(world.table.get(&key).map(|item| Item::new(json!(item).to_string())))
        })
        .await
    }

    async fn stamp(&self, _: &'static Table, key: &Key, seen: Option<&str>, rev: Rev) -> Result<bool, Fault> {
        let key = key.clone();
        let seen: Option<Value> = seen.map(|seen| serde_json::from_str(seen).unwrap());
        self.ask(Call::Stamp, move |world, _| {
            if world.full.contains(&key) {
                return Err(Fault::poison("simulated", "Item size to update has exceeded the maximum allowed size"));
            }
            let item = world.table.get(&key).cloned();
            let still = item.as_ref().is_some_and(|item| item.get("rev") == seen.as_ref());
            if !still {
                return Ok(false);
            }
            if item.is_none() {
                world.forbidden_write = Some(format!("the mirror created {key:?}"));
            }
            let mut stamped = item.unwrap_or_default();
            stamped.insert("rev".to_owned(), json!({"N": rev.to_string()}));
            world.put(&key, Some(stamped));
            Ok(true)
        })
        .await
    }

    async fn scan(&self, _: &'static Table, segment: Segment, after: Option<&Key>) -> Result<Page, Fault> {
        let after = after.cloned();
        self.ask(Call::Scan, move |world, _| {
            let of_segment = |key: &Key| key.pk.len() % segment.of as usize == segment.number as usize;
            let left = world.table.iter().filter(|(key, _)| of_segment(key) && Some(*key) > after.as_ref());
            let page: Vec<_> = left.take(world.scan_page.unwrap_or(1)).collect();
            let items = page.iter().map(|(_, item)| Item::new(json!(item).to_string())).collect();
            Ok(Page { items, next: page.last().map(|(key, _)| (*key).clone()) })
        })
        .await
    }
}

impl State for Shared {
    async fn generations(&self) -> Result<Option<Generations>, Fault> {
        self.ask(Call::ReadConfig, |world, _| Ok(world.generations.clone())).await
    }

    async fn publish(&self, generations: &Generations) -> Result<bool, Fault> {
        let generations = generations.clone();
        self.ask(Call::Publish, move |world, _| {
            let before = world.generations.as_ref().map_or(0, |present| present.epoch);
            let next = before + 1 == generations.epoch;
            if next {
                world.generations = Some(generations);
            }
            Ok(next)
        })
        .await
    }

    async fn mark(&self, generation: &str, marker: &Marker) -> Result<(), Fault> {
        let (subject, marker) = ((generation.to_owned(), marker.subject.name()), marker.clone());
        self.ask(Call::Mark, move |world, _| {
            if world.markers.get(&subject).is_none_or(|open| open.rev <= marker.rev) {
                world.markers.insert(subject, marker);
            }
            Ok(())
        })
        .await
    }

    async fn open(&self, generation: &str, subjects: &[String]) -> Result<HashMap<String, OpenMarker>, Fault> {
        let subjects: Vec<_> = subjects.iter().map(|subject| (generation.to_owned(), subject.clone())).collect();
        self.ask(Call::OpenMarkers, move |world, _| {
            world.markers_read += subjects.len();
            let open = |subject: (String, String)| Some((subject.1.clone(), world.markers.get(&subject)?.as_open()));
            Ok(subjects.into_iter().filter_map(open).collect())
        })
        .await
    }

    async fn clear(&self, generation: &str, subject: &str, upto: u64) -> Result<(), Fault> {
        let subject = (generation.to_owned(), subject.to_owned());
        self.ask(Call::ClearMarker, move |world, _| {
            if world.markers.get(&subject).is_some_and(|open| open.rev <= upto) {
                world.markers.remove(&subject);
            }
            Ok(())
        })
        .await
    }

    async fn clear_seen(&self, generation: &str, subject: &str, seen: OpenMarker) -> Result<bool, Fault> {
        let subject = (generation.to_owned(), subject.to_owned());
        self.ask(Call::ClearMarker, move |world, _| {
            let clears = world.markers.get(&subject).is_none_or(|open| open.as_open() == seen);
            if clears {
                world.markers.remove(&subject);
            }
            Ok(clears)
        })
        .await
    }

    async fn checkpoint(&self, generation: &str, table: &'static Table, segment: Segment) -> Result<Checkpoint, Fault> {
        let name = (generation.to_owned(), segment_sk(table, segment));
        self.ask(Call::ReadCheckpoint, move |world, _| {
            Ok(match world.checkpoints.get(&name) {
                None => Checkpoint::Start,
                Some(Some(after)) => Checkpoint::After(after.clone()),
                Some(None) => Checkpoint::Done,
            })
        })
        .await
    }

    async fn save(
        &self,
        generation: &str,
        table: &'static Table,
        segment: Segment,
        after: Option<&Key>,
    ) -> Result<(), Fault> {
        let (name, after) = ((generation.to_owned(), segment_sk(table, segment)), after.cloned());
        self.ask(Call::SaveCheckpoint, move |world, _| {
            world.checkpoints.insert(name, after);
            Ok(())
        })
        .await
    }

    async fn note(&self, generation: &str, name: &str) -> Result<Option<Note>, Fault> {
        let name = (generation.to_owned(), name.to_owned());
        self.ask(Call::ReadNote, move |world, _| Ok(world.notes.get(&name).cloned())).await
    }

    async fn write_note(&self, generation: &str, name: &str, note: &Note) -> Result<bool, Fault> {
        let (name, note) = ((generation.to_owned(), name.to_owned()), note.clone());
        self.ask(Call::WriteNote, move |world, _| {
            let follows = world.notes.get(&name).map_or(0, |present| present.epoch) + 1 == note.epoch;
            if follows {
                world.notes.insert(name, note);
            }
            Ok(follows)
        })
        .await
    }

    async fn forget(&self, generation: &str) -> Result<(), Fault> {
        let generation = generation.to_owned();
        self.ask(Call::Forget, move |world, _| {
            world.markers.retain(|(of, _), _| *of != generation);
            world.checkpoints.retain(|(of, _), _| *of != generation);
            world.notes.retain(|(of, _), _| *of != generation);
            Ok(())
        })
        .await
    }

    async fn markers_after(&self, generation: &str, after: Option<&str>) -> Result<Vec<Marker>, Fault> {
        let (generation, after) = (generation.to_owned(), after.unwrap_or_default().to_owned());
        self.ask(Call::MarkersAfter, move |world, _| {
            let of_generation = world.markers.iter().filter(|((of, _), _)| *of == generation);
            let rest = of_generation.filter(|((_, subject), _)| *subject > after);
            Ok(rest.map(|(_, marker)| marker.clone()).take(MARKERS).collect())
        })
        .await
    }
}

impl Quarantine for Shared {
    async fn keep(&self, name: &str, body: String) -> Result<(), Fault> {
        let name = name.to_owned();
        {
            let mut world = self.world();
            let waiting = world.requests.iter().filter(|request| request.kind == Kind::Write).count() + 1;
            world.writes_at_once = world.writes_at_once.max(waiting);
        }
        self.ask(Call::Keep, move |world, _| {
            world.kept.insert(name, body);
            Ok(())
        })
        .await
    }
}

impl Failures for Shared {
    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<GivenUp>, Fault> {
        let after = after.unwrap_or_default().to_owned();
        self.ask(Call::ListFailures, move |world, _| {
            let rest = world.failures.iter().filter(|(name, _)| **name > after);
            Ok(rest.map(|(name, (since, _))| GivenUp { name: name.clone(), since: *since }).take(limit).collect())
        })
        .await
    }

    async fn read(&self, name: &str) -> Result<Option<Bytes>, Fault> {
        let name = name.to_owned();
        self.ask(Call::ReadFailure, move |world, _| Ok(world.failures.get(&name).map(|(_, body)| body.clone().into())))
            .await
    }

    async fn delete(&self, name: &str) -> Result<(), Fault> {
        let name = name.to_owned();
        self.ask(Call::DeleteFailure, move |world, _| {
            world.failures.remove(&name);
            Ok(())
        })
        .await
    }
}

impl Time for Shared {
    fn micros(&self) -> i64 {
        self.world().clock()
    }

    async fn pause(&self, up_to: Duration) {
        let passes = move |world: &mut World, _| {
            if world.pauses_take_time {
                world.now += i64::try_from(up_to.as_micros()).unwrap();
            }
            Ok(())
        };
        let _ = self.ask(Call::Pause, passes).await;
    }

    async fn wait(&self, duration: Duration) {
        let passes = move |world: &mut World, _| {
            world.now += i64::try_from(duration.as_micros()).unwrap();
            Ok(())
        };
        let _ = self.ask(Call::Wait, passes).await;
    }

    async fn expired(&self) {
        let _ = self.ask(Call::Expired, |_, _| Ok(())).await;
    }
}
