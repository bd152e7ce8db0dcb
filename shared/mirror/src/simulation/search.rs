//! The simulated OpenSearch: bulk requests with external versions, strict mappings, aliases, the versions of deletes,
//! which it forgets, and searches, which find a write only after a refresh.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::lines::Tombstone;
use crate::ports::StoredDocument;

/// A node with its indexes.
#[derive(Debug, Default)]
pub(crate) struct Search {
    indexes: BTreeMap<String, Index>,
    /// The index of each readers' alias.
    readers: BTreeMap<String, String>,
    /// A document whose version has decreased, or another fault of a bulk request.
    pub(crate) broken: Option<String>,
}

#[derive(Debug, Default)]
struct Index {
    write_alias: String,
    properties: Value,
    documents: BTreeMap<String, Document>,
    /// The versions of deleted documents, until the node forgets them.
    deleted: BTreeMap<String, u64>,
    /// The highest version that each document ever had, for the invariants only.
    highest: BTreeMap<String, u64>,
    /// The number of writes, and the number of the write that created each document.
    writes: u64,
    sequences: BTreeMap<String, u64>,
    /// What searches find: the documents at the last refresh, with the numbers of the writes that created them.
    searched: BTreeMap<String, (Document, u64)>,
    /// When the first write since the last refresh was made, in microseconds.
    unsearched_since: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) version: u64,
    pub(crate) source: Value,
}

/// There is one node, so its shards' primaries never change.
const TERM: u64 = 1;

/// The time after which a search finds a write without a refresh, in microseconds.
const REFRESH_INTERVAL: i64 = 1_000_000;

impl Search {
    pub(crate) fn create(&mut self, name: &str, body: &str) -> bool {
        if self.indexes.contains_key(name) {
            return false;
        }
        let body: Value = serde_json::from_str(body).unwrap();
        let write_alias = body["aliases"].as_object().unwrap().keys().next().unwrap().clone();
        let properties = body["mappings"]["properties"].clone();
        self.indexes.insert(name.to_owned(), Index { write_alias, properties, ..Index::default() });
        true
    }

    /// Lets a readers' alias name this index. Returns false if the index does not exist.
    pub(crate) fn swap(&mut self, alias: &str, index: &str) -> bool {
        let exists = self.indexes.contains_key(index);
        if exists {
            self.readers.insert(alias.to_owned(), index.to_owned());
        }
        exists
    }

    pub(crate) fn exists(&self, index: &str) -> bool {
        self.indexes.contains_key(index)
    }

    pub(crate) fn remove(&mut self, index: &str) {
        self.indexes.remove(index);
    }

    /// Returns the documents that a reader finds through an alias after a refresh.
    pub(crate) fn visible(&self, alias: &str) -> BTreeMap<String, Document> {
        let index = self.readers.get(alias).and_then(|index| self.indexes.get(index));
        let documents = index.into_iter().flat_map(|index| index.documents.clone());
        documents.filter(|(_, document)| !document.is_tombstone()).collect()
    }

    /// Returns the ids of the documents that a reader finds through an alias now.
    pub(crate) fn found(&mut self, alias: &str, now: i64) -> Vec<String> {
        let index = self.readers.get(alias).and_then(|index| self.indexes.get_mut(index));
        let found = index.into_iter().flat_map(|index| index.search(now));
        found.filter(|(_, (document, _))| !document.is_tombstone()).map(|(id, _)| id.clone()).collect()
    }

    /// Lets searches find all that was written to an index. Returns false if the index does not exist.
    pub(crate) fn refresh(&mut self, index: &str) -> bool {
        self.indexes.get_mut(index).map(Index::refresh).is_some()
    }

    /// Returns the documents of an index except its tombstones.
    pub(crate) fn visible_in(&self, index: &str) -> BTreeMap<String, &Document> {
        let documents = self.indexes.get(index).into_iter().flat_map(|index| &index.documents);
        let visible = documents.filter(|(_, document)| !document.is_tombstone());
        visible.map(|(id, document)| (id.clone(), document)).collect()
    }

    /// Returns the documents and tombstones of an index.
    pub(crate) fn documents_of(&self, index: &str) -> BTreeMap<String, Document> {
        self.indexes[index].documents.clone()
    }

    /// Returns a document of an index.
    pub(crate) fn document(&self, index: &str, id: &str) -> Option<Document> {
        self.indexes.get(index)?.documents.get(id).cloned()
    }

    /// Replaces or removes a document of an index without a version check, as no write of the mirror does.
    pub(crate) fn set(&mut self, index: &str, id: &str, document: Option<Document>) {
        let index = self.indexes.get_mut(index).unwrap();
        match document {
            Some(document) => {
                index.sequences.insert(id.to_owned(), index.writes);
                index.writes += 1;
                index.documents.insert(id.to_owned(), document)
            }
            None => index.documents.remove(id),
        };
        index.refresh();
    }

    /// Forgets the versions of deletes, as after a restart or after a minute.
    pub(crate) fn forget(&mut self) {
        self.indexes.values_mut().for_each(|index| index.deleted.clear());
    }

