//! Tests of records: rows as their mapping reads them.

use serde_json::json;

use super::*;
use crate::dates;
use crate::mapping::{DateOrder, Field, MappedColumn};

/// An event of the principal person with a date.
pub fn event(kind: EventType, date: &str) -> Event {
    let days = dates::parse(date, None);
    Event {
        kind,
        role: PersonRole::Principal,
        date_text: date.to_owned(),
        from: days.map(dates::Interval::from_number),
        to: days.map(dates::Interval::to_number),
        place_text: String::new(),
        place_id: None,
        place_path: Vec::new(),
        lat: None,
        lon: None,
    }
}

/// A mapped column of the principal person.
fn column(header: &str, field: Field) -> MappedColumn {
    MappedColumn { header: header.to_owned(), label: None, role: PersonRole::Principal, field, date_order: None }
}

fn of(role: PersonRole, column: MappedColumn) -> MappedColumn {
    MappedColumn { role, ..column }
}

/// Reads a row whose columns are those of the mapping, in its order.
fn read(mapping: &[MappedColumn], cells: &[&str]) -> MappedRow {
    let headers: Vec<String> = mapping.iter().map(|column| column.header.clone()).collect();
    let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    BoundMapping::new(mapping, &headers).unwrap().read(&cells)
}

fn person(role: PersonRole, given: &str, surname: &str, sex: Option<Sex>) -> Person {
    Person { role, given: given.to_owned(), surname: surname.to_owned(), sex }
}

fn census() -> [MappedColumn; 7] {
    [
        column("House", Field::Household),
        column("Surname", Field::Surname),
        column("Forenames", Field::Given),
        column("Rel", Field::Relation),
        column("Sex", Field::Sex),
        column("Born", Field::BirthDate),
        column("Birthplace", Field::BirthPlace),
    ]
}

#[test]
fn row_of_a_census_has_a_person_with_birth_household_and_relation() {
    let row = read(&census(), &["14", "Pugh", "Evan", "Head", "M", "abt 1838", "Dolgellau, Wales"]);
    let birth = Event { place_text: "Dolgellau, Wales".to_owned(), ..event(EventType::Birth, "abt 1838") };
    let expected = MappedRow {
        people: vec![person(PersonRole::Principal, "Evan", "Pugh", Some(Sex::Male))],
        events: vec![birth],
        place_columns: vec![Some(6)],
        keywords: vec![],
        household: Some("14".to_owned()),
        relation: Some("Head".to_owned()),
        key: None,
        faults: vec![],
    };
    assert_eq!(row, expected);
}

#[test]
fn row_with_blank_cells_has_no_events_and_no_household() {
    let row = read(&census(), &["", "Jones", "Wm.", "Lodger", "M", "", ""]);
    assert_eq!(row.people, [person(PersonRole::Principal, "Wm.", "Jones", Some(Sex::Male))]);
    assert_eq!((row.events, row.household, row.faults), (vec![], None, vec![]));
    let short = read(&census(), &["14", "Jones"]);
    assert_eq!(short.people, [person(PersonRole::Principal, "", "Jones", None)]);
}

#[test]
fn columns_are_found_in_any_order_without_regard_to_case_accents_and_spaces() {
    let mapping = [column("Née", Field::Surname), column("First Name", Field::Given)];
    let headers = ["Age", "FIRSTNAME", "nee"].map(str::to_owned);
    let row = BoundMapping::new(&mapping, &headers).unwrap().read(&["9", "Ann", "Rees"].map(str::to_owned));
    assert_eq!(row.people, [person(PersonRole::Principal, "Ann", "Rees", None)]);
    assert_eq!(BoundMapping::new(&mapping, &["Nee".to_owned()]).unwrap_err(), ["First Name"]);
}

#[test]
fn each_role_is_a_person_with_its_own_events() {
    let mapping = [
        of(PersonRole::Groom, column("Groom", Field::Name)),
        of(PersonRole::Bride, column("Bride", Field::Name)),
        of(PersonRole::BrideFather, column("Bride's father", Field::Name)),
        of(PersonRole::Groom, column("Groom born", Field::BirthDate)),
        column("Married", Field::MarriageDate),
        column("Parish", Field::MarriagePlace),
    ];
    let row = read(&mapping, &["Jan van Dijk", "Rees, Ann", "", "1820", "3 May 1850", "Bala"]);
    let expected = [
        person(PersonRole::Bride, "Ann", "Rees", Some(Sex::Female)),
        person(PersonRole::Groom, "Jan", "van Dijk", Some(Sex::Male)),
    ];
    assert_eq!(row.people, expected);
    let marriage = Event { place_text: "Bala".to_owned(), ..event(EventType::Marriage, "3 May 1850") };
    let birth = Event { role: PersonRole::Groom, ..event(EventType::Birth, "1820") };
    assert_eq!(row.events, [marriage, birth]);
}

