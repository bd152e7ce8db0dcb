//! The words of a query: where each may occur, what each place is worth, and what is highlighted.

use serde_json::{Value, json};

use crate::view::View;

/// What each place of a word is worth: as it is or, if last, as a beginning; with a typo one less. Constant, so that
/// an item keeps its score, and its place among pages, while others are written.
const NAME: u32 = 6;
const SEARCH_TERMS: u32 = 4;
const ANYWHERE: u32 = 2;

/// What comes on top: at least 1, since a name that holds the phrase holds every word.
const PHRASE_BEGINS: u32 = 10;
const PHRASE: u32 = 1;
const WHOLE_NAME: u32 = 10;

/// Text with one to 20 words.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

impl Words {
    /// Pieces between spaces, without those that have neither letter nor digit.
    pub fn parse(text: &str) -> Result<Self, String> {
        web::search::words(text).map(Self)
    }

    /// Every word occurs, and the better the place, the higher the score: the whole name, the phrase in the name, its
    /// words there, in the search terms, elsewhere.
    pub fn clause(&self, view: View) -> Value {
        let text = self.text();
        json!({ "bool": {
            "must": self.each(|word, last| anywhere(word, last, view)),
            "should": [
                worth(PHRASE_BEGINS, json!({ "match_phrase_prefix": { "name": text } })),
                worth(PHRASE, json!({ "match_phrase": { "name": text } })),
                worth(WHOLE_NAME, json!({ "term": { "name.sort": text } })),
            ],
        } })
    }

    /// Every word occurs in the name or the search terms: what suggestions are made of.
    pub fn clause_for_names(&self) -> Value {
        let text = self.text();
        json!({ "bool": {
            "must": self.each(|word, last| best([in_field("name", NAME, word, last), in_field("searchTerms", SEARCH_TERMS, word, last)])),
            "should": [worth(PHRASE_BEGINS, json!({ "match_phrase_prefix": { "name": text } }))],
        } })
    }

    /// What is marked in the fields that are highlighted. It asks `words`, which has no index of beginnings, so that
    /// a beginning marks its whole word.
    pub fn highlighted(&self) -> Value {
        let last = self.0.last().map(String::as_str).unwrap_or_default();
        json!({ "bool": { "should": [
            typos("words", &self.text(), "or"),
            { "match_bool_prefix": { "words": { "query": last, "operator": "and" } } },
        ] } })
    }

    fn text(&self) -> String {
        self.0.join(" ")
    }

    fn each(&self, clause: impl Fn(&str, bool) -> Value) -> Vec<Value> {
        let last = self.0.len() - 1;
        self.0.iter().enumerate().map(|(index, word)| clause(word, index == last)).collect()
    }
}

/// A word in any field that this view may look into.
fn anywhere(word: &str, last: bool, view: View) -> Value {
    let fields: &[(&str, u32)] = match view {
        View::Visitor => &[("name", NAME), ("searchTerms", SEARCH_TERMS), ("words", ANYWHERE)],
        View::Administrator => {
            &[("name", NAME), ("searchTerms", SEARCH_TERMS), ("words", ANYWHERE), ("adminNotes", ANYWHERE)]
        }
    };
    best(fields.iter().map(|(field, points)| in_field(field, *points, word, last)))
}

/// The score of the best place.
fn best(places: impl IntoIterator<Item = [Value; 2]>) -> Value {
    let queries: Vec<Value> = places.into_iter().flatten().collect();
    json!({ "dis_max": { "queries": queries } })
}

/// A word in one field, as it is and with typos. What the analyzer cuts in two must occur whole.
fn in_field(field: &str, points: u32, word: &str, last: bool) -> [Value; 2] {
    let exact = if last { "match_bool_prefix" } else { "match" };
    [
        worth(points, json!({ exact: { field: { "query": word, "operator": "and" } } })),
        worth(points - 1, typos(field, word, "and")),
    ]
}

/// One typo from three letters, two from six; the first letter holds. Every term within that distance counts: the
/// nearest 50, as is usual, would be others as soon as somebody writes.
fn typos(field: &str, text: &str, operator: &str) -> Value {
    json!({ "match": { field: {
        "query": text,
        "operator": operator,
        "fuzziness": "AUTO:3,6",
        "prefix_length": 1,
        "fuzzy_rewrite": "constant_score",
    } } })
}

fn worth(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_word_may_be_a_beginning() {
        let clause = Words::parse("bedwell lak").unwrap().clause(View::Visitor);
        let exact =
            |word: usize| clause["bool"]["must"][word]["dis_max"]["queries"][0]["constant_score"]["filter"].clone();
        assert!(exact(0).get("match").is_some());
        assert!(exact(1).get("match_bool_prefix").is_some());
    }

    #[test]
    fn only_an_administrator_s_words_reach_the_notes() {
        let words = Words::parse("den").unwrap();
        assert!(words.clause(View::Administrator).to_string().contains("adminNotes"));
        assert!(!words.clause(View::Visitor).to_string().contains("adminNotes"));
        assert!(!words.clause_for_names().to_string().contains("adminNotes"));
    }
}
