//! The words of a query: in which tiers they find an item, and what is highlighted.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::documents::name::{BEGIN, END};
use crate::view::View;

/// What the best tier in which an item is found is worth. Constant, so that an item keeps its score, and its place among
/// pages, while others are written.
const WHOLE_NAME: u32 = 90;
const NAME_BEGINS: u32 = 80;
const WHOLE_TERM: u32 = 70;
const IN_ORDER: u32 = 60;
const AS_TYPED: u32 = 50;
const ONE_TYPO: u32 = 40;
const TWO_TYPOS: u32 = 30;
const ANYWHERE: u32 = 20;

/// What parts words beside spaces. Points and apostrophes do not: the analyzers know how names write them.
const SEPARATORS: &[char] =
    &['-', '\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', ',', ';', ':', '/', '(', ')', '[', ']', '&', '"', '!', '?'];

/// What the analyzers leave out of words, where a query has no analyzer.
const INNER: &[char] = &['\'', '\u{2019}', '.', '\u{2bb}', '\u{2bc}'];

/// From how many letters on a whole word may have a typo, or two.
const ONE_TYPO_FROM: &str = "AUTO:3,99";
const TWO_TYPOS_FROM: &str = "AUTO:3,6";

/// The same of a word that is still being typed: a beginning fits more names.
const ONE_TYPO_IN_BEGINNING_FROM: &str = "AUTO:4,99";
const TWO_TYPOS_IN_BEGINNING_FROM: &str = "AUTO:4,8";

/// Text with one to 20 words.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

/// How far an item may be from what was typed. The next one is tried where the one before finds nothing, and a cursor
/// carries the one of its page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closeness {
    /// Every word occurs as it is, the last one at least as a beginning.
    #[default]
    AsTyped,
    /// Every word occurs, if with typos.
    WithTypos,
    /// More than half of the words occur.
    MostWords,
}

impl Words {
    /// Pieces between spaces and punctuation, without those that have neither letter nor digit.
    pub fn parse(text: &str) -> Result<Self, String> {
        web::search::words(&text.replace(SEPARATORS, " ")).map(Self)
    }

    /// Items that have the words, with the points of their best tier.
    pub fn clause(&self, view: View, closeness: Closeness) -> Value {
        let anywhere = match closeness {
            Closeness::AsTyped => self.every(|word| as_typed_anywhere(word, view)),
            Closeness::WithTypos => self.every(|word| any([as_typed_anywhere(word, view), typo_anywhere(word, view)])),
            Closeness::MostWords => return self.most(view),
        };
        let mut tiers = self.as_typed();
        if closeness == Closeness::WithTypos {
            tiers.extend(self.with_typos());
        }
        tiers.push(worth(ANYWHERE, anywhere));
        best(tiers)
    }

    /// Items whose names or search terms have the words, if with typos: what suggestions are made of.
    pub fn clause_for_names(&self) -> Value {
        best(self.as_typed().into_iter().chain(self.with_typos()))
    }

    /// Items whose names or search terms have the words as they are.
    pub fn named(&self) -> Value {
        self.every(as_typed)
    }

    /// How many words there must be for more than half of them to be fewer than all.
    pub fn can_be_relaxed(&self) -> bool {
        self.0.len() > 2
    }

    /// What is marked in the fields that are highlighted. It asks `words`, which has no index of beginnings, so that
    /// a beginning marks its whole word.
    pub fn highlighted(&self, closeness: Closeness) -> Value {
        let last = self.0.last().map(String::as_str).unwrap_or_default();
        let typed = match closeness {
            Closeness::AsTyped => json!({ "match": { "words": { "query": self.text(), "operator": "or" } } }),
            Closeness::WithTypos | Closeness::MostWords => typos("words", &self.text(), TWO_TYPOS_FROM, "or"),
        };
        any([typed, json!({ "match_bool_prefix": { "words": { "query": last, "operator": "and" } } })])
    }

