//! The table `{system}-mirror`: the config item, markers and checkpoints.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue::{Bool, L, M, N, S};
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use futures::stream::{self, StreamExt, TryStreamExt};
use table::item::{from_item, to_item};
use table::schema::{System, Table};
use table::{Engines, Key};

use super::{condition_held, fault};
use crate::generation::{Generation, Generations, Phase};
use crate::heartbeat::Heartbeat;
use crate::ports::{Checkpoint, Fault, Note, Segment, State};
use crate::quarantine::{Code, Marker, OpenMarker, Subject};
use crate::schema::{CONFIG_PK, CONFIG_SK, audit_pk, marker_pk, scan_pk, segment_sk};

#[derive(Debug)]
pub struct DynamoState<'e> {
    client: &'e Client,
    table: String,
}

type Attributes = HashMap<String, AttributeValue>;

const ENGINE: &str = "dynamodb";

/// The number of items that DynamoDB reads by one request.
const MAX_KEYS: usize = 100;

/// The maximum number of markers on a page. A local engine reads every item that a page may have before it ends the
/// page at 1 MB.
const MAX_MARKERS: i32 = 1000;

/// The number of concurrent requests for markers.
const CONCURRENCY: usize = 8;

impl<'e> DynamoState<'e> {
    pub fn new(engines: &'e Engines, system: &System) -> Self {
        let table = engines.config.table(&crate::schema::state_table_name(system.name));
        Self { client: engines.dynamodb(), table }
    }

    async fn get(&self, pk: &str, sk: &str) -> Result<Option<Attributes>, Fault> {
        let request = self.client.get_item().table_name(&self.table).consistent_read(true);
        let answer = request.set_key(Some(key(pk, sk))).send().await;
        answer.map(|found| found.item).map_err(|error| fault(ENGINE, &error))
    }

    /// Puts an item if the condition holds. Returns whether it did.
    async fn put(&self, item: Attributes, condition: &str, value: AttributeValue) -> Result<bool, Fault> {
        let request = self.client.put_item().table_name(&self.table).set_item(Some(item));
        let request = request.condition_expression(condition).expression_attribute_values(":value", value);
        condition_held(ENGINE, request.send().await)
    }

    /// Puts an item with this epoch if the present one has the preceding epoch. The first epoch is 1. Returns whether it
    /// did.
    async fn put_next(&self, mut item: Attributes, epoch: u64) -> Result<bool, Fault> {
        item.insert("epoch".to_owned(), N(epoch.to_string()));
        let (before, condition) = match epoch.saturating_sub(1) {
            0 => (0, "attribute_not_exists(pk) OR epoch = :value"),
            before => (before, "epoch = :value"),
        };
        self.put(item, condition, N(before.to_string())).await
    }

    /// Returns the physical name of the table.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Saves a heartbeat. One that reported older records is kept for a while, since another shard may still fail.
    pub async fn save_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), Fault> {
        let mut item = to_item(heartbeat).map_err(|error| Fault::lasting(ENGINE, error))?;
        item.extend(key(Heartbeat::PK, &heartbeat.table));
        let request = self.client.put_item().table_name(&self.table).set_item(Some(item));
        let request = request
            .condition_expression("attribute_not_exists(#reason) OR oldest >= :oldest OR #at < :outdated")
            .expression_attribute_names("#reason", "reason")
            .expression_attribute_names("#at", "at")
            .expression_attribute_values(":oldest", N(heartbeat.oldest.to_string()))
            .expression_attribute_values(":outdated", N(heartbeat.outdated().to_string()));
        condition_held(ENGINE, request.send().await).map(drop)
    }

    /// Reads the heartbeats of all tables.
    pub async fn heartbeats(&self) -> Result<Vec<Heartbeat>, Fault> {
        let found = self.query(Heartbeat::PK).send().await.map_err(|error| fault(ENGINE, &error))?;
        let items = found.items.unwrap_or_default().into_iter();
        items.map(from_item).collect::<Result<_, _>>().map_err(|error| Fault::lasting(ENGINE, error))
    }

    fn query_markers(&self, generation: &str) -> QueryFluentBuilder {
        self.query(&marker_pk(generation))
    }

    fn query(&self, pk: &str) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", S(pk.to_owned()))
    }

    /// Reads the marker of a subject, by the subject's name.
    pub async fn marker(&self, generation: &str, subject: &str) -> Result<Option<Marker>, Fault> {
        let found = self.get(&marker_pk(generation), subject).await?;
        found.map(|item| marker(&item).ok_or_else(unreadable)).transpose()
    }

    /// Reads the markers of at most [`MAX_KEYS`] subjects.
    async fn look_up(&self, generation: &str, subjects: &[String]) -> Result<Vec<Attributes>, Fault> {
        let keys = subjects.iter().map(|subject| key(&marker_pk(generation), subject)).collect();
        let asked = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .projection_expression("sk, markedRev, code, #reason, since")
            .expression_attribute_names("#reason", "reason")
            .build()
            .map_err(|error| Fault::lasting(ENGINE, error))?;
        let answer = self.client.batch_get_item().request_items(&self.table, asked).send().await;
        let answer = answer.map_err(|error| fault(ENGINE, &error))?;
        if answer.unprocessed_keys().is_some_and(|left| !left.is_empty()) {
            return Err(Fault::passing(ENGINE, "not all markers could be read at once"));
        }
        Ok(answer.responses.into_iter().flatten().flat_map(|(_, items)| items).collect())
    }
}

