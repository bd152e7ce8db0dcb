//! Ports that give recorded answers. A call without an answer waits for ever, and the explorer sees it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use table::schema::Table;
use table::{Key, Rev};

use super::calls::{ALIAS, Answer, Call, Checkpoint as At, Config, number_of_index, operations};
use super::failures;
use super::leaf::{key, number_of_id, number_of_key, number_of_subject, subject};
use crate::generation::Generations;
use crate::item::Item;
use crate::lines::Tombstone;
use crate::ports::{
    Checkpoint, DocumentPage, Failures, Fault, GivenUp, Index, Items, Note, Page, Quarantine, Reply, Segment, State,
    StoredDocument, Time,
};
use crate::quarantine::{Code, Marker, OpenMarker, Subject};
use crate::simulation::ports::Together;
use crate::simulation::toy::TREES;

/// The ports of one invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
pub(super) struct Script {
    /// The invocation's clock in microseconds.
    pub(super) now: i64,
    pub(super) calls: Vec<Made>,
}

/// A call that the invocation made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) call: Call,
    answer: Option<Answer>,
    /// Wakes the part of the invocation that waits for the answer.
    waker: Option<Waker>,
    /// Whether the invocation does not wait for its answer any more.
    pub(super) ended: bool,
}

/// The future of one call.
struct Waiting {
    script: Recorded,
    place: usize,
}

impl Recorded {
    pub(super) fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    /// Answers a call.
    pub(super) fn answer(&self, call: usize, answer: Answer) {
        let waker = {
            let made = &mut self.script().calls[call];
            made.answer = Some(answer);
            made.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn ask(&self, call: Call) -> Answer {
        let place = {
            let calls = &mut self.script().calls;
            calls.push(Made { call, answer: None, waker: None, ended: false });
            calls.len() - 1
        };
        Waiting { script: self.clone(), place }.await
    }

    async fn done(&self, call: Call) -> Result<(), Fault> {
        match self.ask(call).await {
            Answer::Failed => Err(failed()),
            _ => Ok(()),
        }
    }
}

impl Future for Waiting {
    type Output = Answer;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let made = &mut self.script.script().calls[self.place];
        match made.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                made.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.script.script().calls[self.place].ended = true;
    }
}

fn failed() -> Fault {
    Fault::passing("explored", "the request failed")
}

impl Together for Recorded {}

impl Index for Recorded {
    async fn bulk(&self, alias: &str, lines: &str) -> Result<Reply, Fault> {
        let call = Call::Bulk { generation: number_of_index(alias), operations: operations(lines) };
        let (status, body) = match self.ask(call).await {
            Answer::Statuses(statuses) => (200, bulk_body(&statuses)),
            Answer::Whole(status) => (status, String::new()),
            _ => return Err(failed()),
        };
        Ok(Reply { status, body: body.into() })
    }

    async fn tombstones(&self, alias: &str, before: i64, _: usize) -> Result<Vec<Tombstone>, Fault> {
        match self.ask(Call::Tombstones { generation: number_of_index(alias), before }).await {
            Answer::Tombstones(found) => {
                let found = found.into_iter();
                Ok(found
                    .map(|(number, sequence)| Tombstone { id: key(number).document_id(), sequence, term: 1 })
                    .collect())
            }
            _ => Err(failed()),
        }
    }

    async fn versions(&self, alias: &str, ids: &[&str]) -> Result<Vec<Option<u64>>, Fault> {
        let keys = ids.iter().map(|id| number_of_id(id)).collect();
        match self.ask(Call::Versions { generation: number_of_index(alias), keys }).await {
            Answer::Versions(versions) => Ok(versions),
            _ => Err(failed()),
        }
    }

    async fn create(&self, index: &str, _: &str) -> Result<bool, Fault> {
        match self.ask(Call::Create { generation: number_of_index(index) }).await {
            Answer::Flag(created) => Ok(created),
            _ => Err(failed()),
        }
    }

    /// No explored index is deleted by hand.
    async fn exists(&self, _: &str) -> Result<bool, Fault> {
        Ok(true)
    }

    async fn refresh(&self, _: &str) -> Result<(), Fault> {
        self.done(Call::Refresh).await
    }

    async fn serve(&self, _: &str, index: &str) -> Result<(), Fault> {
        self.swap(ALIAS, index).await
    }

