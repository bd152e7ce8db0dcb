//! The samples as they are kept beside the program; `samples/README.md` says where they come from.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter, Write};
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::SampleError;
use super::offers::{Activity, DATES, activity};
use super::outline::Outline;

const COLLECTIONS: &str = include_str!("../../../samples/parks/collections.json");
const GEOZONES: &[u8] = include_bytes!("../../../samples/parks/geozones.jsonl.gz");
const FACILITIES: &[u8] = include_bytes!("../../../samples/parks/facilities.jsonl.gz");

/// The facilities of the one collection lie in the geozones of the other.
const LIE_IN: [(&str, &str); 2] = [("us_west_airports", "us_counties"), ("us_states", "us_states")];

/// All that can be loaded.
#[derive(Clone, Debug)]
pub struct Samples {
    pub(super) collections: Vec<Feature>,
    /// Geozones, then facilities.
    pub(super) features: Vec<Feature>,
    pub(super) activities: Vec<Activity>,
    pub(super) relationships: Vec<[Name; 2]>,
}

/// What names an item before it has a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The path that it is posted to.
    pub list: String,
    /// What tells it from others of its list.
    pub id: String,
}

/// One request that makes an item.
#[derive(Clone, Debug)]
pub struct Feature {
    pub name: Name,
    pub display_name: String,
    /// JSON.
    pub body: String,
}

/// A facility.
#[derive(Clone, Debug)]
pub struct Place {
    pub name: Name,
    pub display_name: String,
    pub collection: String,
    pub sub_type: String,
    pub location: [f64; 2],
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

impl Samples {
    /// Reads them, and finds out what is to be done where, and which place lies in which boundary.
    pub fn read() -> Result<Self, SampleError> {
        let (mut features, mut facilities, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines(FACILITIES) {
            let sample = line?;
            places.push(place(&sample)?);
            facilities.push(feature("facilities", sample)?);
        }
        let activities: Vec<Activity> = places.iter().filter_map(activity).collect();
        let at_place = |activity: &Activity| [activity.facility.clone(), activity.feature.name.clone()];
        let mut relationships: Vec<[Name; 2]> = activities.iter().map(at_place).collect();
        for line in lines(GEOZONES) {
            let sample = line?;
            let inside = inside(&sample, &places)?;
            let geozone = feature("geozones", sample)?;
            for place in inside {
                relationships.push([geozone.name.clone(), place.name.clone()]);
                let there = activity(place);
                relationships.extend(there.map(|activity| [geozone.name.clone(), activity.feature.name]));
            }
            features.push(geozone);
        }
        features.append(&mut facilities);
        Ok(Self { collections: collections()?, features, activities, relationships })
    }

    /// Leaves out the geozones and facilities that are not wanted, with what belongs to them.
    pub fn keep(&mut self, wanted: impl Fn(&Feature) -> bool) {
        self.features.retain(wanted);
        let mut kept: HashSet<&Name> = self.features.iter().map(|feature| &feature.name).collect();
        self.activities.retain(|activity| kept.contains(&activity.facility));
        kept.extend(self.activities.iter().map(|activity| &activity.feature.name));
        self.relationships.retain(|ends| ends.iter().all(|end| kept.contains(end)));
    }

    /// How many items these are.
    pub fn count(&self) -> u64 {
        let products = self.activities.iter().filter(|activity| activity.product.is_some()).count() as u64;
        let others = [self.collections.len(), self.features.len(), self.activities.len(), self.relationships.len()];
        others.into_iter().sum::<usize>() as u64 + products * (1 + DATES)
    }
}

impl Display for Name {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.list, self.id)
    }
}

fn lines(packed: &'static [u8]) -> impl Iterator<Item = Result<Map<String, Value>, SampleError>> {
    let lines = BufReader::new(GzDecoder::new(packed)).lines();
    lines.map(|line| serde_json::from_str(&line.map_err(unreadable)?).map_err(unreadable))
}

fn collections() -> Result<Vec<Feature>, SampleError> {
    let collections: Vec<Map<String, Value>> = serde_json::from_str(COLLECTIONS).map_err(unreadable)?;
    let request = |mut sample: Map<String, Value>| {
        let id = take(&mut sample, "collection")?;
        let display_name = text(&sample, "displayName")?;
        sample.insert("collectionId".to_owned(), json!(id));
        sample.insert("isVisible".to_owned(), json!(true));
        let name = Name { list: "/parks/collections".to_owned(), id };
        Ok(Feature { name, display_name, body: Value::Object(sample).to_string() })
    };
    collections.into_iter().map(request).collect()
}

