//! A row as fields and a shape, or what is wrong with it.

use geometry::{Kind, Limits};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::fault::{Place, pointer_step};
use web::{Fault, Schema};

use super::csv::MOST_FIELDS;
use super::rows::Row;
use super::{Format, Layer};
use crate::names::ShapeName;

/// What is wrong with one row: a JSON pointer into the feature, or the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    pub number: u64,
    pub pointer: String,
    pub detail: String,
}

/// A row that says by itself nothing wrong.
#[derive(Clone, Debug)]
pub struct Draft {
    pub number: u64,
    pub external_id: String,
    /// What stands in the key, where the kind has types.
    pub of_type: Option<String>,
    /// Those of an item, `null` where the item is to have none.
    pub fields: Map<String, Value>,
    pub shape: Option<(ShapeName, geometry::Shape)>,
}

/// How the rows of a file are to be understood.
#[derive(Debug)]
pub struct Reading {
    pub format: Format,
    pub layer: Layer,
    pub schema: Schema,
}

/// The most faults of one row that are told.
const MOST: usize = 100;

const EXTERNAL_ID: &str = "externalId";

#[derive(Deserialize)]
struct Feature {
    #[serde(rename = "type")]
    feature_type: Option<String>,
    geometry: Option<Geometry>,
    properties: Option<Map<String, Value>>,
}

/// Its positions are read with their places in the feature, later.
#[derive(Deserialize)]
struct Geometry {
    #[serde(rename = "type")]
    geometry_type: Option<String>,
}

impl Reading {
    /// `columns` are those of a CSV file.
    pub fn read(&self, row: &Row, columns: &[String]) -> Result<Draft, Vec<RowFault>> {
        let mut faults = Vec::new();
        let draft = match (&row.text, self.format) {
            (None, _) => {
                faults.push(Fault::pointer("", "has more than 32 MiB"));
                None
            }
            (Some(text), Format::Geojson) => self.feature(text, &mut faults),
            (Some(text), Format::Csv) => self.record(text, columns, &mut faults),
        };
        match draft {
            Some(draft) if faults.is_empty() => Ok(Draft { number: row.number, ..draft }),
            _ => Err(self.told(row.number, faults)),
        }
    }

    /// Faults with their place in an item as faults of the row that it comes from.
    pub fn told_of_item(&self, number: u64, faults: Vec<Fault>) -> Vec<RowFault> {
        self.told(number, faults.into_iter().map(|fault| self.placed(fault)).collect())
    }

    /// One fault of a field.
    pub fn field(&self, draft: &Draft, name: &str, detail: &str) -> Vec<RowFault> {
        self.told_of_item(draft.number, vec![Fault::pointer(pointer_step(name), detail)])
    }

    fn told(&self, number: u64, faults: Vec<Fault>) -> Vec<RowFault> {
        let told = faults.into_iter().take(MOST).map(|fault| {
            let (Place::Pointer(pointer) | Place::Parameter(pointer) | Place::Header(pointer)) = fault.place;
            RowFault { number, pointer, detail: fault.detail }
        });
        told.collect()
    }

    /// A field's place in an item as its place in a row.
    fn placed(&self, fault: Fault) -> Fault {
        let Place::Pointer(pointer) = fault.place else { return fault };
        let of = |name: &str| pointer == format!("/{name}") || pointer.starts_with(&format!("/{name}/"));
        let pointer = match self.format {
            Format::Geojson if of("location") => "/geometry".to_owned(),
            Format::Geojson => format!("/properties{pointer}"),
            Format::Csv if of("location") => "/longitude".to_owned(),
            Format::Csv if self.layer.type_field().is_some_and(of) => "/type".to_owned(),
            Format::Csv => pointer,
        };
        Fault::pointer(pointer, fault.detail)
    }

