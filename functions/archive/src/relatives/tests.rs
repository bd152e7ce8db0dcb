//! Tests of the relatives that a household gives its members.

use super::*;
use crate::mapping::{Field, MappedColumn, PersonRole};
use crate::record::BoundMapping;

/// A household: each line is a relation, a given name and optionally a sex.
fn household(lines: &[&str]) -> Vec<(String, Person)> {
    let member = |line: &&str| {
        let [relation, given, sex @ ..] = &line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let sex = match sex {
            ["m"] => Some(Sex::Male),
            ["f"] => Some(Sex::Female),
            _ => None,
        };
        let person =
            Person { role: PersonRole::Principal, given: (*given).to_owned(), surname: "Pugh".to_owned(), sex };
        ((*relation).to_owned(), person)
    };
    lines.iter().map(member).collect()
}

/// Returns the relatives of each member as text: `father Evan, mother Margaret`.
fn told(lines: &[&str]) -> Vec<String> {
    let household = household(lines);
    let members: Vec<_> = household
        .iter()
        .map(|(relation, person)| Member { person: Some(person), relation: Some(relation), visible_from: None })
        .collect();
    let text = |relative: &Relative| {
        let relation = serde_json::to_value(relative.relation).unwrap();
        format!("{} {}", relation.as_str().unwrap(), relative.given)
    };
    relatives(&members).iter().map(|found| found.iter().map(text).collect::<Vec<_>>().join(", ")).collect()
}

#[test]
fn son_of_a_head_with_a_wife_has_both_as_parents() {
    let found = told(&["Head|Evan|m", "Wife|Margaret|f", "Son|Griffith|m"]);
    let expected = ["spouse Margaret, child Griffith", "spouse Evan, child Griffith", "father Evan, mother Margaret"];
    assert_eq!(found, expected);
}

/// A household with all relations, in the words of a language.
const FAMILY: [(&str, [&str; 9]); 14] = [
    ("English", ["Head", "Wife", "Son", "Daughter", "Father", "Mother", "Brother", "Sister", "Husband"]),
    ("English, short", ["Hd.", "Wif.", "Sn", "Daur.", "Fath.", "Moth.", "Bro.", "Sist.", "Husb."]),
    ("Welsh", ["Pen", "Gwraig", "Mab", "Merch", "Tad", "Mam", "Brawd", "Chwaer", "Gŵr"]),
    ("Welsh, mutated", ["Pen y teulu", "Wraig", "Fab", "Ferch", "Dad", "Mam", "Frawd", "Chwaer", "Gŵr"]),
    (
        "German",
        ["Haushaltsvorstand", "Ehefrau", "Sohn", "Tochter", "Vater", "Mutter", "Bruder", "Schwester", "Ehemann"],
    ),
    ("German, short", ["Vorstand", "Ehefr.", "Sohn", "Tocht.", "Vat.", "Mutt.", "Brud.", "Schw.", "Ehem."]),
    ("French", ["Chef de ménage", "Épouse", "Fils", "Fille", "Père", "Mère", "Frère", "Sœur", "Époux"]),
    ("French, short", ["Ch. de ménage", "Ép.", "Fs", "Flle", "Père", "Mère", "Frère", "Sœur", "Mari"]),
    ("Dutch", ["Hoofd", "Vrouw", "Zoon", "Dochter", "Vader", "Moeder", "Broer", "Zuster", "Echtgenoot"]),
    ("Dutch, short", ["Gezinshoofd", "Huisvrouw", "Zn.", "Docht.", "Vad.", "Moed.", "Broed.", "Zus", "Echtgenoot"]),
    ("Polish", ["Głowa rodziny", "Żona", "Syn", "Córka", "Ojciec", "Matka", "Brat", "Siostra", "Mąż"]),
    ("Polish, short", ["Gł. rodziny", "Żona", "Syn", "Cora", "Ojc.", "Matka", "Brat", "Siostr.", "Mąż"]),
    ("Hungarian", ["Családfő", "Felesége", "Fia", "Lánya", "Apja", "Anyja", "Fivére", "Nővére", "Férje"]),
    ("Hungarian, short", ["Csf.", "Fel.", "Fiú", "Leány", "Apa", "Anya", "Öccse", "Húga", "Férj"]),
];

#[test]
fn family_is_found_in_the_words_of_every_language() {
    for (language, [head, wife, son, daughter, father, mother, brother, sister, husband]) in FAMILY {
        let line = |relation: &str, name: &str| format!("{relation}|{name}");
        let lines = [
            line(head, "Evan"),
            line(wife, "Margaret"),
            line(son, "Griffith"),
            line(daughter, "Ann"),
            line(father, "Hugh"),
            line(mother, "Jane"),
            line(brother, "Robert"),
            line(sister, "Mary"),
        ];
        let expected = [
            "father Hugh, mother Jane, spouse Margaret, child Griffith, child Ann, sibling Robert, sibling Mary",
            "spouse Evan, child Griffith, child Ann",
            "father Evan, mother Margaret, sibling Ann",
            "father Evan, mother Margaret, sibling Griffith",
            "child Evan",
            "child Evan",
            "sibling Evan, sibling Mary",
            "sibling Evan, sibling Robert",
        ];
        assert_eq!(told(&lines.each_ref().map(String::as_str)), expected, "{language}");
        // The husband of a woman who is the head is the father.
        let lines = [line(head, "Margaret"), line(husband, "Evan"), line(son, "Griffith")];
        let expected =
            ["spouse Evan, child Griffith", "spouse Margaret, child Griffith", "father Evan, mother Margaret"];
        assert_eq!(told(&lines.each_ref().map(String::as_str)), expected, "{language}");
    }
}

