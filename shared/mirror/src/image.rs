//! An item's attributes, read from DynamoDB JSON. Stream records contain this form, and items that are read from the
//! table are converted to it, so that both have the same document.

use std::borrow::Cow;

use crate::json::{Malformed, Reader};
use crate::number::Number;

/// The attributes of one item, borrowed from its JSON text.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    attributes: Vec<Attribute<'a>>,
}

#[derive(Clone, Debug)]
struct Attribute<'a> {
    name: Cow<'a, str>,
    /// `{"S":"..."}`.
    value: &'a str,
}

/// An attribute that is absent or does not have the DynamoDB type of its entity. Only its item goes to quarantine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("attribute `{attribute}` is not {expected}")]
pub struct Unfit {
    pub attribute: String,
    /// The required type, such as `a string (S)`.
    pub expected: &'static str,
}

/// Text that is not an item in DynamoDB JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an item in DynamoDB JSON: {0}")]
pub struct NotAnItem(String);

impl<'a> Image<'a> {
    /// Reads an item: `{"pk":{"S":"..."},...}`.
    pub fn parse(text: &'a str) -> Result<Self, NotAnItem> {
        let mut attributes = Vec::with_capacity(16);
        let mut reader = Reader::new(text);
        reader
            .object(|reader, name| {
                attributes.push(Attribute { name, value: reader.value()? });
                Ok(())
            })
            .map_err(|fault| NotAnItem(fault.to_string()))?;
        if reader.at_end() { Ok(Self { attributes }) } else { Err(NotAnItem("more than one value".to_owned())) }
    }

    /// Whether the item has the attribute, with any type.
    pub fn has(&self, attribute: &str) -> bool {
        self.value(attribute).is_some()
    }

