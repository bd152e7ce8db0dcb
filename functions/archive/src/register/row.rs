//! A row with its cells, and its digest.

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a row's cells.
pub type Digest = [u8; 32];

/// A cell without its quotes: in the normalization form NFC, with `\n` as its line breaks, and without blanks around
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// The line of the file on which the cell begins. For a cell that a short row lacks, that of the row.
    pub line: u64,
}

/// A data row without errors. It has as many cells as the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The number of the row among the data rows, from 1. Rows with errors are counted, rows of empty cells are not.
    pub number: u32,
    /// The line of the file on which the row begins.
    pub line: u64,
    pub cells: Vec<Cell>,
}

impl Row {
    /// Returns the SHA-256 of the cells: of the number of cells, then of the length and the bytes of each, where a
    /// number is eight bytes, the highest first. Rows have the same digest only if they have the same cells.
    pub fn digest(&self) -> Digest {
        let mut digest = Sha256::new();
        digest.update((self.cells.len() as u64).to_be_bytes());
        for cell in &self.cells {
            digest.update((cell.text.len() as u64).to_be_bytes());
            digest.update(&cell.text);
        }
        digest.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(cells: &[&str]) -> Digest {
        let cells = cells.iter().map(|text| Cell { text: (*text).to_owned(), line: 2 }).collect();
        Row { number: 1, line: 2, cells }.digest()
    }

    #[test]
    fn digest_depends_on_the_borders_of_cells_and_not_on_the_place_of_the_row() {
        let rows: [&[&str]; 6] = [&[], &[""], &["ab", ""], &["a", "b"], &["", "ab"], &["a", "b", ""]];
        let digests: std::collections::BTreeSet<_> = rows.map(digest).into_iter().collect();
        assert_eq!(digests.len(), rows.len());
        let moved = Row { number: 9, line: 12, cells: vec![Cell { text: "a".to_owned(), line: 13 }] };
        assert_eq!(moved.digest(), digest(&["a"]));
    }

    #[test]
    fn digest_is_stable() {
        let hex: String = digest(&["14", "Pugh"]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5af455db12f2dbb9eaefeaf09f1ffa614e9ee8d868f6469ac1917fc41998ffca");
    }
}
