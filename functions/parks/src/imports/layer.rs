//! The kinds of item that files may hold.

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key, Number};
use utoipa::ToSchema;
use web::{Problem, Schema};

use super::Format;
use super::csv::COLUMNS;
use crate::fields::{NewActivity, NewFacility, NewGeozone};
use crate::keys::{ActivityKey, FacilityKey, GeozoneKey};
use crate::names::{CollectionId, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Layer {
    Geozone,
    Facility,
    Activity,
}

impl Layer {
    pub fn kind(self) -> Kind {
        match self {
            Self::Geozone => Kind::Geozone,
            Self::Facility => Kind::Facility,
            Self::Activity => Kind::Activity,
        }
    }

    /// The field that stands in the key, where the kind has types.
    pub(super) fn type_field(self) -> Option<&'static str> {
        match self {
            Self::Geozone => None,
            Self::Facility => Some("facilityType"),
            Self::Activity => Some("activityType"),
        }
    }

    /// What a row's fields are checked against: a body that makes one.
    pub(super) fn schema(self) -> Result<Schema, Problem> {
        match self {
            Self::Geozone => Schema::of::<NewGeozone>(),
            Self::Facility => Schema::of::<NewFacility>(),
            Self::Activity => Schema::of::<NewActivity>(),
        }
    }

    /// The fields that the attributes of a file may set, by the names that they have in files of this format.
    pub(super) fn fields(self, format: Format) -> Result<Vec<&'static str>, Problem> {
        let schema = self.schema()?;
        let field = |column: &'static str| match (column, format) {
            (_, Format::Csv) => self.has_column(column, &schema).then_some(column),
            ("type", Format::Geojson) => self.type_field(),
            // The location of a feature is its geometry.
            ("longitude" | "latitude", Format::Geojson) => None,
            (_, Format::Geojson) => schema.has(column).then_some(column),
        };
        Ok(COLUMNS.into_iter().filter_map(field).collect())
    }

    /// Whether a column of a CSV file sets a field of this kind, whose schema this is.
    pub(super) fn has_column(self, column: &str, schema: &Schema) -> bool {
        match column {
            "type" => self.type_field().is_some(),
            "longitude" | "latitude" => true,
            _ => COLUMNS.contains(&column) && schema.has(column),
        }
    }

    /// The key of the item with this number; nothing for a type that its kind does not have.
    pub(super) fn key(self, collection: &CollectionId, of_type: Option<&str>, number: u64) -> Option<Key> {
        let (collection, number) = (collection.clone(), Number(number));
        Some(match self {
            Self::Geozone => GeozoneKey { collection, number }.key(),
            Self::Facility => FacilityKey { collection, facility_type: of_type?.parse().ok()?, number }.key(),
            Self::Activity => ActivityKey { collection, activity_type: of_type?.parse().ok()?, number }.key(),
        })
    }
}