    /// Returns the names of its attributes, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|attribute| attribute.name.as_ref())
    }

    /// Returns a string (S).
    pub fn text(&self, attribute: &str) -> Result<Cow<'a, str>, Unfit> {
        self.required(attribute, TEXT, Self::optional_text)
    }

    pub fn optional_text(&self, attribute: &str) -> Result<Option<Cow<'a, str>>, Unfit> {
        if let Some(plain) = self.value(attribute).and_then(|value| plain(value, r#"{"S":""#)) {
            return Ok(Some(Cow::Borrowed(plain)));
        }
        self.read(attribute, TEXT, |name, reader| (name == "S").then(|| reader.string()))
    }

    /// Returns a number (N).
    pub fn number(&self, attribute: &str) -> Result<Number<'a>, Unfit> {
        self.required(attribute, NUMBER, Self::optional_number)
    }

    pub fn optional_number(&self, attribute: &str) -> Result<Option<Number<'a>>, Unfit> {
        self.read(attribute, NUMBER, |name, reader| (name == "N").then(|| number(reader)))
    }

    /// Returns a boolean (BOOL).
    pub fn flag(&self, attribute: &str) -> Result<bool, Unfit> {
        self.required(attribute, FLAG, Self::optional_flag)
    }

    pub fn optional_flag(&self, attribute: &str) -> Result<Option<bool>, Unfit> {
        self.read(attribute, FLAG, |name, reader| (name == "BOOL").then(|| reader.flag()))
    }

    /// Returns a binary value (B) as base64.
    pub fn binary(&self, attribute: &str) -> Result<Cow<'a, str>, Unfit> {
        self.required(attribute, BINARY, Self::optional_binary)
    }

    pub fn optional_binary(&self, attribute: &str) -> Result<Option<Cow<'a, str>>, Unfit> {
        self.read(attribute, BINARY, |name, reader| (name == "B").then(|| reader.string()))
    }

    /// Returns a list (L) of strings.
    pub fn texts(&self, attribute: &str) -> Result<Vec<Cow<'a, str>>, Unfit> {
        self.required(attribute, TEXTS, Self::optional_texts)
    }

    pub fn optional_texts(&self, attribute: &str) -> Result<Option<Vec<Cow<'a, str>>>, Unfit> {
        self.list(attribute, TEXTS, |name, reader| (name == "S").then(|| reader.string()))
    }

    /// Returns a list (L) of numbers.
    pub fn numbers(&self, attribute: &str) -> Result<Vec<Number<'a>>, Unfit> {
        self.required(attribute, NUMBERS, Self::optional_numbers)
    }

    pub fn optional_numbers(&self, attribute: &str) -> Result<Option<Vec<Number<'a>>>, Unfit> {
        self.list(attribute, NUMBERS, |name, reader| (name == "N").then(|| number(reader)))
    }

    /// Returns a string set (SS), sorted.
    pub fn text_set(&self, attribute: &str) -> Result<Vec<Cow<'a, str>>, Unfit> {
        self.required(attribute, TEXT_SET, Self::optional_text_set)
    }

    pub fn optional_text_set(&self, attribute: &str) -> Result<Option<Vec<Cow<'a, str>>>, Unfit> {
        let mut set =
            self.read(attribute, TEXT_SET, |name, reader| (name == "SS").then(|| elements(reader, Reader::string)))?;
        set.iter_mut().for_each(|set| set.sort_unstable());
        Ok(set)
    }

    /// Returns a map (M).
    pub fn map(&self, attribute: &str) -> Result<Image<'a>, Unfit> {
        self.required(attribute, MAP, Self::optional_map)
    }

    pub fn optional_map(&self, attribute: &str) -> Result<Option<Image<'a>>, Unfit> {
        self.read(attribute, MAP, |name, reader| (name == "M").then(|| map(reader)))
    }

    /// Returns a list (L) of maps.
    pub fn maps(&self, attribute: &str) -> Result<Vec<Image<'a>>, Unfit> {
        self.required(attribute, MAPS, Self::optional_maps)
    }

    pub fn optional_maps(&self, attribute: &str) -> Result<Option<Vec<Image<'a>>>, Unfit> {
        self.list(attribute, MAPS, |name, reader| (name == "M").then(|| map(reader)))
    }

    /// Returns the value of an attribute as DynamoDB JSON: `{"N":"1"}`.
    pub(crate) fn value(&self, attribute: &str) -> Option<&'a str> {
        self.attributes.iter().find(|candidate| candidate.name == attribute).map(|found| found.value)
    }

    fn required<T>(
        &self,
        attribute: &str,
        expected: &'static str,
        optional: impl FnOnce(&Self, &str) -> Result<Option<T>, Unfit>,
    ) -> Result<T, Unfit> {
        optional(self, attribute)?.ok_or_else(|| unfit(attribute, expected))
    }

    fn read<T>(&self, attribute: &str, expected: &'static str, typed: impl Typed<'a, T>) -> Result<Option<T>, Unfit> {
        let Some(value) = self.value(attribute) else { return Ok(None) };
        one(&mut Reader::new(value), typed).map(Some).map_err(|_| unfit(attribute, expected))
    }

    fn list<T>(
        &self,
        attribute: &str,
        expected: &'static str,
        typed: impl Typed<'a, T>,
    ) -> Result<Option<Vec<T>>, Unfit> {
        self.read(attribute, expected, |name, reader| {
            (name == "L").then(|| elements(reader, |reader| one(reader, typed)))
        })
    }
}

const TEXT: &str = "a string (S)";
const NUMBER: &str = "a number (N)";
const FLAG: &str = "a boolean (BOOL)";
const BINARY: &str = "binary (B)";
const TEXTS: &str = "a list (L) of strings";
const NUMBERS: &str = "a list (L) of numbers";
const TEXT_SET: &str = "a string set (SS)";
const MAP: &str = "a map (M)";
const MAPS: &str = "a list (L) of maps";

/// Reads the value of a type descriptor. Returns `None` for any other descriptor.
trait Typed<'a, T>: Copy + Fn(&str, &mut Reader<'a>) -> Option<Result<T, Malformed>> {}
impl<'a, T, F: Copy + Fn(&str, &mut Reader<'a>) -> Option<Result<T, Malformed>>> Typed<'a, T> for F {}

fn unfit(attribute: &str, expected: &'static str) -> Unfit {
    Unfit { attribute: attribute.to_owned(), expected }
}

/// Reads one descriptor with its value: `{"S":"..."}`.
fn one<'a, T>(reader: &mut Reader<'a>, typed: impl Typed<'a, T>) -> Result<T, Malformed> {
    let mut value = None;
    reader.object(|reader, name| {
        let wrong = reader.malformed("value of this type");
        value = Some(typed(&name, reader).ok_or(wrong)??);
        Ok(())
    })?;
    value.ok_or_else(|| reader.malformed("type descriptor"))
}

fn elements<'a, T>(
    reader: &mut Reader<'a>,
    element: impl Fn(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let mut found = Vec::new();
    reader.array(|reader| {
        found.push(element(reader)?);
        Ok(())
    })?;
    Ok(found)
}

