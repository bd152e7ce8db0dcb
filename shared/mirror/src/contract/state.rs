//! The mirror's state table, and the bucket that keeps quarantined records.

use std::collections::HashMap;

use table::Key;
use table::schema::Table;

use super::{Broken, Fixture, same};
use crate::generation::{Generation, Generations, Phase};
use crate::ports::{Checkpoint, Note, Quarantine, Segment, State};
use crate::quarantine::{Code, Marker, OpenMarker, PREFIX, Subject};

/// Checks an empty state table.
pub async fn state(state: &impl State, table: &'static Table) -> Result<(), Broken> {
    config(state).await?;
    markers(state).await?;
    notes(state).await?;
    checkpoints(state, table).await
}

async fn config(state: &impl State) -> Result<(), Broken> {
    let written = vec![Generation { index: "toy-000001".to_owned(), mapping: 3, phase: Phase::Filling }];
    let first = Generations { epoch: 1, written, last: 1, ..Generations::none("toy") };
    let dropping = vec!["toy-000000".to_owned()];
    let second = Generations { epoch: 2, rebuild_paused: true, replaces: true, dropping, ..first.clone() };
    let third = Generations { written: Vec::new(), ..second.next() };
    same("no config", state.generations().await?, None)?;
    same("a second epoch before the first", state.publish(&second).await?, false)?;
    same("a first epoch", state.publish(&first).await?, true)?;
    same("it is read", state.generations().await?, Some(first.clone()))?;
    same("a first epoch again", state.publish(&first).await?, false)?;
    same("a second epoch", state.publish(&second).await?, true)?;
    same("a second epoch again", state.publish(&second).await?, false)?;
    same("it is read", state.generations().await?, Some(second.clone()))?;
    for (number, phase) in Phase::ALL.into_iter().enumerate() {
        let index = format!("toy-{number:06}");
        let written = vec![Generation { index, mapping: 3, phase }];
        let next = Generations { epoch: third.epoch + number as u64, written, ..third.clone() };
        same("a further epoch", state.publish(&next).await?, true)?;
        same("its phase is read", state.generations().await?, Some(next))?;
    }
    Ok(())
}

async fn markers(state: &impl State) -> Result<(), Broken> {
    let subject = Subject::Item { table: "trees".to_owned(), key: Key::new("a", "b") };
    let marker = |rev| Marker {
        subject: subject.clone(),
        rev,
        code: Code::Unfit,
        reason: format!("at {rev}"),
        object: "quarantine/x".to_owned(),
        since: 7,
    };
    let unfit = |rev, since| OpenMarker { rev, code: Code::Unfit, since };
    let open = |rev: u64| HashMap::from([(subject.name(), unfit(rev, 7))]);
    let own = [subject.name()];
    same("no marker", state.open("g1", &own).await?, HashMap::new())?;
    state.mark("g1", &marker(10)).await?;
    state.mark("g1", &marker(8)).await?;
    same("the higher marker stays", state.open("g1", &own).await?, open(10))?;
    same("it is listed", state.markers_after("g1", None).await?, vec![marker(10)])?;
    same("another generation has none", state.open("g2", &own).await?, HashMap::new())?;
    state.clear("g1", &subject.name(), 9).await?;
    same("a lower version clears nothing", state.open("g1", &own).await?, open(10))?;
    state.mark("g1", &marker(12)).await?;
    state.clear("g1", &subject.name(), 12).await?;
    same("its own version clears it", state.open("g1", &own).await?, HashMap::new())?;
    state.clear("g1", &subject.name(), 12).await?;

    state.mark("g1", &marker(12)).await?;
    for (rev, since) in [(11, 7), (13, 7), (12, 6), (12, 8)] {
        let cleared = state.clear_seen("g1", &subject.name(), unfit(rev, since)).await?;
        same("another marker than the one that was seen is not cleared", cleared, false)?;
        same("another marker than the one that was seen stays", state.open("g1", &own).await?, open(12))?;
    }
    for _ in 0..2 {
        let cleared = state.clear_seen("g1", &subject.name(), unfit(12, 7)).await?;
        same("no later marker is open", cleared, true)?;
        same("the one that was seen is cleared", state.open("g1", &own).await?, HashMap::new())?;
    }

    let lost = Marker { subject: Subject::Record("f00".to_owned()), code: Code::UnknownRecord, ..marker(0) };
    state.mark("g1", &lost).await?;
    same("a record without key is listed", state.markers_after("g1", None).await?, vec![lost])?;

    // More subjects than one request can read. Every second one has a marker.
    let numbered = |number: u32| Subject::Item { table: "trees".to_owned(), key: Key::partition(number.to_string()) };
    let names: Vec<_> = (0..250).map(|number| numbered(number).name()).collect();
    for number in (0..250).step_by(2) {
        state.mark("g3", &Marker { subject: numbered(number), ..marker(u64::from(number)) }).await?;
    }
    let expected = names.iter().zip(0..).step_by(2).map(|(name, rev)| (name.clone(), unfit(rev, 7))).collect();
    same("the markers of many subjects", state.open("g3", &names).await?, expected)?;
    marker_pages(state, &names).await
}

