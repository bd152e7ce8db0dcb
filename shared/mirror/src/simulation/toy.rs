//! The system that the simulator mirrors: leaves of trees, and a counter that is never searchable.

use table::schema::{Entity, Search, System, Table};

use crate::document::{Document, Found, ShapeSource};
use crate::documents::{DetailLevel, Documents, Mapping, Obstacle, Shape, ShapeStatus, ShapeUnavailable, Shapes};
use crate::image::{Image, Unfit};

pub(crate) static TREES: Table = Table {
    name: "trees",
    pk: "PK",
    sk: Some("SK"),
    indexes: &[],
    entities: &[
        Entity { name: "leaf", pk: "TREE#{tree}", sk: Some("LEAF#{leaf}"), search: Search::Document },
        Entity { name: "counter", pk: "COUNTER", sk: Some("{name}"), search: Search::Never },
    ],
    stream: true,
};

pub(crate) static STATE: Table = crate::schema::state_table("toy-mirror");

pub(crate) static TOY: System =
    System { name: "toy", tables: &[&TREES, &STATE], buckets: &[], secrets: &[], sources: &[] };

#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaves;

impl Documents for Leaves {
    fn tables(&self) -> &'static System {
        &TOY
    }

    fn mapping(&self) -> Mapping {
        Mapping {
            version: 1,
            body: r#"{"mappings":{"properties":{
                "name":{"type":"keyword"},
                "size":{"type":"integer"},
                "area":{"type":"geo_shape"},
                "areaStatus":{"type":"keyword"},
                "areaTolerance":{"type":"integer"}
            }}}"#,
        }
    }

    fn document(&self, _: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        if image.optional_flag("hidden")? == Some(true) {
            return Ok(Found::Hidden);
        }
        assert!(!image.has("panics"), "a leaf panics");
        let area = image.optional_text("area")?.map(|area| ShapeSource::Inline(area.into_owned()));
        let mut document = Document::new();
        document.text("name", &*image.text("name")?).number("size", image.optional_number("size")?).shape("area", area);
        Ok(Found::Document(document))
    }
}

/// The documents of leaves after the release that raised the version: the name is also in the field `label`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelledLeaves;

impl Documents for LabelledLeaves {
    fn tables(&self) -> &'static System {
        &TOY
    }

    fn mapping(&self) -> Mapping {
        Mapping {
            version: 2,
            body: r#"{"mappings":{"properties":{
                "name":{"type":"keyword"},
                "label":{"type":"keyword"},
                "size":{"type":"integer"},
                "area":{"type":"geo_shape"},
                "areaStatus":{"type":"keyword"},
                "areaTolerance":{"type":"integer"}
            }}}"#,
        }
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut found = Leaves.document(entity, image)?;
        if let Found::Document(document) = &mut found {
            document.keyword("label", &*image.text("name")?);
        }
        Ok(found)
    }

    fn previous_mapping(&self) -> Option<Mapping> {
        Some(Leaves.mapping())
    }

    fn previous_document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        Leaves.document(entity, image)
    }
}

/// The code of a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Release {
    /// Whether it has raised the version of the mapping.
    pub(crate) raised: bool,
    /// Whether it creates documents of all items, also of those that other releases send to quarantine.
    pub(crate) cured: bool,
}

impl Documents for Release {
    fn tables(&self) -> &'static System {
        &TOY
    }

    fn mapping(&self) -> Mapping {
        if self.raised { LabelledLeaves.mapping() } else { Leaves.mapping() }
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        match (self.cured, self.raised) {
            (true, labelled) => cured_document(image, labelled),
            (false, true) => LabelledLeaves.document(entity, image),
            (false, false) => Leaves.document(entity, image),
        }
    }

    fn previous_mapping(&self) -> Option<Mapping> {
        self.raised.then(|| Leaves.mapping())
    }

    fn previous_document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        if self.cured { cured_document(image, false) } else { Leaves.document(entity, image) }
    }
}

/// The shape of an item whose shape S3 did not give to earlier releases.
pub(crate) const CURED_AREA: &str = "aaaa";

/// The shapes that only a cured release gets.
pub(crate) const UNAVAILABLE: [&str; 3] = ["refused", "slow", "broken"];

fn cured_document(image: &Image<'_>, labelled: bool) -> Result<Found, Unfit> {
    if image.optional_flag("hidden")? == Some(true) {
        return Ok(Found::Hidden);
    }
    let name = image.text("name").map_or_else(|_| "a number".to_owned(), std::borrow::Cow::into_owned);
    let area = image.optional_text("area")?.map(std::borrow::Cow::into_owned);
    let area = area.map(|area| if UNAVAILABLE.contains(&&*area) { CURED_AREA.to_owned() } else { area });
    let mut document = Document::new();
    document.text("name", &*name).shape("area", area.map(ShapeSource::Inline));
    if labelled {
        document.keyword("label", &*name);
    }
    Ok(Found::Document(document))
}

/// The shapes of leaves: the whole text, half of it, or its first letter. The index refuses a shape that contains an
/// `x`.
#[derive(Clone, Copy, Debug)]
pub struct Areas;

impl Shapes for Areas {
    async fn shape(&self, source: &ShapeSource, level: DetailLevel) -> Result<Shape, ShapeUnavailable> {
        let ShapeSource::Inline(whole) = source else { return Ok(Shape::NONE) };
        assert!(whole != "panics", "an area panics");
        match whole.as_str() {
            "broken" => return Err(ShapeUnavailable::new(Obstacle::Lasting, "no shape")),
            "refused" => return Err(ShapeUnavailable::new(Obstacle::Refused, "access denied")),
            "slow" => return Err(ShapeUnavailable::new(Obstacle::Passing, "timeout")),
            _ => {}
        }
        // These shapes have no fine form.
        let level = if level == DetailLevel::Fine { DetailLevel::Coarse } else { level };
        let kept = match level {
            DetailLevel::Full => whole.len(),
            DetailLevel::Fine | DetailLevel::Coarse => whole.len() / 2,
            DetailLevel::Envelope | DetailLevel::None => 1,
        };
        let json = whole.get(..kept).map(|text| format!(r#"{{"type":"{text}"}}"#));
        Ok(Shape { status: ShapeStatus::At(level), json, tolerance: Some("1".to_owned()), outline: None })
    }
}
