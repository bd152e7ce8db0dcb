//! Facets: counts by value, each under every filter except its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::extent::Bounds;

/// The limits of values of a facet and of tiles of a grid.
const MAX_VALUES: u32 = 50;
const MAX_TILES: u64 = 1000;

/// A field that is filtered and counted by its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Entity,
    CollectionId,
    Type,
    SubType,
}

impl Field {
    const ALL: [Self; 4] = [Self::Entity, Self::CollectionId, Self::Type, Self::SubType];

    const fn name(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::CollectionId => "collectionId",
            Self::Type => "type",
            Self::SubType => "subType",
        }
    }
}

/// The subject of a facet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Facet {
    Values(Field),
    /// The number of locations per map tile of this zoom.
    Grid(u8),
}

/// The values of the filters by field. An item matches if it has one of the values of each field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChosenValues(BTreeMap<Field, Vec<String>>);

impl Facet {
    /// Parses `type` or `grid:8`. A grid has a limit of tiles, in the box of the request or in the world.
    pub fn parse(text: &str, bbox: Option<Bounds>) -> Result<Self, String> {
        if let Some(field) = Field::ALL.into_iter().find(|field| field.name() == text) {
            return Ok(Self::Values(field));
        }
        let zoom = text.strip_prefix("grid:").and_then(|zoom| zoom.parse().ok()).filter(|zoom| *zoom <= 12);
        let zoom: u8 = zoom.ok_or("must be entity, collectionId, type, subType or grid:{0-12}")?;
        match bbox.unwrap_or(WORLD).tiles(zoom) {
            0..=MAX_TILES => Ok(Self::Grid(zoom)),
            many => Err(format!(
                "would have {many} tiles, and at most {MAX_TILES} are allowed; use a lower zoom or a smaller `bbox`"
            )),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Values(field) => field.name(),
            Self::Grid(_) => "grid",
        }
    }

    fn request(self, chosen: &ChosenValues, bbox: Option<Bounds>) -> Value {
        match self {
            Self::Values(field) => count(
                chosen.filters(Some(field)),
                json!({ "terms": { "field": field.name(), "size": MAX_VALUES, "order": [{ "_count": "desc" }, { "_key": "asc" }] } }),
            ),
            Self::Grid(zoom) => {
                let mut filters = chosen.filters(None);
                filters.extend(bbox.map(Bounds::contains_location));
                count(filters, json!({ "geotile_grid": { "field": "location", "precision": zoom, "size": MAX_TILES } }))
            }
        }
    }
}

const WORLD: Bounds = Bounds { west: -180.0, south: -90.0, east: 180.0, north: 90.0 };

impl ChosenValues {
    pub fn set(&mut self, field: Field, values: Vec<String>) {
        if !values.is_empty() {
            self.0.insert(field, values);
        }
    }

    pub fn values(&self, field: Field) -> &[String] {
        self.0.get(&field).map(Vec::as_slice).unwrap_or_default()
    }

    /// One filter per field except this one.
    pub fn filters(&self, except: Option<Field>) -> Vec<Value> {
        let others = self.0.iter().filter(|(field, _)| Some(**field) != except);
        others.map(|(field, values)| json!({ "terms": { field.name(): values } })).collect()
    }
}

/// Counts of the items that pass these filters.
pub fn count(filters: Vec<Value>, values: Value) -> Value {
    json!({ "filter": { "bool": { "filter": filters } }, "aggs": { "values": values } })
}

/// The aggregations of the facets. The hits themselves are filtered after the counting, by `post_filter`.
pub fn request(facets: &[Facet], chosen: &ChosenValues, bbox: Option<Bounds>) -> Map<String, Value> {
    facets.iter().map(|facet| (facet.name().to_owned(), facet.request(chosen, bbox))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen() -> ChosenValues {
        let mut chosen = ChosenValues::default();
        chosen.set(Field::Type, vec!["trail".to_owned()]);
        chosen.set(Field::Entity, vec!["facility".to_owned()]);
        chosen.set(Field::SubType, Vec::new());
        chosen
    }

    #[test]
    fn facet_is_counted_under_all_filters_except_its_own() {
        let request = request(&[Facet::Values(Field::Type), Facet::Grid(4)], &chosen(), None);
        let filters = |name: &str| request[name]["filter"]["bool"]["filter"].clone();
        assert_eq!(filters("type"), json!([{ "terms": { "entity": ["facility"] } }]));
        assert_eq!(filters("grid").as_array().unwrap().len(), 2);
    }

    #[test]
    fn grid_counts_only_in_the_box() {
        let bbox = Bounds::parse(&[170.0, -20.0, -170.0, -10.0]).ok();
        let request = request(&[Facet::Grid(6)], &ChosenValues::default(), bbox);
        assert!(request["grid"]["filter"].to_string().contains("geo_bounding_box"));
    }

    #[test]
    fn grid_of_more_than_1000_tiles_is_refused() {
        assert_eq!(Facet::parse("grid:4", None), Ok(Facet::Grid(4)));
        assert!(Facet::parse("grid:5", None).is_err_and(|detail| detail.contains("1024")));
        assert_eq!(Facet::parse("grid:12", Bounds::parse(&[-125.6, 49.4, -125.5, 49.5]).ok()), Ok(Facet::Grid(12)));
        assert!(Facet::parse("grid:13", None).is_err());
        assert_eq!(Facet::parse("type", None), Ok(Facet::Values(Field::Type)));
    }
}
