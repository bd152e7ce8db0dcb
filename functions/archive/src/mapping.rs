//! The mapping of a file: which column has what. A collection has a default, and each post its own.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::Fault;
use web::visible::name_fault;

use crate::fold::fold;
use crate::register::MAX_ROW_BYTES;

/// The most columns of a mapping.
pub const MAX_COLUMNS: usize = 100;

/// The most columns that are joined into one household or one key.
pub const MAX_JOINED: usize = 3;

/// The most bytes of the headers of a mapping: those of the first row of a file, and the numbers that reading adds to equal
/// headers. The items of the post and its runs have the mapping.
const MAX_HEADER_BYTES: usize = MAX_ROW_BYTES + 1024;

/// One column of a file, and what its cells are. A column that no mapping names is stored and shown, but not searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MappedColumn {
    /// The header of the column, which may have several lines. Case, accents and spaces do not matter. All headers together
    /// have at most 33 KB.
    #[schema(min_length = 1, max_length = 10_010)]
    pub header: String,
    /// The name that readers see, if it is not the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub label: Option<String>,
    /// The person whom the column is about.
    #[serde(default)]
    #[schema(default = "principal")]
    pub role: PersonRole,
    pub field: Field,
    /// How dates in figures are read, such as `2/3/1900`. Only for dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub date_order: Option<DateOrder>,
}

/// The role of a person in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PersonRole {
    #[default]
    Principal,
    Father,
    Mother,
    Spouse,
    Bride,
    Groom,
    BrideFather,
    BrideMother,
    GroomFather,
    GroomMother,
    Other,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    Given,
    Surname,
    /// Given names and surname: split at a comma, otherwise the last word with its particles is the surname.
    Name,
    Sex,
    BirthDate,
    BirthPlace,
    BaptismDate,
    BaptismPlace,
    MarriageDate,
    MarriagePlace,
    ResidenceDate,
    ResidencePlace,
    DeathDate,
    DeathPlace,
    BurialDate,
    BurialPlace,
    OtherDate,
    OtherPlace,
    Keywords,
    /// The household. Up to three columns are joined, for numbers that restart.
    Household,
    /// The relation to the head of the household.
    Relation,
    /// What names a row for good, such as an entry number. Up to three columns are joined.
    Key,
    /// Shown and not searched.
    None,
}

/// The order of day, month and year in a date in figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum DateOrder {
    DayMonthYear,
    MonthDayYear,
    YearMonthDay,
}

impl Field {
    pub const fn is_date(self) -> bool {
        matches!(
            self,
            Self::BirthDate
                | Self::BaptismDate
                | Self::MarriageDate
                | Self::ResidenceDate
                | Self::DeathDate
                | Self::BurialDate
                | Self::OtherDate
        )
    }

    /// Whether the field names a person.
    pub const fn is_name(self) -> bool {
        matches!(self, Self::Given | Self::Surname | Self::Name)
    }

    /// Whether several columns of one mapping may have the field, and how many.
    const fn max_columns(self) -> usize {
        match self {
            Self::Household | Self::Key => MAX_JOINED,
            _ => MAX_COLUMNS,
        }
    }
}

/// Returns what is wrong with a mapping at this pointer of a request, beyond what its schema says.
pub fn faults(pointer: &str, mapping: &[MappedColumn]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut headers = HashSet::new();
    for (index, column) in mapping.iter().enumerate() {
        let at = |member: &str| format!("{pointer}/{index}/{member}");
        faults.extend(header_fault(&at("header"), &column.header));
        faults.extend(column.label.as_deref().and_then(|label| name_fault(&at("label"), label)));
        if !headers.insert(header_key(&column.header)) {
            faults.push(Fault::pointer(at("header"), "names a column that is mapped already"));
        }
        if column.date_order.is_some() && !column.field.is_date() {
            faults.push(Fault::pointer(at("dateOrder"), "is allowed only for dates"));
        }
        let before = mapping.iter().take(index).filter(|earlier| earlier.field == column.field).count();
        if before >= column.field.max_columns() {
            let detail = format!("is the field of more than {} columns", column.field.max_columns());
            faults.push(Fault::pointer(at("field"), detail));
        }
    }
    let bytes: usize = mapping.iter().map(|column| column.header.len()).sum();
    if bytes > MAX_HEADER_BYTES {
        let detail = format!("must have headers of at most {} KB together", MAX_HEADER_BYTES / 1024);
        faults.push(Fault::pointer(pointer, detail));
    }
    faults
}