#[test]
fn columns_of_one_field_are_joined() {
    let mapping = [
        column("First", Field::Given),
        column("Middle", Field::Given),
        column("Name", Field::Name),
        column("Day", Field::BaptismDate),
        column("Month", Field::BaptismDate),
        column("Year", Field::BaptismDate),
        column("Parish", Field::BaptismPlace),
        column("County", Field::BaptismPlace),
        column("Trade", Field::Keywords),
        column("Note", Field::Keywords),
    ];
    let row = read(&mapping, &["Ann", "Mary", "A. Rees", "3", "Mar", "1850", "Bala", "Merioneth", "Dairymaid", "Twin"]);
    // The whole name tells only what the other columns leave open.
    assert_eq!(row.people, [person(PersonRole::Principal, "Ann Mary", "Rees", None)]);
    let place_text = "Bala, Merioneth".to_owned();
    assert_eq!(row.events, [Event { place_text, ..event(EventType::Baptism, "3 Mar 1850") }]);
    assert_eq!(row.keywords, ["Dairymaid", "Twin"]);
}

#[test]
fn date_is_read_in_the_order_of_its_column() {
    let day_first = MappedColumn { date_order: Some(DateOrder::DayMonthYear), ..column("Born", Field::BirthDate) };
    let row = read(&[column("Name", Field::Name), day_first], &["Ann Rees", "2/3/1900"]);
    assert_eq!((row.events[0].from, row.events[0].to), (Some(19000302), Some(19000302)));
}

#[test]
fn date_that_is_not_understood_is_kept_with_a_warning() {
    let mapping = [column("Name", Field::Name), column("Born", Field::BirthDate)];
    let row = read(&mapping, &["Ann Rees", "31 Feb 1850"]);
    assert_eq!(row.events, [event(EventType::Birth, "31 Feb 1850")]);
    assert_eq!(row.events[0].from, None);
    assert_eq!(row.faults, [RowFault { column: Some(1), kind: RowFaultKind::DateNotUnderstood }]);
}

#[test]
fn row_without_a_name_has_a_warning() {
    let row = read(&census(), &["14", "", "", "Son", "M", "1850", ""]);
    assert_eq!(row.people, [person(PersonRole::Principal, "", "", Some(Sex::Male))]);
    assert_eq!(row.faults, [RowFault { column: None, kind: RowFaultKind::NoName }]);
}

#[test]
fn sex_that_is_not_understood_is_absent() {
    let row = read(&census(), &["14", "Pugh", "Evan", "Head", "unknown", "", ""]);
    assert_eq!(row.people[0].sex, None);
}

#[test]
fn household_is_joined_from_its_columns_and_absent_if_one_is_blank() {
    let mapping = [column("Name", Field::Name), column("Parish", Field::Household), column("No", Field::Household)];
    assert_eq!(read(&mapping, &["Ann", "Bala", "14"]).household.as_deref(), Some("Bala / 14"));
    let blank = |column| RowFault { column: Some(column), kind: RowFaultKind::HouseholdIncomplete };
    for (cells, faults) in [(["Bala", ""], vec![blank(2)]), (["", "14"], vec![blank(1)]), (["", ""], vec![])] {
        let row = read(&mapping, &["Ann", cells[0], cells[1]]);
        assert_eq!((row.household, row.faults), (None, faults), "{cells:?}");
    }
    let long = "é".repeat(60);
    assert_eq!(
        read(&mapping, &["Ann", &long, &"é".repeat(57)]).household.map(|household| household.chars().count()),
        Some(120)
    );
    let row = read(&mapping, &["Ann", &long, &long]);
    assert_eq!(row.household, None);
    assert_eq!(row.faults, [RowFault { column: Some(1), kind: RowFaultKind::HouseholdTooLong }]);
}

#[test]
fn key_has_its_columns_and_is_absent_if_one_is_blank() {
    let mapping = [column("Name", Field::Name), column("Year", Field::Key), column("Entry", Field::Key)];
    let key = Some(vec!["7".to_owned(), "1850".to_owned()]);
    assert_eq!(read(&mapping, &["Ann", "1850", "7"]).key, key);
    // The order of the mapping does not matter.
    let [name, year, entry] = mapping.clone();
    assert_eq!(read(&[name, entry, year], &["Ann", "7", "1850"]).key, key);
    assert_eq!(read(&mapping, &["Ann", "1850", ""]).key, None);
    assert_eq!(read(&census(), &["14"]).key, None);
}

