//! Filters of the grid: `column:op:value`.

use serde::Serialize;
use web::Fault;

use super::Column;
use crate::items::{Issue, State};
use crate::names::AttributeId;
use crate::options::Options;
use crate::project::Schema;
use crate::values::{Input, Type, number_key, text_operand};

/// A column with the test that its values must pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Filter {
    pub column: Column,
    pub test: Test,
}

/// A test of a column's values. Operands are keys, like those of the values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Test {
    /// One of these values.
    Is(Vec<String>),
    Compare(Comparison, String),
    /// A text that starts with this.
    Prefix(String),
    Empty,
    NotEmpty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Comparison {
    Below,
    UpTo,
    Above,
    From,
}

/// The fault of an element of a list of filters, or of the list as a whole.
#[derive(Debug)]
pub struct FilterFault {
    element: Option<usize>,
    detail: String,
}

impl FilterFault {
    /// The fault in the query string.
    pub fn of_parameter(self) -> Fault {
        match self.element {
            Some(index) => Fault::element("filter", index, self.detail),
            None => Fault::parameter("filter", self.detail),
        }
    }

    /// The fault in the body.
    pub fn of_list(self) -> Fault {
        let pointer = self.element.map_or("/filter".to_owned(), |index| format!("/filter/{index}"));
        Fault::pointer(pointer, self.detail)
    }
}

/// Filters of a grid.
const MAX_FILTERS: usize = 10;

/// Values of one `in`.
const MAX_VALUES: usize = 20;

/// The columns that every project has.
const COLUMNS: [&str; 5] = ["number", "name", "state", "createdAt", "updatedAt"];

const OPERATORS: [&str; 9] = ["eq", "in", "lt", "lte", "gt", "gte", "prefix", "empty", "notEmpty"];

impl Filter {
    /// Parses the filters of a query string. Values may contain commas, at which the list was split.
    pub fn of_parameter(pieces: &[String], schema: &Schema) -> Result<Vec<Self>, Vec<FilterFault>> {
        let filters = if pieces.is_empty() { Vec::new() } else { split(&pieces.join(",")) };
        Self::parse_all(filters.into_iter().enumerate(), schema)
    }

    /// Parses the filters of a list in a body. An element may have several, as in a query string.
    pub fn of_list(elements: &[String], schema: &Schema) -> Result<Vec<Self>, Vec<FilterFault>> {
        let of_element = |(index, element): (usize, &String)| split(element).into_iter().map(move |text| (index, text));
        Self::parse_all(elements.iter().enumerate().flat_map(of_element), schema)
    }

    /// Parses filters, each with the index of its element, or returns all their faults.
    fn parse_all(
        filters: impl Iterator<Item = (usize, String)>,
        schema: &Schema,
    ) -> Result<Vec<Self>, Vec<FilterFault>> {
        let filters: Vec<(usize, String)> = filters.collect();
        if filters.len() > MAX_FILTERS {
            let detail = format!("must be at most {MAX_FILTERS} filters");
            return Err(vec![FilterFault { element: None, detail }]);
        }
        let (mut parsed, mut faults) = (Vec::new(), Vec::new());
        for (element, text) in filters {
            match Self::parse(&text, schema) {
                Ok(filter) => parsed.push(filter),
                Err(detail) => faults.push(FilterFault { element: Some(element), detail }),
            }
        }
        if faults.is_empty() { Ok(parsed) } else { Err(faults) }
    }

    /// Parses `column:op:value`, or `column:op` for `empty` and `notEmpty`. A backslash escapes a backslash in a value, and
    /// a comma that does not separate two values.
    pub fn parse(text: &str, schema: &Schema) -> Result<Self, String> {
        let (column, rest) = text.split_once(':').ok_or("must be `column:op:value`")?;
        let (op, value) = rest.split_once(':').map_or((rest, None), |(op, value)| (op, Some(value)));
        let column = Column::parse(column, schema)?;
        let test = match (op, value) {
            ("empty", None) => Test::Empty,
            ("notEmpty", None) => Test::NotEmpty,
            ("empty" | "notEmpty", Some(_)) => return Err(format!("takes no value after `{op}`")),
            (_, None) => return Err("must be `column:op:value`".to_owned()),
            ("eq", Some(value)) => Test::Is(vec![operand(column, schema, &separated(value).join(","))?]),
            ("in", Some(values)) => {
                let values = separated(values);
                if values.len() > MAX_VALUES {
                    return Err(format!("must have at most {MAX_VALUES} values"));
                }
                let mut keys =
                    values.iter().map(|value| operand(column, schema, value)).collect::<Result<Vec<_>, _>>()?;
                keys.sort();
                keys.dedup();
                Test::Is(keys)
            }
            ("prefix", Some(value)) => Test::Prefix(text_operand(&separated(value).join(","))?),
            (op, Some(value)) => {
                let comparison = Comparison::parse(op).ok_or_else(|| format!("has an unknown operator `{op}`"))?;
                compare(column, schema, comparison, &separated(value).join(","))?
            }
        };
        if test.fits(column, schema) {
            Ok(Self { column, test })
        } else {
            Err(format!("has an operator that does not fit its column: `{op}`"))
        }
    }

