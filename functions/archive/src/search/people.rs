//! Clauses on the people of a record and on the relatives of its principal person.

use serde_json::{Value, json};

use super::clauses::{all, best, closed, has, nested, not};
use super::criteria::{Criteria, Missing, PersonCriteria, RelationCriteria};
use super::families::Family;
use crate::person_names::{AskedName, Part};

const PEOPLE: &str = "people";
const RELATIVES: &str = "relatives";

/// Returns the query for records with the person and all relatives of the criteria. None if neither is asked. On the day
/// `open_on`, relatives whose own records are closed do not count.
pub fn clause(criteria: &Criteria, open_on: Option<u32>) -> Option<Value> {
    let Criteria { person, relations, missing, .. } = criteria;
    if relations.is_empty() {
        let family = Family::of_person(person.role);
        return person.is_asked().then(|| person_clause(&family, person, *missing));
    }
    let of_family = |family: &Family| {
        let mut must: Vec<Value> =
            relations.iter().map(|relation| relation_clause(family, relation, *missing, open_on)).collect();
        // A child without a name is found by its parents. With missing parents, a record must have the person at least.
        if person.is_asked() || *missing == Missing::Include {
            must.push(person_clause(family, person, *missing));
        }
        all(must, Vec::new())
    };
    Some(best(Family::with_relatives(person.role).iter().map(of_family).collect()))
}

impl PersonCriteria {
    fn is_asked(&self) -> bool {
        !self.names.is_empty() || self.role.is_some() || self.sex.is_some()
    }
}

fn person_clause(family: &Family, person: &PersonCriteria, missing: Missing) -> Value {
    let role = family.person.map(|role| json!({ "term": { "people.role": role } }));
    let sex = person.sex.map(|sex| json!({ "term": { "people.sex": sex } }));
    nested(PEOPLE, all(names_clauses(PEOPLE, &person.names, missing), role.into_iter().chain(sex).collect()))
}

fn relation_clause(family: &Family, criteria: &RelationCriteria, missing: Missing, open_on: Option<u32>) -> Value {
    let (role, kinds) = family.related(criteria.relation);
    let people = vec![json!({ "term": { "people.role": role } })];
    let mut relatives = vec![json!({ "terms": { "relatives.relation": kinds } })];
    relatives.extend(open_on.map(|day| not(closed("relatives.visibleFrom", day))));
    let named = |path: &str, filters: &[Value]| {
        nested(path, all(names_clauses(path, &criteria.names, missing), filters.to_vec()))
    };
    let mut clauses = vec![named(PEOPLE, &people), named(RELATIVES, &relatives)];
    if missing == Missing::Include {
        let any = [nested(PEOPLE, all(Vec::new(), people)), nested(RELATIVES, all(Vec::new(), relatives))];
        clauses.push(not(best(any.into())));
    }
    best(clauses)
}

/// Returns the clauses of all words of the names. A missing name matches without points.
fn names_clauses(path: &str, names: &[AskedName], missing: Missing) -> Vec<Value> {
    let of_name = |name: &AskedName| match missing {
        Missing::Exclude => name.clauses(path),
        Missing::Include => {
            let field = |field: &str| has(&format!("{path}.{field}"));
            let fields = |part: &Part| [field(part.words_field()), field(part.uncertain_field())];
            let has_name = best(name.parts().iter().flat_map(fields).collect());
            vec![best(vec![all(name.clauses(path), Vec::new()), not(has_name)])]
        }
    };
    names.iter().flat_map(of_name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::criteria::Relation;
    use super::*;
    use crate::mapping::PersonRole;
    use crate::person_names::Matching;
    use crate::record::Sex;

    fn given(text: &str) -> Vec<AskedName> {
        vec![AskedName::given(text, Matching::Exact).unwrap()]
    }

    fn father(text: &str) -> RelationCriteria {
        RelationCriteria { relation: Relation::Father, names: given(text) }
    }

    #[test]
    fn names_role_and_sex_are_those_of_one_person() {
        let person = PersonCriteria {
            names: vec![
                AskedName::given("Evan", Matching::Exact).unwrap(),
                AskedName::surname("Pugh", Matching::Exact).unwrap(),
            ],
            role: Some(PersonRole::BrideFather),
            sex: Some(Sex::Male),
        };
        let clause = clause(&Criteria { person, ..Criteria::default() }, None).unwrap();
        let nested = &clause["nested"];
        assert_eq!((&nested["path"], &nested["score_mode"]), (&json!("people"), &json!("max")));
        assert_eq!(nested["query"]["bool"]["must"].as_array().map(Vec::len), Some(2));
        assert_eq!(
            nested["query"]["bool"]["filter"],
            json!([{ "term": { "people.role": "brideFather" } }, { "term": { "people.sex": "male" } }])
        );
    }

    #[test]
    fn search_without_people_has_no_clause() {
        assert_eq!(clause(&Criteria::default(), None), None);
    }

    #[test]
    fn father_of_a_bride_is_not_that_of_the_groom() {
        let person = PersonCriteria { names: given("Anna"), ..PersonCriteria::default() };
        let criteria = Criteria { person, relations: vec![father("Georg")], ..Criteria::default() };
        let families = clause(&criteria, None).unwrap()["dis_max"]["queries"].clone();
        let roles = ["principal", "bride", "groom"].into_iter().zip(["father", "brideFather", "groomFather"]);
        for (index, (role, father)) in roles.enumerate() {
            let family = families[index].to_string();
            assert!(family.contains(&format!(r#"{{"people.role":"{role}"}}"#)), "{family}");
            assert!(family.contains(&format!(r#"{{"people.role":"{father}"}}"#)), "{family}");
        }
    }

    #[test]
    fn father_is_a_person_of_the_record_or_a_relative() {
        let criteria = Criteria { relations: vec![father("Evan")], ..Criteria::default() };
        let relation = clause(&criteria, None).unwrap()["dis_max"]["queries"][0]["bool"]["must"].clone();
        assert_eq!(relation.as_array().map(Vec::len), Some(1));
        let paths = [0, 1].map(|index| relation[0]["dis_max"]["queries"][index]["nested"]["path"].clone());
        assert_eq!(paths, [json!("people"), json!("relatives")]);
    }

    #[test]
    fn closed_relatives_count_for_staff_only() {
        let criteria = Criteria { relations: vec![father("Evan")], ..Criteria::default() };
        let range = json!({ "range": { "relatives.visibleFrom": { "gt": 20_261_125 } } }).to_string();
        let public = clause(&criteria, Some(20_261_125)).unwrap().to_string();
        assert_eq!(public.matches(&range).count(), 3, "{public}");
        assert!(!clause(&criteria, None).unwrap().to_string().contains("visibleFrom"));
        let included = Criteria { missing: Missing::Include, ..criteria };
        let public = clause(&included, Some(20_261_125)).unwrap().to_string();
        assert_eq!(public.matches(&range).count(), 6, "{public}");
    }

    #[test]
    fn missing_names_match_without_points() {
        let person = PersonCriteria { names: given("Anna"), ..PersonCriteria::default() };
        let criteria = Criteria { person, missing: Missing::Include, ..Criteria::default() };
        let names = clause(&criteria, None).unwrap()["nested"]["query"]["bool"]["must"].clone();
        let lacking = &names[0]["dis_max"]["queries"][1]["bool"]["must_not"][0];
        assert!(lacking.to_string().contains("people.givenUncertain"), "{lacking}");
    }
}
