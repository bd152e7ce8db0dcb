//! How closely the queried names match the people of a record, by the same rules as search.

use serde::Serialize;
use utoipa::ToSchema;

use super::criteria::{Criteria, Missing, PersonCriteria};
use super::families::Family;
use crate::mapping::PersonRole;
use crate::person_names::{AskedName, NameTerms, Part, Tier};
use crate::record::Record;
use crate::viewer::Viewer;

/// A word of a queried name, and what it matches in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = MatchedName)]
pub struct Matched {
    /// The role of the person with the name. A child or a sibling from the household is `other`.
    pub role: PersonRole,
    pub field: Part,
    pub tier: Tier,
}

/// Returns what each word of the queried names matches, the names of the person first. It is empty if no names are
/// queried, or if the record has changed and does not match any more.
pub fn matched(record: &Record, criteria: &Criteria, viewer: &Viewer) -> Vec<Matched> {
    let role = criteria.person.role;
    let families = match criteria.relations.is_empty() {
        true => vec![Family::of_person(role)],
        false => Family::with_relatives(role),
    };
    best(families.iter().filter_map(|family| in_family(record, criteria, family, viewer))).unwrap_or_default()
}

fn in_family(record: &Record, criteria: &Criteria, family: &Family, viewer: &Viewer) -> Option<Vec<Matched>> {
    let Criteria { person, relations, missing, .. } = criteria;
    let mut all = if person.names.is_empty() { Vec::new() } else { person_matched(record, person, *missing, family)? };
    for relation in relations {
        let (role, kinds) = family.related(relation.relation);
        let people = record.people.iter().filter(|person| person.role == role);
        let relatives = record.relatives.iter().filter(|relative| kinds.contains(&relative.relation));
        let relatives = relatives.filter(|relative| viewer.sees(relative.visible_from));
        let related: Vec<(&str, &str)> = people
            .map(|person| (person.given.as_str(), person.surname.as_str()))
            .chain(relatives.map(|relative| (relative.given.as_str(), relative.surname.as_str())))
            .collect();
        if related.is_empty() && *missing == Missing::Include {
            continue;
        }
        all.extend(best(related.into_iter().filter_map(|name| names_matched(&relation.names, name, role, *missing)))?);
    }
    Some(all)
}

fn person_matched(
    record: &Record,
    criteria: &PersonCriteria,
    missing: Missing,
    family: &Family,
) -> Option<Vec<Matched>> {
    let is_asked = |role: PersonRole| family.person.is_none_or(|asked| asked == role);
    let people = record.people.iter().filter(|person| is_asked(person.role));
    let people = people.filter(|person| criteria.sex.is_none() || person.sex == criteria.sex);
    best(
        people.filter_map(|person| {
            names_matched(&criteria.names, (&person.given, &person.surname), person.role, missing)
        }),
    )
}

/// Returns what the words of all names match in one stored name. None if a name does not match.
fn names_matched(
    names: &[AskedName],
    (given, surname): (&str, &str),
    role: PersonRole,
    missing: Missing,
) -> Option<Vec<Matched>> {
    let (given, surname) = (NameTerms::new(given), NameTerms::new(surname));
    let lacks = |part: &Part| {
        let terms = match part {
            Part::Given => &given,
            Part::Surname => &surname,
        };
        terms.words.is_empty() && terms.uncertain.is_empty()
    };
    let mut all = Vec::new();
    for name in names {
        match name.matched(&given, &surname) {
            Some(words) => all.extend(words.into_iter().map(|(field, tier)| Matched { role, field, tier })),
            None if missing == Missing::Include && name.parts().iter().all(lacks) => {}
            None => return None,
        }
    }
    Some(all)
}