    async fn swap(&self, _: &str, index: &str) -> Result<(), Fault> {
        self.done(Call::Swap { generation: number_of_index(index) }).await
    }

    async fn delete(&self, _: &str, serving: &str, index: &str) -> Result<(), Fault> {
        self.done(Call::Delete { generation: number_of_index(index), serving: number_of_index(serving) }).await
    }

    async fn documents(&self, _: &str, _: Option<&str>, _: usize) -> Result<DocumentPage, Fault> {
        Err(no_audit())
    }

    async fn read_documents(&self, _: &str, _: &[&str]) -> Result<Vec<Option<StoredDocument>>, Fault> {
        Err(no_audit())
    }
}

fn no_audit() -> Fault {
    Fault::lasting("explored", "no explored function audits")
}

impl Items for Recorded {
    async fn read(&self, _: &'static Table, key: &Key) -> Result<Option<Item>, Fault> {
        let key = number_of_key(key);
        match self.ask(Call::Read { key }).await {
            Answer::Item(item) => Ok(item.map(|leaf| Item::new(leaf.json(key)))),
            _ => Err(failed()),
        }
    }

    async fn stamp(&self, _: &'static Table, key: &Key, seen: Option<&str>, rev: Rev) -> Result<bool, Fault> {
        let seen = seen.map_or(0, |seen| {
            let digits: String = seen.chars().filter(char::is_ascii_digit).collect();
            digits.parse().unwrap()
        });
        match self.ask(Call::Stamp { key: number_of_key(key), seen, rev: rev.number() }).await {
            Answer::Flag(written) => Ok(written),
            _ => Err(failed()),
        }
    }

    async fn scan(&self, _: &'static Table, segment: Segment, after: Option<&Key>) -> Result<Page, Fault> {
        let call = Call::Scan { segment: segment.number, of: segment.of, first: after.is_none() };
        match self.ask(call).await {
            Answer::Page(None) => Ok(Page { items: Vec::new(), next: None }),
            Answer::Page(Some((number, leaf))) => Ok(Page { items: vec![Item::new(leaf.json(number))], next: None }),
            _ => Err(failed()),
        }
    }
}

impl State for Recorded {
    async fn generations(&self) -> Result<Option<Generations>, Fault> {
        match self.ask(Call::ReadConfig).await {
            Answer::Config(config) => Ok(config.map(Config::generations)),
            _ => Err(failed()),
        }
    }

    async fn publish(&self, generations: &Generations) -> Result<bool, Fault> {
        match self.ask(Call::Publish(Config::of(generations))).await {
            Answer::Flag(published) => Ok(published),
            _ => Err(failed()),
        }
    }

    async fn mark(&self, generation: &str, marker: &Marker) -> Result<(), Fault> {
        let Subject::Item { key, .. } = &marker.subject else { panic!("every record of this world has a key") };
        let generation = number_of_index(generation);
        self.done(Call::Mark { generation, key: number_of_key(key), rev: marker.rev }).await
    }

    async fn open(&self, generation: &str, subjects: &[String]) -> Result<HashMap<String, OpenMarker>, Fault> {
        let keys = subjects.iter().map(|name| number_of_subject(name)).collect();
        match self.ask(Call::Open { generation: number_of_index(generation), keys }).await {
            Answer::Markers(markers) => {
                // All markers have the same time, so only their revisions tell them apart.
                let open = |(number, rev)| (subject(number).to_owned(), marker(number, rev).as_open());
                Ok(markers.into_iter().map(open).collect())
            }
            _ => Err(failed()),
        }
    }

    async fn clear(&self, generation: &str, subject: &str, upto: u64) -> Result<(), Fault> {
        let (generation, key) = (number_of_index(generation), number_of_subject(subject));
        self.done(Call::Clear { generation, key, upto }).await
    }

    /// No explored function depends on whether it has cleared the marker.
    async fn clear_seen(&self, generation: &str, subject: &str, seen: OpenMarker) -> Result<bool, Fault> {
        let (generation, key) = (number_of_index(generation), number_of_subject(subject));
        self.done(Call::ClearSeen { generation, key, rev: seen.rev }).await.map(|()| true)
    }