#[test]
fn labels_replace_headers() {
    let mapping = [MappedColumn { label: Some("Year of birth".to_owned()), ..column("yob", Field::BirthDate) }];
    let headers = ["Name", "YOB"].map(str::to_owned);
    assert_eq!(labels(&mapping, &headers), ["Name", "Year of birth"]);
}

fn record() -> Record {
    let id = "1000000004".parse().unwrap();
    Record {
        id,
        listed_by: id,
        run: RunNumber(2),
        row: 5,
        collection_id: "1000000002".parse().unwrap(),
        permanent_id: "1000000003".parse().unwrap(),
        values: vec!["14".to_owned(), "Pugh".to_owned()],
        people: vec![person(PersonRole::Principal, "Evan", "Pugh", Some(Sex::Male))],
        events: vec![Event {
            place_text: "Bala".to_owned(),
            place_id: Some("9002656397".parse().unwrap()),
            place_path: vec!["9002635167".parse().unwrap()],
            lat: Some("52.9".to_owned()),
            lon: Some("-3.6".to_owned()),
            ..event(EventType::Birth, "1838")
        }],
        relatives: vec![],
        keywords: vec![],
        household: Some("14".to_owned()),
        relation: None,
        visible_from: Some(20000101),
        corrections: BTreeMap::new(),
        created_at: "2026-11-25T12:00:00.000000Z".to_owned(),
        updated_at: "2026-11-25T12:00:00.000000Z".to_owned(),
        created_by: "1000000001".parse().unwrap(),
    }
}

#[test]
fn record_is_stored_in_camel_case_without_absent_attributes() {
    let expected = json!({
        "PK": "1000000004", "GSISK": "1000000004", "run": 2, "row": 5, "collectionId": "1000000002",
        "permanentId": "1000000003", "values": ["14", "Pugh"],
        "people": [{"role": "principal", "given": "Evan", "surname": "Pugh", "sex": "male"}],
        "events": [{
            "type": "birth", "role": "principal", "dateText": "1838", "from": 18380101, "to": 18381231, "placeText": "Bala",
            "placeId": "9002656397", "placePath": ["9002635167"], "lat": "52.9", "lon": "-3.6",
        }],
        "relatives": [], "keywords": [], "household": "14", "visibleFrom": 20000101,
        "createdAt": "2026-11-25T12:00:00.000000Z", "updatedAt": "2026-11-25T12:00:00.000000Z",
        "createdBy": "1000000001",
    });
    assert_eq!(serde_json::to_value(record()).unwrap(), expected);
    assert_eq!(serde_json::from_value::<Record>(expected).unwrap(), record());
}

#[test]
fn record_is_open_from_its_day_on() {
    let record = record();
    assert_eq!((record.is_open(19991231), record.is_open(20000101)), (false, true));
    assert!(Record { visible_from: None, ..record }.is_open(0));
}

#[test]
fn relatives_with_names_of_thousands_of_characters_leave_the_record_below_its_limit() {
    let mut record = record();
    record.values = vec!["x".repeat(10_000), "y".repeat(10_000)];
    let relative = Relative {
        relation: RelativeKind::Child,
        given: "z".repeat(10_000),
        surname: String::new(),
        visible_from: None,
    };
    record.set_relatives(vec![relative.clone(); 39]);
    assert_eq!(record.relatives.len(), 8);
    assert!(record.bytes() <= MAX_BYTES);
    record.set_relatives(vec![Relative { given: "Ann".to_owned(), ..relative }; 39]);
    assert_eq!(record.relatives.len(), 39);
}

#[test]
fn largest_row_with_every_cell_mapped_fits_a_record() {
    let mapping: Vec<MappedColumn> = (0..100).map(|index| column(&format!("c{index}"), Field::Keywords)).collect();
    let values: Vec<String> = (0..100).map(|_| "\"".repeat(327)).collect();
    let headers: Vec<String> = mapping.iter().map(|column| column.header.clone()).collect();
    let row = BoundMapping::new(&mapping, &headers).unwrap().read(&values);
    let record = Record { values, keywords: row.keywords, ..record() };
    // Quotes are escaped in JSON only.
    assert!(record.bytes() / 2 <= MAX_BYTES);
}