impl State for DynamoState<'_> {
    async fn generations(&self) -> Result<Option<Generations>, Fault> {
        self.get(CONFIG_PK, CONFIG_SK).await?.map(|item| read_generations(&item).ok_or_else(unreadable)).transpose()
    }

    async fn publish(&self, generations: &Generations) -> Result<bool, Fault> {
        let written = generations.written.iter().map(described);
        let mut item = key(CONFIG_PK, CONFIG_SK);
        item.insert("alias".to_owned(), S(generations.alias.clone()));
        item.insert("generations".to_owned(), L(written.collect()));
        item.insert("paused".to_owned(), Bool(generations.rebuild_paused));
        item.insert("replaces".to_owned(), Bool(generations.replaces));
        item.insert("dropping".to_owned(), L(generations.dropping.iter().cloned().map(S).collect()));
        item.insert("last".to_owned(), N(generations.last.to_string()));
        self.put_next(item, generations.epoch).await
    }

    async fn mark(&self, generation: &str, marker: &Marker) -> Result<(), Fault> {
        let mut item = key(&marker_pk(generation), &marker.subject.name());
        if let Subject::Item { table, key } = &marker.subject {
            item.insert("table".to_owned(), S(table.clone()));
            item.insert("itemPk".to_owned(), S(key.pk.clone()));
            item.extend(key.sk.iter().map(|sk| ("itemSk".to_owned(), S(sk.clone()))));
        }
        item.insert("markedRev".to_owned(), N(marker.rev.to_string()));
        item.insert("code".to_owned(), S(marker.code.name().to_owned()));
        item.insert("reason".to_owned(), S(marker.reason.clone()));
        item.insert("object".to_owned(), S(marker.object.clone()));
        item.insert("since".to_owned(), N(marker.since.to_string()));
        // A marker with a higher revision is kept.
        let condition = "attribute_not_exists(pk) OR markedRev <= :value";
        self.put(item, condition, N(marker.rev.to_string())).await.map(drop)
    }

    async fn open(&self, generation: &str, subjects: &[String]) -> Result<HashMap<String, OpenMarker>, Fault> {
        // Usually there is no marker at all, which one read shows for all subjects.
        let first = self.query_markers(generation).projection_expression("sk").limit(1).send().await;
        if first.map_err(|error| fault(ENGINE, &error))?.count() == 0 {
            return Ok(HashMap::new());
        }
        let requests: Vec<_> = subjects.chunks(MAX_KEYS).map(|some| self.look_up(generation, some)).collect();
        let markers: Vec<_> = stream::iter(requests).buffered(CONCURRENCY).try_collect().await?;
        let open = markers.iter().flatten().map(|marker| Some((text(marker, "sk")?.to_owned(), open_marker(marker)?)));
        open.collect::<Option<_>>().ok_or_else(unreadable)
    }

    async fn clear(&self, generation: &str, subject: &str, upto: u64) -> Result<(), Fault> {
        let request = self.client.delete_item().table_name(&self.table);
        let request = request
            .set_key(Some(key(&marker_pk(generation), subject)))
            // A marker with a higher revision may have been set concurrently.
            .condition_expression("attribute_not_exists(pk) OR markedRev <= :upto")
            .expression_attribute_values(":upto", N(upto.to_string()));
        condition_held(ENGINE, request.send().await).map(drop)
    }

    async fn clear_seen(&self, generation: &str, subject: &str, seen: OpenMarker) -> Result<bool, Fault> {
        let request = self.client.delete_item().table_name(&self.table);
        let request = request
            .set_key(Some(key(&marker_pk(generation), subject)))
            .condition_expression("attribute_not_exists(pk) OR (markedRev = :rev AND since = :since)")
            .expression_attribute_values(":rev", N(seen.rev.to_string()))
            .expression_attribute_values(":since", N(seen.since.to_string()));
        condition_held(ENGINE, request.send().await)
    }

    async fn checkpoint(&self, generation: &str, table: &'static Table, segment: Segment) -> Result<Checkpoint, Fault> {
        let Some(item) = self.get(&scan_pk(generation), &segment_sk(table, segment)).await? else {
            return Ok(Checkpoint::Start);
        };
        Ok(match text(&item, "afterPk") {
            None => Checkpoint::Done,
            Some(pk) => Checkpoint::After(Key { pk: pk.to_owned(), sk: text(&item, "afterSk").map(str::to_owned) }),
        })
    }

    async fn save(
        &self,
        generation: &str,
        table: &'static Table,
        segment: Segment,
        after: Option<&Key>,
    ) -> Result<(), Fault> {
        let mut item = key(&scan_pk(generation), &segment_sk(table, segment));
        if let Some(after) = after {
            item.insert("afterPk".to_owned(), S(after.pk.clone()));
            item.extend(after.sk.iter().map(|sk| ("afterSk".to_owned(), S(sk.clone()))));
        }
        let answer = self.client.put_item().table_name(&self.table).set_item(Some(item)).send().await;
        answer.map(drop).map_err(|error| fault(ENGINE, &error))
    }

    async fn markers_after(&self, generation: &str, after: Option<&str>) -> Result<Vec<Marker>, Fault> {
        let start = after.map(|after| key(&marker_pk(generation), after));
        let page = self.query_markers(generation).limit(MAX_MARKERS).set_exclusive_start_key(start).send().await;
        let page = page.map_err(|error| fault(ENGINE, &error))?;
        page.items().iter().map(|item| marker(item).ok_or_else(unreadable)).collect()
    }

    async fn note(&self, generation: &str, name: &str) -> Result<Option<Note>, Fault> {
        let Some(item) = self.get(&audit_pk(generation), name).await? else { return Ok(None) };
        let note = number(&item, "epoch").zip(text(&item, "note").map(str::to_owned));
        let (epoch, text) = note.ok_or_else(unreadable)?;
        Ok(Some(Note { epoch, text }))
    }

    async fn write_note(&self, generation: &str, name: &str, note: &Note) -> Result<bool, Fault> {
        let mut item = key(&audit_pk(generation), name);
        item.insert("note".to_owned(), S(note.text.clone()));
        self.put_next(item, note.epoch).await
    }

    async fn forget(&self, generation: &str) -> Result<(), Fault> {
        for pk in [marker_pk(generation), scan_pk(generation), audit_pk(generation)] {
            let query = self.query(&pk).projection_expression("pk, sk").limit(MAX_MARKERS);
            let mut pages = query.into_paginator().send();
            while let Some(page) = pages.try_next().await.map_err(|error| fault(ENGINE, &error))? {
                let deletes = page.items.into_iter().flatten().map(|item| async move {
                    let answer = self.client.delete_item().table_name(&self.table).set_key(Some(item)).send().await;
                    answer.map(drop).map_err(|error| fault(ENGINE, &error))
                });
                stream::iter(deletes.collect::<Vec<_>>()).buffered(CONCURRENCY).try_collect::<()>().await?;
            }
        }
        Ok(())
    }
}

