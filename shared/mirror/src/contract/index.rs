//! OpenSearch: external versions, refusals, real-time versions and aliases.

use std::collections::BTreeSet;

use super::{Broken, Fixture, same};
use crate::classify::{answers, failure};
use crate::documents::Mapping;
use crate::generation::{index_name, write_alias};
use crate::lines::{REQUIRE_ALIAS, Tombstone, write_tombstone_delete};
use crate::mapping::index_body;
use crate::ports::{Fault, Index};

const MAPPING: Mapping = Mapping {
    version: 1,
    body: r#"{"settings":{"number_of_replicas":0},"mappings":{"properties":{
        "name":{"type":"keyword"},"size":{"type":"integer"},"area":{"type":"geo_shape"}}}}"#,
};

/// Checks an engine. The name of every index that it creates starts with `alias`, which the engine must not have yet.
pub async fn index(index: &impl Index, fixture: &impl Fixture, alias: &str) -> Result<(), Broken> {
    let first = index_name(alias, 1);
    let write = write_alias(&first);
    let body = index_body(MAPPING, &write)?;

    let missing = bulk(index, &write, &[line("a", 10, "external", "{}")]).await?;
    same("a write to an alias that is missing", missing, vec![(404, "index_not_found_exception".to_owned())])?;
    same("an index exists before it is created", index.exists(&first).await?, false)?;
    same("an index is created", index.create(&first, &body).await?, true)?;
    same("an index is created again", index.create(&first, &body).await?, false)?;
    same("an index exists", index.exists(&first).await?, true)?;

    versions(index, &write).await?;
    listings(index, &first, &write).await?;
    refusals(index, &write).await?;
    tombstones(index, &first, &write).await?;
    readers(index, fixture, alias, &first).await
}

