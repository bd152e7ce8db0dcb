//! The sample files of parks, which are part of the program. `samples/README.md` has their sources.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};

use super::feature::{Feature, Name, Place};
use super::lattice::Quantized;
use super::offers::{Activity, DATES, activity};
use super::outline::Outline;
use super::{SampleError, Size};

const COLLECTIONS: &str = include_str!("../../../samples/parks/collections.json");

/// One folder of sample files.
struct Packed {
    geozones: &'static [u8],
    facilities: &'static [u8],
}

/// The small sample.
const SMALL: Packed = Packed {
    geozones: include_bytes!("../../../samples/parks/small/geozones.jsonl.gz"),
    facilities: include_bytes!("../../../samples/parks/small/facilities.jsonl.gz"),
};

/// What the large sample has in addition to the small one.
const WORLD: Packed = Packed {
    geozones: include_bytes!("../../../samples/parks/world/geozones.jsonl.gz"),
    facilities: include_bytes!("../../../samples/parks/world/facilities.jsonl.gz"),
};

/// Pairs of collections: the facilities of the first are related to the geozones of the second that contain them.
const CONTAINED_IN: [(&str, &str); 2] = [("us_west_airports", "us_counties"), ("us_states", "us_states")];

/// The samples of parks.
#[derive(Clone, Debug)]
pub struct Samples {
    pub(super) collections: Vec<Feature>,
    /// Geozones, then facilities.
    pub(super) features: Vec<Feature>,
    pub(super) activities: Vec<Activity>,
    pub(super) relationships: Vec<[Name; 2]>,
}

impl Samples {
    /// Reads the samples of this size. Derives the activities of the facilities, and the relationships to the
    /// boundaries that contain them.
    pub fn read(size: Size) -> Result<Self, SampleError> {
        let packed: &[Packed] = match size {
            Size::Small => &[SMALL],
            Size::World => &[SMALL, WORLD],
        };
        let (mut features, mut facilities, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for line in packed.iter().flat_map(|packed| lines(packed.facilities)) {
            let sample = line?;
            places.push(place(&sample)?);
            facilities.push(feature("facilities", sample)?);
        }
        let activities: Vec<Activity> = places.iter().filter_map(activity).collect();
        let at_place = |activity: &Activity| [activity.facility.clone(), activity.feature.name.clone()];
        let mut relationships: Vec<[Name; 2]> = activities.iter().map(at_place).collect();
        for line in packed.iter().flat_map(|packed| lines(packed.geozones)) {
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

    /// Keeps only the wanted geozones and facilities, with their activities and relationships.
    pub fn keep(&mut self, wanted: impl Fn(&Feature) -> bool) {
        self.features.retain(wanted);
        let mut kept: HashSet<&Name> = self.features.iter().map(|feature| &feature.name).collect();
        self.activities.retain(|activity| kept.contains(&activity.facility));
        kept.extend(self.activities.iter().map(|activity| &activity.feature.name));
        self.relationships.retain(|ends| ends.iter().all(|end| kept.contains(end)));
    }

    /// Returns the names of collections, geozones, facilities and activities.
    pub fn display_names(&self) -> impl Iterator<Item = &str> {
        let activities = self.activities.iter().map(|activity| &activity.feature);
        let features = self.collections.iter().chain(&self.features).chain(activities);
        features.map(|feature| feature.display_name.as_str())
    }

    /// Counts all items.
    pub fn count(&self) -> u64 {
        let products = self.activities.iter().filter(|activity| activity.product.is_some()).count() as u64;
        let others = [self.collections.len(), self.features.len(), self.activities.len(), self.relationships.len()];
        others.into_iter().sum::<usize>() as u64 + products * (1 + DATES)
    }
}

fn lines(packed: &'static [u8]) -> impl Iterator<Item = Result<Map<String, Value>, SampleError>> {
    let lines = BufReader::new(GzDecoder::new(packed)).lines();
    lines.map(|line| serde_json::from_str(&line.map_err(SampleError::unreadable)?).map_err(SampleError::unreadable))
}

fn collections() -> Result<Vec<Feature>, SampleError> {
    let collections: Vec<Map<String, Value>> = serde_json::from_str(COLLECTIONS).map_err(SampleError::unreadable)?;
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
        // Written as text, so that all digits stay as they are.
        body.pop();
        body.push_str(",\"boundary\":");
        let quantized: Quantized = serde_json::from_value(quantized).map_err(SampleError::unreadable)?;
        body.push_str(&quantized.geojson()?);
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
        location: serde_json::from_value(location).map_err(SampleError::unreadable)?,
    })
}

/// Returns the places in a geozone, if their collections are in `CONTAINED_IN`.
fn inside<'a>(geozone: &Map<String, Value>, places: &'a [Place]) -> Result<Vec<&'a Place>, SampleError> {
    let collection = text(geozone, "collection")?;
    let Some((within, _)) = CONTAINED_IN.iter().find(|(_, geozones)| *geozones == collection) else {
        return Ok(Vec::new());
    };
    let quantized = geozone.get("quantizedBoundary").cloned().unwrap_or_default();
    let quantized: Quantized = serde_json::from_value(quantized).map_err(SampleError::unreadable)?;
    let outline = Outline::new(quantized.rings()?);
    Ok(places.iter().filter(|place| place.collection == *within && outline.contains(place.location)).collect())
}

