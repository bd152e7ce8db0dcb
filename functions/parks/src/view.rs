//! Items in responses: the visitors' view and the administrators'.

use http::header;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Answer, Context, EntityTag, Respond, Route, Who};

use crate::days::Day;
use crate::item::Item;
use crate::names::{ActivityType, FacilityType, Kind};
use crate::open_days::OpenDays;

/// The role that may read and write everything.
pub const ADMINISTRATOR: &str = "parks-admin";

pub const ADMINISTRATORS: Who = Who::Role(ADMINISTRATOR);

/// Every caller; administrators get their own view.
pub const EVERYONE: Who = Who::Views { fuller: ADMINISTRATOR };

/// The limit of bytes of the items in a response. Lambda limits a response to 6 MB.
pub const MAX_BYTES: usize = 4_000_000;

/// The attributes and items that a response shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Visible items that are not deleted, without the attributes for administrators.
    Visitor,
    Administrator,
}

impl View {
    /// The administrators' view for an administrator, unless the query has `view=public`.
    pub fn of(cx: &Context, parameter: Option<ViewParameter>) -> Self {
        if cx.principal().has_role(ADMINISTRATOR) && parameter.is_none() { Self::Administrator } else { Self::Visitor }
    }

    /// Adds the header fields for caches.
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

    /// Whether this view shows the item.
    pub fn shows(self, item: &Item) -> bool {
        self == Self::Administrator || (item.visible() && !item.deleted())
    }
}

/// A response with the header fields of [`View::cached`].
#[derive(Debug)]
pub struct Cached<R>(pub View, pub R);

impl<R: Respond> Respond for Cached<R> {
    fn declare(route: Route) -> Route {
        R::declare(route)
    }

    fn into_answer(self) -> Answer {
        let Self(view, response) = self;
        view.cached(response.into_answer())
    }
}

/// `view=public` shows an administrator the visitors' view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ViewParameter {
    Public,
}

/// The fields of an item in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum FieldsParameter {
    Card,
}

/// The number of characters of a description on a card.
pub const CARD_DESCRIPTION_LENGTH: usize = 300;

/// The form of shapes in a response: links by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum GeometryParameter {
    #[default]
    Link,
    /// Embedded up to 1 MiB; a larger shape keeps its link.
    Full,
    None,
}

/// An item. The visitors' view lacks the attributes for administrators.
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
    /// For administrators, as are all following attributes.
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
    /// The deletion of an ancestor that cascaded to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<String>,
    /// Whether a job is working on it or on its children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<bool>,
}

/// A GeoJSON geometry in the API description.
#[derive(Debug, ToSchema)]
#[serde(tag = "type")]
pub enum Geometry {
    Point { coordinates: Vec<f64> },
    LineString { coordinates: Vec<Vec<f64>> },
    MultiLineString { coordinates: Vec<Vec<Vec<f64>>> },
    Polygon { coordinates: Vec<Vec<Vec<f64>>> },
    MultiPolygon { coordinates: Vec<Vec<Vec<Vec<f64>>>> },
}

/// One of an item's shapes: a link to it, or the shape itself if the request asks for it and it is small enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Shape)]
pub struct ShapeView {
    /// The GeoJSON type.
    #[serde(rename = "type")]
    pub shape_type: String,
    /// The size of the canonical form.
    pub bytes: u64,
    pub positions: u64,
    pub parts: u64,
    /// The hash of the canonical form, in hexadecimal.
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
            // An update of the notes changes these, so visitors must not see them.
            updated_at: administrators(item.updated_at),
            updated_by: administrators(item.updated_by),
            deleted_at: administrators(item.deleted_at),
            deleted_by: administrators(item.deleted_by),
            deleted_with: administrators(item.deleted_with),
            busy: item.busy.filter(|_| view == View::Administrator),
        }
    }
}

/// An item in a list, with the attributes of the list's index.
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
    /// For administrators.
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