#[test]
fn parent_is_father_or_mother_by_sex_and_none_if_that_is_not_known() {
    assert_eq!(told(&["Head|Ann|f", "Son|Hugh"]), ["child Hugh", "mother Ann"]);
    assert_eq!(told(&["Head|Evan|m", "Son|Hugh"]), ["child Hugh", "father Evan"]);
    assert_eq!(told(&["Head|Pat", "Son|Hugh"]), ["child Hugh", ""]);
    // A column of the file is believed before the relation.
    assert_eq!(told(&["Head|Ann|f", "Wife|Mary|f", "Son|Hugh"])[2], "mother Ann, mother Mary");
}

#[test]
fn children_of_a_head_with_two_wives_have_no_mother() {
    let found = told(&["Head|Evan|m", "Wife|Ann", "Wife|Mary", "Son|Hugh"]);
    assert_eq!(found, ["spouse Ann, spouse Mary, child Hugh", "spouse Evan", "spouse Evan", "father Evan"]);
}

#[test]
fn family_of_an_absent_head_has_what_its_relations_tell() {
    assert_eq!(
        told(&["Wife|Ann", "Son|Hugh", "Daughter|Mary"]),
        ["child Hugh, child Mary", "mother Ann, sibling Mary", "mother Ann, sibling Hugh"]
    );
}

#[test]
fn household_with_two_heads_has_no_relatives() {
    assert_eq!(told(&["Head|Evan|m", "Son|Hugh", "Head|John|m", "Son|Ann"]), ["", "", "", ""]);
}

#[test]
fn other_relations_have_no_relatives_and_are_none() {
    let found = told(&["Head|Evan|m", "Stepson|Hugh", "Lodger|Wm.", "Son-in-law|John", "|Ann", "Grandson|Owen"]);
    assert_eq!(found, ["", "", "", "", "", ""]);
}

#[test]
fn household_of_more_than_forty_has_no_relatives() {
    let mut lines = vec!["Head|Evan|m"];
    lines.resize(MAX_MEMBERS, "Son|Hugh");
    assert_eq!(told(&lines)[1].matches("sibling").count(), 38);
    lines.push("Son|Hugh");
    assert!(told(&lines).iter().all(String::is_empty));
}

#[test]
fn member_without_a_name_has_relatives_and_is_none() {
    let head = household(&["Head|Evan|m"]);
    let son = Person { role: PersonRole::Principal, given: String::new(), surname: String::new(), sex: None };
    let members = [
        Member { person: Some(&head[0].1), relation: Some("Head"), visible_from: None },
        Member { person: Some(&son), relation: Some("Son"), visible_from: None },
        Member { person: None, relation: Some("Wife"), visible_from: None },
        Member { person: None, relation: None, visible_from: None },
    ];
    let counts: Vec<usize> = relatives(&members).iter().map(Vec::len).collect();
    assert_eq!(counts, [0, 1, 1, 0]);
}

#[test]
fn relative_has_the_first_open_day_of_the_own_record() {
    let household = household(&["Head|Evan|m", "Daughter|Nia|f"]);
    let members = household.iter().zip([None, Some(20_910_101)]);
    let members = members.map(|((relation, person), visible_from)| Member {
        person: Some(person),
        relation: Some(relation),
        visible_from,
    });
    let members: Vec<_> = members.collect();
    let days: Vec<Vec<Option<u32>>> =
        relatives(&members).iter().map(|found| found.iter().map(|relative| relative.visible_from).collect()).collect();
    assert_eq!(days, [[Some(20_910_101)], [None]]);
}

#[test]
fn rows_of_a_census_become_people_with_their_parents() {
    let fields = [
        ("House", Field::Household),
        ("Surname", Field::Surname),
        ("Forenames", Field::Given),
        ("Rel", Field::Relation),
        ("Sex", Field::Sex),
        ("Born", Field::BirthDate),
        ("Birthplace", Field::BirthPlace),
    ];
    let column = |(header, field): (&str, Field)| MappedColumn {
        header: header.to_owned(),
        label: None,
        role: PersonRole::Principal,
        field,
        date_order: None,
    };
    let (mapping, headers) = (fields.map(column), fields.map(|(header, _)| header.to_owned()));
    let bound = BoundMapping::new(&mapping, &headers).unwrap();
    let rows = [
        ["14", "Pugh", "Evan", "Head", "M", "abt 1838", "Dolgellau, Wales"],
        ["14", "Pugh", "Margaret", "Wife", "F", "1841", "Bala, Wales"],
        ["14", "Pugh", "Griffith", "Son", "M", "Mar 1868", "Dolgellau, Wales"],
        ["", "Jones", "Wm.", "Lodger", "M", "", ""],
    ];
    let rows = rows.map(|cells| bound.read(&cells.map(str::to_owned)));
    assert!(rows.iter().all(|row| row.faults.is_empty()));
    let members: Vec<Member<'_>> = rows
        .iter()
        .filter(|row| row.household.as_deref() == Some("14"))
        .map(|row| Member { person: row.people.first(), relation: row.relation.as_deref(), visible_from: None })
        .collect();
    let pugh = |relation, given: &str| Relative {
        relation,
        given: given.to_owned(),
        surname: "Pugh".to_owned(),
        visible_from: None,
    };
    let expected = [
        vec![pugh(RelativeKind::Spouse, "Margaret"), pugh(RelativeKind::Child, "Griffith")],
        vec![pugh(RelativeKind::Spouse, "Evan"), pugh(RelativeKind::Child, "Griffith")],
        vec![pugh(RelativeKind::Father, "Evan"), pugh(RelativeKind::Mother, "Margaret")],
    ];
    assert_eq!(relatives(&members), expected);
}