    pub(crate) fn versions(&self, alias: &str, ids: &[String]) -> Vec<Option<u64>> {
        let index = self.indexes.values().find(|index| index.write_alias == alias);
        ids.iter().map(|id| Some(index?.documents.get(id)?.version)).collect()
    }

    pub(crate) fn documents(&self, index: &str) -> &BTreeMap<String, Document> {
        &self.indexes[index].documents
    }

    /// Returns these documents as they are now, without a refresh.
    pub(crate) fn read(&self, alias: &str, ids: &[String]) -> Vec<Option<StoredDocument>> {
        let index = self.indexes.values().find(|index| index.write_alias == alias);
        ids.iter().map(|id| Some(index?.documents.get(id)?.stored(id))).collect()
    }

    /// Finds all documents and tombstones after this id.
    pub(crate) fn all(&mut self, alias: &str, after: Option<&str>, now: i64) -> Vec<StoredDocument> {
        let index = self.indexes.values_mut().find(|index| index.write_alias == alias);
        let found = index.into_iter().flat_map(|index| index.search(now));
        let after = found.filter(|(id, _)| Some(id.as_str()) > after);
        after.map(|(id, (document, _))| document.stored(id)).collect()
    }

    pub(crate) fn has_tombstones(&self) -> bool {
        self.indexes.values().any(|index| index.documents.values().any(Document::is_tombstone))
    }

    /// Finds the tombstones that were written before this time.
    pub(crate) fn tombstones(&mut self, alias: &str, before: i64, limit: usize, now: i64) -> Vec<Tombstone> {
        let index = self.indexes.values_mut().find(|index| index.write_alias == alias);
        let found = index.into_iter().flat_map(|index| index.search(now));
        let old = found.filter(|(_, (document, _))| {
            let written = document.source["deletedAt"].as_i64();
            document.is_tombstone() && written.is_some_and(|written| written < before)
        });
        let tombstones = old.map(|(id, (_, sequence))| Tombstone { id: id.clone(), sequence: *sequence, term: TERM });
        tombstones.take(limit).collect()
    }

    /// Carries out a bulk request.
    pub(crate) fn bulk(&mut self, alias: &str, lines: &str, disturbance: &Disturbance, now: i64) -> (u16, Value) {
        let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut operations = Vec::new();
        while let Some(action) = lines.next() {
            let (kind, meta) = action.as_object().unwrap().iter().next().unwrap();
            if kind == "index" && !meta["version"].is_u64() {
                return (400, error("action_request_validation_exception", "illegal version value"));
            }
            let source = if kind == "delete" { None } else { Some(lines.next().unwrap()) };
            if operations.iter().any(|(_, other, _): &(String, Value, _)| other["_id"] == meta["_id"]) {
                self.broken.get_or_insert_with(|| format!("two operations of a request are on {}", meta["_id"]));
            }
            operations.push((kind.clone(), meta.clone(), source));
        }
        let index = self.indexes.iter_mut().find(|(_, index)| index.write_alias == alias);
        let Some((name, index)) = index else {
            let missing = json!({"index": {"status": 404, "error": error("index_not_found_exception", "no such index")["error"]}});
            return (200, json!({"items": operations.iter().map(|_| missing.clone()).collect::<Vec<_>>()}));
        };
        index.unsearched_since.get_or_insert(now);
        let ids: Vec<Value> = operations.iter().map(|(_, meta, _)| meta["_id"].clone()).collect();
        let carry = |(place, (kind, meta, source)): (usize, (String, Value, Option<Value>))| {
            let answer = match index.operate(place, &kind, &meta, source, disturbance) {
                Ok(status) => json!({"status": status}),
                Err((status, kind, reason)) => json!({"status": status, "error": error(kind, &reason)["error"]}),
            };
            json!({"index": answer})
        };
        // The operations of one request are carried out in any order.
        let operations = operations.into_iter().enumerate();
        let items: Vec<Value> = if disturbance.reversed {
            let mut items: Vec<_> = operations.rev().map(carry).collect();
            items.reverse();
            items
        } else {
            operations.map(carry).collect()
        };
        for id in ids.iter().filter_map(Value::as_str) {
            let Some(document) = index.documents.get(id) else { continue };
            let highest = index.highest.entry(id.to_owned()).or_default();
            if *highest > document.version {
                self.broken.get_or_insert_with(|| format!("{id} in {name} decreased to version {}", document.version));
            }
            *highest = document.version.max(*highest);
        }
        (200, json!({ "items": items }))
    }

    /// Returns the index of a readers' alias.
    pub(crate) fn reader(&self, alias: &str) -> Option<&str> {
        self.readers.get(alias).map(String::as_str)
    }
}

/// The faults of one bulk request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disturbance {
    /// The statuses of operations that are refused, by their positions.
    pub(crate) refused: BTreeMap<usize, u16>,
    /// The positions of operations that are not carried out, although the request may be.
    pub(crate) unapplied: BTreeSet<usize>,
    /// Whether the last operation is carried out first.
    pub(crate) reversed: bool,
}

impl Document {
    fn is_tombstone(&self) -> bool {
        self.source["deleted"] == json!(true)
    }