async fn versions(index: &impl Index, write: &str) -> Result<(), Broken> {
    for (what, version, kind, status) in [
        ("a first version", 10, "external", 201),
        ("the same version", 10, "external", 409),
        ("a lower version", 9, "external", 409),
        ("a higher version", 12, "external", 200),
        ("the same version, gte", 12, "external_gte", 200),
        ("a lower version, gte", 11, "external_gte", 409),
    ] {
        let answer = bulk(index, write, &[line("a#1", version, kind, r#"{"name":"x"}"#)]).await?;
        same(what, answer.first().map(|(status, _)| *status), Some(status))?;
    }
    same("versions", index.versions(write, &["a#1", "none"]).await?, vec![Some(12), None])?;

    // A refused document leaves no version behind.
    let refused = bulk(index, write, &[line("b", 20, "external", r#"{"size":3000000000}"#)]).await?;
    same("a document that does not fit", refused.first().map(|(status, _)| *status), Some(400))?;
    let lower = bulk(index, write, &[line("b", 10, "external", "{}")]).await?;
    same("a lower version after a refused one", lower.first().map(|(status, _)| *status), Some(201))
}

/// Checks the listing of all documents, with more documents than fit a page.
async fn listings(index: &impl Index, first: &str, write: &str) -> Result<(), Broken> {
    let source = r#"{"pk":"L","name":"caf\u00e9 \"x\"","rev":9007199254740993}"#;
    let listed = |number: usize| format!("list#{number}");
    let key = |number: usize| format!(r#"{{"pk":"{number}","sk":"x"}}"#);
    let mut lines: Vec<_> = (0..7).map(|number| line(&listed(number), 8, "external", &key(number))).collect();
    // Three documents have the same keys, and one has none but a tombstone's fields.
    lines.extend([7, 8, 9].map(|number| line(&listed(number), 8, "external", source)));
    lines.push(line(&listed(10), 9, "external", r#"{"deleted":true,"deletedAt":1700000000000}"#));
    bulk(index, write, &lines).await?;
    index.refresh(first).await?;
    for limit in [4, 100] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = index.documents(write, after.as_deref(), limit).await?;
            found.extend(page.documents);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let ids: BTreeSet<_> = found.iter().map(|document| document.id.clone()).collect();
        same("no document is listed twice", found.len(), ids.len())?;
        let expected = (0..11).map(listed).chain(["a#1", "b"].map(str::to_owned)).collect();
        same("every document is listed", ids, expected)?;
        let versions = found.iter().filter(|document| document.id.starts_with("list#"));
        same("with its version", versions.map(|document| document.version).sum(), 10 * 8 + 9_u64)?;
        let found = found.iter().find(|document| document.id == listed(8));
        same("with its source", found.map(|document| value(&document.source)).transpose()?, Some(value(source)?))?;
        // Numbers are not read as floats.
        let exact = found.is_some_and(|document| document.source.contains("9007199254740993"));
        same("with its numbers as they were written", exact, true)?;
    }
    // Without a refresh, it is read as it is now.
    bulk(index, write, &[line(&listed(3), 12, "external", r#"{"name":"later"}"#)]).await?;
    let read = index.read_documents(write, &["list#3", "none", "list#10"]).await?;
    let read: Vec<_> =
        read.iter().map(|found| found.as_ref().map(|found| (found.id.as_str(), found.version))).collect();
    same("documents by id", read, vec![Some(("list#3", 12)), None, Some(("list#10", 9))])?;
    // Later checks find none of these documents.
    let tombstone =
        |number: usize| line(&listed(number), 99, "external", r#"{"deleted":true,"deletedAt":1700000000000}"#);
    let lines: Vec<_> = (0..11).map(tombstone).collect();
    bulk(index, write, &lines).await.map(drop)
}

fn value(json: &str) -> Result<serde_json::Value, Broken> {
    serde_json::from_str(json).map_err(|error| Broken(error.to_string()))
}

async fn refusals(index: &impl Index, write: &str) -> Result<(), Broken> {
    let lines = [
        line("c", 2, "external", r#"{"name":"good"}"#),
        line("d", 2, "external", r#"{"unknown":1}"#),
        line("e", 2, "external", r#"{"size":3000000000}"#),
        line("f", 2, "external", r#"{"area":{"type":"xaaa"}}"#),
        line("g", 2, "external", r#"{"name":"good, too"}"#),
    ]
    .concat();
    let reply = index.bulk(write, &lines).await?;
    let answers =
        answers(&reply.body).ok_or_else(|| Broken("the response to a bulk request cannot be read".to_owned()))?;
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    same("a refused document among good ones", statuses, vec![201, 400, 400, 400, 201])?;
    let failures: Vec<_> = answers.iter().map(|answer| failure(answer.error)).collect();
    for (place, kind, field) in [
        (1, "strict_dynamic_mapping_exception", "unknown"),
        (2, "mapper_parsing_exception", "size"),
        (3, "mapper_parsing_exception", "area"),
    ] {
        let failure = failures.get(place);
        same("the error's type", failure.map(|failure| failure.kind.as_str()), Some(kind))?;
        same("the error names the field", failure.map(|failure| failure.names(field)), Some(true))?;
    }

    let spoilt =
        line("h", 2, "external", "{}") + &line("i", 2, "external", "{}").replace("\"version\":2", "\"version\":-1");
    same("one negative version", index.bulk(write, &spoilt).await?.status, 400)?;
    same("spoils the whole request", index.versions(write, &["h"]).await?, vec![None])
}

async fn tombstones(index: &impl Index, first: &str, write: &str) -> Result<(), Broken> {
    let tombstone = |id, version, at| line(id, version, "external", &format!(r#"{{"deleted":true,"deletedAt":{at}}}"#));
    let lines = [tombstone("t#1", 31, 1_000), tombstone("t#2", 33, 2_000), tombstone("t#3", 35, 3_000)];
    bulk(index, write, &lines).await?;
    index.refresh(first).await?;
    let found = async || {
        let found = index.tombstones(write, 3_000, 9).await;
        found.map(|found| found.into_iter().map(|tombstone| tombstone.id).collect::<BTreeSet<_>>())
    };
    let named = |named: &[&str]| named.iter().map(|id| (*id).to_owned()).collect();
    same("tombstones before a time", found().await?, named(&["t#1", "t#2"]))?;
    same("as many as are asked for", index.tombstones(write, 3_000, 1).await?.len(), 1)?;

    let first_found = async || {
        let found = index.tombstones(write, 3_000, 9).await?.into_iter().find(|tombstone| tombstone.id == "t#1");
        found.ok_or_else(|| Broken("a tombstone is not found".to_owned()))
    };
    let before = first_found().await?;
    let again = tombstone("t#1", 32, 1_000);
    same("a tombstone once more", bulk(index, write, &[again]).await?, vec![(200, String::new())])?;
    index.refresh(first).await?;
    let after = first_found().await?;

    let delete = async |alias: &str, tombstone: &Tombstone| {
        let mut lines = REQUIRE_ALIAS.to_owned();
        write_tombstone_delete(&mut lines, tombstone);
        let reply = index.bulk(alias, &lines).await?;
        let answers = answers(&reply.body).unwrap_or_default();
        let answers = answers.iter().map(|answer| (answer.status, failure(answer.error).kind));
        Ok::<_, Fault>(answers.collect::<Vec<_>>())
    };
    for (what, tombstone, status, kind) in [
        ("one that was written since", &before, 409, "version_conflict_engine_exception"),
        ("one that was found", &after, 200, ""),
        ("one that is deleted already", &after, 409, "version_conflict_engine_exception"),
    ] {
        let expected = [(404, "document_missing_exception"), (status, kind)];
        same(what, delete(write, tombstone).await?, expected.map(|(status, kind)| (status, kind.to_owned())).to_vec())?;
    }
    let missing = write_alias(&index_name(first, 7));
    let answer = delete(&missing, &after).await?.into_iter().next();
    same("a sweep of an alias that is missing", answer, Some((404, "index_not_found_exception".to_owned())))?;
    same("creates no index", index.create(&missing, &index_body(MAPPING, "unused")?).await?, true)?;
    index.refresh(first).await?;
    same("a tombstone that is deleted", found().await?, named(&["t#2"]))?;
    same("its version", index.versions(write, &["t#1"]).await?, vec![None])
}

async fn readers(index: &impl Index, fixture: &impl Fixture, alias: &str, first: &str) -> Result<(), Broken> {
    let visible = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let tombstone = line("c", 3, "external", r#"{"deleted":true,"deletedAt":1700000000000}"#);
    same("a tombstone", bulk(index, &write_alias(first), &[tombstone]).await?, vec![(200, String::new())])?;
    index.refresh(first).await?;
    index.serve(alias, first).await?;
    same("readers find no tombstone", fixture.visible(alias).await?, visible(&["a#1", "b", "g"]))?;

    let second = index_name(alias, 2);
    index.create(&second, &index_body(MAPPING, &write_alias(&second))?).await?;
    bulk(index, &write_alias(&second), &[line("z", 2, "external", "{}")]).await?;
    index.refresh(&second).await?;
    index.serve(alias, &second).await?;
    same("readers after a second index serves", fixture.visible(alias).await?, visible(&["z"]))?;
    index.serve(alias, &second).await?;
    same("readers after it serves again", fixture.visible(alias).await?, visible(&["z"]))?;

    for _ in 0..2 {
        index.swap(alias, first).await?;
        same("readers after a swap find no tombstone", fixture.visible(alias).await?, visible(&["a#1", "b", "g"]))?;
    }
    let missing = index_name(alias, 8);
    same("a swap to an index that is missing", index.swap(alias, &missing).await.is_err(), true)?;
    same("changes nothing", fixture.visible(alias).await?, visible(&["a#1", "b", "g"]))?;
    index.swap(alias, &second).await?;
    index.swap(alias, first).await?;
    // The alias names the index that is deleted.
    for _ in 0..2 {
        index.delete(alias, &second, first).await?;
        same("readers after a delete", fixture.visible(alias).await?, visible(&["z"]))?;
    }
    index.delete(alias, &missing, first).await?;
    same("readers after a delete without any index", fixture.visible(alias).await?, visible(&["z"]))?;
    let late = bulk(index, &write_alias(first), &[line("a", 99, "external", "{}")]).await?;
    same("a late write", late, vec![(404, "index_not_found_exception".to_owned())])
}

fn line(id: &str, version: u64, kind: &str, source: &str) -> String {
    format!("{{\"index\":{{\"_id\":\"{id}\",\"version\":{version},\"version_type\":\"{kind}\"}}}}\n{source}\n")
}

/// Sends a bulk request. Returns the status and the error's type of each operation.
async fn bulk(index: &impl Index, alias: &str, lines: &[String]) -> Result<Vec<(u16, String)>, Broken> {
    let reply = index.bulk(alias, &lines.concat()).await?;
    same("a bulk request", reply.status, 200)?;
    let answers =
        answers(&reply.body).ok_or_else(|| Broken("the response to a bulk request cannot be read".to_owned()))?;
    same("one answer for each operation", answers.len(), lines.len())?;
    Ok(answers.iter().map(|answer| (answer.status, failure(answer.error).kind)).collect())
}