    /// Whether the issue matches.
    pub fn holds(&self, issue: &Issue) -> bool {
        let key = self.column.key(issue);
        match (&self.test, key) {
            (Test::Empty, key) => key.is_none(),
            (_, None) => false,
            (Test::NotEmpty, Some(_)) => true,
            (Test::Is(keys), Some(key)) => keys.contains(&key.keyword()),
            (Test::Prefix(prefix), Some(key)) => key.as_str().starts_with(prefix),
            (Test::Compare(comparison, operand), Some(key)) => comparison.holds(&key.keyword(), operand),
        }
    }
}

impl Test {
    fn fits(&self, column: Column, schema: &Schema) -> bool {
        let of = column.attribute(schema).map(|attribute| attribute.item.of);
        match self {
            Self::Is(_) => true,
            Self::Empty | Self::NotEmpty => of.is_some(),
            Self::Prefix(_) => column == Column::Name || of == Some(Type::Text),
            Self::Compare(..) => match column {
                Column::Number | Column::Name | Column::CreatedAt | Column::UpdatedAt => true,
                Column::State => false,
                Column::Attribute(_) => of != Some(Type::Choice),
            },
        }
    }
}

impl Comparison {
    fn parse(op: &str) -> Option<Self> {
        Some(match op {
            "lt" => Self::Below,
            "lte" => Self::UpTo,
            "gt" => Self::Above,
            "gte" => Self::From,
            _ => return None,
        })
    }

    pub fn holds(self, key: &str, operand: &str) -> bool {
        match self {
            Self::Below => key < operand,
            Self::UpTo => key <= operand,
            Self::Above => key > operand,
            Self::From => key >= operand,
        }
    }
}

/// The comparison as a test. Issue numbers are whole, so a comparison of them includes its operand.
fn compare(column: Column, schema: &Schema, comparison: Comparison, value: &str) -> Result<Test, String> {
    if column != Column::Number {
        return Ok(Test::Compare(comparison, operand(column, schema, value)?));
    }
    let number = issue_number(value)?;
    Ok(match comparison {
        Comparison::Below if number == 0 => Test::Is(Vec::new()),
        Comparison::Below => Test::Compare(Comparison::UpTo, number_key(number.saturating_sub(1))),
        Comparison::Above => Test::Compare(Comparison::From, number_key(number.saturating_add(1))),
        included => Test::Compare(included, number_key(number)),
    })
}

fn operand(column: Column, schema: &Schema, value: &str) -> Result<String, String> {
    match column {
        Column::Number => issue_number(value).map(number_key),
        Column::Name => text_operand(value),
        Column::State => State::parse(&value.to_lowercase())
            .map(|state| state.as_str().to_owned())
            .ok_or("must be `open` or `closed`".to_owned()),
        Column::CreatedAt | Column::UpdatedAt => {
            let plain = Type::DateTime.read(&Input::from(value), &Options::default())?;
            Ok(Type::DateTime.key(&plain).as_str().to_owned())
        }
        Column::Attribute(_) => {
            let attribute = column.attribute(schema).ok_or("must name a column")?;
            match attribute.item.of {
                Type::Text => text_operand(value),
                Type::Choice => {
                    let option = attribute.options().find(value);
                    option.map(|option| option.id.to_string()).ok_or("must be an option of the attribute".to_owned())
                }
                of => {
                    let plain = of.read(&Input::from(value), attribute.options())?;
                    Ok(of.key(&plain).as_str().to_owned())
                }
            }
        }
    }
}

/// The filters of a text, separated by commas. What follows a comma and does not start like a filter belongs to the
/// filter before it.
fn split(text: &str) -> Vec<String> {
    let mut filters: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match filters.last_mut() {
            Some(last) if escapes(last) || !starts_filter(piece) => *last = format!("{last},{piece}"),
            _ => filters.push(piece.to_owned()),
        }
    }
    filters
}

/// Whether a text ends with a backslash that escapes the next character.
fn escapes(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Whether a text starts with a column and an operator.
fn starts_filter(text: &str) -> bool {
    let Some((column, rest)) = text.split_once(':') else { return false };
    let is_column = COLUMNS.contains(&column) || AttributeId::parse_id(column).is_some();
    is_column && OPERATORS.contains(&rest.split_once(':').map_or(rest, |(op, _)| op))
}

fn issue_number(value: &str) -> Result<u64, String> {
    let plain = value.len() <= 15 && !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit());
    value.parse().ok().filter(|_| plain).ok_or_else(|| "must be a whole number".to_owned())
}

/// The values of a list, unescaped.
fn separated(list: &str) -> Vec<String> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let mut rest = list.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => value.extend(rest.next()),
            ',' => values.push(std::mem::take(&mut value)),
            other => value.push(other),
        }
    }
    values.push(value);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_list_may_hold_commas() {
        assert_eq!(separated("a,b"), ["a", "b"]);
        assert_eq!(separated(r"a\,b,c\\d,"), ["a,b", r"c\d", ""]);
    }

    #[test]
    fn a_backslash_that_has_one_before_it_escapes_nothing() {
        assert!(escapes(r"a\") && escapes(r"a\\\"));
        assert!(!escapes("a") && !escapes(r"a\\") && !escapes(""));
    }

    #[test]
    fn a_number_of_an_issue_is_plain() {
        assert_eq!(issue_number("007"), Ok(7));
        for text in ["", "-1", "1.5", "1e3", "1234567890123456"] {
            assert!(issue_number(text).is_err(), "{text}");
        }
    }
}