    fn stored(&self, id: &str) -> StoredDocument {
        StoredDocument { id: id.to_owned(), version: self.version, source: self.source.to_string() }
    }
}

type Refusal = (u16, &'static str, String);

fn conflict(id: &str, reason: String) -> Refusal {
    (409, "version_conflict_engine_exception", format!("[{id}]: version conflict, {reason}"))
}

impl Index {
    fn refresh(&mut self) {
        let searched = self.documents.iter().map(|(id, document)| (id.clone(), (document.clone(), self.sequences[id])));
        self.searched = searched.collect();
        self.unsearched_since = None;
    }

    /// Returns what a search finds.
    fn search(&mut self, now: i64) -> &BTreeMap<String, (Document, u64)> {
        if self.unsearched_since.is_some_and(|since| now >= since + REFRESH_INTERVAL) {
            self.refresh();
        }
        &self.searched
    }

    fn operate(
        &mut self,
        place: usize,
        kind: &str,
        meta: &Value,
        source: Option<Value>,
        disturbance: &Disturbance,
    ) -> Result<u16, Refusal> {
        if disturbance.unapplied.contains(&place) {
            return Err((503, "unavailable_shards_exception", "the operation was lost".to_owned()));
        }
        match (disturbance.refused.get(&place), kind, source) {
            (Some(status), ..) => Err((*status, "rejected_execution_exception", "refused".to_owned())),
            (None, "update", _) => Err((404, "document_missing_exception", "document missing".to_owned())),
            (None, _, Some(source)) => self.write(meta, source),
            (None, _, None) => self.delete(meta),
        }
    }

    fn write(&mut self, meta: &Value, source: Value) -> Result<u16, Refusal> {
        self.fits(&source)?;
        let version = self.allows(meta)?;
        let id = meta["_id"].as_str().unwrap().to_owned();
        self.deleted.remove(&id);
        self.sequences.insert(id.clone(), self.writes);
        self.writes += 1;
        let before = self.documents.insert(id, Document { version, source });
        Ok(if before.is_some() { 200 } else { 201 })
    }

    /// Deletes a document. After a sweep its versions may start again. No other delete should occur.
    fn delete(&mut self, meta: &Value) -> Result<u16, Refusal> {
        let id = meta["_id"].as_str().unwrap();
        let version = match meta["if_seq_no"].as_u64() {
            Some(_) => self.found(meta)? + 1,
            None => self.allows(meta)?,
        };
        self.writes += 1;
        self.deleted.insert(id.to_owned(), version);
        if meta["version_type"] == "external" {
            self.highest.insert(id.to_owned(), version.max(self.highest.get(id).copied().unwrap_or_default()));
        } else {
            self.highest.remove(id);
        }
        Ok(if self.documents.remove(id).is_some() { 200 } else { 404 })
    }

    /// Returns the version of a write, if the version check allows it.
    fn allows(&self, meta: &Value) -> Result<u64, Refusal> {
        let (id, version) = (meta["_id"].as_str().unwrap(), meta["version"].as_u64().unwrap());
        let present = self.documents.get(id).map(|document| document.version).or(self.deleted.get(id).copied());
        let allowed = match meta["version_type"].as_str().unwrap() {
            "external" => present.is_none_or(|present| version > present),
            "external_gte" => present.is_none_or(|present| version >= present),
            other => panic!("the mirror never uses {other}"),
        };
        let higher = || conflict(id, format!("current version [{present:?}] is higher or equal"));
        if allowed { Ok(version) } else { Err(higher()) }
    }

    /// Returns the version of the document, if it was created by the write that the operation names.
    fn found(&self, meta: &Value) -> Result<u64, Refusal> {
        let id = meta["_id"].as_str().unwrap();
        let document = self.documents.get(id).filter(|_| {
            meta["if_seq_no"].as_u64() == self.sequences.get(id).copied() && meta["if_primary_term"] == json!(TERM)
        });
        let other = || conflict(id, format!("required seqNo [{}]", meta["if_seq_no"]));
        document.map(|document| document.version).ok_or_else(other)
    }

    /// Checks the document against the mapping.
    fn fits(&self, source: &Value) -> Result<(), Refusal> {
        for (field, value) in source.as_object().unwrap() {
            let kind = self.properties[field]["type"].as_str().unwrap_or_default();
            let taken = match kind {
                "" => {
                    let reason = format!("mapping set to strict, dynamic introduction of [{field}] is not allowed");
                    return Err((400, "strict_dynamic_mapping_exception", reason));
                }
                "integer" => value.as_i64().is_some_and(|value| i32::try_from(value).is_ok()),
                "long" | "date" => value.is_i64(),
                "boolean" => value.is_boolean(),
                "geo_shape" => value["type"].as_str().is_some_and(|text| !text.contains('x')),
                _ => !value.is_object(),
            };
            if !taken {
                let reason = format!("failed to parse field [{field}] of type [{kind}]");
                return Err((400, "mapper_parsing_exception", reason));
            }
        }
        Ok(())
    }
}

fn error(kind: &str, reason: &str) -> Value {
    json!({"error": {"type": kind, "reason": reason}})
}