    /// The tiers of names and search terms that have the words as they are.
    fn as_typed(&self) -> Vec<Value> {
        let text = self.text();
        let phrase = |field: &str| json!({ "match_phrase": { field: format!("{BEGIN} {text} {END}") } });
        vec![
            worth(WHOLE_NAME, phrase("wholeName")),
            worth(NAME_BEGINS, json!({ "match_phrase_prefix": { "wholeName": format!("{BEGIN} {text}") } })),
            worth(WHOLE_TERM, phrase("wholeTerms")),
            worth(IN_ORDER, self.in_order()),
            worth(AS_TYPED, self.named()),
        ]
    }

    fn with_typos(&self) -> [Value; 2] {
        [
            worth(ONE_TYPO, self.every(|word| typo(word, ONE_TYPO_FROM, ONE_TYPO_IN_BEGINNING_FROM))),
            worth(TWO_TYPOS, self.every(|word| typo(word, TWO_TYPOS_FROM, TWO_TYPOS_IN_BEGINNING_FROM))),
        ]
    }

    /// Names that have all words in their order, others between them.
    fn in_order(&self) -> Value {
        let intervals = self.each().map(|word| {
            if word.may_go_on {
                json!({ "prefix": { "prefix": word.text.replace(INNER, "") } })
            } else {
                json!({ "match": { "query": word.text } })
            }
        });
        let intervals: Vec<Value> = intervals.collect();
        json!({ "intervals": { "name": { "all_of": { "ordered": true, "intervals": intervals } } } })
    }

    /// The more words an item has, and the closer, the more points.
    fn most(&self, view: View) -> Value {
        let words = self.each().map(|word| {
            best([
                worth(3, as_typed(word)),
                worth(2, any([typo(word, TWO_TYPOS_FROM, TWO_TYPOS_IN_BEGINNING_FROM), as_typed_anywhere(word, view)])),
                worth(1, typo_anywhere(word, view)),
            ])
        });
        let words: Vec<Value> = words.collect();
        json!({ "bool": { "should": words, "minimum_should_match": self.0.len() / 2 + 1 } })
    }

    fn text(&self) -> String {
        self.0.join(" ")
    }

    fn every(&self, clause: impl Fn(Word<'_>) -> Value) -> Value {
        let clauses: Vec<Value> = self.each().map(clause).collect();
        json!({ "bool": { "filter": clauses } })
    }

    fn each(&self) -> impl Iterator<Item = Word<'_>> {
        let last = self.0.len() - 1;
        self.0.iter().enumerate().map(move |(index, text)| Word { text, may_go_on: index == last })
    }
}

impl Closeness {
    /// What is tried after this one, for these words.
    pub fn next(self, words: &Words) -> Option<Self> {
        match self {
            Self::AsTyped => Some(Self::WithTypos),
            Self::WithTypos => words.can_be_relaxed().then_some(Self::MostWords),
            Self::MostWords => None,
        }
    }
}

/// A word of a query.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    /// Whether it is still being typed, as the last word may be.
    may_go_on: bool,
}

/// The word in a name or in a search term.
fn as_typed(word: Word<'_>) -> Value {
    any(["name", "searchTerms"].map(|field| {
        let field = if word.may_go_on { format!("{field}.beginnings") } else { field.to_owned() };
        has(&field, word.text)
    }))
}

/// The same with typos.
fn typo(word: Word<'_>, from: &str, in_beginning_from: &str) -> Value {
    let fields = ["name", "searchTerms"];
    let whole = fields.map(|field| typos(field, word.text, from, "and"));
    let beginnings = fields.map(|field| typos(&format!("{field}.beginnings"), word.text, in_beginning_from, "and"));
    any(whole.into_iter().chain(beginnings.into_iter().filter(|_| word.may_go_on)))
}

