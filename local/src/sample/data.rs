//! The samples as they are kept beside the program; `samples/README.md` says where they come from.

use std::fmt::Write;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::SampleError;

const COLLECTIONS: &str = include_str!("../../../samples/parks/collections.json");
const GEOZONES: &[u8] = include_bytes!("../../../samples/parks/geozones.jsonl.gz");
const FACILITIES: &[u8] = include_bytes!("../../../samples/parks/facilities.jsonl.gz");

/// One request that makes an item.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The path that it is posted to.
    pub list: String,
    /// What tells it from others of its list.
    pub id: String,
    pub name: String,
    /// JSON.
    pub body: String,
}

/// A boundary on the lattice that its source was quantised to: each ring's first position, then differences.
#[derive(Debug, Deserialize)]
struct Quantized {
    #[serde(rename = "type")]
    shape_type: String,
    transform: Transform,
    coordinates: Value,
}

/// A position is `lattice * scale + translate`, each read as text: every bit of these numbers counts.
#[derive(Debug, Deserialize)]
struct Transform {
    scale: [String; 2],
    translate: [String; 2],
}

struct Lattice {
    scale: [f64; 2],
    translate: [f64; 2],
}

pub fn collections() -> Result<Vec<Feature>, SampleError> {
    let collections: Vec<Map<String, Value>> = serde_json::from_str(COLLECTIONS).map_err(unreadable)?;
    let request = |mut sample: Map<String, Value>| {
        let id = take(&mut sample, "collection")?;
        let name = text(&sample, "displayName")?;
        sample.insert("collectionId".to_owned(), json!(id));
        sample.insert("isVisible".to_owned(), json!(true));
        Ok(Feature { list: "/parks/collections".to_owned(), id, name, body: Value::Object(sample).to_string() })
    };
    collections.into_iter().map(request).collect()
}

/// Geozones, then facilities.
pub fn features() -> Result<Vec<Feature>, SampleError> {
    let mut features = Vec::new();
    for (list, packed) in [("geozones", GEOZONES), ("facilities", FACILITIES)] {
        for line in BufReader::new(GzDecoder::new(packed)).lines() {
            features.push(feature(list, &line.map_err(unreadable)?)?);
        }
    }
    Ok(features)
}

fn feature(list: &str, line: &str) -> Result<Feature, SampleError> {
    let mut sample: Map<String, Value> = serde_json::from_str(line).map_err(unreadable)?;
    let collection = take(&mut sample, "collection")?;
    sample.remove("source");
    sample.insert("isVisible".to_owned(), json!(true));
    let quantized = sample.remove("quantizedBoundary");
    let (id, name) = (text(&sample, "externalId")?, text(&sample, "displayName")?);
    let mut body = Value::Object(sample).to_string();
    if let Some(quantized) = quantized {
        // Written as text, not as a value: nothing between here and the gateway may touch a digit.
        body.pop();
        body.push_str(",\"boundary\":");
        body.push_str(&boundary(&serde_json::from_value(quantized).map_err(unreadable)?)?);
        body.push('}');
    }
    Ok(Feature { list: format!("/parks/{list}/{collection}"), id, name, body })
}

fn boundary(quantized: &Quantized) -> Result<String, SampleError> {
    let number = |text: &String| text.parse::<f64>().map_err(unreadable);
    let pair = |[x, y]: &[String; 2]| Ok([number(x)?, number(y)?]);
    let lattice =
        Lattice { scale: pair(&quantized.transform.scale)?, translate: pair(&quantized.transform.translate)? };
    let mut geojson = format!("{{\"type\":\"{}\",\"coordinates\":", quantized.shape_type);
    lattice.write(&quantized.coordinates, &mut geojson)?;
    geojson.push('}');
    Ok(geojson)
}

impl Lattice {
    /// Rings, parts or a single ring, whatever the nesting.
    fn write(&self, coordinates: &Value, geojson: &mut String) -> Result<(), SampleError> {
        let is_ring = coordinates.pointer("/0/0").is_some_and(Value::is_i64);
        if is_ring {
            return self.write_ring(coordinates, geojson);
        }
        geojson.push('[');
        for (index, inner) in coordinates.as_array().into_iter().flatten().enumerate() {
            if index > 0 {
                geojson.push(',');
            }
            self.write(inner, geojson)?;
        }
        geojson.push(']');
        Ok(())
    }

    fn write_ring(&self, ring: &Value, geojson: &mut String) -> Result<(), SampleError> {
        let steps: Vec<[i64; 2]> = serde_json::from_value(ring.clone()).map_err(unreadable)?;
        let (mut x, mut y) = (0, 0);
        let ([scale_x, scale_y], [from_x, from_y]) = (self.scale, self.translate);
        for (index, [step_x, step_y]) in steps.into_iter().enumerate() {
            (x, y) = (x + step_x, y + step_y);
            let before = if index > 0 { "," } else { "[" };
            // No lattice of these samples is as wide as the integers that a double holds exactly.
            let position = (x as f64 * scale_x + from_x, y as f64 * scale_y + from_y);
            write!(geojson, "{before}[{},{}]", position.0, position.1).map_err(unreadable)?;
        }
        geojson.push(']');
        Ok(())
    }
}

fn take(sample: &mut Map<String, Value>, name: &str) -> Result<String, SampleError> {
    let text = text(sample, name)?;
    sample.remove(name);
    Ok(text)
}

fn text(sample: &Map<String, Value>, name: &str) -> Result<String, SampleError> {
    let text = sample.get(name).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| unreadable(format!("a sample without `{name}`")))
}

fn unreadable(error: impl ToString) -> SampleError {
    SampleError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_samples_are_requests() {
        assert_eq!(collections().unwrap().len(), 7);
        let features = features().unwrap();
        let geozones = features.iter().filter(|feature| feature.list.starts_with("/parks/geozones/")).count();
        assert_eq!((geozones, features.len()), (3542, 3542 + 3994));
        assert!(features.iter().all(|feature| serde_json::from_str::<Value>(&feature.body).is_ok()));
    }

    #[test]
    fn a_lattice_is_differences_from_the_first_position() {
        let quantized = Quantized {
            shape_type: "Polygon".to_owned(),
            transform: Transform {
                scale: ["0.5".to_owned(), "0.25".to_owned()],
                translate: ["-180".to_owned(), "10".to_owned()],
            },
            coordinates: json!([[[2, 4], [1, 0], [0, 1], [-1, -1]]]),
        };
        let expected = r#"{"type":"Polygon","coordinates":[[[-179,11],[-178.5,11],[-178.5,11.25],[-179,11]]]}"#;
        assert_eq!(boundary(&quantized).unwrap(), expected);
    }
}
