//! What an item looks like in search: written field by field, so that nothing is indexed that was not named.

use crate::json::{write_member, write_text};
use crate::number::Number;

/// What the item maps to in its present state.
#[derive(Debug)]
pub enum Found {
    /// Not to be found: a tombstone at the item's own revision.
    Hidden,
    Document(Document),
}

/// The fields of one document, in the order in which they were written. The keys, the entity and the revision are
/// added by the mirror; so are `<field>Status`, `<field>Tolerance` and `<field>Outline` of each shape.
#[derive(Debug, Default)]
pub struct Document {
    fields: String,
    shapes: Vec<(&'static str, ShapeSource)>,
}

/// Where a shape is to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeSource {
    /// GeoJSON text on the item itself.
    Inline(String),
    /// An object named by its content.
    Object(StoredShape),
}

/// What the item says of a shape that lies in S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredShape {
    /// SHA-256 of the object's bytes, in lower-case hex.
    pub sha256: String,
    pub bytes: u64,
    pub positions: u64,
    /// West, south, east, north in degrees, as decimal text.
    pub envelope: [String; 4],
    /// How far the object's fine form may be from it, in metres, as decimal text; none where it has no such form.
    pub fine_tolerance: Option<String>,
    /// How far the object's coarse form may be from it.
    pub coarse_tolerance: String,
}

/// The longest keyword that OpenSearch takes, in bytes of UTF-8.
pub const KEYWORD_BYTES: usize = 32_766;

/// Absent values write nothing: every method takes a value or an `Option` of one.
impl Document {
    pub fn new() -> Self {
        Self { fields: String::with_capacity(1024), shapes: Vec::new() }
    }

    /// A string, whole.
    pub fn text<'v>(&mut self, field: &str, value: impl Into<Option<&'v str>>) -> &mut Self {
        self.member(field, value, write_text)
    }

    /// A string for a keyword field: cut where the field could not hold it.
    pub fn keyword<'v>(&mut self, field: &str, value: impl Into<Option<&'v str>>) -> &mut Self {
        self.member(field, value, |out, value| write_text(out, cut(value)))
    }

    /// Strings, in the order given.
    pub fn texts<T: AsRef<str>>(&mut self, field: &str, values: impl IntoIterator<Item = T>) -> &mut Self {
        self.array(field, values, |out, value| write_text(out, value.as_ref()))
    }

    /// Strings for a keyword field, each cut where the field could not hold it.
    pub fn keywords<T: AsRef<str>>(&mut self, field: &str, values: impl IntoIterator<Item = T>) -> &mut Self {
        self.array(field, values, |out, value| write_text(out, cut(value.as_ref())))
    }

    /// A number, digit for digit.
    pub fn number<'v>(&mut self, field: &str, value: impl Into<Option<Number<'v>>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(value.as_str()))
    }

    /// Numbers, in the order given.
    pub fn numbers<'v>(&mut self, field: &str, values: impl IntoIterator<Item = Number<'v>>) -> &mut Self {
        self.array(field, values, |out, value| out.push_str(value.as_str()))
    }

    pub fn integer(&mut self, field: &str, value: impl Into<Option<i64>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(&value.to_string()))
    }

    pub fn flag(&mut self, field: &str, value: impl Into<Option<bool>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(if value { "true" } else { "false" }))
    }

    /// JSON text that is already one: the caller answers for it.
    pub fn json<'v>(&mut self, field: &str, value: impl Into<Option<&'v str>>) -> &mut Self {
        self.member(field, value, String::push_str)
    }

    /// A shape, which the mirror fetches and, where OpenSearch refuses it, gives more coarsely.
    pub fn shape(&mut self, field: &'static str, source: impl Into<Option<ShapeSource>>) -> &mut Self {
        self.shapes.extend(source.into().map(|source| (field, source)));
        self
    }

    /// The fields as the inside of a JSON object.
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

/// The longest beginning that a keyword field can hold.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(KEYWORD_BYTES)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_in_their_order_and_absent_ones_nowhere() {
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
    fn a_keyword_is_cut_between_characters_and_text_is_not() {
        let long = "é".repeat(KEYWORD_BYTES);
        let mut document = Document::new();
        document.keyword("k", long.as_str()).text("t", long.as_str());
        let read: serde_json::Value = serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap();
        assert_eq!(read["k"].as_str().unwrap().len(), KEYWORD_BYTES);
        assert_eq!(read["t"].as_str().unwrap(), long);
    }
}