    fn feature(&self, text: &[u8], faults: &mut Vec<Fault>) -> Option<Draft> {
        let feature: Feature = match serde_json::from_slice(text) {
            Ok(feature) => feature,
            Err(error) => {
                faults.push(Fault::pointer("", format!("is no Feature: {error}")));
                return None;
            }
        };
        if feature.feature_type.as_deref() != Some("Feature") {
            faults.push(Fault::pointer("/type", "must be Feature"));
        }
        let mut fields = feature.properties.unwrap_or_default();
        for name in ["location", "boundary", "path"] {
            if fields.remove(name).is_some() {
                faults.push(Fault::pointer(format!("/properties/{name}"), "must come as the feature's geometry"));
            }
        }
        let mut shape = None;
        if let Some(geometry) = feature.geometry {
            match geometry::check(text, kind(&geometry), &Limits::UPLOAD) {
                Ok(checked) => match name_of(&checked.shape) {
                    Some(name) => shape = Some((name, checked.shape)),
                    None => {
                        fields.insert("location".to_owned(), position(&checked.shape));
                    }
                },
                Err(refused) => {
                    faults.extend(refused.faults.into_iter().map(|fault| Fault::pointer(fault.pointer, fault.detail)));
                }
            }
        }
        self.draft(fields, shape, faults)
    }