fn take(sample: &mut Map<String, Value>, name: &str) -> Result<String, SampleError> {
    let text = text(sample, name)?;
    sample.remove(name);
    Ok(text)
}

fn text(sample: &Map<String, Value>, name: &str) -> Result<String, SampleError> {
    let text = sample.get(name).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| SampleError::unreadable(format!("a sample without `{name}`")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use geometry::{Checked, InvalidShape, Kind, Limits};

    use super::*;

    fn geozones(samples: &Samples) -> impl Iterator<Item = &Feature> {
        samples.features.iter().filter(|feature| feature.name.list.starts_with("/parks/geozones/"))
    }

    fn names(samples: &Samples) -> BTreeSet<String> {
        let activities = samples.activities.iter().map(|activity| &activity.feature);
        let names = samples.features.iter().chain(activities).map(|feature| feature.name.to_string());
        let relationships = samples.relationships.iter().map(|[one, other]| format!("{one}, {other}"));
        names.chain(relationships).collect()
    }

    /// The world sample, which takes seconds to read.
    static WORLD: LazyLock<Samples> = LazyLock::new(|| Samples::read(Size::World).unwrap());

    #[test]
    fn world_sample_has_all_features_as_requests() {
        let samples = &*WORLD;
        let geozones = geozones(samples).count();
        assert_eq!((geozones, samples.features.len(), samples.collections.len()), (3542, 3542 + 3994, 7));
        let activities = samples.activities.iter().map(|activity| &activity.feature);
        let mut bodies = samples.features.iter().chain(activities).map(|feature| &feature.body);
        assert!(bodies.all(|body| serde_json::from_str::<Value>(body).is_ok()));
        let products = samples.activities.iter().filter(|activity| activity.product.is_some()).count();
        let counts = (samples.activities.len(), products, samples.relationships.len());
        assert_eq!(counts, (693, 45, 1750));
        assert_eq!(names(samples).len(), 3542 + 3994 + 693 + 1750, "no item is in both folders");
    }

    #[test]
    fn small_sample_is_a_subset_of_the_world_sample() {
        let (small, world) = (Samples::read(Size::Small).unwrap(), &*WORLD);
        assert_eq!((geozones(&small).count(), small.features.len()), (53, 53 + 65));
        let products = small.activities.iter().filter(|activity| activity.product.is_some()).count();
        assert_eq!((small.activities.len(), products, small.relationships.len()), (17, 2, 41));
        assert!(names(&small).is_subset(&names(world)));
        let bodies: BTreeSet<&String> = world.features.iter().map(|feature| &feature.body).collect();
        assert!(small.features.iter().all(|feature| bodies.contains(&feature.body)));
    }

    #[test]
    fn every_sample_boundary_meets_the_rules() {
        let refused: Vec<String> = geozones(&WORLD)
            .filter_map(|geozone| {
                let refused = check(geozone).err()?;
                Some(format!("{} ({}): {refused:?}", geozone.name, geozone.display_name))
            })
            .collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }

    fn check(geozone: &Feature) -> Result<Checked, InvalidShape> {
        let (_, boundary) = geozone.body.split_once("\"boundary\":").unwrap();
        geometry::check(boundary.strip_suffix('}').unwrap().as_bytes(), Kind::Boundary, &Limits::BODY)
    }

    #[test]
    fn boundaries_across_180_degrees_or_round_a_pole_have_their_envelopes() {
        let samples = Samples::read(Size::Small).unwrap();
        for (country, expected) in [
            ("Russia", [19.6, 41.2, -169.0, 81.9]),
            ("Fiji", [174.6, -21.7, -178.2, -12.5]),
            ("United States of America", [172.5, 18.9, -66.9, 71.4]),
            ("Antarctica", [-180.0, -90.0, 180.0, -60.5]),
        ] {
            let geozone = geozones(&samples).find(|geozone| geozone.display_name == country).unwrap();
            let envelope = check(geozone).unwrap().shape.envelope().to_array();
            assert_eq!(envelope.map(|degrees| (degrees * 10.0).round() / 10.0), expected, "{country}");
        }
    }
}
