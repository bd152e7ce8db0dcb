//! The parameters of a search over people.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Fault, Limit};

use super::criteria::{Criteria, EventCriteria, Missing, PersonCriteria, PlaceCriteria, Relation, RelationCriteria};
use super::size;
use crate::dates;
use crate::fold::words;
use crate::mapping::PersonRole;
use crate::names::{CategoryId, CollectionId, PostId};
use crate::person_names::{AskedName, Matching};
use crate::record::{EventType, Sex};

/// The most words of `keywords`.
const MAX_KEYWORDS: usize = 20;

/// The query string as sent. A name has at most 10 words, all of which must match the same person. All names together have as
/// many as the engine can search for at once.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordQuery {
    /// Given names. `*` stands for some letters and `?` for one, after two letters. A word has at most two `*`, and at most
    /// eight `?` after the first.
    #[schema(min_length = 1, max_length = 100, example = "Griffith", nullable = false)]
    pub given: Option<String>,
    #[schema(min_length = 1, max_length = 100, example = "Pugh", nullable = false)]
    pub surname: Option<String>,
    /// Words that are each a given name or a part of the surname.
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub name: Option<String>,
    /// `exact` finds the words as they are only, not nicknames, other spellings and similar sounds.
    #[serde(default, rename = "match")]
    pub matching: Matching,
    /// The role of the person. By default any, or with relatives the principal person, the bride or the groom.
    #[schema(nullable = false)]
    pub role: Option<PersonRole>,
    #[schema(nullable = false)]
    pub sex: Option<Sex>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub father_given: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub father_surname: Option<String>,
    #[serde(default)]
    pub father_match: Matching,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub mother_given: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub mother_surname: Option<String>,
    #[serde(default)]
    pub mother_match: Matching,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub spouse_given: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub spouse_surname: Option<String>,
    #[serde(default)]
    pub spouse_match: Matching,
    /// Given names of a child, a brother or a sister, or of another person of the record.
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub other_given: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub other_surname: Option<String>,
    #[serde(default)]
    pub other_match: Matching,
    /// The date of birth, such as `1850`, `abt 1850`, `3 Mar 1850` or `1850-1855`. An event matches if it may have been then.
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub birth: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub baptism: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub marriage: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub residence: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub death: Option<String>,
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub burial: Option<String>,
    /// The date of any event.
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    pub date: Option<String>,
    /// The place of any event, by id or by name. Events in places inside it match, too.
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub place: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub birth_place: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub baptism_place: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub marriage_place: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub residence_place: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub death_place: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub burial_place: Option<String>,
    /// A place, by id or by name, around which an event was. Needs `km`.
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub near: Option<String>,
    #[schema(minimum = 1, maximum = 200, nullable = false)]
    pub km: Option<u32>,
    /// Words that are all among the keywords of the record.
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub keywords: Option<String>,
    #[serde(default)]
    #[schema(max_items = 20)]
    pub collection_id: Vec<CollectionId>,
    #[schema(nullable = false)]
    pub category_id: Option<CategoryId>,
    #[schema(nullable = false)]
    pub post_id: Option<PostId>,
    /// First years of decades, such as `1840`.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub decade: Vec<u32>,
    #[serde(default)]
    pub missing: Missing,
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1, nullable = false)]
    pub cursor: Option<String>,
}

/// The place that a text of a query means.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPlace {
    pub id: String,
    /// Latitude and longitude. A place without a location has nothing near it.
    pub location: Option<[f64; 2]>,
}

