//! The parameters of a search after validation.

use serde_json::Value;
use web::{Fault, Problem, Rules};

use super::area::{Area, Compared, Relation};
use super::extent::{Bounds, Near};
use super::facets::{ChosenValues, Facet, Field};
use super::open::Open;
use super::order::Ordering;
use super::point::Point;
use super::query::{Deleted, Format, OpenMatch, SearchQuery, ShapeAs, ShapeSearch, Sort};
use super::words::Words;
use crate::names::Kind;
use crate::view::{FieldsParameter, View};

#[derive(Clone, Debug)]
pub struct ParsedQuery {
    pub view: View,
    pub words: Option<Words>,
    pub chosen: ChosenValues,
    pub is_open: Option<bool>,
    pub show_on_map: Option<bool>,
    pub map_zoom: Option<u8>,
    pub bbox: Option<Bounds>,
    pub near: Option<Near>,
    pub area: Option<Compared>,
    /// The global id of the item whose boundary becomes the area.
    pub shape_of: Option<String>,
    pub relation: Relation,
    pub open: Option<Open>,
    pub visible: Option<bool>,
    pub deleted: Deleted,
    pub ordering: Ordering,
    pub facets: Vec<Facet>,
    pub limit: usize,
    pub shape_as: ShapeAs,
    /// Whether hits have the fields of a card.
    pub card: bool,
    pub format: Option<Format>,
}

/// The place of the parameters: the query string or the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Query,
    Body,
}

impl Source {
    pub fn fault(self, name: &str, detail: impl Into<String>) -> Fault {
        match self {
            Self::Query => Fault::parameter(name, detail),
            Self::Body => Fault::pointer(format!("/{name}"), detail),
        }
    }

    /// The problem of a value that does not fit the stored items: 400 in a query string, 422 in a body.
    pub fn mismatch(self, name: &str, detail: &str) -> Problem {
        let faults = vec![self.fault(name, detail)];
        match self {
            Self::Query => Problem::faults(faults),
            Self::Body => Problem::unprocessable(faults),
        }
    }
}

/// The parameter that only administrators may send, if the query has one.
pub fn administrator_parameter(query: &SearchQuery) -> Option<&'static str> {
    if query.visible.is_some() {
        Some("visible")
    } else if query.deleted.is_some() {
        Some("deleted")
    } else {
        (query.sort == Some(Sort::Updated)).then_some("sort")
    }
}

impl ParsedQuery {
    /// Validates the parameters. Returns all faults.
    pub fn new(query: SearchQuery, shape: Option<&Value>, view: View, source: Source) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults { source, found: combination_faults(&query, shape, source) };
        let matching = query.open_match.unwrap_or_default();
        let Parts { words, bbox, point, open, area } = Parts::read(&query, shape, matching, &mut faults);
        // The limit of a grid depends on the box, so no grid is checked if the box is wrong.
        let facets = query.facets.iter().filter(|_| bbox.is_some() || query.bbox.is_empty());
        let facets = facets.filter_map(|facet| faults.keep("facets", Facet::parse(facet, bbox))).collect();
        let ordering = Ordering::choose(query.sort, query.order, query.q.is_some(), !query.near.is_empty());
        let ordering = ordering.map_err(|(name, detail)| faults.add(name, detail)).ok();
        let Some(ordering) = ordering.filter(|_| faults.found.is_empty()) else { return Err(faults.found) };
        let mut chosen = ChosenValues::default();
        chosen.set(Field::Entity, query.entity.iter().map(Kind::to_string).collect());
        chosen.set(Field::CollectionId, query.collection_id);
        chosen.set(Field::Type, query.types);
        chosen.set(Field::SubType, query.sub_type);
        Ok(Self {
            view,
            words,
            chosen,
            is_open: query.is_open,
            show_on_map: query.show_on_map,
            map_zoom: query.map_zoom,
            bbox,
            near: point.map(|point| Near { point, radius: query.radius }),
            area: area.map(Compared::Area),
            shape_of: query.shape_of,
            relation: query.relation.unwrap_or_default(),
            open,
            visible: query.visible,
            deleted: query.deleted.unwrap_or_default(),
            ordering,
            facets,
            limit: query.limit.0 as usize,
            shape_as: query.shape_as.unwrap_or_default(),
            card: query.fields == Some(FieldsParameter::Card),
            format: query.f,
        })
    }
}

/// The parameters that are validated by themselves.
struct Parts {
    words: Option<Words>,
    bbox: Option<Bounds>,
    point: Option<Point>,
    open: Option<Open>,
    area: Option<Area>,
}

impl Parts {
    fn read(query: &SearchQuery, shape: Option<&Value>, matching: OpenMatch, faults: &mut Faults) -> Self {
        Self {
            words: query.q.as_deref().and_then(|q| faults.keep("q", Words::parse(q))),
            bbox: non_empty(&query.bbox).and_then(|numbers| faults.keep("bbox", Bounds::parse(numbers))),
            point: non_empty(&query.near).and_then(|numbers| faults.keep("near", Point::parse(numbers))),
            open: query.open.as_deref().and_then(|days| faults.keep("open", Open::parse(days, matching))),
            area: shape.and_then(|shape| faults.keep_within("shape", Area::drawn(shape))),
        }
    }

    /// The faults of these parameters while others may be wrong, too. Without `openMatch` the days have the limit of
    /// `any`.
    fn faults(query: &SearchQuery, shape: Option<&Value>) -> Vec<Fault> {
        let mut faults = Faults { source: Source::Body, found: Vec::new() };
        Self::read(query, shape, query.open_match.unwrap_or(OpenMatch::Any), &mut faults);
        faults.found
    }
}

impl Rules for SearchQuery {
    fn faults(&self) -> Vec<Fault> {
        Parts::faults(self, None)
    }
}

