//! A question whose every part is right: what a form says once it is checked.

use serde_json::Value;
use web::{Fault, Problem, Rules};

use super::area::{Area, Compared};
use super::extent::{Bounds, Near, Point};
use super::facets::{Chosen, Facet, Field};
use super::form::{AskedFields, Deleted, Format, OpenMatch, Relation, SearchForm, ShapeAs, ShapeForm, Sort};
use super::open::Open;
use super::order::Ordering;
use super::words::Words;
use crate::names::Kind;
use crate::view::View;

#[derive(Clone, Debug)]
pub struct Question {
    pub view: View,
    pub words: Option<Words>,
    pub chosen: Chosen,
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
    /// Whether hits tell what a card shows.
    pub card: bool,
    pub format: Option<Format>,
}

/// Where a fault is told: at a parameter of the query string or at a member of the body.
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

    /// What does not fit what is stored: 400 in a query string, 422 in a body.
    pub fn misfit(self, name: &str, detail: &str) -> Problem {
        let faults = vec![self.fault(name, detail)];
        match self {
            Self::Query => Problem::faults(faults),
            Self::Body => Problem::unprocessable(faults),
        }
    }
}

/// The parameter by which a form asks for what only administrators may.
pub fn for_administrators(form: &SearchForm) -> Option<&'static str> {
    if form.visible.is_some() {
        Some("visible")
    } else if form.deleted.is_some() {
        Some("deleted")
    } else {
        (form.sort == Some(Sort::Updated)).then_some("sort")
    }
}

impl Question {
    /// What the form asks, or all that is wrong with it.
    pub fn of(form: SearchForm, shape: Option<&Value>, view: View, source: Source) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults { source, found: misfits(&form, shape, source) };
        let matching = form.open_match.unwrap_or_default();
        let Values { words, bbox, point, open, area } = Values::read(&form, shape, matching, &mut faults);
        // A grid is judged in its box; in a box that is wrong there is nothing to judge.
        let asked = form.facets.iter().filter(|_| bbox.is_some() || form.bbox.is_empty());
        let facets = asked.filter_map(|facet| faults.keep("facets", Facet::parse(facet, bbox))).collect();
        let ordering = Ordering::choose(form.sort, form.order, form.q.is_some(), !form.near.is_empty());
        let ordering = ordering.map_err(|(name, detail)| faults.say(name, detail)).ok();
        let Some(ordering) = ordering.filter(|_| faults.found.is_empty()) else { return Err(faults.found) };
        let mut chosen = Chosen::default();
        chosen.choose(Field::Entity, form.entity.iter().map(Kind::to_string).collect());
        chosen.choose(Field::CollectionId, form.collection_id);
        chosen.choose(Field::Type, form.types);
        chosen.choose(Field::SubType, form.sub_type);
        Ok(Self {
            view,
            words,
            chosen,
            is_open: form.is_open,
            show_on_map: form.show_on_map,
            map_zoom: form.map_zoom,
            bbox,
            near: point.map(|point| Near { point, radius: form.radius }),
            area: area.map(Compared::Area),
            shape_of: form.shape_of,
            relation: form.relation.unwrap_or_default(),
            open,
            visible: form.visible,
            deleted: form.deleted.unwrap_or_default(),
            ordering,
            facets,
            limit: form.limit.0 as usize,
            shape_as: form.shape_as.unwrap_or_default(),
            card: form.fields == Some(AskedFields::Card),
            format: form.f,
        })
    }
}

/// The values that mean something by themselves.
struct Values {
    words: Option<Words>,
    bbox: Option<Bounds>,
    point: Option<Point>,
    open: Option<Open>,
    area: Option<Area>,
}

impl Values {
    fn read(form: &SearchForm, shape: Option<&Value>, matching: OpenMatch, faults: &mut Faults) -> Self {
        Self {
            words: form.q.as_deref().and_then(|q| faults.keep("q", Words::parse(q))),
            bbox: given(&form.bbox).and_then(|numbers| faults.keep("bbox", Bounds::parse(numbers))),
            point: given(&form.near).and_then(|numbers| faults.keep("near", Point::parse(numbers))),
            open: form.open.as_deref().and_then(|days| faults.keep("open", Open::parse(days, matching))),
            area: shape.and_then(|shape| faults.keep_within("shape", Area::drawn(shape))),
        }
    }

    /// Their faults, where other members may be wrong as well: days are counted as if any of them would do.
    fn faults(form: &SearchForm, shape: Option<&Value>) -> Vec<Fault> {
        let mut faults = Faults { source: Source::Body, found: Vec::new() };
        Self::read(form, shape, form.open_match.unwrap_or(OpenMatch::Any), &mut faults);
        faults.found
    }
}

impl Rules for SearchForm {
    fn faults(&self) -> Vec<Fault> {
        Values::faults(self, None)
    }
}

impl Rules for ShapeForm {
    fn faults(&self) -> Vec<Fault> {
        Values::faults(&self.form, self.shape.as_ref())
    }
}

/// What has been found wrong so far.
struct Faults {
    source: Source,
    found: Vec<Fault>,
}