impl RecordQuery {
    /// Returns the texts and ids of places to resolve, each once.
    pub fn place_texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> =
            self.places().into_iter().filter_map(|(_, text)| text).chain(self.near.as_deref()).collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    /// Parses the texts. `places` has the places that were resolved, by their texts. The collections of the category are
    /// left to the caller. A fault has the name of its parameter.
    pub fn criteria(&self, places: &BTreeMap<String, ResolvedPlace>) -> Result<Criteria, Vec<Fault>> {
        let mut faults = Vec::new();
        let criteria = Criteria {
            person: PersonCriteria { names: self.names(&mut faults), role: self.role, sex: self.sex },
            relations: self.relations(&mut faults),
            events: self.events(places, &mut faults),
            missing: self.missing,
            keywords: self.keywords.as_deref().map(words).unwrap_or_default(),
            post_id: self.post_id.as_ref().map(PostId::to_string),
            collection_ids: self.collection_id.iter().map(CollectionId::to_string).collect(),
            decades: self.decade.clone(),
            category_collections: None,
        };
        if criteria.keywords.len() > MAX_KEYWORDS {
            faults.push(Fault::parameter("keywords", format!("must have at most {MAX_KEYWORDS} words")));
        }
        if self.keywords.is_some() && criteria.keywords.is_empty() {
            faults.push(Fault::parameter("keywords", "must contain a letter or a digit"));
        }
        if self.decade.iter().any(|decade| decade % 10 != 0) {
            faults.push(Fault::parameter("decade", "must be the first year of a decade, such as 1840"));
        }
        if faults.is_empty()
            && let Err((clauses, most)) = size::check(&criteria)
        {
            let detail = format!(
                "has too many words together with the other names: the search has {clauses} clauses, and at most {most} are \
                 possible. Leave out words, name the `role` of the person, or ask for `exact` matches."
            );
            faults.push(Fault::parameter(self.longest_name(), detail));
        }
        match (&self.near, self.km) {
            (Some(_), None) => faults.push(Fault::parameter("near", "requires `km`")),
            (None, Some(_)) => faults.push(Fault::parameter("km", "requires `near`")),
            _ => {}
        }
        if faults.is_empty() { Ok(criteria) } else { Err(faults) }
    }

    /// Returns the parameter of the name with the most words, the last one of equal ones.
    fn longest_name(&self) -> &'static str {
        let names = [
            ("given", &self.given),
            ("surname", &self.surname),
            ("name", &self.name),
            ("fatherGiven", &self.father_given),
            ("fatherSurname", &self.father_surname),
            ("motherGiven", &self.mother_given),
            ("motherSurname", &self.mother_surname),
            ("spouseGiven", &self.spouse_given),
            ("spouseSurname", &self.spouse_surname),
            ("otherGiven", &self.other_given),
            ("otherSurname", &self.other_surname),
        ];
        let words = |text: &Option<String>| text.as_deref().map_or(0, |text| text.split_whitespace().count());
        names.into_iter().max_by_key(|(_, text)| words(text)).map_or("given", |(parameter, _)| parameter)
    }

    fn names(&self, faults: &mut Vec<Fault>) -> Vec<AskedName> {
        let matching = self.matching;
        let names = [
            name("given", self.given.as_deref(), matching, AskedName::given, faults),
            name("surname", self.surname.as_deref(), matching, AskedName::surname, faults),
            name("name", self.name.as_deref(), matching, AskedName::either, faults),
        ];
        names.into_iter().flatten().collect()
    }

    fn relations(&self, faults: &mut Vec<Fault>) -> Vec<RelationCriteria> {
        let asked = [
            (
                Relation::Father,
                ["fatherGiven", "fatherSurname"],
                &self.father_given,
                &self.father_surname,
                self.father_match,
            ),
            (
                Relation::Mother,
                ["motherGiven", "motherSurname"],
                &self.mother_given,
                &self.mother_surname,
                self.mother_match,
            ),
            (
                Relation::Spouse,
                ["spouseGiven", "spouseSurname"],
                &self.spouse_given,
                &self.spouse_surname,
                self.spouse_match,
            ),
            (Relation::Other, ["otherGiven", "otherSurname"], &self.other_given, &self.other_surname, self.other_match),
        ];
        let mut relations = Vec::new();
        for (relation, [given_parameter, surname_parameter], given, surname, matching) in asked {
            let names = [
                name(given_parameter, given.as_deref(), matching, AskedName::given, faults),
                name(surname_parameter, surname.as_deref(), matching, AskedName::surname, faults),
            ];
            let names: Vec<AskedName> = names.into_iter().flatten().collect();
            relations.extend((!names.is_empty()).then_some(RelationCriteria { relation, names }));
        }
        relations
    }

    fn events(&self, places: &BTreeMap<String, ResolvedPlace>, faults: &mut Vec<Fault>) -> Vec<EventCriteria> {
        let dates = [
            ("birth", &self.birth),
            ("baptism", &self.baptism),
            ("marriage", &self.marriage),
            ("residence", &self.residence),
            ("death", &self.death),
            ("burial", &self.burial),
            ("date", &self.date),
        ];
        let mut events = Vec::new();
        for ((parameter, date), (event, place)) in dates.into_iter().zip(self.places()) {
            let date = date.as_deref().and_then(|text| {
                let date = dates::parse(text, None);
                if date.is_none() {
                    faults.push(Fault::parameter(parameter, "must be a date such as `1850`, `Mar 1850` or `abt 1850`"));
                }
                date
            });
            let place = place.map(|text| {
                let resolved = places.get(text).map(|place| PlaceCriteria::Inside(place.id.clone()));
                resolved.unwrap_or(PlaceCriteria::Unresolved)
            });
            if date.is_some() || place.is_some() {
                events.push(EventCriteria { event, date, place });
            }
        }
        if let (Some(near), Some(kilometres)) = (&self.near, self.km) {
            let place = match places.get(near).and_then(|place| place.location) {
                Some([latitude, longitude]) => PlaceCriteria::Near { latitude, longitude, kilometres },
                None => PlaceCriteria::Unresolved,
            };
            events.push(EventCriteria { place: Some(place), ..EventCriteria::default() });
        }
        events
    }

    /// The texts of places by the type of event, in the order of the dates.
    fn places(&self) -> [(Option<EventType>, Option<&str>); 7] {
        [
            (Some(EventType::Birth), self.birth_place.as_deref()),
            (Some(EventType::Baptism), self.baptism_place.as_deref()),
            (Some(EventType::Marriage), self.marriage_place.as_deref()),
            (Some(EventType::Residence), self.residence_place.as_deref()),
            (Some(EventType::Death), self.death_place.as_deref()),
            (Some(EventType::Burial), self.burial_place.as_deref()),
            (None, self.place.as_deref()),
        ]
    }
}