/// Reads the markers of every second one of these subjects in pages.
async fn marker_pages(state: &impl State, names: &[String]) -> Result<(), Broken> {
    let mut marked: Vec<_> = names.iter().step_by(2).cloned().collect();
    marked.sort();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = state.markers_after("g3", after.as_deref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.subject.name());
        found.extend(page.iter().map(|marker| marker.subject.name()));
    }
    same("the pages of all markers", &found, &marked)?;
    let half = marked.get(62).map(String::as_str);
    let first = state.markers_after("g3", half).await?.first().map(|marker| marker.subject.name());
    same("the page after a subject", first.as_ref(), marked.get(63))?;
    // The marker after which a page starts need not exist any more.
    state.clear("g3", half.unwrap_or_default(), u64::MAX).await?;
    let first = state.markers_after("g3", half).await?.first().map(|marker| marker.subject.name());
    same("the page after a subject without a marker", first.as_ref(), marked.get(63))?;
    same("a generation without markers", state.markers_after("g9", None).await?, Vec::new())
}

async fn notes(state: &impl State) -> Result<(), Broken> {
    let note = |epoch, text: &str| Note { epoch, text: text.to_owned() };
    same("no note", state.note("g1", "progress").await?, None)?;
    same("a second note before the first", state.write_note("g1", "progress", &note(2, "x")).await?, false)?;
    same("a first note", state.write_note("g1", "progress", &note(1, "one")).await?, true)?;
    same("a first note again", state.write_note("g1", "progress", &note(1, "other")).await?, false)?;
    same("it is read", state.note("g1", "progress").await?, Some(note(1, "one")))?;
    let long = "x".repeat(380_000);
    same("a long note", state.write_note("g1", "progress", &note(2, &long)).await?, true)?;
    same("it is read", state.note("g1", "progress").await?, Some(note(2, &long)))?;
    same("another name has none", state.note("g1", "other").await?, None)?;
    same("another generation has none", state.note("g2", "progress").await?, None)
}

async fn checkpoints(state: &impl State, table: &'static Table) -> Result<(), Broken> {
    let segment = |number| Segment { number, of: 4 };
    let after = Key::new("a", "b");
    same("no checkpoint", state.checkpoint("g1", table, segment(0)).await?, Checkpoint::Start)?;
    state.save("g1", table, segment(0), Some(&after)).await?;
    same("a checkpoint", state.checkpoint("g1", table, segment(0)).await?, Checkpoint::After(after))?;
    same("another segment", state.checkpoint("g1", table, segment(1)).await?, Checkpoint::Start)?;
    state.save("g1", table, segment(0), None).await?;
    same("the end", state.checkpoint("g1", table, segment(0)).await?, Checkpoint::Done)?;

    state.save("g3", table, segment(0), None).await?;
    state.save("g4", table, segment(0), None).await?;
    state.forget("g3").await?;
    same("the markers of a forgotten generation", state.markers_after("g3", None).await?, Vec::new())?;
    same("its checkpoint", state.checkpoint("g3", table, segment(0)).await?, Checkpoint::Start)?;
    same("another generation's checkpoint", state.checkpoint("g4", table, segment(0)).await?, Checkpoint::Done)?;
    state.forget("g3").await.map_err(Broken::from)
}

/// Checks the bucket.
pub async fn quarantine(quarantine: &impl Quarantine, fixture: &impl Fixture) -> Result<(), Broken> {
    let name = format!("{PREFIX}contract/1.json");
    quarantine.keep(&name, "{}".to_owned()).await?;
    quarantine.keep(&name, r#"{"again":1}"#.to_owned()).await?;
    same("a record is kept as it came last", fixture.kept(&name).await?, r#"{"again":1}"#.to_owned())
}
