//! CSV files of items: a header with known columns, then a record for each row.

use sheet::{Format, Records};

use super::mapping::Mapping;
use super::options::{Options, Unknown};
use super::parser::{Parsed, ParserState};

/// The columns that a file may have.
pub const COLUMNS: [&str; 17] = [
    "externalId",
    "type",
    "displayName",
    "description",
    "searchTerms",
    "longitude",
    "latitude",
    "isVisible",
    "subType",
    "address",
    "isOpen",
    "showOnMap",
    "timezone",
    "imageUrls",
    "minMapZoom",
    "maxMapZoom",
    "adminNotes",
];

/// The most fields of a record that are looked at: enough to say by how many it is wrong.
pub const MAX_FIELDS: usize = 100;

/// The limit of bytes of a header, which a job keeps.
const MAX_HEADER: usize = 32 * 1024;

const REQUIRED: [&str; 2] = ["externalId", "displayName"];

/// The least number of bytes by which the format of a longer file is recognised. It is longer than a header.
const MIN_RECOGNISED: usize = 2 * MAX_HEADER;

/// Reads record after record.
#[derive(Debug)]
pub struct Csv {
    /// The fields that the columns set.
    columns: Option<Vec<String>>,
    unknown: Unknown,
    mapping: Mapping,
    ended: bool,
    /// None until it is recognised.
    format: Option<Format>,
    records: Records,
}

impl Csv {
    /// `format` is that of a file whose header has been parsed.
    pub fn at(place: ParserState, format: Format, options: &Options) -> Self {
        let ended = place == ParserState::End;
        let columns = match place {
            ParserState::Columns(columns) => Some(columns),
            _ => None,
        };
        let (unknown, mapping) = (options.unknown, options.mapping.clone());
        let known = columns.is_some().then_some(format);
        Self { columns, unknown, mapping, ended, format: known, records: Records::of(format) }
    }

    /// The format of the file, after its header was parsed.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_default()
    }

    pub fn place(&self) -> ParserState {
        match &self.columns {
            _ if self.ended => ParserState::End,
            Some(columns) => ParserState::Columns(columns.clone()),
            None => ParserState::Start,
        }
    }

    pub fn columns(&self) -> &[String] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// The record that begins here; its line break belongs to it.
    pub fn find(&mut self, rest: &[u8], at_end: bool) -> Parsed {
        if self.format.is_none() {
            if rest.len() < MIN_RECOGNISED && !at_end {
                return Parsed::More;
            }
            let format = Format::of(rest, at_end);
            (self.format, self.records) = (Some(format), Records::of(format));
        }
        let (end, taken) = match self.records.find(rest, at_end) {
            sheet::Found::Record { end, taken } => (end, taken),
            sheet::Found::More => return Parsed::More,
            sheet::Found::Unclosed => return Parsed::Broken("a quote is never closed".to_owned()),
            sheet::Found::End if self.columns.is_none() => {
                return Parsed::Broken("it has no header with the names of its columns".to_owned());
            }
            sheet::Found::End => {
                self.ended = true;
                return Parsed::End;
            }
        };
        let record = rest.get(..end).unwrap_or_default();
        match &self.columns {
            Some(_) if record.is_empty() => Parsed::Nothing(taken),
            Some(_) => Parsed::Row { begin: 0, end: record.len(), taken },
            None => match header(record, self.format(), self.unknown, &self.mapping) {
                Ok(columns) => {
                    self.columns = Some(columns);
                    Parsed::Nothing(taken)
                }
                Err(reason) => Parsed::Broken(reason),
            },
        }
    }

    /// Gives up what was scanned of a record that is too large.
    pub fn drop_scanned(&mut self) -> usize {
        self.records.drop_scanned()
    }
}