impl Rules for ShapeSearch {
    fn faults(&self) -> Vec<Fault> {
        Parts::faults(&self.query, self.shape.as_ref())
    }
}

/// The faults so far.
struct Faults {
    source: Source,
    found: Vec<Fault>,
}

impl Faults {
    fn add(&mut self, name: &str, detail: &str) {
        self.found.push(self.source.fault(name, detail));
    }

    /// The value, or None after adding its fault.
    fn keep<T>(&mut self, name: &str, parsed: Result<T, String>) -> Option<T> {
        parsed.map_err(|detail| self.add(name, &detail)).ok()
    }

    /// [`Self::keep`] for faults at pointers into the value.
    fn keep_within<T>(&mut self, name: &str, parsed: Result<T, Vec<(String, String)>>) -> Option<T> {
        let parsed = parsed.map_err(|faults| {
            for (pointer, detail) in faults {
                self.add(&format!("{name}{pointer}"), &detail);
            }
        });
        parsed.ok()
    }
}

/// The faults of parameters that exclude or require each other.
fn combination_faults(query: &SearchQuery, shape: Option<&Value>, source: Source) -> Vec<Fault> {
    let has_shape = shape.is_some() || query.shape_of.is_some();
    let has_place = has_shape || !query.bbox.is_empty() || !query.near.is_empty();
    let placeless = query.entity.iter().find(|kind| matches!(kind, Kind::Collection | Kind::Product));
    let grids = query.facets.iter().filter(|facet| facet.starts_with("grid:")).count();
    let rules = [
        (query.radius.is_some() && query.near.is_empty(), "radius", "requires `near`".to_owned()),
        (shape.is_some() && query.shape_of.is_some(), "shapeOf", "cannot be combined with `shape`".to_owned()),
        (
            query.relation.is_some() && !has_shape,
            "relation",
            "requires a shape: `shapeOf`, or `shape` in the body of a POST".to_owned(),
        ),
        (grids > 1, "facets", "must have at most one grid".to_owned()),
        (query.open_match.is_some() && query.open.is_none(), "openMatch", "requires `open`".to_owned()),
        (
            has_place && placeless.is_some(),
            "entity",
            placeless
                .map(|kind| {
                    format!("cannot be {kind} with `bbox`, `near` or a shape, since these items have no location")
                })
                .unwrap_or_default(),
        ),
    ];
    let broken = rules.into_iter().filter(|(broken, ..)| *broken);
    broken.map(|(_, name, detail)| source.fault(name, detail)).collect()
}

fn non_empty(numbers: &[f64]) -> Option<&[f64]> {
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use web::fault::Place;

    use super::*;

    fn parsed(query: Value) -> Result<ParsedQuery, Vec<Fault>> {
        ParsedQuery::new(serde_json::from_value(query).unwrap(), None, View::Visitor, Source::Query)
    }

    fn fault_names(query: Value) -> Vec<String> {
        let name = |fault: Fault| match fault.place {
            Place::Parameter(name) | Place::Pointer(name) | Place::Header(name) => name,
        };
        parsed(query).err().unwrap_or_default().into_iter().map(name).collect()
    }

    #[test]
    fn all_faults_are_returned_each_with_its_parameter() {
        let query = json!({
            "q": "&&", "bbox": [1.0, 2.0, 1.0, 1.0], "near": [49.28, -123.12], "open": "never", "relation": "within",
            "facets": ["grid:12"], "order": "desc", "sort": "distance", "openMatch": "any", "entity": ["product"]
        });
        assert_eq!(fault_names(query), ["relation", "entity", "q", "bbox", "near", "open", "order"]);
    }

    #[test]
    fn rules_validate_only_single_values() {
        let query = json!({"q": "&&", "radius": 5.0, "near": [49.28, -123.12], "facets": ["grid:12"]});
        let query: SearchQuery = serde_json::from_value(query).unwrap();
        let places: Vec<_> = query.faults().into_iter().map(|fault| fault.place).collect();
        assert_eq!(places, ["/q", "/near"].map(|pointer| Place::Pointer(pointer.to_owned())));
    }

    #[test]
    fn parameter_without_its_companion_is_a_fault() {
        for (query, name) in [
            (json!({"radius": 5.0}), "radius"),
            (json!({"relation": "within"}), "relation"),
            (json!({"openMatch": "any"}), "openMatch"),
            (json!({"sort": "distance"}), "sort"),
            (json!({"sort": "relevance"}), "sort"),
            (json!({"q": "a", "order": "desc"}), "order"),
            (json!({"facets": ["grid:1", "grid:2"]}), "facets"),
            (json!({"entity": ["geozone", "product"], "near": [1.0, 2.0]}), "entity"),
        ] {
            assert_eq!(fault_names(query), [name]);
        }
    }

    #[test]
    fn fault_of_a_shape_in_a_body_has_a_pointer() {
        let shape = json!({ "type": "Point", "coordinates": [1, 2] });
        let faults = ParsedQuery::new(SearchQuery::default(), Some(&shape), View::Visitor, Source::Body).unwrap_err();
        assert_eq!(faults[0].place, Place::Pointer("/shape/type".to_owned()));
    }

    #[test]
    fn parameters_for_administrators_are_named() {
        let query = |query: Value| serde_json::from_value::<SearchQuery>(query).unwrap();
        assert_eq!(administrator_parameter(&query(json!({"visible": true}))), Some("visible"));
        assert_eq!(administrator_parameter(&query(json!({"deleted": "any"}))), Some("deleted"));
        assert_eq!(administrator_parameter(&query(json!({"sort": "updated"}))), Some("sort"));
        assert_eq!(administrator_parameter(&query(json!({"sort": "name"}))), None);
    }
}
