//! The search document of an item. It is written field by field, so that only named fields are indexed.

use crate::json::{write_member, write_text};
use crate::number::Number;

/// The result of mapping an item in its present state.
#[derive(Debug)]
pub enum Found {
    /// The item is hidden from search: a tombstone is written at the item's own revision.
    Hidden,
    Document(Document),
}

/// The fields of one document, in the order in which they were written. The mirror adds the keys, the entity and the
/// revision, and `<field>Status`, `<field>Tolerance` and `<field>Outline` of each shape.
#[derive(Debug, Default)]
pub struct Document {
    fields: String,
    shapes: Vec<(&'static str, ShapeSource)>,
}

/// The source of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeSource {
    /// GeoJSON text on the item itself.
    Inline(String),
    /// An object named by its content.
    Object(StoredShape),
}

/// An item's description of a shape that is stored in S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredShape {
    /// SHA-256 of the object's bytes, in lower-case hex.
    pub sha256: String,
    pub bytes: u64,
    pub positions: u64,
    /// West, south, east, north in degrees, as decimal text.
    pub envelope: [String; 4],
    /// The tolerance of the object's fine form in metres, as decimal text. `None` if it has no such form.
    pub fine_tolerance: Option<String>,
    /// The tolerance of the object's coarse form in metres, as decimal text.
    pub coarse_tolerance: String,
}

/// The longest keyword that OpenSearch accepts, in bytes of UTF-8.
pub const KEYWORD_BYTES: usize = 32_766;

/// Every method takes a value or an `Option` of one. `None` writes nothing.
impl Document {
    pub fn new() -> Self {
        Self { fields: String::with_capacity(1024), shapes: Vec::new() }
    }

    /// Writes a string without truncating it.
    pub fn text<'v>(&mut self, field: &str, value: impl Into<Option<&'v str>>) -> &mut Self {
        self.member(field, value, write_text)
    }

    /// Writes a string for a keyword field, truncated to [`KEYWORD_BYTES`].
    pub fn keyword<'v>(&mut self, field: &str, value: impl Into<Option<&'v str>>) -> &mut Self {
        self.member(field, value, |out, value| write_text(out, cut(value)))
    }

    /// Writes strings in the given order.
    pub fn texts<T: AsRef<str>>(&mut self, field: &str, values: impl IntoIterator<Item = T>) -> &mut Self {
        self.array(field, values, |out, value| write_text(out, value.as_ref()))
    }

    /// Writes strings for a keyword field, each truncated to [`KEYWORD_BYTES`].
    pub fn keywords<T: AsRef<str>>(&mut self, field: &str, values: impl IntoIterator<Item = T>) -> &mut Self {
        self.array(field, values, |out, value| write_text(out, cut(value.as_ref())))
    }

    /// Writes a number, digit for digit.
    pub fn number<'v>(&mut self, field: &str, value: impl Into<Option<Number<'v>>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(value.as_str()))
    }

    /// Writes numbers in the given order.
    pub fn numbers<'v>(&mut self, field: &str, values: impl IntoIterator<Item = Number<'v>>) -> &mut Self {
        self.array(field, values, |out, value| out.push_str(value.as_str()))
    }

    pub fn integer(&mut self, field: &str, value: impl Into<Option<i64>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(&value.to_string()))
    }

    pub fn flag(&mut self, field: &str, value: impl Into<Option<bool>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(if value { "true" } else { "false" }))
    }

    /// Writes a value that is JSON text already. The caller is responsible for its validity.
    pub fn json<'v>(&mut self, field: &str, value: impl Into<Option<&'v str>>) -> &mut Self {
        self.member(field, value, String::push_str)
    }

    /// Adds a shape. The mirror reads it, and indexes it at a coarser detail level if OpenSearch refuses it.
    pub fn shape(&mut self, field: &'static str, source: impl Into<Option<ShapeSource>>) -> &mut Self {
        self.shapes.extend(source.into().map(|source| (field, source)));
        self
    }

    /// Returns the members of the JSON object, without its braces.
    pub fn fields(&self) -> &str {
        &self.fields
    }

    pub fn shapes(&self) -> &[(&'static str, ShapeSource)] {
        &self.shapes
    }

    fn member<T>(&mut self, field: &str, value: impl Into<Option<T>>, write: impl FnOnce(&mut String, T)) -> &mut Self {
        if let Some(value) = value.into() {
            write_member(&mut self.fields, field);
            write(&mut self.fields, value);
        }
        self
    }

    fn array<T>(
        &mut self,
        field: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut String, T),
    ) -> &mut Self {
        write_member(&mut self.fields, field);
        self.fields.push('[');
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.fields.push(',');
            }
            write(&mut self.fields, value);
        }
        self.fields.push(']');
        self
    }
}

/// Truncates a text to the longest prefix that a keyword field can hold.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(KEYWORD_BYTES)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_in_order_and_absent_values_are_omitted() {
        let mut document = Document::new();
        document
            .text("name", "a \"b\"")
            .text("none", None)
            .number("n", Number::new("1.50"))
            .integer("i", -7)
            .flag("open", Some(true))
            .keywords("tags", ["a", "b"])
            .numbers("place", Number::new("1e2"))
            .json("box", "{}");
        let expected = r#""name":"a \"b\"","n":1.50,"i":-7,"open":true,"tags":["a","b"],"place":[1e2],"box":{}"#;
        assert_eq!(document.fields(), expected);
    }

    #[test]
    fn long_keyword_is_truncated_between_characters_and_long_text_is_not() {
        let long = "é".repeat(KEYWORD_BYTES);
        let mut document = Document::new();
        document.keyword("k", long.as_str()).text("t", long.as_str());
        let read: serde_json::Value = serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap();
        assert_eq!(read["k"].as_str().unwrap().len(), KEYWORD_BYTES);
        assert_eq!(read["t"].as_str().unwrap(), long);
    }
}