/// The fields that the columns of a header set.
fn header(record: &[u8], format: Format, unknown: Unknown, mapping: &Mapping) -> Result<Vec<String>, String> {
    if record.len() > MAX_HEADER {
        return Err(format!("its header has {} bytes, and at most {MAX_HEADER} are allowed", record.len()));
    }
    let columns = format.cells(format.without_mark(record), MAX_FIELDS);
    let columns = columns.map_err(|reason| format!("its header {reason}"))?;
    let columns: Vec<String> = columns.into_iter().map(|cell| cell.text).collect();
    let known = COLUMNS.join(", ");
    if let [only] = columns.as_slice()
        && only.contains('|')
    {
        let reason = "its columns are separated by vertical bars; separate them by commas, semicolons or tabs";
        return Err(reason.to_owned());
    }
    if let Some(missing) = mapping.attributes().into_iter().find(|mapped| !columns.contains(mapped)) {
        return Err(format!("it has no column `{missing}`, which the mapping names"));
    }
    for (place, column) in columns.iter().enumerate() {
        let shown: String = column.chars().take(64).collect();
        let field = mapping.field(column);
        if !COLUMNS.contains(&field) {
            // Several that are ignored may have one name, such as the empty name of trailing commas.
            if unknown == Unknown::Ignore {
                continue;
            }
            return Err(format!("it has the column `{shown}`; these are known: {known}"));
        }
        if columns.iter().take(place).any(|before| before == column) {
            return Err(format!("it has the column `{shown}` twice"));
        }
        if field == column && mapping.attribute(field) != column {
            return Err(format!("its column `{shown}` {}", mapping.doubled(field)));
        }
    }
    let fields: Vec<String> = columns.iter().map(|column| mapping.field(column).to_owned()).collect();
    match REQUIRED.iter().find(|required| !fields.iter().any(|field| field == *required)) {
        Some(missing) => Err(format!("it has no column `{missing}`; these are known: {known}")),
        None => Ok(fields),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a file that comes in pieces of this size.
    fn records(file: impl AsRef<[u8]>, piece: usize) -> Result<Vec<Vec<String>>, String> {
        let file = file.as_ref();
        let (mut csv, mut from, mut to, mut records) =
            (Csv::at(ParserState::Start, Format::default(), &Options::default()), 0, 0, Vec::new());
        loop {
            match csv.find(&file[from..to], to == file.len()) {
                Parsed::Nothing(taken) => from += taken,
                Parsed::Row { begin, end, taken } => {
                    let record = csv.format().cells(&file[from + begin..from + end], MAX_FIELDS)?;
                    records.push(record.into_iter().map(|cell| cell.text).collect());
                    from += taken;
                }
                Parsed::More => to = (to + piece).min(file.len()),
                Parsed::End => return Ok(records),
                Parsed::Broken(reason) => return Err(reason),
                Parsed::Refused { detail, .. } => return Err(detail.to_owned()),
            }
        }
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_breaks() {
        let file =
            "\u{feff}externalId,displayName,description\r\n1,\"a, \"\"b\"\"\",\"two\r\nlines\"\r\n\r\n2,,é\n3,x,";
        for piece in 1..20 {
            let found = records(file, piece).unwrap();
            assert_eq!(found, [["1", "a, \"b\"", "two\r\nlines"], ["2", "", "é"], ["3", "x", ""]], "{piece}");
        }
    }

    #[test]
    fn columns_are_separated_by_what_the_header_has_most() {
        let file = "externalId,displayName\n1,Größe; c\n";
        let utf_16: Vec<u8> = format!("\u{feff}{file}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(records(utf_16, 7).unwrap(), [["1", "Größe; c"]]);
        for between in [";", "\t"] {
            let file = format!("externalId{between}displayName\n1{between}A, B\n");
            assert_eq!(records(file, 7).unwrap(), [["1", "A, B"]], "{between:?}");
        }
        assert_eq!(records(b"externalId;displayName\n1;Gr\xf6\xdfe\n", 7).unwrap(), [["1", "Größe"]]);
        let reason = records(b"externalId;displayName\n1;Gr\xf6\xdfe\n2;Gr\xc3\xb6\xc3\x9fe\n", 7).unwrap_err();
        assert_eq!(reason, "is not UTF-8 from byte 4 on; save the file as UTF-8");
    }

    #[test]
    fn a_file_without_the_right_header_is_refused() {
        for (file, told) in [
            ("", "no header"),
            ("externalId,name\n", "`name`"),
            ("externalId,externalId,displayName\n", "twice"),
            ("externalId\n1", "no column `displayName`"),
            ("externalId|displayName\n1|A\n", "separated by vertical bars"),
            ("externalId,displayName\n1,\"open", "never closed"),
        ] {
            let reason = records(file, 7).unwrap_err();
            assert!(reason.contains(told), "{file}: {reason}");
        }
    }
}
