//! The gazetteer: countries, their first divisions, and cities, from GeoNames (CC BY 4.0).
//!
//! Ids are stable: a country or city has `9` and its GeoNames number, a division `8` and digits of the digest of its code.

mod lines;
mod load;
mod packages;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use sha2::{Digest, Sha256};

pub use load::{LOAD, Loaded, Mode, load};
pub use packages::{Files, division_names};

use crate::names::{PlaceId, PlaceWord};
use crate::places::item::{Misplaced, Place, PlaceType, Source};

/// The ids of divisions and of places with a GeoNames number begin here.
const DIVISIONS: u64 = 8_000_000_000;
const NUMBERED: u64 = 9_000_000_000;

/// The number of ids of each kind.
const IDS: u64 = 1_000_000_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gazetteer {
    /// By their code in ISO 3166-1, such as `CH`.
    countries: BTreeMap<String, Country>,
    /// By their code, such as `CH.ZH`.
    divisions: BTreeMap<String, Division>,
    /// By their GeoNames number.
    cities: BTreeMap<u64, City>,
}

#[derive(Clone, Debug, PartialEq)]
struct Country {
    number: u64,
    name: String,
    inhabitants: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Division {
    name: String,
    /// The sum of its cities.
    inhabitants: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct City {
    name: String,
    /// The code of its division. Some codes, such as `SG.00`, have no division; the city is in the country then.
    division: String,
    lat: String,
    lon: String,
    inhabitants: u64,
    alternatives: Vec<String>,
}

/// Why the gazetteer cannot be read or loaded.
#[derive(Debug)]
pub enum GazetteerError {
    /// A file is not as this version expects it.
    Unreadable {
        file: &'static str,
        reason: String,
    },
    /// Two divisions have the same id.
    Collision {
        codes: [String; 2],
    },
    Table(table::Error),
}

impl Gazetteer {
    /// Keeps cities with at least so many inhabitants, and those with these GeoNames numbers.
    pub fn keep(&mut self, minimum: u64, also: &BTreeSet<u64>) {
        self.cities.retain(|number, city| city.inhabitants >= minimum || also.contains(number));
    }

    /// Counts all places.
    pub fn count(&self) -> u64 {
        (self.countries.len() + self.divisions.len() + self.cities.len()) as u64
    }

    /// Keeps the countries with these codes, and their divisions and cities.
    pub fn keep_inside(&mut self, countries: &[&str]) {
        self.countries.retain(|code, _| countries.contains(&code.as_str()));
        let is_inside = |code: &str| code.split_once('.').is_some_and(|(country, _)| countries.contains(&country));
        self.divisions.retain(|code, _| is_inside(code));
        self.cities.retain(|_, city| is_inside(&city.division));
    }

    /// Returns the names of its divisions by code.
    pub fn division_names(&self) -> BTreeMap<String, String> {
        self.divisions.iter().map(|(code, division)| (code.clone(), division.name.clone())).collect()
    }

    /// Returns all places, each after its parent.
    pub fn places(&self, now: &str) -> Result<Vec<Place>, GazetteerError> {
        let mut places = Vec::new();
        let mut around: BTreeMap<&str, Place> = BTreeMap::new();
        for (code, country) in &self.countries {
            let new = Place::new(numbered(country.number)?, PlaceType::Country, Source::Geonames, now);
            let new = Place { country: Some(code.clone()), weight: country.inhabitants, ..new };
            let new = named(new, &country.name, None)?;
            around.insert(code, new.clone());
            places.push(new);
        }
        let mut codes: BTreeMap<PlaceId, &String> = BTreeMap::new();
        for (code, division) in &self.divisions {
            let id = division_id(code)?;
            if let Some(other) = codes.insert(id, code) {
                return Err(GazetteerError::Collision { codes: [other.clone(), code.clone()] });
            }
            let new = Place::new(id, PlaceType::Division, Source::Geonames, now);
            let new = Place { weight: division.inhabitants, ..new };
            let new = named(new, &division.name, Some(parent(&around, code)?))?;
            around.insert(code, new.clone());
            places.push(new);
        }
        for (number, city) in &self.cities {
            let new = Place {
                alt_names: city.alternatives.clone(),
                lat: Some(city.lat.clone()),
                lon: Some(city.lon.clone()),
                weight: city.inhabitants,
                ..Place::new(numbered(*number)?, PlaceType::Settlement, Source::Geonames, now)
            };
            let parent = around.get(city.division.as_str()).map_or_else(|| parent(&around, &city.division), Ok)?;
            places.push(named(new, &city.name, Some(parent))?);
        }
        Ok(places)
    }
}

impl City {
    /// Returns a city without alternative names that say nothing new.
    fn new(
        name: String,
        division: String,
        [lat, lon]: [String; 2],
        inhabitants: u64,
        alternatives: Vec<String>,
    ) -> Self {
        let mut alternatives = alternatives;
        alternatives.sort_unstable();
        let mut words: BTreeSet<PlaceWord> = PlaceWord::of(&name).into_iter().collect();
        alternatives.retain(|name| PlaceWord::of(name).is_ok_and(|word| words.insert(word)));
        Self { name, division, lat, lon, inhabitants, alternatives }
    }
}

fn named(new: Place, name: &str, parent: Option<&Place>) -> Result<Place, GazetteerError> {
    let id = new.id;
    let refused = |misplaced: Misplaced| GazetteerError::Unreadable {
        file: "the gazetteer",
        reason: format!("the name `{name}` of place {id} {}", misplaced.detail()),
    };
    new.named(name, parent).map_err(refused)
}

/// Returns the country of a code.
fn parent<'a>(around: &'a BTreeMap<&str, Place>, code: &str) -> Result<&'a Place, GazetteerError> {
    let country = code.split_once('.').and_then(|(country, _)| around.get(country));
    country.ok_or_else(|| GazetteerError::Unreadable {
        file: "the gazetteer",
        reason: format!("the code `{code}` has no country"),
    })
}

/// Returns the id of a place with a GeoNames number.
fn numbered(number: u64) -> Result<PlaceId, GazetteerError> {
    let id = Some(number).filter(|number| *number < IDS).and_then(|number| PlaceId::new(NUMBERED + number));
    id.ok_or_else(|| GazetteerError::Unreadable {
        file: "the gazetteer",
        reason: format!("the GeoNames number {number} has more than nine digits"),
    })
}

/// Returns the id of a division.
fn division_id(code: &str) -> Result<PlaceId, GazetteerError> {
    let digest = Sha256::digest(code);
    let number = digest.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte)) % IDS;
    let impossible = || GazetteerError::Unreadable { file: "the gazetteer", reason: format!("no id for `{code}`") };
    PlaceId::new(DIVISIONS + number).ok_or_else(impossible)
}

impl fmt::Display for GazetteerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => write!(formatter, "reading {file} failed: {reason}"),
            Self::Collision { codes: [one, other] } => {
                write!(formatter, "the divisions {one} and {other} have the same id; nothing was loaded")
            }
            Self::Table(error) => write!(formatter, "loading the gazetteer failed: {error}"),
        }
    }
}

impl std::error::Error for GazetteerError {}

impl From<table::Error> for GazetteerError {
    fn from(error: table::Error) -> Self {
        Self::Table(error)
    }
}

#[cfg(test)]
mod tests;