/// Returns the match with the most points, and of equal ones the first.
fn best(matches: impl Iterator<Item = Vec<Matched>>) -> Option<Vec<Matched>> {
    let points = |matched: &[Matched]| matched.iter().map(|word| word.tier.points()).sum::<u32>();
    matches.reduce(|best, other| if points(&other) > points(&best) { other } else { best })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::super::query::RecordQuery;
    use super::*;

    fn record(people: Value, relatives: Value) -> Record {
        serde_json::from_value(json!({
            "PK": "1000000004", "GSISK": "1000000004", "run": 1, "row": 1, "collectionId": "1000000002",
            "permanentId": "1000000004", "values": [], "people": people, "events": [], "relatives": relatives,
            "keywords": [], "createdAt": "", "updatedAt": "", "createdBy": "1000000000",
        }))
        .unwrap()
    }

    fn evan() -> Record {
        let people = json!([
            { "role": "father", "given": "Hugh", "surname": "Pugh", "sex": "male" },
            { "role": "principal", "given": "Evan Wm.", "surname": "Pugh", "sex": "male" },
        ]);
        let relatives = json!([
            { "relation": "spouse", "given": "Margaret", "surname": "Pugh" },
            { "relation": "sibling", "given": "Anne", "surname": "P_gh" },
            { "relation": "child", "given": "Nia", "surname": "Pugh", "visibleFrom": 20_910_101 },
        ]);
        record(people, relatives)
    }

    fn check(record: &Record, query: Value, expected: &[(PersonRole, Part, Tier)]) {
        let query: RecordQuery = serde_json::from_value(query).unwrap();
        let public = Viewer::new(false, 20_261_125);
        let matched = matched(record, &query.criteria(&BTreeMap::new()).unwrap(), &public);
        let matched: Vec<_> = matched.iter().map(|word| (word.role, word.field, word.tier)).collect();
        assert_eq!(matched, expected);
    }

    #[test]
    fn all_words_match_the_person_with_the_most_points() {
        use PersonRole::{Father, Principal};
        let surname = |role| (role, Part::Surname, Tier::Exact);
        check(&evan(), json!({ "surname": "Pugh" }), &[surname(Father)]);
        check(
            &evan(),
            json!({ "given": "Evan Will", "surname": "Pugh" }),
            &[(Principal, Part::Given, Tier::Exact), (Principal, Part::Given, Tier::Nickname), surname(Principal)],
        );
        check(
            &evan(),
            json!({ "name": "Pugg Hugh" }),
            &[(Father, Part::Surname, Tier::Sounds), (Father, Part::Given, Tier::Exact)],
        );
        check(&evan(), json!({ "surname": "Pugh", "role": "principal" }), &[surname(Principal)]);
        check(&evan(), json!({ "surname": "Pugh", "sex": "female" }), &[]);
        check(&evan(), json!({ "birth": "1838" }), &[]);
    }

    #[test]
    fn relatives_match_in_the_role_of_their_relation() {
        use PersonRole::{Father, Other, Principal, Spouse};
        check(
            &evan(),
            json!({ "given": "Evan", "fatherGiven": "Hugh", "spouseGiven": "Margaret", "otherSurname": "Pugh" }),
            &[
                (Principal, Part::Given, Tier::Exact),
                (Father, Part::Given, Tier::Exact),
                (Spouse, Part::Given, Tier::Exact),
                (Other, Part::Surname, Tier::Uncertain),
            ],
        );
        check(&evan(), json!({ "given": "Evan", "otherGiven": "Nia" }), &[]);
        check(&evan(), json!({ "given": "Evan", "motherGiven": "Ann" }), &[]);
        check(
            &evan(),
            json!({ "given": "Evan", "motherGiven": "Ann", "missing": "include" }),
            &[(Principal, Part::Given, Tier::Exact)],
        );
    }

    #[test]
    fn father_of_the_groom_is_not_that_of_the_bride() {
        let people = json!([
            { "role": "bride", "given": "Anna" }, { "role": "groom", "given": "Karl" },
            { "role": "groomFather", "given": "Georg" },
        ]);
        let wedding = record(people, json!([]));
        check(&wedding, json!({ "given": "Anna", "fatherGiven": "Georg" }), &[]);
        check(
            &wedding,
            json!({ "given": "Karl", "fatherGiven": "Georg" }),
            &[(PersonRole::Groom, Part::Given, Tier::Exact), (PersonRole::GroomFather, Part::Given, Tier::Exact)],
        );
    }

    #[test]
    fn missing_name_matches_without_a_tier() {
        let jones = record(json!([{ "role": "principal", "surname": "Jones" }]), json!([]));
        let query = json!({ "given": "Will", "surname": "Jones" });
        check(&jones, query, &[]);
        let query = json!({ "given": "Will", "surname": "Jones", "missing": "include" });
        check(&jones, query, &[(PersonRole::Principal, Part::Surname, Tier::Exact)]);
    }
}
