//! Writing records.

/// Appends a record with its line break. Only fields that need quotes get them: also those with another delimiter, which a
/// reader could take for that of the file.
pub fn write<'a>(cells: impl IntoIterator<Item = &'a str>, file: &mut Vec<u8>) {
    let before = file.len();
    for (place, cell) in cells.into_iter().enumerate() {
        if place > 0 {
            file.push(b',');
        }
        if cell.contains([',', ';', '\t', '"', '\r', '\n']) {
            file.push(b'"');
            file.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
            file.push(b'"');
        } else {
            file.extend_from_slice(cell.as_bytes());
        }
    }
    // A record of one empty cell would be an empty line, which many readers skip.
    if file.len() == before {
        file.extend_from_slice(b"\"\"");
    }
    file.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Format, Found, Records};

    proptest! {
        #[test]
        fn written_file_is_read_back(file in prop::collection::vec(prop::collection::vec("[a,;\t\"\r\n é]{0,4}", 1..4), 0..4)) {
            let mut written = Vec::new();
            for record in &file {
                write(record.iter().map(String::as_str), &mut written);
            }
            let (mut records, mut from, mut read) = (Records::default(), 0, Vec::new());
            while let Found::Record { end, taken } = records.find(&written[from..], true) {
                let record = Format::default().cells(&written[from..from + end], 9).unwrap();
                read.push(record.into_iter().map(|cell| cell.text).collect::<Vec<_>>());
                from += taken;
            }
            prop_assert_eq!(from, written.len());
            prop_assert_eq!(read, file);
        }

        #[test]
        fn format_of_a_written_file_is_recognized(header in prop::collection::vec("[a,;\t\"]{1,4}", 2..5)) {
            let mut written = Vec::new();
            write(header.iter().map(String::as_str), &mut written);
            prop_assert_eq!(Format::of(&written, true), Format::default());
        }
    }
}