    async fn checkpoint(&self, generation: &str, _: &'static Table, segment: Segment) -> Result<Checkpoint, Fault> {
        let generation = number_of_index(generation);
        match self.ask(Call::Checkpoint { generation, segment: segment.number }).await {
            Answer::Checkpoint(At::Start) => Ok(Checkpoint::Start),
            Answer::Checkpoint(At::Done) => Ok(Checkpoint::Done),
            _ => Err(failed()),
        }
    }

    async fn save(&self, generation: &str, _: &'static Table, segment: Segment, _: Option<&Key>) -> Result<(), Fault> {
        self.done(Call::Save { generation: number_of_index(generation), segment: segment.number }).await
    }

    async fn forget(&self, generation: &str) -> Result<(), Fault> {
        self.done(Call::Forget { generation: number_of_index(generation) }).await
    }

    async fn note(&self, _: &str, _: &str) -> Result<Option<Note>, Fault> {
        Ok(None)
    }

    async fn write_note(&self, _: &str, _: &str, _: &Note) -> Result<bool, Fault> {
        Err(no_audit())
    }

    async fn markers_after(&self, generation: &str, after: Option<&str>) -> Result<Vec<Marker>, Fault> {
        let (generation, key) = (number_of_index(generation), after.map(number_of_subject));
        match self.ask(Call::MarkersAfter { generation, key }).await {
            Answer::Markers(markers) => Ok(markers.into_iter().map(|(number, rev)| marker(number, rev)).collect()),
            _ => Err(failed()),
        }
    }
}

impl Failures for Recorded {
    async fn list(&self, after: Option<&str>, _: usize) -> Result<Vec<GivenUp>, Fault> {
        match self.ask(Call::Failures { after: after.map(failures::number_of_name) }).await {
            Answer::Failures(found) => {
                let given_up = |(number, since)| GivenUp { name: failures::name(number), since };
                Ok(found.into_iter().map(given_up).collect())
            }
            _ => Err(failed()),
        }
    }

    async fn read(&self, name: &str) -> Result<Option<Bytes>, Fault> {
        match self.ask(Call::ReadFailure { number: failures::number_of_name(name) }).await {
            Answer::Failure(records) => Ok(records.map(|records| failures::object(&records).into())),
            _ => Err(failed()),
        }
    }

    async fn delete(&self, name: &str) -> Result<(), Fault> {
        self.done(Call::DeleteFailure { number: failures::number_of_name(name) }).await
    }
}

impl Quarantine for Recorded {
    async fn keep(&self, _: &str, _: String) -> Result<(), Fault> {
        self.done(Call::Keep).await
    }
}

impl Time for Recorded {
    fn micros(&self) -> i64 {
        self.script().now
    }

    async fn pause(&self, _: Duration) {
        self.ask(Call::Pause).await;
    }

    async fn expired(&self) {
        self.ask(Call::Expired).await;
    }

    async fn wait(&self, _: Duration) {
        self.ask(Call::Wait).await;
    }
}

/// Returns a marker as the state table has it.
fn marker(number: usize, rev: u64) -> Marker {
    let (subject, object) = (Subject::item(&TREES, &key(number)), String::new());
    Marker { subject, rev, code: Code::Unfit, reason: String::new(), object, since: 0 }
}

/// Returns the body of a response with these statuses.
fn bulk_body(statuses: &[u16]) -> String {
    let items = statuses.iter().map(|status| {
        let error = match *status {
            200 | 201 => return format!(r#"{{"index":{{"status":{status}}}}}"#),
            400 => r#"{"type":"mapper_parsing_exception","reason":"failed to parse field [size] of type [integer]"}"#,
            404 => r#"{"type":"index_not_found_exception","reason":"no such index"}"#,
            409 => r#"{"type":"version_conflict_engine_exception","reason":"version conflict"}"#,
            // The answer to the operation before deletes.
            UPDATE_OF_A_MISSING_DOCUMENT => {
                let error = r#"{"type":"document_missing_exception","reason":"document missing"}"#;
                return format!(r#"{{"update":{{"status":404,"error":{error}}}}}"#);
            }
            _ => r#"{"type":"rejected_execution_exception","reason":"refused"}"#,
        };
        format!(r#"{{"index":{{"status":{status},"error":{error}}}}}"#)
    });
    format!(r#"{{"items":[{}]}}"#, items.collect::<Vec<_>>().join(","))
}

/// The status of `RequireAlias`: a 404 for a document, not for an index.
pub(super) const UPDATE_OF_A_MISSING_DOCUMENT: u16 = 1404;