/// Returns the attribute of a generation.
fn described(generation: &Generation) -> AttributeValue {
    M(HashMap::from([
        ("index".to_owned(), S(generation.index.clone())),
        ("mapping".to_owned(), N(generation.mapping.to_string())),
        ("phase".to_owned(), S(generation.phase.name().to_owned())),
    ]))
}

fn key(pk: &str, sk: &str) -> Attributes {
    HashMap::from([("pk".to_owned(), S(pk.to_owned())), ("sk".to_owned(), S(sk.to_owned()))])
}

/// Reads the config item. Returns `None` if it cannot be read.
pub(crate) fn read_generations(item: &Attributes) -> Option<Generations> {
    let written = item.get("generations")?.as_l().ok()?.iter().map(generation);
    let dropping = item.get("dropping").and_then(|dropping| dropping.as_l().ok());
    let dropping = dropping.into_iter().flatten().filter_map(|index| index.as_s().ok().cloned());
    Some(Generations {
        epoch: number(item, "epoch")?,
        alias: text(item, "alias")?.to_owned(),
        written: written.collect::<Option<_>>()?,
        rebuild_paused: matches!(item.get("paused"), Some(Bool(true))),
        replaces: matches!(item.get("replaces"), Some(Bool(true))),
        dropping: dropping.collect(),
        last: number(item, "last").and_then(|last| u32::try_from(last).ok()).unwrap_or_default(),
    })
}

