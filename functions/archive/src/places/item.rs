//! Places as the table stores them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key};
use utoipa::ToSchema;

use super::naming::{self, FullName};
use super::resolution::Candidate;
use crate::keys::PlaceKey;
use crate::names::{PlaceId, PlacePrefix, PlaceWord, UserId};

/// The most levels, a country's included.
pub const MAX_LEVELS: usize = 5;

/// The longest full name in characters.
pub const MAX_FULL_NAME: usize = 250;

/// The longest alternative name in characters.
pub const MAX_ALTERNATIVE: usize = 250;

/// The longest folded full name in bytes: the limit of an index's sort key.
const MAX_FOLDED_BYTES: usize = 1024;

/// The most alternative names.
pub const MAX_ALTERNATIVES: usize = 300;

/// A place, or what remains of one that another has replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    #[serde(rename = "PK")]
    pub id: PlaceId,
    /// The folded full name, by which the index lists it. Absent once another place has replaced it.
    #[serde(rename = "GSISK", skip_serializing_if = "Option::is_none")]
    pub folded_full_name: Option<String>,
    pub name: String,
    pub full_name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alt_names: Vec<String>,
    #[serde(rename = "type")]
    pub kind: PlaceType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<PlaceId>,
    /// The ids of its ancestors, the country first, and its own.
    pub path: Vec<PlaceId>,
    /// The number of ids in its path.
    pub level: usize,
    /// The country's code in ISO 3166-1, of two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Degrees as decimal text, so that every digit stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lon: Option<String>,
    /// The number of inhabitants. Of places with the same name, the one with the most comes first.
    pub weight: u64,
    /// The number of places whose parent it is.
    pub child_count: u64,
    pub source: Source,
    /// The place that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<PlaceId>,
    pub created_at: String,
    pub updated_at: String,
    /// Absent on places of the gazetteer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<UserId>,
}

/// The type of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlaceType {
    Country,
    /// The first division of a country, such as a state.
    Division,
    County,
    Parish,
    /// A city, a town or a village.
    #[default]
    Settlement,
    Farm,
    Church,
    Cemetery,
    Other,
}

/// The origin of a place. A load of the gazetteer changes only places that are as it wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// GeoNames (geonames.org), CC BY 4.0.
    Geonames,
    /// GeoNames, changed by an administrator since.
    GeonamesEdited,
    /// An administrator of this archive.
    Archive,
}

/// Why a place cannot have its name or its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// The name has no letter and no digit.
    Nameless,
    FullNameTooLong,
    TooDeep,
}

impl Place {
    /// A place without a name. [`Place::named`] gives it one.
    pub fn new(id: PlaceId, kind: PlaceType, source: Source, at: &str) -> Self {
        Self {
            id,
            folded_full_name: None,
            name: String::new(),
            full_name: String::new(),
            alt_names: Vec::new(),
            kind,
            parent_id: None,
            path: Vec::new(),
            level: 0,
            country: None,
            lat: None,
            lon: None,
            weight: 0,
            child_count: 0,
            source,
            replaced_by: None,
            created_at: at.to_owned(),
            updated_at: at.to_owned(),
            created_by: None,
        }
    }

    /// Returns its key. The folded full name decides the sort key.
    pub fn key(&self) -> Option<Key> {
        let prefix = PlacePrefix::of(self.folded_full_name.as_deref()?)?;
        Some(PlaceKey { place: self.id, prefix }.key())
    }

    /// Returns its full name, unless another place has replaced it.
    pub fn full_name(&self) -> Option<FullName> {
        let folded = self.folded_full_name.clone()?;
        Some(FullName { readable: self.full_name.clone(), folded })
    }

    /// Sets its name and everything that follows from name and parent.
    pub fn named(mut self, name: &str, parent: Option<&Self>) -> Result<Self, Misplaced> {
        let full_name = FullName::new(name, parent.and_then(Self::full_name).as_ref());
        if full_name.folded.is_empty() || full_name.folded.starts_with(naming::SEPARATOR) {
            return Err(Misplaced::Nameless);
        }
        if full_name.readable.chars().count() > MAX_FULL_NAME || full_name.folded.len() > MAX_FOLDED_BYTES {
            return Err(Misplaced::FullNameTooLong);
        }
        self.path = parent.map(|parent| parent.path.clone()).unwrap_or_default();
        self.path.push(self.id);
        self.level = self.path.len();
        if self.level > MAX_LEVELS {
            return Err(Misplaced::TooDeep);
        }
        self.parent_id = parent.map(|parent| parent.id);
        if let Some(parent) = parent {
            self.country.clone_from(&parent.country);
        }
        name.clone_into(&mut self.name);
        self.full_name = full_name.readable;
        self.folded_full_name = Some(full_name.folded);
        Ok(self)
    }

    /// Returns the words by which a text finds it. One that another has replaced has none.
    pub fn words(&self) -> BTreeSet<PlaceWord> {
        if self.replaced_by.is_some() { BTreeSet::new() } else { naming::words(&self.name, &self.alt_names) }
    }

    /// Returns it as a place that a text may mean, unless another place has replaced it.
    pub fn candidate(&self) -> Option<Candidate> {
        let word = PlaceWord::of(&self.name).ok();
        let candidate = Candidate { id: self.id, path: self.path.clone(), word, weight: self.weight };
        self.replaced_by.is_none().then_some(candidate)
    }
}

impl Misplaced {
    /// The detail of the fault.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Nameless => "must contain a letter or a digit",
            Self::FullNameTooLong => "is too long together with the names of the places around it",
            Self::TooDeep => "must be of the fourth level at most, since places have up to five levels",
        }
    }
}