fn feature(list: &str, mut sample: Map<String, Value>) -> Result<Feature, SampleError> {
    let name = name(list, &sample)?;
    sample.remove("collection");
    sample.remove("source");
    sample.insert("isVisible".to_owned(), json!(true));
    let quantized = sample.remove("quantizedBoundary");
    let display_name = text(&sample, "displayName")?;
    let mut body = Value::Object(sample).to_string();
    if let Some(quantized) = quantized {
        // Written as text, not as a value: nothing between here and the gateway may touch a digit.
        body.pop();
        body.push_str(",\"boundary\":");
        body.push_str(&boundary(&serde_json::from_value(quantized).map_err(unreadable)?)?);
        body.push('}');
    }
    Ok(Feature { name, display_name, body })
}

fn name(list: &str, sample: &Map<String, Value>) -> Result<Name, SampleError> {
    let list = format!("/parks/{list}/{}", text(sample, "collection")?);
    Ok(Name { list, id: text(sample, "externalId")? })
}

fn place(sample: &Map<String, Value>) -> Result<Place, SampleError> {
    let location = sample.get("location").cloned().unwrap_or_default();
    Ok(Place {
        name: name("facilities", sample)?,
        display_name: text(sample, "displayName")?,
        collection: text(sample, "collection")?,
        sub_type: text(sample, "subType")?,
        location: serde_json::from_value(location).map_err(unreadable)?,
    })
}

/// Those of the places that lie in the geozone, and are of a collection that is to lie in its.
fn inside<'a>(geozone: &Map<String, Value>, places: &'a [Place]) -> Result<Vec<&'a Place>, SampleError> {
    let collection = text(geozone, "collection")?;
    let Some((within, _)) = LIE_IN.iter().find(|(_, geozones)| *geozones == collection) else { return Ok(Vec::new()) };
    let quantized = geozone.get("quantizedBoundary").cloned().unwrap_or_default();
    let quantized: Quantized = serde_json::from_value(quantized).map_err(unreadable)?;
    let mut rings = Vec::new();
    quantized.lattice()?.rings(&quantized.coordinates, &mut rings)?;
    let outline = Outline::new(rings);
    Ok(places.iter().filter(|place| place.collection == *within && outline.contains(place.location)).collect())
}

fn boundary(quantized: &Quantized) -> Result<String, SampleError> {
    let mut geojson = format!("{{\"type\":\"{}\",\"coordinates\":", quantized.shape_type);
    quantized.lattice()?.write(&quantized.coordinates, &mut geojson)?;
    geojson.push('}');
    Ok(geojson)
}

impl Quantized {
    fn lattice(&self) -> Result<Lattice, SampleError> {
        let number = |text: &String| text.parse::<f64>().map_err(unreadable);
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
            write!(geojson, "{before}[{x},{y}]").map_err(unreadable)?;
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
        let steps: Vec<[i64; 2]> = serde_json::from_value(ring.clone()).map_err(unreadable)?;
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
    use geometry::{Kind, Limits};

    use super::*;

    const BOUNDARY: &str = "\"boundary\":";

    #[test]
    fn all_samples_are_requests() {
        let samples = Samples::read().unwrap();
        let starts = |feature: &&Feature| feature.name.list.starts_with("/parks/geozones/");
        let geozones = samples.features.iter().filter(starts).count();
        assert_eq!((geozones, samples.features.len(), samples.collections.len()), (3542, 3542 + 3994, 7));
        let activities = samples.activities.iter().map(|activity| &activity.feature);
        let mut bodies = samples.features.iter().chain(activities).map(|feature| &feature.body);
        assert!(bodies.all(|body| serde_json::from_str::<Value>(body).is_ok()));
        let products = samples.activities.iter().filter(|activity| activity.product.is_some()).count();
        let counts = (samples.activities.len(), products, samples.relationships.len());
        assert_eq!(counts, (693, 45, 1750));
    }

    #[test]
    fn every_sample_boundary_meets_the_rules() {
        let samples = Samples::read().unwrap();
        let bodies =
            samples.features.iter().filter_map(|feature| Some((feature, feature.body.split_once(BOUNDARY)?.1)));
        let refused: Vec<String> = bodies
            .filter_map(|(geozone, boundary)| {
                let boundary = boundary.strip_suffix('}').unwrap();
                let refused = geometry::check(boundary.as_bytes(), Kind::Boundary, &Limits::BODY).err()?;
                Some(format!("{} ({}): {refused:?}", geozone.name, geozone.display_name))
            })
            .collect();
        assert!(refused.is_empty(), "{refused:#?}");
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