/// The fault of a header that no file has. A header of a file may have line breaks, and any characters but NUL.
fn header_fault(pointer: &str, header: &str) -> Option<Fault> {
    let is_valid = !header.trim().is_empty() && !header.contains('\0');
    (!is_valid).then(|| Fault::pointer(pointer, "must not be blank, and must not contain the character NUL"))
}

/// Returns the form in which headers are compared: without case, accents, punctuation and spaces. A header of
/// punctuation only is compared as it is.
pub fn header_key(header: &str) -> String {
    let folded = fold(header).replace(' ', "");
    if folded.is_empty() { header.trim().to_owned() } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(header: &str, field: Field) -> MappedColumn {
        MappedColumn { header: header.to_owned(), label: None, role: PersonRole::Principal, field, date_order: None }
    }

    fn places(mapping: &[MappedColumn]) -> Vec<web::fault::Place> {
        faults("/mapping", mapping).into_iter().map(|fault| fault.place).collect()
    }

    fn at(pointer: &str) -> web::fault::Place {
        web::fault::Place::Pointer(pointer.to_owned())
    }

    #[test]
    fn header_that_is_mapped_twice_is_refused_without_regard_to_case_accents_and_spaces() {
        let mapping = [column("Née", Field::Surname), column("Other", Field::None), column(" NE E", Field::Name)];
        assert_eq!(places(&mapping), [at("/mapping/2/header")]);
        assert_eq!(places(&[column("#", Field::None), column("?", Field::None)]), []);
    }

    #[test]
    fn header_may_have_what_a_header_of_a_file_may_have() {
        let long = "é".repeat(10_000);
        let mapping = ["Date of\nbirth", "\tNo.\u{b}", "\u{200b}", &long].map(|header| column(header, Field::None));
        assert_eq!(places(&mapping), []);
        let mapping = [" ", "A\0"].map(|header| column(header, Field::None));
        assert_eq!(places(&mapping), [at("/mapping/0/header"), at("/mapping/1/header")]);
        let mapping = [column(&format!("{long}1"), Field::None), column(&format!("{long}2"), Field::None)];
        assert_eq!(places(&mapping), [at("/mapping")]);
        let label = MappedColumn { label: Some("Date of\nbirth".to_owned()), ..column("Born", Field::BirthDate) };
        assert_eq!(places(&[label]), [at("/mapping/0/label")]);
    }

    #[test]
    fn fourth_column_of_household_or_key_is_refused() {
        for field in [Field::Household, Field::Key] {
            let mapping = ["a", "b", "c", "d"].map(|header| column(header, field));
            assert_eq!(places(&mapping), [at("/mapping/3/field")]);
        }
        assert_eq!(places(&["a", "b", "c", "d"].map(|header| column(header, Field::Keywords))), []);
    }

    #[test]
    fn date_order_of_a_field_that_is_no_date_is_refused() {
        let order = Some(DateOrder::DayMonthYear);
        let mapping = [
            MappedColumn { date_order: order, ..column("Born", Field::BirthDate) },
            MappedColumn { date_order: order, ..column("Place", Field::BirthPlace) },
        ];
        assert_eq!(places(&mapping), [at("/mapping/1/dateOrder")]);
    }

    #[test]
    fn mapping_is_written_in_camel_case_and_role_is_principal_unless_named() {
        let text = r#"{"header":"Born","field":"birthDate","dateOrder":"dayMonthYear"}"#;
        let column: MappedColumn = serde_json::from_str(text).unwrap();
        assert_eq!(column.role, PersonRole::Principal);
        let back = serde_json::to_value(&column).unwrap();
        assert_eq!(back["role"], "principal");
        assert_eq!(serde_json::from_str::<PersonRole>(r#""brideFather""#).unwrap(), PersonRole::BrideFather);
    }
}