/// Returns the string of `{"S":"..."}` without a reader, if it has no white space and no escapes. This is the usual
/// case.
fn plain<'a>(value: &'a str, before: &str) -> Option<&'a str> {
    let inside = value.strip_prefix(before)?.strip_suffix(r#""}"#)?;
    let special = inside.bytes().fold(false, |found, byte| found | (byte == b'"') | (byte == b'\\'));
    (!special).then_some(inside)
}

/// Reads a number, which is a string without escapes.
fn number<'a>(reader: &mut Reader<'a>) -> Result<Number<'a>, Malformed> {
    match reader.string()? {
        Cow::Borrowed(text) => Number::new(text).ok_or(reader.malformed("number")),
        Cow::Owned(_) => Err(reader.malformed("number")),
    }
}

fn map<'a>(reader: &mut Reader<'a>) -> Result<Image<'a>, Malformed> {
    Image::parse(reader.value()?).map_err(|_| reader.malformed("map"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"{
        "name":{"S":"caf\u00e9"}, "count":{"N":"12345678901234567890.5"}, "open":{"BOOL":true}, "photo":{"B":"AAE="},
        "terms":{"L":[{"S":"b"},{"S":"a"}]}, "place":{"L":[{"N":"-125.5"},{"N":"49.6"}]}, "tags":{"SS":["b","a"]},
        "shape":{"M":{"bytes":{"N":"7"}}}, "parts":{"L":[{"M":{"n":{"N":"1"}}},{"M":{"n":{"N":"2"}}}]}, "gone":{"NULL":true}
    }"#;

    #[test]
    fn attribute_is_read_with_its_own_type() {
        let image = Image::parse(ITEM).unwrap();
        assert_eq!(image.text("name").unwrap(), "café");
        assert_eq!(image.number("count").unwrap().as_str(), "12345678901234567890.5");
        assert!(image.flag("open").unwrap());
        assert_eq!(image.binary("photo").unwrap(), "AAE=");
        assert_eq!(image.texts("terms").unwrap(), ["b", "a"]);
        assert_eq!(image.numbers("place").unwrap().iter().map(|n| n.as_str()).collect::<Vec<_>>(), ["-125.5", "49.6"]);
        assert_eq!(image.text_set("tags").unwrap(), ["a", "b"]);
        assert_eq!(image.map("shape").unwrap().number("bytes").unwrap().integer(), Some(7));
        assert_eq!(image.maps("parts").unwrap().len(), 2);
        assert!(image.has("gone") && !image.has("absent"));
        assert_eq!(image.map("shape").unwrap().names().collect::<Vec<_>>(), ["bytes"]);
    }

    #[test]
    fn attribute_of_another_type_is_unfit() {
        let image = Image::parse(ITEM).unwrap();
        type Read = fn(&Image<'_>, &str) -> Result<(), Unfit>;
        let reads: [(&str, &str, Read); 9] = [
            ("name", TEXT, |i, a| i.optional_text(a).map(drop)),
            ("count", NUMBER, |i, a| i.optional_number(a).map(drop)),
            ("open", FLAG, |i, a| i.optional_flag(a).map(drop)),
            ("photo", BINARY, |i, a| i.optional_binary(a).map(drop)),
            ("terms", TEXTS, |i, a| i.optional_texts(a).map(drop)),
            ("place", NUMBERS, |i, a| i.optional_numbers(a).map(drop)),
            ("tags", TEXT_SET, |i, a| i.optional_text_set(a).map(drop)),
            ("shape", MAP, |i, a| i.optional_map(a).map(drop)),
            ("parts", MAPS, |i, a| i.optional_maps(a).map(drop)),
        ];
        for (own, expected, read) in reads {
            for attribute in ["name", "count", "open", "photo", "terms", "place", "tags", "shape", "parts", "gone"] {
                let wanted = if attribute == own { Ok(()) } else { Err(unfit(attribute, expected)) };
                assert_eq!(read(&image, attribute), wanted, "{own} read from {attribute}");
            }
            assert_eq!(read(&image, "absent"), Ok(()));
        }
        assert_eq!(image.text("absent"), Err(unfit("absent", TEXT)));
    }

    #[test]
    fn text_that_is_not_an_item_is_refused() {
        for text in ["", "[]", "{", r#"{"a"}"#, r#"{"a":{"S":"b"}} 1"#] {
            assert!(Image::parse(text).is_err(), "{text}");
        }
    }
}