    fn record(&self, text: &[u8], columns: &[String], faults: &mut Vec<Fault>) -> Option<Draft> {
        let cells = match sheet::cells(text, MOST_FIELDS) {
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
        let mut fields = Map::new();
        let (mut longitude, mut latitude) = (None, None);
        let texts = cells.into_iter().map(|cell| cell.text);
        for (column, cell) in columns.iter().zip(texts).filter(|(_, cell)| !cell.is_empty()) {
            match column.as_str() {
                "type" => match self.layer.type_field() {
                    Some(name) => drop(fields.insert(name.to_owned(), cell.into())),
                    None => faults.push(Fault::pointer("/type", "must be empty: items of this kind have no type")),
                },
                "searchTerms" => {
                    let terms = cell.split('|').map(str::trim).filter(|term| !term.is_empty());
                    fields.insert(column.clone(), terms.collect::<Vec<_>>().into());
                }
                "longitude" | "latitude" => match cell.trim().parse::<f64>() {
                    Ok(number) if number.is_finite() => {
                        *(if column == "longitude" { &mut longitude } else { &mut latitude }) = Some(number);
                    }
                    _ => faults.push(Fault::pointer(format!("/{column}"), "must be a number of degrees")),
                },
                _ => drop(fields.insert(column.clone(), cell.into())),
            }
        }
        match (longitude, latitude) {
            (Some(longitude), Some(latitude)) => {
                fields.insert("location".to_owned(), json!([longitude, latitude]));
            }
            (None, Some(_)) if faults.is_empty() => faults.push(Fault::pointer("/longitude", "is missing")),
            (Some(_), None) if faults.is_empty() => faults.push(Fault::pointer("/latitude", "is missing")),
            _ => {}
        }
        self.draft(fields, None, faults)
    }

    /// What the schema says of the fields, and what stands in keys.
    fn draft(
        &self,
        fields: Map<String, Value>,
        shape: Option<(ShapeName, geometry::Shape)>,
        faults: &mut Vec<Fault>,
    ) -> Option<Draft> {
        let value = Value::Object(fields);
        let placed = self.schema.faults(&value).into_iter().map(|fault| self.placed(fault));
        faults.extend(placed);
        let Value::Object(fields) = value else { return None };
        let Some(external_id) = fields.get(EXTERNAL_ID).and_then(Value::as_str).map(str::to_owned) else {
            if fields.get(EXTERNAL_ID).is_none_or(Value::is_null) {
                let missing = Fault::pointer(pointer_step(EXTERNAL_ID), "is missing: it says which item the row is");
                faults.push(self.placed(missing));
            }
            return None;
        };
        let of_type = self.layer.type_field().and_then(|name| fields.get(name)?.as_str()).map(str::to_owned);
        Some(Draft { number: 0, external_id, of_type, fields, shape })
    }
}

/// What a geometry may be, by its type.
fn kind(geometry: &Geometry) -> Kind {
    match geometry.geometry_type.as_deref() {
        Some("Point") => Kind::Location,
        _ => Kind::Any,
    }
}

fn name_of(shape: &geometry::Shape) -> Option<ShapeName> {
    let fits = |name: &&ShapeName| crate::shapes::kind(**name).takes(shape.shape_type());
    ShapeName::ALL.iter().find(fits).copied()
}

/// The position of a point, with its altitude where it has one.
fn position(point: &geometry::Shape) -> Value {
    #[derive(Deserialize)]
    struct Point {
        coordinates: Value,
    }
    serde_json::from_str::<Point>(&point.canonical()).map_or(Value::Null, |point| point.coordinates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, layer: Layer, text: &str) -> Result<Draft, Vec<String>> {
        let columns = super::super::csv::COLUMNS.map(str::to_owned).to_vec();
        let reading = Reading { format, layer, schema: layer.schema().unwrap() };
        let read = reading.read(&Row { number: 1, text: Some(text.as_bytes().to_vec()) }, &columns);
        read.map_err(|faults| faults.into_iter().map(|fault| fault.pointer).collect())
    }

    #[test]
    fn a_feature_is_its_properties_and_its_geometry() {
        let feature = |geometry: &str, properties: &str| {
            let text = format!(r#"{{"type":"Feature","id":7,"geometry":{geometry},"properties":{properties}}}"#);
            read(Format::Geojson, Layer::Facility, &text)
        };
        let whole = r#"{"externalId":"a","displayName":"A","facilityType":"trail","description":null}"#;
        let point = feature(r#"{"type":"Point","coordinates":[-125.5,49.6,12]}"#, whole).unwrap();
        assert_eq!((point.external_id.as_str(), point.of_type.as_deref()), ("a", Some("trail")));
        assert_eq!(point.fields["location"], json!([-125.5, 49.6, 12]));
        let path = feature(r#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, whole).unwrap();
        assert_eq!(path.shape.unwrap().0, ShapeName::Path);
        assert!(feature("null", whole).unwrap().shape.is_none());

        let faults = |geometry, properties| feature(geometry, properties).unwrap_err();
        let bow = r#"{"type":"Polygon","coordinates":[[[0,50],[1,51],[1,50],[0,51],[0,50]]]}"#;
        let wrong = r#"{"displayName":"","facilityType":"camp","OBJECTID":1,"boundary":{}}"#;
        let mut found = faults(bow, wrong);
        found.sort();
        let expected = [
            "/geometry/coordinates/0/3",
            "/properties/OBJECTID",
            "/properties/boundary",
            "/properties/displayName",
            "/properties/externalId",
            "/properties/facilityType",
        ];
        assert_eq!(found, expected);
        assert_eq!(faults(r#"{"type":"GeometryCollection","geometries":[]}"#, whole), ["/geometry/type"]);
        assert_eq!(faults("7", whole), [""]);
        assert_eq!(faults("null", "7"), [""]);
        assert_eq!(read(Format::Geojson, Layer::Facility, "[1]").unwrap_err(), [""]);
        assert_eq!(read(Format::Geojson, Layer::Facility, r#"{"a":[}"#).unwrap_err(), [""]);
    }

    #[test]
    fn a_record_is_its_columns() {
        let row = |text| read(Format::Csv, Layer::Facility, text);
        let draft = row("a,trail,A,,x| y z |,-125.5,49.6").unwrap();
        assert_eq!(draft.fields["searchTerms"], json!(["x", "y z"]));
        assert_eq!(draft.fields["location"], json!([-125.5, 49.6]));
        assert!(!draft.fields.contains_key("description"));
        for (text, pointers) in [
            (",trail,A,,,1,2", &["/externalId"][..]),
            ("a,camp,A,,,1,2", &["/type"]),
            ("a,trail,A,,,1,", &["/latitude"]),
            ("a,trail,A,,,x,inf", &["/longitude", "/latitude"]),
            ("a,trail,A,,,1", &[""]),
            ("a,trail,\"A,,,1", &[""]),
        ] {
            assert_eq!(row(text).unwrap_err(), pointers, "{text}");
        }
        assert_eq!(read(Format::Csv, Layer::Geozone, "a,trail,A,,,1,2").unwrap_err(), ["/type"]);
    }
}
