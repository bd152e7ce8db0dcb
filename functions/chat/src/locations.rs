//! Locations: places by name, as clients send and see them.

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Fault, Patch, Problem};

/// A place as items store it. Names are NFC, trimmed, with single spaces inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Location {
    pub country: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
}

/// A place by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Location)]
pub struct LocationView {
    #[schema(min_length = 1, max_length = 60)]
    pub country: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 60, nullable = false)]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 60, nullable = false)]
    pub city: Option<String>,
}

impl LocationView {
    /// Returns what is wrong with the names of the place.
    pub fn faults(&self, pointer: &str) -> Vec<Fault> {
        faults(pointer, Some(&self.country), self.state.as_ref(), self.city.as_ref())
    }

    /// Returns the place as it is stored, each name in its one form.
    pub fn stored(&self) -> Location {
        Location {
            country: normalized(&self.country),
            state: self.state.as_deref().map(normalized),
            city: self.city.as_deref().map(normalized),
        }
    }
}

/// The parts of a place that change. `null` removes one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationPatch {
    /// Required if there is no place yet.
    #[schema(min_length = 1, max_length = 60, nullable = false)]
    country: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 60)]
    state: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 60)]
    city: Patch<String>,
}

impl LocationPatch {
    /// Returns what is wrong with the names.
    pub fn faults(&self, pointer: &str) -> Vec<Fault> {
        let [state, city] = [&self.state, &self.city].map(|name| name.as_ref().apply(None));
        faults(pointer, self.country.as_ref(), state, city)
    }

    /// Returns the place after the change, as it is stored. None if it has no country.
    fn apply(self, before: Option<&Location>) -> Option<Location> {
        let place = LocationView {
            country: self.country.or_else(|| before.map(|place| place.country.clone()))?,
            state: self.state.apply(before.and_then(|place| place.state.clone())),
            city: self.city.apply(before.and_then(|place| place.city.clone())),
        };
        Some(place.stored())
    }
}

/// Returns the place after an update of the field `location`.
pub fn patched(patch: Patch<LocationPatch>, before: Option<&Location>) -> Result<Option<Location>, Problem> {
    match patch {
        Patch::Absent => Ok(before.cloned()),
        Patch::Remove => Ok(None),
        Patch::Set(parts) => {
            let place = parts.apply(before);
            let missing = || Problem::faults(vec![Fault::pointer("/location/country", "is required")]);
            place.map(Some).ok_or_else(missing)
        }
    }
}

fn faults(pointer: &str, country: Option<&String>, state: Option<&String>, city: Option<&String>) -> Vec<Fault> {
    let names = [("country", country), ("state", state), ("city", city)];
    names.iter().filter_map(|(part, name)| place_fault(&format!("{pointer}/{part}"), (*name)?)).collect()
}

impl From<Location> for LocationView {
    fn from(location: Location) -> Self {
        let Location { country, state, city } = location;
        Self { country, state, city }
    }
}

/// The most characters of the name of a place.
const MAX_NAME: usize = 60;

/// Returns the fault of the name of a place. The schema checks its length, and normalization can make it longer.
pub fn place_fault(pointer: &str, name: &str) -> Option<Fault> {
    let delimits = || name.contains('#').then(|| Fault::pointer(pointer, "must not contain `#`"));
    let is_long = || normalized(name).chars().count() > MAX_NAME;
    let detail = || format!("must have at most {MAX_NAME} characters, after Unicode normalization (NFC)");
    name_fault(pointer, name).or_else(delimits).or_else(|| is_long().then(|| Fault::pointer(pointer, detail())))
}

/// Returns a name in NFC with single spaces inside and none around.
pub fn normalized(name: &str) -> String {
    let name = ComposingNormalizerBorrowed::new_nfc().normalize(name).into_owned();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_with_the_delimiter_of_keys_is_refused() {
        assert!(place_fault("", "a#b").is_some() && place_fault("", "\u{200b}").is_some());
        assert_eq!(place_fault("", "St. John's"), None);
    }

    #[test]
    fn name_that_normalization_makes_too_long_is_refused() {
        // This note is composed to three characters.
        assert_eq!(place_fault("", &"\u{1d160}".repeat(20)), None);
        assert!(place_fault("", &"\u{1d160}".repeat(21)).is_some());
    }

    #[test]
    fn names_of_one_place_are_stored_alike() {
        for name in ["New York", " New  York ", "New\u{a0}York"] {
            assert_eq!(normalized(name), "New York");
        }
        assert_eq!(normalized("Que\u{301}bec"), "Qu\u{e9}bec");
    }
}
