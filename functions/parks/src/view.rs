//! Items as they are answered: a visitor's view and an administrator's.

use http::header;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Answer, EntityTag, Request};

use crate::days::Day;
use crate::geojson::Geometry;
use crate::item::Item;
use crate::names::{ActivityType, FacilityType, Kind};
use crate::open_days::OpenDays;

/// The role that sees and changes everything.
pub const ADMINISTRATOR: &str = "parks-admin";

/// Whose view of an item an answer gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What is visible and not deleted, without administrators' attributes.
    Visitor,
    Administrator,
}

impl View {
    /// An administrator's own view, unless the request asks for the visitors' with `view=public`.
    pub fn of(request: &Request, asked: Option<AskedView>) -> Self {
        if request.principal().has_role(ADMINISTRATOR) && asked.is_none() { Self::Administrator } else { Self::Visitor }
    }

    /// The answer with what caches may do with it.
    pub fn cached(self, answer: Answer) -> Answer {
        let answer = answer.header(header::VARY, "Authorization, Accept");
        match self {
            Self::Visitor => answer.public_for(30),
            Self::Administrator => answer,
        }
    }

    /// The tag of an item with this revision in this view.
    pub fn tag(self, revision: EntityTag) -> EntityTag {
        match self {
            Self::Visitor => revision.of_representation("public"),
            Self::Administrator => revision,
        }
    }

    /// Whether the item exists as far as this view goes.
    pub fn shows(self, item: &Item) -> bool {
        self == Self::Administrator || (item.visible() && !item.deleted())
    }
}

/// `view=public` shows an administrator what visitors see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskedView {
    Public,
}

/// An item. What only administrators see is absent from a visitor's view.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Item)]
pub struct ItemView {
    pub pk: String,
    pub sk: String,
    pub entity: Kind,
    pub global_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facility_type: Option<FacilityType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_type: Option<ActivityType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_type: Option<String>,
    pub display_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_terms: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_urls: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_open: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show_on_map: Option<bool>,
    /// The first and the last day that a product may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_start: Option<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_end: Option<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_stay_days: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stay_days: Option<u16>,
    /// The days on which a product is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_ranges: Option<OpenDays>,
    pub is_visible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Vec<f64>>,
    /// `[west, south, east, north]` of its shapes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<[f64; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_map_zoom: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_map_zoom: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<ShapeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<ShapeView>,
    /// For administrators only, as is all that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_deleted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_notes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<String>,
    /// The deletion of what it lay in that took it along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<String>,
    /// Whether a job is at work on it or below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<bool>,
}

/// One of an item's shapes: the shape itself where the request asked for it and it is small enough, else a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Shape)]
pub struct ShapeView {
    /// GeoJSON's name of its type.
    #[serde(rename = "type")]
    pub shape_type: String,
    /// The size of its canonical form.
    pub bytes: u64,
    pub positions: u64,
    pub parts: u64,
    /// Of its canonical form, in hexadecimal.
    pub sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Geometry>)]
    pub geometry: Option<serde_json::Value>,
}

impl ItemView {
    /// The item without its shapes.
    pub fn new(item: &Item, view: View) -> Self {
        let item = item.clone();
        let administrators = |text: Option<String>| text.filter(|_| view == View::Administrator);
        Self {
            entity: item.kind().unwrap_or(Kind::Collection),
            global_id: item.global_id.clone().unwrap_or_default(),
            is_visible: item.visible(),
            is_deleted: (view == View::Administrator).then_some(item.deleted()),
            pk: item.pk,
            sk: item.sk,
            collection_id: item.collection_id,
            number: item.number,
            facility_type: item.facility_type,
            activity_type: item.activity_type,
            sub_type: item.sub_type,
            display_name: item.display_name.unwrap_or_default(),
            description: item.description,
            search_terms: item.search_terms,
            image_urls: item.image_urls,
            timezone: item.timezone,
            address: item.address,
            is_open: item.is_open,
            show_on_map: item.show_on_map,
            range_start: item.range_start,
            range_end: item.range_end,
            min_stay_days: item.min_stay_days,
            max_stay_days: item.max_stay_days,
            open_ranges: item.open_ranges,
            location: item.location,
            envelope: item.envelope,
            min_map_zoom: item.min_map_zoom,
            max_map_zoom: item.max_map_zoom,
            boundary: None,
            path: None,
            external_id: administrators(item.external_id),
            admin_notes: administrators(item.admin_notes),
            created_at: administrators(item.created_at),
            created_by: administrators(item.created_by),
            // A change of the notes moves these, and a visitor must not see that.
            updated_at: administrators(item.updated_at),
            updated_by: administrators(item.updated_by),
            deleted_at: administrators(item.deleted_at),
            deleted_by: administrators(item.deleted_by),
            deleted_with: administrators(item.deleted_with),
            busy: item.busy.filter(|_| view == View::Administrator),
        }
    }
}

/// An item in a list: what the list's index holds of it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub pk: String,
    pub sk: String,
    pub entity: Kind,
    pub global_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facility_type: Option<FacilityType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_type: Option<ActivityType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_type: Option<String>,
    pub display_name: String,
    pub is_visible: bool,
    /// For administrators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_deleted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<[f64; 4]>,
}

impl Summary {
    pub fn new(item: Item, view: View) -> Self {
        Self {
            entity: item.kind().unwrap_or(Kind::Collection),
            global_id: item.global_id.clone().unwrap_or_default(),
            is_visible: item.visible(),
            is_deleted: (view == View::Administrator).then_some(item.deleted()),
            pk: item.pk,
            sk: item.sk,
            collection_id: item.collection_id,
            number: item.number,
            facility_type: item.facility_type,
            activity_type: item.activity_type,
            sub_type: item.sub_type,
            display_name: item.display_name.unwrap_or_default(),
            location: item.location,
            envelope: item.envelope,
        }
    }
}
