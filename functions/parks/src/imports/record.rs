//! A record of a CSV file as fields: each column by its name.

use serde_json::{Map, json};
use web::Fault;
use web::fault::pointer_step;

use super::csv::MAX_FIELDS;
use super::options::Unknown;
use super::row::{ParsedRow, RowParser};

impl RowParser {
    pub(super) fn record(
        &self,
        text: &[u8],
        format: sheet::Format,
        columns: &[String],
        faults: &mut Vec<Fault>,
    ) -> Option<ParsedRow> {
        let cells = match format.cells(text, MAX_FIELDS) {
            Ok(cells) if cells.len() == columns.len() => cells,
            Ok(cells) => {
                let detail = format!("has {} fields, and the header names {}", cells.len(), columns.len());
                faults.push(Fault::pointer("", detail));
                return None;
            }
            Err(reason) => {
                faults.push(Fault::pointer("", reason));
                return None;
            }
        };
        let at =
            |column: &str, detail: &str| Fault::pointer(pointer_step(self.options.mapping.attribute(column)), detail);
        let mut fields = Map::new();
        let (mut longitude, mut latitude) = (None, None);
        let is_ignored =
            |column: &str| self.options.unknown == Unknown::Ignore && !self.layer.has_column(column, &self.schema);
        let texts = cells.into_iter().map(|cell| cell.text);
        let set = columns.iter().zip(texts).filter(|(column, cell)| !cell.is_empty() && !is_ignored(column));
        for (column, cell) in set {
            match column.as_str() {
                "type" => match self.layer.type_field() {
                    Some(name) => drop(fields.insert(name.to_owned(), cell.into())),
                    None => faults.push(at("type", "must be empty: items of this kind have no type")),
                },
                "searchTerms" | "imageUrls" => {
                    let terms = cell.split('|').map(str::trim).filter(|term| !term.is_empty());
                    fields.insert(column.clone(), terms.collect::<Vec<_>>().into());
                }
                // Where semicolons separate cells, commas are decimal points.
                "longitude" | "latitude" => match cell.trim().replace(',', ".").parse::<f64>() {
                    Ok(number) if number.is_finite() => {
                        *(if column == "longitude" { &mut longitude } else { &mut latitude }) = Some(number);
                    }
                    _ => faults.push(at(column, "must be a number of degrees")),
                },
                "isVisible" | "isOpen" | "showOnMap" => match flag(&cell) {
                    Some(flag) => drop(fields.insert(column.clone(), flag.into())),
                    None => faults.push(at(column, "must be true or false")),
                },
                "minMapZoom" | "maxMapZoom" => match cell.trim().parse::<i64>() {
                    Ok(zoom) => drop(fields.insert(column.clone(), zoom.into())),
                    Err(_) => faults.push(at(column, "must be a whole number")),
                },
                _ => drop(fields.insert(column.clone(), cell.into())),
            }
        }
        match (longitude, latitude) {
            (Some(longitude), Some(latitude)) => {
                fields.insert("location".to_owned(), json!([longitude, latitude]));
            }
            (None, Some(_)) if faults.is_empty() => faults.push(at("longitude", "is missing")),
            (Some(_), None) if faults.is_empty() => faults.push(at("latitude", "is missing")),
            _ => {}
        }
        self.draft(fields, None, faults)
    }
}

/// A cell as true or false.
fn flag(cell: &str) -> Option<bool> {
    match cell.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::row::tests::read;
    use super::super::{Format, Layer};

    #[test]
    fn a_record_is_its_columns() {
        let row = |text| read(Format::Csv, Layer::Facility, text);
        let draft = row("a,trail,A,,x| y z |,-125.5,49.6").unwrap();
        assert_eq!(draft.fields["searchTerms"], json!(["x", "y z"]));
        assert_eq!(draft.fields["location"], json!([-125.5, 49.6]));
        assert!(!draft.fields.contains_key("description"));
        let decimal_commas = row("a,trail,A,,,\"-125,5\",\"49,6\"").unwrap();
        assert_eq!(decimal_commas.fields["location"], json!([-125.5, 49.6]));
        for (text, pointers) in [
            (",trail,A,,,1,2", &["/externalId"][..]),
            ("a,camp,A,,,1,2", &["/type"]),
            ("a,trail,A,,,1,", &["/latitude"]),
            ("a,trail,A,,,\"1,2,3\",inf", &["/longitude", "/latitude"]),
            ("a,trail,A,,,1", &[""]),
            ("a,trail,\"A,,,1", &[""]),
        ] {
            assert_eq!(row(text).unwrap_err(), pointers, "{text}");
        }
        assert_eq!(read(Format::Csv, Layer::Geozone, "a,trail,A,,,1,2").unwrap_err(), ["/type"]);
    }
}
