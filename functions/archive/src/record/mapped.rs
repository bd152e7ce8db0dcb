//! A row of a file by its mapping: people, events, household, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, EventType, Person, Sex, name, sex};
use crate::dates;
use crate::mapping::{DateOrder, Field, MappedColumn, PersonRole, header_key};
use crate::names::Household;

/// Between the texts of several columns that are one household.
const HOUSEHOLD_SEPARATOR: &str = " / ";

/// A mapping with the columns of a file.
#[derive(Clone, Debug)]
pub struct BoundMapping<'a> {
    /// Each mapped column with its index in the file, in the order of the mapping.
    columns: Vec<(usize, &'a MappedColumn)>,
}

/// The content of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MappedRow {
    /// At most one person of each role, in the order of the roles.
    pub people: Vec<Person>,
    /// At most one event of each type and role, in the order of roles and types. Their places are not resolved.
    pub events: Vec<Event>,
    /// For each event, the index in the file of the first mapped column that has a text of its place.
    pub place_columns: Vec<Option<usize>>,
    pub keywords: Vec<String>,
    /// Absent if one of its columns is blank: a parish without a number is no household.
    pub household: Option<String>,
    pub relation: Option<String>,
    /// The columns that name the row for good. Absent if one of them is blank.
    pub key: Option<Vec<String>>,
    pub faults: Vec<RowFault>,
}

/// Something wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// The index of the column in the file.
    pub column: Option<usize>,
    pub kind: RowFaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFaultKind {
    /// No person of the row has a name. A warning.
    NoName,
    /// The text of the date is kept, but no search by date finds it. A warning.
    DateNotUnderstood,
    /// Some columns of the household are blank, and others are not: the row is in no household. A warning.
    HouseholdIncomplete,
    /// The household is too long for a key. An error.
    HouseholdTooLong,
}

impl<'a> BoundMapping<'a> {
    /// Finds the columns of a mapping in a file. The error has the headers that the file lacks.
    pub fn new(mapping: &'a [MappedColumn], headers: &[String]) -> Result<Self, Vec<&'a str>> {
        let keys: Vec<String> = headers.iter().map(|header| header_key(header)).collect();
        let (mut columns, mut missing) = (Vec::with_capacity(mapping.len()), Vec::new());
        for column in mapping {
            let key = header_key(&column.header);
            match keys.iter().position(|other| *other == key) {
                Some(index) => columns.push((index, column)),
                None => missing.push(column.header.as_str()),
            }
        }
        // Mappings that list the columns of the key in another order have the same keys.
        let (mut of_key, mut columns): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|(_, column)| column.field == Field::Key);
        of_key.sort_by_cached_key(|(_, column)| header_key(&column.header));
        columns.extend(of_key);
        if missing.is_empty() { Ok(Self { columns }) } else { Err(missing) }
    }

    /// Returns the content of a row. A row that is too short has empty cells.
    pub fn read(&self, values: &[String]) -> MappedRow {
        let mut people: BTreeMap<PersonRole, PersonCells<'_>> = BTreeMap::new();
        let mut events: BTreeMap<(PersonRole, EventType), EventCells<'_>> = BTreeMap::new();
        let (mut household, mut relation, mut key) = (Vec::new(), Vec::new(), Vec::new());
        let mut row = MappedRow::default();
        for (index, column) in &self.columns {
            let cell = values.get(*index).map_or("", String::as_str);
            match column.field {
                Field::Household => household.push((*index, cell)),
                Field::Key => key.push(cell),
                _ if cell.is_empty() => {}
                Field::Relation => relation.push(cell),
                Field::Keywords => row.keywords.push(cell.to_owned()),
                Field::Given => people.entry(column.role).or_default().given.push(cell),
                Field::Surname => people.entry(column.role).or_default().surname.push(cell),
                Field::Name => people.entry(column.role).or_default().name.push(cell),
                Field::Sex => {
                    if let Some(sex) = sex::read(cell) {
                        people.entry(column.role).or_default().sex.get_or_insert(sex);
                    }
                }
                field => {
                    if let Some((kind, detail)) = event_detail(field) {
                        let event = events.entry((column.role, kind)).or_default();
                        event.push(detail, *index, cell, column.date_order);
                    }
                }
            }
        }
        row.people = people.into_iter().map(|(role, cells)| cells.person(role)).collect();
        if !row.people.iter().any(Person::has_name) {
            row.faults.push(RowFault { column: None, kind: RowFaultKind::NoName });
        }
        for ((role, kind), cells) in events {
            row.place_columns.push(cells.place_column);
            row.events.push(cells.event(kind, role, &mut row.faults));
        }
        row.household = joined_household(&household, &mut row.faults);
        row.relation = (!relation.is_empty()).then(|| relation.join(" "));
        let is_whole = !key.is_empty() && key.iter().all(|part| !part.is_empty());
        row.key = is_whole.then(|| key.into_iter().map(str::to_owned).collect());
        row
    }
}

