//! The lines of a bulk request: one action and one document per operation.

use std::fmt::Write as _;
use std::time::Duration;

use table::Key;
use table::schema::Entity;

use crate::documents::Shape;
use crate::json::{write_member, write_text};

/// The identity of a document.
#[derive(Clone, Debug)]
pub struct Identity {
    pub entity: &'static Entity,
    pub key: Key,
    /// `<pk>#<sk>`.
    pub id: String,
}

/// The version check of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versioning {
    /// Refused by an equal or higher version.
    External,
    /// Refused by a higher version only.
    ExternalGte,
}

/// Writes the action and the first fields of an item's document. [`write_shape`] and [`close_document`] write the rest.
pub(crate) fn open_document(
    lines: &mut String,
    identity: &Identity,
    version: u64,
    versioning: Versioning,
    fields: &str,
) {
    write_action(lines, identity, version, versioning);
    write_identity(lines, identity, version);
    if !fields.is_empty() {
        lines.push(',');
        lines.push_str(fields);
    }
}

pub(crate) fn write_shape(lines: &mut String, field: &str, shape: &Shape) {
    if let Some(json) = &shape.json {
        write_member(lines, field);
        lines.push_str(json);
    }
    write_member(lines, &format!("{field}Status"));
    write_text(lines, shape.status.name());
    if let Some(tolerance) = &shape.tolerance {
        write_member(lines, &format!("{field}Tolerance"));
        lines.push_str(tolerance);
    }
    if let Some(outline) = &shape.outline {
        write_member(lines, &format!("{field}Outline"));
        write_text(lines, outline);
    }
}

pub(crate) fn close_document(lines: &mut String) {
    lines.push_str("}\n");
}

/// Writes a tombstone: a hidden document for an item that is deleted or hidden from search.
pub fn write_tombstone(lines: &mut String, identity: &Identity, version: u64, versioning: Versioning, now_micros: i64) {
    write_action(lines, identity, version, versioning);
    write_identity(lines, identity, version);
    // Writing to a string cannot fail.
    let _ = writeln!(lines, r#","deleted":true,"deletedAt":{}}}"#, now_micros.div_euclid(1000));
}

/// An operation without effect, for requests that otherwise consist of deletes. For a delete with an external version
/// OpenSearch creates a missing index, even with `require_alias`. The operation is answered 404,
/// `document_missing_exception`.
pub const REQUIRE_ALIAS: &str = concat!(r#"{"update":{"_id":"-","require_alias":true}}"#, "\n", r#"{"doc":{}}"#, "\n");

/// Returns the time in milliseconds before which a tombstone must have been written to be deleted now.
pub fn horizon(now_micros: i64, retention: Duration) -> i64 {
    let retention = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
    now_micros.div_euclid(1000).saturating_sub(retention)
}

/// A tombstone, with the write that created it: a sequence number of its shard and the term of the shard's primary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tombstone {
    pub id: String,
    pub sequence: u64,
    pub term: u64,
}

/// Writes the delete of a tombstone, which OpenSearch refuses if the document was written since. A version could not
/// express that, since an item that was created again may have a lower one.
pub fn write_tombstone_delete(lines: &mut String, tombstone: &Tombstone) {
    let Tombstone { id, sequence, term } = tombstone;
    lines.push_str(r#"{"delete":{"_id":"#);
    write_text(lines, id);
    let _ = writeln!(lines, r#","if_seq_no":{sequence},"if_primary_term":{term}}}}}"#);
}

/// Writes the action line of a document. It requires the alias, as the URL does, since AWS documents that it ignores
/// the URL parameters of signed POST requests.
fn write_action(lines: &mut String, identity: &Identity, version: u64, versioning: Versioning) {
    let versioning = match versioning {
        Versioning::External => "external",
        Versioning::ExternalGte => "external_gte",
    };
    lines.push_str(r#"{"index":{"_id":"#);
    write_text(lines, &identity.id);
    let _ = writeln!(lines, r#","version":{version},"version_type":"{versioning}","require_alias":true}}}}"#);
}

fn write_identity(lines: &mut String, identity: &Identity, version: u64) {
    lines.push_str(r#"{"pk":"#);
    write_text(lines, &identity.key.pk);
    if let Some(sk) = &identity.key.sk {
        write_member(lines, "sk");
        write_text(lines, sk);
    }
    write_member(lines, "entity");
    write_text(lines, identity.entity.name);
    let _ = write!(lines, r#","rev":{version}"#);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use table::schema::Search;

    use super::*;
    use crate::documents::{DetailLevel, ShapeStatus};

    static LEAF: Entity = Entity { name: "leaf", pk: "LEAF#{tree}", sk: Some("{n}"), search: Search::Document };

    fn read(lines: &str) -> Vec<Value> {
        assert!(lines.ends_with('\n'));
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn document_contains_its_identity_its_fields_and_its_shapes() {
        let identity = Identity { entity: &LEAF, key: Key::new("LEAF#a\"b", "1"), id: "LEAF#a\"b#1".to_owned() };
        let point = r#"{"type":"Point"}"#.to_owned();
        let area = Shape {
            status: ShapeStatus::At(DetailLevel::Coarse),
            json: Some(point.clone()),
            tolerance: Some("1.5".to_owned()),
            outline: Some(point.clone()),
        };
        let shapes = [("area", area), ("path", Shape::NONE)];
        let mut lines = String::new();
        open_document(&mut lines, &identity, 12, Versioning::External, r#""name":"x""#);
        shapes.iter().for_each(|(field, shape)| write_shape(&mut lines, field, shape));
        close_document(&mut lines);
        let expected = [
            json!({"index": {
                "_id": "LEAF#a\"b#1", "version": 12, "version_type": "external", "require_alias": true,
            }}),
            json!({"pk": "LEAF#a\"b", "sk": "1", "entity": "leaf", "rev": 12, "name": "x",
                "area": {"type": "Point"}, "areaStatus": "coarse", "areaTolerance": 1.5, "areaOutline": point,
                "pathStatus": "none"}),
        ];
        assert_eq!(read(&lines), expected);
    }

    #[test]
    fn delete_of_a_tombstone_names_the_write_that_was_found() {
        let mut lines = String::new();
        write_tombstone_delete(&mut lines, &Tombstone { id: "LEAF#a\"b#1".to_owned(), sequence: 13, term: 2 });
        let expected = json!({"delete": {"_id": "LEAF#a\"b#1", "if_seq_no": 13, "if_primary_term": 2}});
        assert_eq!(read(&lines), [expected]);
    }

    #[test]
    fn tombstone_contains_the_time_of_its_write() {
        let identity = Identity { entity: &LEAF, key: Key::partition("LEAF#a"), id: "LEAF#a".to_owned() };
        let mut lines = String::new();
        write_tombstone(&mut lines, &identity, 13, Versioning::ExternalGte, 5_999);
        let expected = [
            json!({"index": {"_id": "LEAF#a", "version": 13, "version_type": "external_gte", "require_alias": true}}),
            json!({"pk": "LEAF#a", "entity": "leaf", "rev": 13, "deleted": true, "deletedAt": 5}),
        ];
        assert_eq!(read(&lines), expected);
    }
}
