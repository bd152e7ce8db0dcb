//! Boundaries as the sample files store them; `samples/README.md` describes the form.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;

use super::SampleError;

/// A boundary on the lattice that its source was quantised to: each ring's first position, then differences.
#[derive(Debug, Deserialize)]
pub struct Quantized {
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

impl Quantized {
    /// The boundary as GeoJSON.
    pub fn geojson(&self) -> Result<String, SampleError> {
        let mut geojson = format!("{{\"type\":\"{}\",\"coordinates\":", self.shape_type);
        self.lattice()?.write(&self.coordinates, &mut geojson)?;
        geojson.push('}');
        Ok(geojson)
    }

    /// All rings of the boundary, shells and holes of all its parts.
    pub fn rings(&self) -> Result<Vec<Vec<[f64; 2]>>, SampleError> {
        let mut rings = Vec::new();
        self.lattice()?.rings(&self.coordinates, &mut rings)?;
        Ok(rings)
    }

    fn lattice(&self) -> Result<Lattice, SampleError> {
        let number = |text: &String| text.parse::<f64>().map_err(SampleError::unreadable);
        let pair = |[x, y]: &[String; 2]| Ok([number(x)?, number(y)?]);
        Ok(Lattice { scale: pair(&self.transform.scale)?, translate: pair(&self.transform.translate)? })
    }
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
        for (index, [x, y]) in self.positions(ring)?.into_iter().enumerate() {
            let before = if index > 0 { "," } else { "[" };
            write!(geojson, "{before}[{x},{y}]").map_err(SampleError::unreadable)?;
        }
        geojson.push(']');
        Ok(())
    }

    /// All rings, whatever the nesting.
    fn rings(&self, coordinates: &Value, rings: &mut Vec<Vec<[f64; 2]>>) -> Result<(), SampleError> {
        if coordinates.pointer("/0/0").is_some_and(Value::is_i64) {
            rings.push(self.positions(coordinates)?);
            return Ok(());
        }
        coordinates.as_array().into_iter().flatten().try_for_each(|inner| self.rings(inner, rings))
    }

    fn positions(&self, ring: &Value) -> Result<Vec<[f64; 2]>, SampleError> {
        let steps: Vec<[i64; 2]> = serde_json::from_value(ring.clone()).map_err(SampleError::unreadable)?;
        let (mut x, mut y) = (0, 0);
        let ([scale_x, scale_y], [from_x, from_y]) = (self.scale, self.translate);
        let position = |[step_x, step_y]: [i64; 2]| {
            (x, y) = (x + step_x, y + step_y);
            // No lattice of these samples is as wide as the integers that a double holds exactly.
            [x as f64 * scale_x + from_x, y as f64 * scale_y + from_y]
        };
        Ok(steps.into_iter().map(position).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn geojson_of_lattice_adds_each_difference() {
        let quantized = Quantized {
            shape_type: "Polygon".to_owned(),
            transform: Transform {
                scale: ["0.5".to_owned(), "0.25".to_owned()],
                translate: ["-180".to_owned(), "10".to_owned()],
            },
            coordinates: json!([[[2, 4], [1, 0], [0, 1], [-1, -1]]]),
        };
        let expected = r#"{"type":"Polygon","coordinates":[[[-179,11],[-178.5,11],[-178.5,11.25],[-179,11]]]}"#;
        assert_eq!(quantized.geojson().unwrap(), expected);
    }
}