/// The word in any field that this view may look into.
fn as_typed_anywhere(word: Word<'_>, view: View) -> Value {
    let query = if word.may_go_on { "match_bool_prefix" } else { "match" };
    let texts = texts(view).iter().map(|field| json!({ query: { *field: { "query": word.text, "operator": "and" } } }));
    any(texts.chain([as_typed(word)]))
}

/// The same with one typo: with two, long texts fit too much.
fn typo_anywhere(word: Word<'_>, view: View) -> Value {
    let texts = texts(view).iter().map(|field| typos(field, word.text, ONE_TYPO_FROM, "and"));
    any(texts.chain([typo(word, TWO_TYPOS_FROM, TWO_TYPOS_IN_BEGINNING_FROM)]))
}

const fn texts(view: View) -> &'static [&'static str] {
    match view {
        View::Visitor => &["words"],
        View::Administrator => &["words", "adminNotes"],
    }
}

/// What the analyzer cuts in two must occur whole.
fn has(field: &str, text: &str) -> Value {
    json!({ "match": { field: { "query": text, "operator": "and" } } })
}

/// The first letter holds. Every term within the distance counts: the nearest 50, as is usual, would be others as soon
/// as somebody writes.
fn typos(field: &str, text: &str, from: &str, operator: &str) -> Value {
    json!({ "match": { field: {
        "query": text,
        "operator": operator,
        "fuzziness": from,
        "prefix_length": 1,
        "fuzzy_rewrite": "constant_score",
    } } })
}

fn any(clauses: impl IntoIterator<Item = Value>) -> Value {
    super::clauses::any(clauses)
}

/// The score of the best of these.
fn best(tiers: impl IntoIterator<Item = Value>) -> Value {
    let tiers: Vec<Value> = tiers.into_iter().collect();
    json!({ "dis_max": { "queries": tiers } })
}

fn worth(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_word_may_be_a_beginning() {
        let named = Words::parse("bedwell lak").unwrap().named();
        let fields = |word: usize| named["bool"]["filter"][word].to_string();
        assert!(!fields(0).contains("beginnings") && fields(1).contains("name.beginnings"), "{named}");
    }

    #[test]
    fn typos_are_looked_for_only_where_nothing_is_as_typed() {
        let words = Words::parse("bedwell").unwrap();
        assert!(!words.clause(View::Visitor, Closeness::AsTyped).to_string().contains("fuzziness"));
        assert!(words.clause(View::Visitor, Closeness::WithTypos).to_string().contains("fuzziness"));
        assert_eq!(Closeness::AsTyped.next(&words), Some(Closeness::WithTypos));
    }

    #[test]
    fn most_of_the_words_are_more_than_half_and_fewer_than_all() {
        let of = |text: &str| {
            let words = Words::parse(text).unwrap();
            let most = words.clause(View::Visitor, Closeness::MostWords)["bool"]["minimum_should_match"].clone();
            (Closeness::WithTypos.next(&words).is_some(), most)
        };
        assert_eq!(of("a b"), (false, json!(2)));
        assert_eq!(of("a b c"), (true, json!(2)));
        assert_eq!(of("a b c d"), (true, json!(3)));
    }

    #[test]
    fn punctuation_parts_words_and_apostrophes_do_not() {
        let words = |text: &str| Words::parse(text).unwrap().0;
        assert_eq!(words("Parc d'Oka/Île-Perrot"), ["Parc", "d'Oka", "Île", "Perrot"]);
        assert_eq!(words("Peak, Élan!"), ["Peak", "Élan"]);
    }

    #[test]
    fn only_an_administrator_s_words_reach_the_notes() {
        let words = Words::parse("den of bears").unwrap();
        for closeness in [Closeness::AsTyped, Closeness::WithTypos, Closeness::MostWords] {
            assert!(words.clause(View::Administrator, closeness).to_string().contains("adminNotes"));
            assert!(!words.clause(View::Visitor, closeness).to_string().contains("adminNotes"));
        }
        assert!(!words.clause_for_names().to_string().contains("adminNotes"));
    }
}
