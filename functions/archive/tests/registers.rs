//! Reads the registers in `tests/registers` and compares what is found with the `.json` next to each.
//!
//! `CAIRN_RECORD=1` writes the `.json` files. Review what changed.

#![allow(clippy::unwrap_used, reason = "tests say what they expect by it")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use archive::register::{
    Code, CsvOptions, Encoding, Event, Format, Inspection, MAX_CELL_CHARS, Problem, Problems, Reader, Row, Severity,
    inspect,
};
use serde_json::{Value, json};

/// The options that the uploader of a register has stated.
fn options(name: &str) -> CsvOptions {
    let encoding = match name {
        "marriages-polish" => Some("windows-1250"),
        "census-hungarian" => Some("latin2"),
        _ => None,
    };
    CsvOptions { encoding: encoding.map(|label| Encoding::labelled(label).unwrap()), delimiter: None }
}

/// Returns the events of a file that is read in pieces.
fn read(file: &[u8], format: Format, piece: usize) -> Vec<Event> {
    let mut reader = Reader::new(format);
    let mut events = Vec::new();
    for mut piece in file.chunks(piece) {
        events.extend(std::iter::from_fn(|| reader.next(&mut piece, false)));
    }
    events.extend(std::iter::from_fn(|| reader.next(&mut [].as_slice(), true)));
    events
}

fn rows(events: &[Event]) -> impl Iterator<Item = &Row> {
    events.iter().filter_map(|event| if let Event::Row(row) = event { Some(row) } else { None })
}

fn problems(events: &[Event]) -> impl Iterator<Item = &Problem> {
    events.iter().filter_map(|event| if let Event::Problem(problem) = event { Some(problem) } else { None })
}

/// Returns a cell as text, or as text and line if it does not begin on the line of its row.
fn cells(row: &Row) -> Value {
    row.cells
        .iter()
        .map(|cell| if cell.line == row.line { json!(cell.text) } else { json!([cell.text, cell.line]) })
        .collect()
}

/// Returns what is found in a file as JSON, with a line for each row and problem.
fn found(file: &[u8], options: CsvOptions) -> String {
    let inspection = match inspect(file, options) {
        Ok(inspection) => inspection,
        Err(refusal) => return format!("{{\n  \"refused\": {}\n}}\n", json!(refusal.text())),
    };
    let events = read(file, inspection.format(), file.len());
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(read(file, inspection.format(), piece), events, "in pieces of {piece}");
    }
    let Inspection { encoding, suggested_encoding, delimiter, headers, sample } = inspection;
    let good = rows(&events).map(|row| row.cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>());
    assert!(good.take(5).eq(sample), "the sample has the first rows");
    let mut text = format!("{{\n  \"encoding\": {},\n", json!(encoding));
    if let Some(suggested) = suggested_encoding {
        writeln!(text, "  \"suggestedEncoding\": {},", json!(suggested)).unwrap();
    }
    writeln!(text, "  \"delimiter\": {},\n  \"headers\": {},", json!(delimiter), json!(headers)).unwrap();
    let rows = events.iter().filter_map(|event| match event {
        Event::Row(row) => {
            Some(format!(r#"{{"number": {}, "line": {}, "cells": {}}}"#, row.number, row.line, cells(row)))
        }
        Event::BadRow { number, line } => Some(format!(r#"{{"number": {number}, "line": {line}, "hasErrors": true}}"#)),
        Event::Header(_) | Event::Problem(_) => None,
    });
    list(&mut text, "rows", rows);
    text += ",\n";
    list(&mut text, "problems", problems(&events).map(|problem| json!(problem).to_string()));
    text + "\n}\n"
}

fn list(text: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    let lines = lines.map(|line| format!("\n    {line}")).collect::<Vec<_>>().join(",");
    let end = if lines.is_empty() { "" } else { "\n  " };
    write!(text, "  \"{name}\": [{lines}{end}]").unwrap();
}

fn registers() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registers");
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut registers: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "csv")).collect();
    registers.sort();
    registers
}

#[test]
fn registers_are_read_as_recorded() {
    let registers = registers();
    assert!(registers.len() >= 14);
    for path in registers {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let found = found(&std::fs::read(&path).unwrap(), options(name));
        serde_json::from_str::<Value>(&found).unwrap();
        let expected = path.with_extension("json");
        if std::env::var_os("CAIRN_RECORD").is_some() {
            std::fs::write(expected, found).unwrap();
        } else {
            assert_eq!(found, std::fs::read_to_string(expected).unwrap(), "{name}");
        }
    }
}

const CENSUS: &str = "House,Surname,Forenames,Rel,Sex,Born,Birthplace\n\
    14,Pugh,Evan,Head,M,abt 1838,\"Dolgellau, Wales\"\n\
    14,Pugh,Margaret,Wife,F,1841,\"Bala, Wales\"\n\
    14,Pugh,Griffith,Son,M,Mar 1868,\"Dolgellau, Wales\"\n\
    15,Müller,Johann,Head,M,1850-1855,\"Zürich, Switzerland\"\n\
    ,Jones,Wm.,Lodger,M,,\n";

#[test]
fn row_with_a_cell_too_many_and_row_with_a_cell_too_long_are_left_out() {
    let long = "x".repeat(MAX_CELL_CHARS + 1);
    let file = CENSUS.replace("\"Bala, Wales\"", "\"Bala, Wales\",Welsh,x").replace("\"Zürich, Switzerland\"", &long);
    let events = read(file.as_bytes(), inspect(file.as_bytes(), CsvOptions::default()).unwrap().format(), 100);
    let found: Vec<_> = problems(&events)
        .map(|problem| (problem.line, problem.column.as_ref().map_or("", |column| &column.letter), problem.code))
        .collect();
    assert_eq!(found, [(3, "H", Code::LongRow), (5, "G", Code::CellTooLong)]);
    assert_eq!(rows(&events).map(|row| row.number).collect::<Vec<_>>(), [1, 3, 5]);
}

#[test]
fn mark_semicolons_and_mixed_line_ends_are_understood() {
    let file = "\u{feff}House;Surname\r\n1;\"O'Brien\nSeán\"\r2;Łuczak\n\n;\r\n";
    let inspection = inspect(file.as_bytes(), CsvOptions::default()).unwrap();
    assert_eq!(inspection.headers, ["House", "Surname"]);
    let events = read(file.as_bytes(), inspection.format(), 1);
    let texts: Vec<_> = rows(&events).map(|row| row.cells[1].text.as_str()).collect();
    assert_eq!(texts, ["O'Brien\nSeán", "Łuczak"]);
    assert_eq!(problems(&events).count(), 0);
}

#[test]
fn file_without_a_mapped_column_is_refused_at_its_header() {
    let file = CENSUS.replace("Surname", "Name");
    let events = read(file.as_bytes(), inspect(file.as_bytes(), CsvOptions::default()).unwrap().format(), 100);
    let Some(Event::Header(header)) = events.first() else { panic!("{events:?}") };
    let mut problems = Problems::default();
    header.missing(["House", "Surname", "forenames"]).into_iter().for_each(|problem| problems.add(problem));
    assert_eq!((problems.by_code().get(&Code::MissingColumn), problems.count(Severity::Fatal)), (Some(&1), 1));
}