impl Faults {
    fn say(&mut self, name: &str, detail: &str) {
        self.found.push(self.source.fault(name, detail));
    }

    fn keep<T>(&mut self, name: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|detail| self.say(name, &detail)).ok()
    }

    /// The same for faults at pointers into the value.
    fn keep_within<T>(&mut self, name: &str, read: Result<T, Vec<(String, String)>>) -> Option<T> {
        let told = read.map_err(|faults| {
            for (pointer, detail) in faults {
                self.say(&format!("{name}{pointer}"), &detail);
            }
        });
        told.ok()
    }
}

/// Parameters that do not go with, or not without, one another.
fn misfits(form: &SearchForm, shape: Option<&Value>, source: Source) -> Vec<Fault> {
    let has_shape = shape.is_some() || form.shape_of.is_some();
    let is_of_places = has_shape || !form.bbox.is_empty() || !form.near.is_empty();
    let placeless = form.entity.iter().find(|kind| matches!(kind, Kind::Collection | Kind::Product));
    let grids = form.facets.iter().filter(|facet| facet.starts_with("grid:")).count();
    let rules = [
        (form.radius.is_some() && form.near.is_empty(), "radius", "must have `near` beside it".to_owned()),
        (shape.is_some() && form.shape_of.is_some(), "shapeOf", "cannot stand beside `shape`".to_owned()),
        (
            form.relation.is_some() && !has_shape,
            "relation",
            "must have a shape beside it: `shapeOf`, or `shape` in the body of a POST".to_owned(),
        ),
        (grids > 1, "facets", "must have at most one grid".to_owned()),
        (form.open_match.is_some() && form.open.is_none(), "openMatch", "must have `open` beside it".to_owned()),
        (
            is_of_places && placeless.is_some(),
            "entity",
            placeless
                .map(|kind| format!("cannot be {kind} beside bbox, near or a shape: these have no place"))
                .unwrap_or_default(),
        ),
    ];
    let broken = rules.into_iter().filter(|(broken, ..)| *broken);
    broken.map(|(_, name, detail)| source.fault(name, detail)).collect()
}

fn given(numbers: &[f64]) -> Option<&[f64]> {
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use web::fault::Place;

    use super::*;

    fn asked(form: Value) -> Result<Question, Vec<Fault>> {
        Question::of(serde_json::from_value(form).unwrap(), None, View::Visitor, Source::Query)
    }

    fn blamed(form: Value) -> Vec<String> {
        let name = |fault: Fault| match fault.place {
            Place::Parameter(name) | Place::Pointer(name) | Place::Header(name) => name,
        };
        asked(form).err().unwrap_or_default().into_iter().map(name).collect()
    }

    #[test]
    fn all_faults_come_at_once_each_by_name() {
        let form = json!({
            "q": "&&", "bbox": [1.0, 2.0, 1.0, 1.0], "near": [49.28, -123.12], "open": "never", "relation": "within",
            "facets": ["grid:12"], "order": "desc", "sort": "distance", "openMatch": "any", "entity": ["product"]
        });
        assert_eq!(blamed(form), ["relation", "entity", "q", "bbox", "near", "open", "order"]);
    }

    #[test]
    fn beside_faults_of_the_schema_only_values_are_judged() {
        let form = json!({"q": "&&", "radius": 5.0, "near": [49.28, -123.12], "facets": ["grid:12"]});
        let form: SearchForm = serde_json::from_value(form).unwrap();
        let places: Vec<_> = form.faults().into_iter().map(|fault| fault.place).collect();
        assert_eq!(places, ["/q", "/near"].map(|pointer| Place::Pointer(pointer.to_owned())));
    }

    #[test]
    fn what_needs_another_parameter_says_so() {
        for (form, name) in [
            (json!({"radius": 5.0}), "radius"),
            (json!({"relation": "within"}), "relation"),
            (json!({"openMatch": "any"}), "openMatch"),
            (json!({"sort": "distance"}), "sort"),
            (json!({"sort": "relevance"}), "sort"),
            (json!({"q": "a", "order": "desc"}), "order"),
            (json!({"facets": ["grid:1", "grid:2"]}), "facets"),
            (json!({"entity": ["geozone", "product"], "near": [1.0, 2.0]}), "entity"),
        ] {
            assert_eq!(blamed(form), [name]);
        }
    }

    #[test]
    fn a_shape_in_a_body_is_blamed_where_it_is() {
        let shape = json!({ "type": "Point", "coordinates": [1, 2] });
        let faults = Question::of(SearchForm::default(), Some(&shape), View::Visitor, Source::Body).unwrap_err();
        assert_eq!(faults[0].place, Place::Pointer("/shape/type".to_owned()));
    }

    #[test]
    fn administrators_parameters_are_known() {
        let form = |form: Value| serde_json::from_value::<SearchForm>(form).unwrap();
        assert_eq!(for_administrators(&form(json!({"visible": true}))), Some("visible"));
        assert_eq!(for_administrators(&form(json!({"deleted": "any"}))), Some("deleted"));
        assert_eq!(for_administrators(&form(json!({"sort": "updated"}))), Some("sort"));
        assert_eq!(for_administrators(&form(json!({"sort": "name"}))), None);
    }
}
