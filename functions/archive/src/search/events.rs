//! Clauses on the dates and places of a record's events.

use serde_json::{Value, json};

use super::clauses::{all, best, has, nested, not, scored};
use super::criteria::{EventCriteria, Missing, PlaceCriteria};
use crate::dates::Interval;

const EVENTS: &str = "events";

/// The points of an event whose date may be in the queried interval, and those in addition if it is for certain.
const OVERLAPS: u32 = 1;
const INSIDE: u32 = 1;

/// Returns the query for records with an event that meets the criteria.
pub fn clause(criteria: &EventCriteria, missing: Missing) -> Value {
    let of_type = criteria.event.map(|event| json!({ "term": { "events.type": event } }));
    let (mut must, mut filters) = (Vec::new(), Vec::from_iter(of_type.clone()));
    let mut required = Vec::new();
    if let Some(date) = criteria.date {
        must.push(or_missing(date_clause(date), "events.from", missing));
        required.push(has("events.from"));
    }
    if let Some(place) = &criteria.place {
        let field = place_field(place);
        filters.push(or_missing(place_clause(place), field, missing));
        required.push(has(field));
    }
    let matching = nested(EVENTS, all(must, filters));
    match missing {
        Missing::Exclude => matching,
        Missing::Include => {
            // An event with what is asked, but with another value, keeps the record out.
            let has_any = nested(EVENTS, all(Vec::new(), of_type.into_iter().chain([best(required)]).collect()));
            best(vec![matching, not(has_any)])
        }
    }
}

fn or_missing(clause: Value, field: &str, missing: Missing) -> Value {
    match missing {
        Missing::Exclude => clause,
        Missing::Include => best(vec![clause, not(has(field))]),
    }
}

fn date_clause(date: Interval) -> Value {
    let (from, to) = (date.from_number(), date.to_number());
    let overlaps =
        [json!({ "range": { "events.from": { "lte": to } } }), json!({ "range": { "events.to": { "gte": from } } })];
    let inside =
        [json!({ "range": { "events.from": { "gte": from } } }), json!({ "range": { "events.to": { "lte": to } } })];
    json!({ "bool": {
        "must": [scored(OVERLAPS, json!({ "bool": { "filter": overlaps } }))],
        "should": [scored(INSIDE, json!({ "bool": { "filter": inside } }))],
    } })
}

const fn place_field(place: &PlaceCriteria) -> &'static str {
    match place {
        PlaceCriteria::Inside(_) | PlaceCriteria::Unresolved => "events.placeIds",
        PlaceCriteria::Near { .. } => "events.point",
    }
}

fn place_clause(place: &PlaceCriteria) -> Value {
    match place {
        PlaceCriteria::Inside(id) => json!({ "term": { "events.placeIds": id } }),
        PlaceCriteria::Near { latitude, longitude, kilometres } => json!({ "geo_distance": {
            "distance": format!("{kilometres}km"),
            "events.point": { "lat": latitude, "lon": longitude },
        } }),
        PlaceCriteria::Unresolved => json!({ "match_none": {} }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates::parse;
    use crate::record::EventType;

    fn born(text: &str) -> EventCriteria {
        EventCriteria { event: Some(EventType::Birth), date: parse(text, None), place: None }
    }

    #[test]
    fn date_and_place_of_a_type_are_those_of_one_event() {
        let criteria = EventCriteria { place: Some(PlaceCriteria::Inside("8000000001".to_owned())), ..born("1868") };
        let clause = clause(&criteria, Missing::Exclude);
        let event = &clause["nested"]["query"]["bool"];
        assert_eq!(
            event["filter"],
            json!([{ "term": { "events.type": "birth" } }, { "term": { "events.placeIds": "8000000001" } }])
        );
        let date = &event["must"][0]["bool"];
        assert_eq!(
            date["must"][0]["constant_score"]["filter"]["bool"]["filter"],
            json!([{ "range": { "events.from": { "lte": 18_681_231 } } }, { "range": { "events.to": { "gte": 18_680_101 } } }])
        );
        assert_eq!(
            date["should"][0]["constant_score"]["filter"]["bool"]["filter"][0],
            json!({ "range": { "events.from": { "gte": 18_680_101 } } })
        );
    }

    #[test]
    fn event_of_any_type_has_no_filter_by_type() {
        let clause = clause(&EventCriteria { event: None, ..born("1868") }, Missing::Exclude);
        assert_eq!(clause["nested"]["query"]["bool"]["filter"], json!([]));
    }

    #[test]
    fn missing_dates_match_only_if_no_event_of_the_type_has_one() {
        let clause = clause(&born("1868"), Missing::Include);
        let [matching, lacking] = [0, 1].map(|index| clause["dis_max"]["queries"][index].clone());
        assert!(matching["nested"].is_object());
        let has_any = &lacking["bool"]["must_not"][0]["nested"]["query"]["bool"]["filter"];
        assert_eq!(has_any[0], json!({ "term": { "events.type": "birth" } }));
        assert!(has_any[1].to_string().contains("events.from"));
    }

    #[test]
    fn unresolved_place_matches_nothing() {
        let place = Some(PlaceCriteria::Unresolved);
        let clause = clause(&EventCriteria { place, ..EventCriteria::default() }, Missing::Exclude);
        assert_eq!(clause["nested"]["query"]["bool"]["filter"], json!([{ "match_none": {} }]));
    }
}
