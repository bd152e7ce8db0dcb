//! Parses a row into fields and a shape, or its faults.

use geometry::{Kind, Limits, Position};
use serde::Deserialize;
use serde_json::{Map, Value};
use web::fault::{Place, pointer_step};
use web::{Fault, Schema};

use super::options::{Options, Unknown};
use super::refused_shape::{RefusedShape, Substitute, substitute};
use super::rows::Row;
use super::{Format, Layer};
use crate::names::ShapeName;

/// A fault of a row, at a JSON pointer into the feature or at a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    pub number: u64,
    /// The row's external id, if it has one.
    pub external_id: Option<String>,
    pub pointer: String,
    pub detail: String,
}

/// A row after parsing.
#[derive(Clone, Debug)]
pub struct ParsedRow {
    pub number: u64,
    pub external_id: String,
    /// The type in the key, if the kind has types.
    pub of_type: Option<String>,
    /// The fields of an item; `null` removes a field.
    pub fields: Map<String, Value>,
    pub shape: Option<(ShapeName, geometry::Shape)>,
    /// A shape that was refused and left out or repaired.
    pub refused: Option<RefusedShape>,
    /// A position of a shape that was left out, where a new item stands that needs a location.
    pub position: Option<Position>,
}

/// Parses the rows of a file.
#[derive(Debug)]
pub struct RowParser {
    pub format: Format,
    pub layer: Layer,
    pub options: Options,
    pub schema: Schema,
}

/// The limit of reported faults of a row.
const MAX_FAULTS: usize = 100;

pub const EXTERNAL_ID: &str = "externalId";

#[derive(Deserialize)]
pub struct Feature {
    #[serde(rename = "type")]
    feature_type: Option<String>,
    geometry: Option<Geometry>,
    pub properties: Option<Map<String, Value>>,
}

/// Its positions are read with their places in the feature, later.
#[derive(Deserialize)]
struct Geometry {
    #[serde(rename = "type")]
    geometry_type: Option<String>,
}

impl RowParser {
    /// `columns` are those of a CSV file.
    pub fn read(&self, row: &Row, columns: &[String]) -> Result<ParsedRow, Vec<RowFault>> {
        let mut faults = Vec::new();
        let draft = match (&row.text, self.format) {
            (None, _) => {
                faults.push(Fault::pointer("", "has more than 32 MiB"));
                None
            }
            (Some(text), Format::Geojson) => self.feature(text, &mut faults),
            (Some(text), Format::Csv) => self.record(text, row.sheet_format, columns, &mut faults),
        };
        match draft {
            Some(draft) if faults.is_empty() => Ok(ParsedRow { number: row.number, ..draft }),
            _ => Err(told(row.number, self.external_id(row, columns).as_deref(), faults)),
        }
    }

    /// What is told of a row whose external id the row of this number has.
    pub fn repeats(&self, row: &Row, columns: &[String], earlier: u64) -> Vec<RowFault> {
        let counted = self.format.counted();
        let detail = format!("is that of {counted} {earlier}, too: each needs one of its own");
        let fault = self.placed(Fault::pointer(pointer_step(EXTERNAL_ID), detail));
        told(row.number, self.external_id(row, columns).as_deref(), vec![fault])
    }

    /// Faults with their place in an item as faults of the row that it comes from.
    pub fn told_of_item(&self, draft: &ParsedRow, faults: Vec<Fault>) -> Vec<RowFault> {
        let faults = faults.into_iter().map(|fault| self.placed(fault)).collect();
        told(draft.number, Some(&draft.external_id), faults)
    }

    /// One fault of a field.
    pub fn field(&self, draft: &ParsedRow, name: &str, detail: &str) -> Vec<RowFault> {
        self.told_of_item(draft, vec![Fault::pointer(pointer_step(name), detail)])
    }

    /// A field's place in an item as its place in a row.
    fn placed(&self, fault: Fault) -> Fault {
        let Place::Pointer(pointer) = fault.place else { return fault };
        let Some(path) = pointer.strip_prefix('/') else { return Fault::pointer(pointer, fault.detail) };
        let (field, below) = path.split_at(path.find('/').unwrap_or(path.len()));
        // Only fields have attributes of other names, and no field's name is escaped in a pointer.
        let place = |field: &str| match self.options.mapping.attribute(field) {
            own if own == field => format!("/{field}"),
            attribute => pointer_step(attribute),
        };
        let pointer = match self.format {
            Format::Geojson if field == "location" && below.is_empty() => "/geometry".to_owned(),
            Format::Geojson if field == "location" => format!("/geometry/coordinates{below}"),
            Format::Geojson => format!("/properties{}{below}", place(field)),
            Format::Csv if field == "location" => place(if below == "/1" { "latitude" } else { "longitude" }),
            Format::Csv if self.layer.type_field() == Some(field) => place("type"),
            Format::Csv => format!("{}{below}", place(field)),
        };
        Fault::pointer(pointer, fault.detail)
    }

