use std::collections::BTreeMap;

use super::*;
use crate::gazetteer::Gazetteer;
use crate::places::item::Place;
use crate::places::place_text::Spellings;

struct Extract {
    places: Vec<Place>,
    candidates: Vec<Candidate>,
}

impl Extract {
    fn new() -> Self {
        let gazetteer = Gazetteer::from_lines(include_str!("../../gazetteer/extract.tsv")).unwrap();
        let places = gazetteer.places("2026-01-01T00:00:00.000000Z").unwrap();
        let candidates = places.iter().filter_map(Place::candidate).collect();
        Self { places, candidates }
    }

    fn id(&self, full_name: &str) -> PlaceId {
        self.places.iter().find(|place| place.full_name == full_name).unwrap().id
    }

    /// The full name that a text means, and the unused parts.
    fn resolve(&self, text: &str, within: Option<&str>) -> Option<(&str, Vec<String>)> {
        let abbreviation = BTreeMap::from([("St".to_owned(), "Saint".to_owned())]);
        let spellings = Spellings::new(&["near".to_owned(), "of".to_owned()], &abbreviation);
        let text = PlaceText::parse(text, &spellings);
        let mut found = PlacesByWord::new();
        for word in text.lookups() {
            let places = self.places.iter().filter(|place| place.words().contains(word)).map(|place| place.id);
            found.insert(word.clone(), places.collect());
        }
        let wanted = candidates(&found);
        let compared: Vec<Candidate> =
            self.candidates.iter().filter(|candidate| wanted.contains(&candidate.id)).cloned().collect();
        let within = within.map(|name| self.id(name));
        let meaning = resolve(&text, &found, &compared, within.as_ref())?;
        let place = self.places.iter().find(|place| place.id == meaning.place.id).unwrap();
        Some((&place.full_name, meaning.unused))
    }
}

#[test]
fn text_means_the_place_that_uses_most_of_it() {
    let extract = Extract::new();
    for (text, expected) in [
        ("Bala, Wales", "Bala, Wales, United Kingdom"),
        ("Wales, Bala", "Bala, Wales, United Kingdom"),
        ("bala wales", "Bala, Wales, United Kingdom"),
        ("Bala, Romania", "Bala, Mehedinți County, Romania"),
        ("Dolgellau, Wales", "Dolgellau, Wales, United Kingdom"),
        ("Paris, Texas", "Paris, Texas, United States"),
        ("Paris, United States", "Paris, Texas, United States"),
        ("Paris", "Paris, Île-de-France, France"),
        ("paris france", "Paris, Île-de-France, France"),
        ("New York, New York", "New York City, New York, United States"),
        ("New York New York United States", "New York City, New York, United States"),
        ("New York", "New York, United States"),
        ("near Salt Lake City, State of Utah, Utah", "Salt Lake City, Utah, United States"),
        ("ST. ETIENNE, FRANCE", "Saint-Étienne, Auvergne-Rhône-Alpes, France"),
        ("東京", "Tokyo, Tokyo, Japan"),
        ("Москва", "Moscow, Moscow, Russia"),
    ] {
        let resolved = extract.resolve(text, None).map(|(place, _)| place);
        assert_eq!(resolved, Some(expected), "{text}");
    }
}

#[test]
fn unused_parts_are_returned_as_they_were_written() {
    let extract = Extract::new();
    for (text, expected, unused) in [
        ("Bedrock, Colorado", "Colorado, United States", vec!["Bedrock"]),
        ("Bala, Bedrock, Wales", "Bala, Wales, United Kingdom", vec!["Bedrock"]),
        ("Old Łódź", "Łódź, Łódź Voivodeship, Poland", vec!["Old"]),
        ("Bala, Wales", "Bala, Wales, United Kingdom", vec![]),
        ("Wales, Wales", "Wales, United Kingdom", vec!["Wales"]),
    ] {
        let (place, left) = extract.resolve(text, None).unwrap();
        assert_eq!((place, left.iter().map(String::as_str).collect()), (expected, unused), "{text}");
    }
}

#[test]
fn text_without_a_known_name_means_nothing() {
    let extract = Extract::new();
    for text in ["Bedrock", "", ", ,", "near", "—"] {
        assert_eq!(extract.resolve(text, None), None, "{text}");
    }
}

#[test]
fn place_inside_within_is_preferred_to_a_heavier_one() {
    let extract = Extract::new();
    assert_eq!(extract.resolve("Bala", None).unwrap().0, "Bala, Mehedinți County, Romania");
    assert_eq!(extract.resolve("Bala", Some("United Kingdom")).unwrap().0, "Bala, Wales, United Kingdom");
    let used = extract.resolve("Bala, Romania", Some("United Kingdom")).unwrap().0;
    assert_eq!(used, "Bala, Mehedinți County, Romania", "more words count more");
}

#[test]
fn own_name_is_preferred_to_an_alternative_name() {
    let id = |number| PlaceId::new(number).unwrap();
    let word = |name: &str| Some(PlaceWord::of(name).unwrap());
    let own = Candidate { id: id(1_000_000_000), path: vec![id(1_000_000_000)], word: word("Sarn"), weight: 1 };
    let alternative =
        Candidate { id: id(1_000_000_001), path: vec![id(1_000_000_001)], word: word("Melin"), weight: 9 };
    let found = PlacesByWord::from([(word("Sarn").unwrap(), BTreeSet::from([own.id, alternative.id]))]);
    let text = PlaceText::parse("Sarn", &Spellings::default());
    assert_eq!(resolve(&text, &found, &[alternative, own.clone()], None).unwrap().place, &own);
}

#[test]
fn candidates_are_limited_and_those_of_rare_words_come_first() {
    let ids = |range: std::ops::Range<u64>| range.map(|number| PlaceId::new(number).unwrap()).collect::<BTreeSet<_>>();
    let word = |name: &str| PlaceWord::of(name).unwrap();
    let found = PlacesByWord::from([
        (word("a"), ids(1_000_000_000..1_000_000_299)),
        (word("b"), ids(1_000_000_500..1_000_000_502)),
    ]);
    let candidates = candidates(&found);
    assert_eq!(candidates.len(), MAX_CANDIDATES);
    assert_eq!(candidates.first().unwrap().number(), 1_000_000_500);
}
