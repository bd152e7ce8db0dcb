//! What a client has typed of a place's name, as a search request.

use serde_json::{Value, json};
use web::search::prefix;

use super::naming;
use crate::documents::place::MAX_PREFIX;
use crate::fold::{fold, words};

/// The shortest text that is completed, in folded characters.
const MIN_CHARS: usize = 2;

/// The scores of the tiers. A place has the score of its best one.
const NAME: u32 = 3;
const ALTERNATIVE: u32 = 2;
const WORDS: u32 = 1;

/// Below the function's timeout, so that a slow search is reported as one.
const TIMEOUT: &str = "8s";

/// A text of at least two folded characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// The folded texts between commas. The first is the beginning of a name, the others are those of ancestors' names.
    parts: Vec<String>,
    /// The folded words of a text without commas.
    words: Option<Vec<String>>,
    /// The beginning of a full name.
    pub full_name: String,
}

impl Typed {
    pub fn parse(text: &str) -> Option<Self> {
        if fold(text).chars().count() < MIN_CHARS {
            return None;
        }
        let parts: Vec<String> = text.split(',').map(fold).filter(|part| !part.is_empty()).collect();
        let words = (!text.contains(',')).then(|| words(text));
        Some(Self { parts, words, full_name: naming::fold_beginning(text) })
    }

    /// Returns the request for places that this text may become, the likeliest first.
    pub fn request(&self, limit: usize) -> Value {
        json!({
            "query": { "bool": {
                "must": { "dis_max": { "queries": self.tiers() } },
                "filter": { "term": { "entity": "place" } },
                "must_not": { "term": { "deleted": true } },
            } },
            "sort": [{ "_score": "desc" }, { "placeWeight": "desc" }, { "placeFullName": "asc" }, { "pk": "asc" }],
            "size": limit,
            "track_total_hits": 1,
            "_source": false,
            "docvalue_fields": ["pk", "sk"],
            "timeout": TIMEOUT,
        })
    }

    fn tiers(&self) -> Vec<Value> {
        let Some((name, ancestors)) = self.parts.split_first() else { return Vec::new() };
        let ancestors: Vec<Value> = ancestors.iter().map(|part| prefix("placeAncestors", part)).collect();
        let tier = |score: u32, clause: Value| {
            let filter: Vec<Value> = ancestors.iter().cloned().chain([clause]).collect();
            json!({ "constant_score": { "filter": { "bool": { "filter": filter } }, "boost": score } })
        };
        let mut tiers = vec![
            tier(NAME, beginning("placeName", "placePrefixes", MIN_CHARS, name)),
            tier(ALTERNATIVE, beginning("placeAlternatives", "placeAlternativePrefixes", MIN_CHARS, name)),
        ];
        tiers.extend(self.words.as_ref().map(|words| tier(WORDS, every_word(words))));
        tiers
    }
}

/// Every word occurs in own or ancestors' names, the last one as a prefix, and at least one in own names.
fn every_word(words: &[String]) -> Value {
    let last = words.len().saturating_sub(1);
    let own = |(index, word): (usize, &String)| {
        if index == last {
            beginning("placeWords", "placeWordPrefixes", 1, word)
        } else {
            json!({ "term": { "placeWords": word } })
        }
    };
    let anywhere = |(index, word): (usize, &String)| {
        let field = "placeAncestorWords";
        let around = if index == last { prefix(field, word) } else { json!({ "term": { field: word } }) };
        any(vec![own((index, word)), around])
    };
    let mut clauses: Vec<Value> = words.iter().enumerate().map(anywhere).collect();
    clauses.push(any(words.iter().enumerate().map(own).collect()));
    json!({ "bool": { "filter": clauses } })
}

/// Names with this beginning. Short beginnings are terms of their own, since they have too many names.
fn beginning(names: &str, prefixes: &str, shortest: usize, text: &str) -> Value {
    if (shortest..=MAX_PREFIX).contains(&text.chars().count()) {
        json!({ "term": { prefixes: text } })
    } else {
        prefix(names, text)
    }
}

fn any(clauses: Vec<Value>) -> Value {
    json!({ "bool": { "should": clauses, "minimum_should_match": 1 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiers(text: &str) -> Vec<Value> {
        Typed::parse(text).unwrap().tiers()
    }

    #[test]
    fn text_of_less_than_two_folded_characters_is_not_completed() {
        for text in ["", "y", "東", "!y ", ",y,", "’"] {
            assert_eq!(Typed::parse(text), None, "{text}");
        }
        for text in ["ål", "東京", "y,f", "æ"] {
            assert!(Typed::parse(text).is_some(), "{text}");
        }
    }

    #[test]
    fn text_without_commas_has_three_tiers() {
        let tiers = tiers("São P");
        let scores: Vec<_> = tiers.iter().map(|tier| tier["constant_score"]["boost"].as_u64().unwrap()).collect();
        assert_eq!(scores, [3, 2, 1]);
        let filter = |tier: usize| tiers[tier]["constant_score"]["filter"]["bool"]["filter"].clone();
        assert_eq!(filter(0), json!([{ "prefix": { "placeName": "sao p" } }]));
        let words = filter(2)[0]["bool"]["filter"].clone();
        assert_eq!(words[0]["bool"]["should"][0], json!({ "term": { "placeWords": "sao" } }));
        assert_eq!(words[1]["bool"]["should"][0], json!({ "term": { "placeWordPrefixes": "p" } }));
        assert_eq!(words[1]["bool"]["should"][1], json!({ "prefix": { "placeAncestorWords": "p" } }));
        assert_eq!(words[2]["bool"]["should"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn parts_after_a_comma_are_prefixes_of_ancestors_names() {
        let tiers = tiers("Paris, T");
        assert_eq!(tiers.len(), 2);
        let filter = json!([{ "prefix": { "placeAncestors": "t" } }, { "prefix": { "placeName": "paris" } }]);
        assert_eq!(tiers[0]["constant_score"]["filter"]["bool"]["filter"], filter);
    }

    #[test]
    fn short_beginnings_are_terms() {
        let filter = |text: &str| tiers(text)[1]["constant_score"]["filter"]["bool"]["filter"][0].clone();
        assert_eq!(filter("東京"), json!({ "term": { "placeAlternativePrefixes": "東京" } }));
        assert_eq!(filter("Mosk"), json!({ "term": { "placeAlternativePrefixes": "mosk" } }));
        assert_eq!(filter("Moskv"), json!({ "prefix": { "placeAlternatives": "moskv" } }));
    }
}