    fn feature(&self, text: &[u8], faults: &mut Vec<Fault>) -> Option<ParsedRow> {
        let feature: Feature = match serde_json::from_slice(text) {
            Ok(feature) => feature,
            Err(error) => {
                faults.push(Fault::pointer("", format!("is not a Feature: {error}")));
                return None;
            }
        };
        if feature.feature_type.as_deref() != Some("Feature") {
            faults.push(Fault::pointer("/type", "must be Feature"));
        }
        let mut fields = self.options.mapping.renamed(feature.properties.unwrap_or_default(), faults);
        for name in ["location", "boundary", "path"] {
            if fields.remove(name).is_some() {
                faults.push(Fault::pointer(format!("/properties/{name}"), "must come as the feature's geometry"));
            }
        }
        if self.options.unknown == Unknown::Ignore {
            fields.retain(|name, _| self.schema.has(name));
        }
        let (mut shape, mut refused, mut stand_in) = (None, None, None);
        if let Some(geometry) = feature.geometry {
            let kind = kind(&geometry);
            let found = match geometry::check(text, kind, &Limits::UPLOAD) {
                Ok(checked) => Some(checked.shape),
                Err(invalid) => match substitute(self.options.invalid_shapes, text, kind, invalid) {
                    Ok((substitute, told)) => {
                        refused = Some(told);
                        match substitute {
                            Substitute::Repaired(shape) => Some(shape),
                            Substitute::Position(position) => {
                                stand_in = position;
                                None
                            }
                        }
                    }
                    Err(found) => {
                        faults.extend(found);
                        None
                    }
                },
            };
            match found.as_ref().map(name_of) {
                None => {}
                Some(Some(name)) => shape = found.map(|shape| (name, shape)),
                Some(None) => drop(found.map(|point| fields.insert("location".to_owned(), position(&point)))),
            }
        }
        let draft = self.draft(fields, shape, faults)?;
        Some(ParsedRow { refused, position: stand_in, ..draft })
    }

    /// What the schema says of the fields, and what stands in keys.
    pub(super) fn draft(
        &self,
        fields: Map<String, Value>,
        shape: Option<(ShapeName, geometry::Shape)>,
        faults: &mut Vec<Fault>,
    ) -> Option<ParsedRow> {
        let mut value = Value::Object(fields);
        web::integers::normalize_value(&mut value);
        let placed = self.schema.faults(&value).into_iter().map(|fault| self.placed(fault));
        faults.extend(placed);
        let Value::Object(fields) = value else { return None };
        let Some(external_id) = fields.get(EXTERNAL_ID).and_then(Value::as_str).map(str::to_owned) else {
            if fields.get(EXTERNAL_ID).is_none_or(Value::is_null) {
                let missing =
                    Fault::pointer(pointer_step(EXTERNAL_ID), "is required: it identifies the item of the row");
                faults.push(self.placed(missing));
            }
            return None;
        };
        let of_type = self.layer.type_field().and_then(|name| fields.get(name)?.as_str()).map(str::to_owned);
        Some(ParsedRow { number: 0, external_id, of_type, fields, shape, refused: None, position: None })
    }
}

fn told(number: u64, external_id: Option<&str>, faults: Vec<Fault>) -> Vec<RowFault> {
    let told = faults.into_iter().take(MAX_FAULTS).map(|fault| {
        let (Place::Pointer(pointer) | Place::Parameter(pointer) | Place::Header(pointer)) = fault.place;
        RowFault { number, external_id: external_id.map(str::to_owned), pointer, detail: fault.detail }
    });
    told.collect()
}

/// What a geometry may be, by its type.
fn kind(geometry: &Geometry) -> Kind {
    match geometry.geometry_type.as_deref() {
        Some("Point") => Kind::Location,
        _ => Kind::Any,
    }
}

fn name_of(shape: &geometry::Shape) -> Option<ShapeName> {
    let fits = |name: &&ShapeName| crate::shapes::kind(**name).allows(shape.shape_type());
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
pub mod tests {
    use serde_json::json;

    use super::super::csv::COLUMNS;
    use super::*;

    pub fn read(format: Format, layer: Layer, text: &str) -> Result<ParsedRow, Vec<String>> {
        let columns = COLUMNS.map(str::to_owned)[..7].to_vec();
        let reading = RowParser { format, layer, options: Options::default(), schema: layer.schema().unwrap() };
        let row = Row { number: 1, text: Some(text.as_bytes().to_vec()), sheet_format: sheet::Format::default() };
        let read = reading.read(&row, &columns);
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
}
