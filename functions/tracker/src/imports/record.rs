//! A record after parsing, or its faults.

use jobs::RowFault;
use sheet::{Cell, unguarded};
use web::visible::name_fault;

use super::column::Target;
use super::dates::DateOrder;
use super::records::Record;
use super::{ImportParams, Mode};
use crate::issues::MAX_NUMBER;
use crate::items::{Issue, State, Value};
use crate::names::AttributeId;
use crate::project::{Attribute, Schema};
use crate::values::{Input, Plain, Type, folded};

/// Characters of an issue's name.
const MAX_NAME: usize = 255;

/// A parsed record. An empty cell means that there is no value.
#[derive(Clone, Debug)]
pub struct ParsedRow {
    pub record: u64,
    pub line: u64,
    /// The line of its number.
    pub number_line: u64,
    pub number: Option<u64>,
    name: Option<String>,
    state: Option<State>,
    values: Vec<(AttributeId, Option<Value>)>,
}

/// Parses a record by the columns of its file.
pub fn read(params: &ImportParams, schema: &Schema, record: &Record) -> Result<ParsedRow, Vec<RowFault>> {
    let whole = |detail: String| vec![RowFault { record: record.number, line: record.line, column: None, detail }];
    let cells = record.cells.as_ref().map_err(|reason| whole(reason.clone()))?;
    // Spreadsheets write empty cells after the last column.
    let beyond = cells.get(params.columns.len()..);
    if beyond.is_none_or(|beyond| beyond.iter().any(|cell| !cell.text.trim().is_empty())) {
        let detail = format!("has {} fields, and the header has {}", cells.len(), params.columns.len());
        return Err(whole(detail));
    }
    let mut parsed = ParsedRow {
        record: record.number,
        line: record.line,
        number_line: line_of(params, record, Target::Number),
        number: None,
        name: None,
        state: None,
        values: Vec::new(),
    };
    let mut faults = Vec::new();
    for ((target, header), cell) in params.columns.iter().zip(&params.headers).zip(cells) {
        if let Err(detail) = parsed.set(*target, cell, params.date_order, schema) {
            let (line, column) = (record.line + cell.line, Some(header.clone()));
            faults.push(RowFault { record: record.number, line, column, detail });
        }
    }
    let named = cell(params, record, Target::Name);
    // A record of an upsert whose number is invalid may be meant for an existing issue, which has a name.
    let creates = params.mode == Mode::Create
        || is_unnumbered(params, record)
        || parsed.number.is_some_and(|number| number > params.numbers.given);
    if named.map_or(creates, |name| name.text.trim().is_empty()) {
        faults.push(RowFault {
            record: record.number,
            line: line_of(params, record, Target::Name),
            column: params.header(Target::Name),
            detail: "must have a name".to_owned(),
        });
    }
    if faults.is_empty() { Ok(parsed) } else { Err(faults) }
}

/// The number of a record, whose other cells may be invalid.
pub fn number(params: &ImportParams, record: &Record) -> Option<u64> {
    number_of(cell(params, record, Target::Number)?.text.trim())
}

/// The line on which a record's cell of this column starts; the line of the record if it has no such cell.
pub fn line_of(params: &ImportParams, record: &Record, of: Target) -> u64 {
    record.line + cell(params, record, of).map_or(0, |cell| cell.line)
}

fn cell<'a>(params: &ImportParams, record: &'a Record, of: Target) -> Option<&'a Cell> {
    let place = params.columns.iter().position(|target| *target == of)?;
    record.cells.as_ref().ok()?.get(place)
}

fn number_of(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|number| plain && (1..=MAX_NUMBER).contains(number))
}

/// Whether a record has no number. It does not depend on the schema, since the numbers of later records depend on the count of
/// the first pass.
pub fn is_unnumbered(params: &ImportParams, record: &Record) -> bool {
    cell(params, record, Target::Number).is_none_or(|cell| cell.text.trim().is_empty())
}

impl ImportParams {
    /// The header of a column. None if the file has no such column.
    pub fn header(&self, of: Target) -> Option<String> {
        let index = self.columns.iter().position(|target| *target == of)?;
        self.headers.get(index).cloned()
    }
}

impl ParsedRow {
    /// Spaces around a cell are no part of its value, except in names and texts.
    fn set(&mut self, target: Target, cell: &Cell, dates: DateOrder, schema: &Schema) -> Result<(), String> {
        let text = cell.text.trim();
        match target {
            Target::Nothing => {}
            Target::Attribute(id) => {
                let value = match schema.column(id) {
                    // The attribute was deleted during the import. A value that was written before went with it.
                    None => return Ok(()),
                    Some(_) if text.is_empty() => None,
                    Some(attribute) => Some(value(attribute, &cell.text, dates)?),
                };
                self.values.push((id, value));
            }
            _ if text.is_empty() => {}
            Target::Number => {
                let expected = || format!("must be a whole number from 1 to {MAX_NUMBER}");
                self.number = Some(number_of(text).ok_or_else(expected)?);
            }
            Target::Name => {
                let name = unguarded(&cell.text);
                if name.chars().count() > MAX_NAME {
                    return Err(format!("must be at most {MAX_NAME} characters"));
                }
                if let Some(fault) = name_fault("", name) {
                    return Err(fault.detail);
                }
                self.name = Some(name.to_owned());
            }
            Target::State => {
                let state = State::parse(&text.to_lowercase());
                self.state = Some(state.ok_or_else(|| "must be `open` or `closed`".to_owned())?);
            }
        }
        Ok(())
    }

    /// The issue after the record's values are set.
    pub fn apply(&self, mut issue: Issue, schema: &Schema) -> Issue {
        issue.name = self.name.clone().unwrap_or(issue.name);
        issue.state = self.state.unwrap_or(issue.state);
        for (id, value) in &self.values {
            let is_shown_alike = match (schema.column(*id), issue.value(*id), value) {
                (Some(attribute), Some(before), Some(after)) => have_same_label(attribute, before, after),
                _ => false,
            };
            // A retired option stays the same if another option has its label now.
            if !is_shown_alike {
                issue.set(*id, value.clone());
            }
        }
        issue
    }
}

/// Parses a cell as a value of its attribute. Retired options may be set, so that an exported file can be imported.
fn value(attribute: &Attribute, text: &str, dates: DateOrder) -> Result<Value, String> {
    let (of, options) = (attribute.item.of, attribute.options());
    let plain = match of {
        Type::Choice => {
            let option = options.labelled(unguarded(text.trim()));
            let option = option.ok_or_else(|| "must be the label of one of the attribute's options".to_owned())?;
            Plain::stored(option.id.to_string())
        }
        Type::Text => of.read(&Input::from(unguarded(text)), options)?,
        Type::Date => dates.read(text.trim(), options)?,
        _ => of.read(&Input::from(text.trim()), options)?,
    };
    Ok(Value { slot: attribute.item.slot, of, value: plain.as_str().to_owned() })
}

/// Whether two options of a choice have the same label.
fn have_same_label(attribute: &Attribute, before: &Value, after: &Value) -> bool {
    if before.of != Type::Choice || after.of != Type::Choice {
        return false;
    }
    let label = |value: &Value| attribute.options().by_id(&value.value).map(|option| folded(&option.label));
    label(before).is_some() && label(before) == label(after)
}