/// Returns the headers of the columns that are the key of a row.
pub fn key_headers(mapping: &[MappedColumn]) -> BTreeSet<String> {
    mapping.iter().filter(|column| column.field == Field::Key).map(|column| header_key(&column.header)).collect()
}

/// Returns the name of each column that readers see: its label, or else its header.
pub fn labels<'a>(mapping: &'a [MappedColumn], headers: &'a [String]) -> Vec<&'a str> {
    let label = |header: &'a String| {
        let key = header_key(header);
        let column = mapping.iter().find(|column| header_key(&column.header) == key);
        column.and_then(|column| column.label.as_deref()).unwrap_or(header)
    };
    headers.iter().map(label).collect()
}

fn joined_household(cells: &[(usize, &str)], faults: &mut Vec<RowFault>) -> Option<String> {
    let (column, _) = cells.first()?;
    if let Some((blank, _)) = cells.iter().find(|(_, cell)| cell.is_empty()) {
        if cells.iter().any(|(_, cell)| !cell.is_empty()) {
            faults.push(RowFault { column: Some(*blank), kind: RowFaultKind::HouseholdIncomplete });
        }
        return None;
    }
    let household = cells.iter().map(|(_, cell)| *cell).collect::<Vec<_>>().join(HOUSEHOLD_SEPARATOR);
    if Household::new(&household).is_ok() {
        return Some(household);
    }
    faults.push(RowFault { column: Some(*column), kind: RowFaultKind::HouseholdTooLong });
    None
}

/// The cells about one person. Several columns of a field are joined by spaces, such as first and middle names.
#[derive(Default)]
struct PersonCells<'a> {
    given: Vec<&'a str>,
    surname: Vec<&'a str>,
    name: Vec<&'a str>,
    sex: Option<Sex>,
}

impl PersonCells<'_> {
    /// A whole name tells what the columns of its parts leave open.
    fn person(self, role: PersonRole) -> Person {
        let (mut given, mut surname) = (self.given.join(" "), self.surname.join(" "));
        let (given_in_name, surname_in_name) = name::split(&self.name.join(" "));
        if given.is_empty() {
            given = given_in_name;
        }
        if surname.is_empty() {
            surname = surname_in_name;
        }
        Person { role, given, surname, sex: self.sex.or(sex::of_role(role)) }
    }
}

/// The cells about one event. Several columns of a date are joined by spaces, such as day, month and year, and those of a
/// place by commas.
#[derive(Default)]
struct EventCells<'a> {
    dates: Vec<&'a str>,
    places: Vec<&'a str>,
    order: Option<DateOrder>,
    /// The first column of the date.
    date_column: Option<usize>,
    /// The first column of the place.
    place_column: Option<usize>,
}

impl<'a> EventCells<'a> {
    fn push(&mut self, detail: EventDetail, index: usize, cell: &'a str, order: Option<DateOrder>) {
        match detail {
            EventDetail::Date => {
                self.dates.push(cell);
                self.order = self.order.or(order);
                self.date_column = self.date_column.or(Some(index));
            }
            EventDetail::Place => {
                self.places.push(cell);
                self.place_column = self.place_column.or(Some(index));
            }
        }
    }

    fn event(self, kind: EventType, role: PersonRole, faults: &mut Vec<RowFault>) -> Event {
        let date_text = self.dates.join(" ");
        let days = dates::parse(&date_text, self.order);
        // One of a row, so that the report of a file stays small.
        let is_first = faults.iter().all(|fault| fault.kind != RowFaultKind::DateNotUnderstood);
        if days.is_none() && !date_text.is_empty() && is_first {
            faults.push(RowFault { column: self.date_column, kind: RowFaultKind::DateNotUnderstood });
        }
        Event {
            kind,
            role,
            date_text,
            from: days.map(dates::Interval::from_number),
            to: days.map(dates::Interval::to_number),
            place_text: self.places.join(", "),
            place_id: None,
            place_path: Vec::new(),
            lat: None,
            lon: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventDetail {
    Date,
    Place,
}

/// Returns the event that a field is about, and what of it. Returns `None` for a field that is about no event.
const fn event_detail(field: Field) -> Option<(EventType, EventDetail)> {
    let detail = if field.is_date() { EventDetail::Date } else { EventDetail::Place };
    let kind = match field {
        Field::BirthDate | Field::BirthPlace => EventType::Birth,
        Field::BaptismDate | Field::BaptismPlace => EventType::Baptism,
        Field::MarriageDate | Field::MarriagePlace => EventType::Marriage,
        Field::ResidenceDate | Field::ResidencePlace => EventType::Residence,
        Field::DeathDate | Field::DeathPlace => EventType::Death,
        Field::BurialDate | Field::BurialPlace => EventType::Burial,
        Field::OtherDate | Field::OtherPlace => EventType::Other,
        Field::Given
        | Field::Surname
        | Field::Name
        | Field::Sex
        | Field::Keywords
        | Field::Household
        | Field::Relation
        | Field::Key
        | Field::None => return None,
    };
    Some((kind, detail))
}