fn generation(described: &AttributeValue) -> Option<Generation> {
    let described = described.as_m().ok()?;
    let phase = text(described, "phase")?;
    Some(Generation {
        index: text(described, "index")?.to_owned(),
        mapping: u32::try_from(number(described, "mapping")?).ok()?,
        phase: Phase::ALL.into_iter().find(|known| known.name() == phase)?,
    })
}

fn open_marker(item: &Attributes) -> Option<OpenMarker> {
    Some(OpenMarker { rev: number(item, "markedRev")?, code: code(item)?, since: since(item)? })
}

fn marker(item: &Attributes) -> Option<Marker> {
    let subject = match (text(item, "table"), text(item, "itemPk")) {
        (Some(table), Some(pk)) => {
            let sk = text(item, "itemSk").map(str::to_owned);
            Subject::Item { table: table.to_owned(), key: Key { pk: pk.to_owned(), sk } }
        }
        _ => Subject::Record(text(item, "sk")?.to_owned()),
    };
    Some(Marker {
        subject,
        rev: number(item, "markedRev")?,
        code: code(item)?,
        reason: text(item, "reason")?.to_owned(),
        object: text(item, "object")?.to_owned(),
        since: since(item)?,
    })
}

/// Reads the code of a marker. A later release may have written one that this release does not know.
fn code(item: &Attributes) -> Option<Code> {
    // Earlier releases had no code of its own for an item without room for a revision.
    let is_unstampable = text(item, "reason")?.starts_with("no revision can be set");
    Some(match Code::of_name(text(item, "code")?).unwrap_or(Code::Unfit) {
        Code::Unfit if is_unstampable => Code::Unstampable,
        code => code,
    })
}

fn since(item: &Attributes) -> Option<i64> {
    item.get("since")?.as_n().ok()?.parse().ok()
}

fn text<'a>(item: &'a Attributes, name: &str) -> Option<&'a str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

fn number(item: &Attributes, name: &str) -> Option<u64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

fn unreadable() -> Fault {
    Fault::lasting(ENGINE, "an item of the mirror's state table cannot be read: it was not written by the mirror")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_of_another_release_is_read() {
        for (code, reason, expected) in [
            ("of-a-later-release", "a", Code::Unfit),
            ("unfit", "a", Code::Unfit),
            ("unfit", "no revision can be set: the item is too large", Code::Unstampable),
        ] {
            let texts = [("sk", "a"), ("code", code), ("reason", reason), ("object", "a")];
            let texts = texts.map(|(name, text)| (name.to_owned(), S(text.to_owned())));
            let numbers = ["markedRev", "since"].map(|name| (name.to_owned(), N("2".to_owned())));
            let item: Attributes = texts.into_iter().chain(numbers).collect();
            assert_eq!(marker(&item).map(|marker| marker.code), Some(expected));
            assert_eq!(open_marker(&item).map(|marker| marker.code), Some(expected));
        }
    }
}
