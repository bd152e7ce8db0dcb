//! The digest of what each version of a mapping writes. It is kept in `mapping.json` of each system, so that no change
//! of a mapping or of its documents keeps the version.

mod samples;

use std::path::Path;

use local::Served;
use mirror::Mapping;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::description::marked;
use crate::failure::{Doing, Failure};
use crate::systems::{self, Declared};

/// Returns the path of a system's file.
pub fn path(system: &str) -> String {
    format!("{}/mapping.json", systems::folder(system))
}

/// Returns the text of a system's file: each version that the code writes, with the digests of its mapping and of its
/// documents of the sample records.
pub fn file(declared: &Declared) -> String {
    marked(&json!({ "versions": versions(declared) }))
}

/// Checks that each version still writes what it wrote when its digest was kept.
pub fn check(root: &Path) -> Result<(), Failure> {
    for declared in systems::all() {
        let path = path(declared.app.system().name);
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        let kept: Value = serde_json::from_str(&text).doing(&path)?;
        let kept = kept.get("versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        changed(declared.app.system().name, &path, kept, &versions(&declared))?;
    }
    Ok(())
}

/// Checks the versions that the code writes now against those that were kept.
fn changed(system: &str, path: &str, kept: &[Value], written: &[Value]) -> Result<(), Failure> {
    for now in written {
        let same = |before: &&Value| before.get("version") == now.get("version");
        let number = now.get("version").cloned().unwrap_or_default();
        // A version that was not kept is new.
        if kept.iter().find(same).is_some_and(|before| before != now) {
            return Err(Failure::new(format!(
                "{system} writes other documents, or has another mapping, with version {number}: raise the version in \
                 {}/src/documents.rs, and keep what was written as `previous_mapping` and `previous_document`. If only \
                 the sample records have changed, delete {path} and generate it again.",
                systems::folder(system)
            )));
        }
    }
    let lowest = written.iter().filter_map(|now| now.get("version")?.as_u64()).min();
    let highest = kept.iter().filter_map(|before| before.get("version")?.as_u64()).max();
    if let Some((lowest, highest)) = lowest.zip(highest).filter(|(lowest, highest)| highest < lowest) {
        return Err(Failure::new(format!(
            "{system} has raised the version of its mapping from {highest} to {lowest} and does not write {highest} any \
             more: `previous_mapping` and `previous_document` must return what version {highest} writes."
        )));
    }
    Ok(())
}

fn versions(declared: &Declared) -> Vec<Value> {
    let Some(served) = local::systems::named(declared.app.system().name) else { return Vec::new() };
    let mappings = (served.previous_mapping)().into_iter().chain([(served.mapping)()]);
    mappings.map(|mapping| version(served, mapping, &declared.records)).collect()
}

fn version(served: &Served, mapping: Mapping, records: &[Value]) -> Value {
    let documents: String = documents(served, mapping, records).concat();
    // The layout of the text makes no difference.
    let body = serde_json::from_str::<Value>(mapping.body).map(|body| body.to_string()).unwrap_or_default();
    json!({ "version": mapping.version, "mapping": digest(&body), "documents": digest(&documents) })
}

/// Returns the documents of the images of the sample records, and of further sample items, each as a line.
fn documents(served: &Served, mapping: Mapping, records: &[Value]) -> Vec<String> {
    let images = records.iter().flat_map(|record| {
        let source = record.get("eventSourceARN").and_then(Value::as_str).unwrap_or_default();
        let table = served.system.tables.iter().find(move |table| source.contains(&format!(":table/{}/", table.name)));
        let images = ["OldImage", "NewImage"].into_iter().filter_map(|side| record.get("dynamodb")?.get(side).cloned());
        images.filter_map(move |image| Some((*table?, image)))
    });
    let items = samples::of(served.system.name)
        .into_iter()
        .filter_map(|(name, item)| Some((*served.system.tables.iter().find(|table| table.name == name)?, item)));
    let documents = images.chain(items).filter_map(|(table, item)| {
        match (served.sample_document)(mapping.version, table, &item.to_string()) {
            Ok(document) => document.map(|document| document + "\n"),
            Err(fault) => Some(format!("{fault}\n")),
        }
    });
    documents.collect()
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use table::schema::Search;

    use super::*;

    fn version(number: u32, documents: &str) -> Value {
        json!({ "version": number, "mapping": "m", "documents": documents })
    }

    fn problem(kept: &[Value], written: &[Value]) -> String {
        changed("parks", "functions/parks/mapping.json", kept, written).unwrap_err().to_string()
    }

    #[test]
    fn every_version_writes_what_it_wrote() {
        check(crate::root()).unwrap_or_else(|failure| panic!("{failure}"));
    }

    #[test]
    fn other_documents_with_the_same_version_are_refused() {
        let problem = problem(&[version(2, "a")], &[version(2, "b")]);
        assert!(problem.contains("raise the version in functions/parks/src/documents.rs"), "{problem}");
    }

    #[test]
    fn raised_version_must_write_the_one_before() {
        let problem = problem(&[version(1, "a"), version(2, "b")], &[version(3, "c")]);
        assert!(problem.contains("does not write 2 any more"), "{problem}");
        let both = [version(2, "b"), version(3, "c")];
        assert!(changed("parks", "", &[version(1, "a"), version(2, "b")], &both).is_ok());
        assert!(changed("parks", "", &both, &both).is_ok());
    }

    #[test]
    fn former_version_that_writes_something_else_is_refused() {
        let problem = problem(&[version(2, "b")], &[version(2, "x"), version(3, "c")]);
        assert!(problem.contains("with version 2"), "{problem}");
    }

    #[test]
    fn each_searchable_entity_has_a_sample_document() {
        for declared in systems::all() {
            let served = local::systems::named(declared.app.system().name).unwrap();
            let documents = documents(served, (served.mapping)(), &declared.records);
            let searchable = served.system.tables.iter().flat_map(|table| table.entities);
            for entity in searchable.filter(|entity| entity.search == Search::Document) {
                let of_entity = |document: &&String| document.starts_with(&format!("{} ", entity.name));
                let has_fields = |document: &String| document.contains('{');
                assert!(documents.iter().filter(of_entity).any(has_fields), "{} {documents:#?}", entity.name);
            }
        }
    }
}