fn name(
    parameter: &str,
    text: Option<&str>,
    matching: Matching,
    parse: fn(&str, Matching) -> Result<AskedName, String>,
    faults: &mut Vec<Fault>,
) -> Option<AskedName> {
    match parse(text?, matching) {
        Ok(name) => Some(name),
        Err(detail) => {
            faults.push(Fault::parameter(parameter, detail));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn query(query: Value) -> RecordQuery {
        serde_json::from_value(query).unwrap()
    }

    fn faulty(parameters: Value) -> Vec<String> {
        let faults = query(parameters).criteria(&BTreeMap::new()).unwrap_err();
        let parameter = |fault: Fault| match fault.place {
            web::fault::Place::Parameter(parameter) => parameter,
            other => format!("{other:?}"),
        };
        faults.into_iter().map(parameter).collect()
    }

    #[test]
    fn every_fault_has_its_parameter() {
        let parameters = json!({
            "given": "*", "fatherSurname": "-", "birth": "next year", "near": "Bala", "keywords": "--", "decade": [1841],
        });
        assert_eq!(faulty(parameters), ["given", "fatherSurname", "birth", "keywords", "decade", "near"]);
        assert_eq!(faulty(json!({ "km": 5 })), ["km"]);
        assert_eq!(faulty(json!({ "surname": "Pu*", "match": "exact" })), ["surname"]);
    }

    #[test]
    fn date_and_place_of_a_type_are_one_criterion() {
        let query = query(json!({ "birth": "1868", "birthPlace": "Bala", "place": "Wales", "near": "Bala", "km": 10 }));
        assert_eq!(query.place_texts(), ["Bala", "Wales"]);
        let bala = ResolvedPlace { id: "9002656396".to_owned(), location: Some([52.9, -3.6]) };
        let events = query.criteria(&BTreeMap::from([("Bala".to_owned(), bala)])).unwrap().events;
        assert_eq!(
            events,
            [
                EventCriteria {
                    event: Some(EventType::Birth),
                    date: dates::parse("1868", None),
                    place: Some(PlaceCriteria::Inside("9002656396".to_owned())),
                },
                EventCriteria { event: None, date: None, place: Some(PlaceCriteria::Unresolved) },
                EventCriteria {
                    event: None,
                    date: None,
                    place: Some(PlaceCriteria::Near { latitude: 52.9, longitude: -3.6, kilometres: 10 }),
                },
            ]
        );
    }

    #[test]
    fn each_relation_has_its_own_matching() {
        let query = query(
            json!({ "fatherGiven": "Wm", "fatherMatch": "exact", "motherGiven": "Peggy", "motherSurname": "Ellis" }),
        );
        let relations = query.criteria(&BTreeMap::new()).unwrap().relations;
        assert_eq!(
            relations,
            [
                RelationCriteria {
                    relation: Relation::Father,
                    names: vec![AskedName::given("Wm", Matching::Exact).unwrap()],
                },
                RelationCriteria {
                    relation: Relation::Mother,
                    names: vec![
                        AskedName::given("Peggy", Matching::All).unwrap(),
                        AskedName::surname("Ellis", Matching::All).unwrap(),
                    ],
                },
            ]
        );
    }
}
