//! The words of a query: the tiers of matches with their scores, and the highlighted terms.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::documents::name::{BEGIN, END};
use crate::view::View;

/// The score of each tier. An item has the score of its best tier. Scores are constant, so that an item keeps its place
/// among pages while other items are written.
const WHOLE_NAME: u32 = 90;
const NAME_PREFIX: u32 = 80;
const WHOLE_TERM: u32 = 70;
const IN_ORDER: u32 = 60;
const AS_TYPED: u32 = 50;
const ONE_TYPO: u32 = 40;
const TWO_TYPOS: u32 = 30;
const ANYWHERE: u32 = 20;

/// Separators of words besides spaces. Points and apostrophes are none: the analyzers handle them in names.
const SEPARATORS: &[char] =
    &['-', '\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', ',', ';', ':', '/', '(', ')', '[', ']', '&', '"', '!', '?'];

/// Characters that the analyzers remove from words, for queries without an analyzer.
const INNER: &[char] = &['\'', '\u{2019}', '.', '\u{2bb}', '\u{2bc}'];

/// The lengths in letters from which a whole word may have one typo, or two.
const ONE_TYPO_FROM: &str = "AUTO:3,99";
const TWO_TYPOS_FROM: &str = "AUTO:3,6";

/// The lengths in letters from which a prefix may have one typo, or two: a prefix matches more names than a word.
const ONE_TYPO_IN_PREFIX_FROM: &str = "AUTO:4,99";
const TWO_TYPOS_IN_PREFIX_FROM: &str = "AUTO:4,8";

/// Text with one to 20 words.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

/// The tolerance with which items match the words. If a search finds nothing, the next one is tried. Cursors contain
/// the closeness of their page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closeness {
    /// Every word occurs as typed, the last one at least as a prefix.
    #[default]
    AsTyped,
    /// Every word occurs, perhaps with typos.
    WithTypos,
    /// More than half of the words occur.
    MostWords,
}

impl Words {
    /// Splits a text at spaces and punctuation, without pieces that have neither letter nor digit.
    pub fn parse(text: &str) -> Result<Self, String> {
        web::search::words(&text.replace(SEPARATORS, " ")).map(Self)
    }

    /// Items that have the words, with the score of their best tier.
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
        tiers.push(tier(ANYWHERE, anywhere));
        best(tiers)
    }

    /// Items whose names or search terms have the words, perhaps with typos, for suggestions.
    pub fn clause_for_names(&self) -> Value {
        best(self.as_typed().into_iter().chain(self.with_typos()))
    }

    /// Items whose names or search terms have the words as typed.
    pub fn named(&self) -> Value {
        self.every(as_typed)
    }

    /// Whether more than half of the words can be fewer than all.
    pub fn can_be_relaxed(&self) -> bool {
        self.0.len() > 2
    }

    /// The query of the highlighted terms. It searches `words`, which has no index of prefixes, so that a prefix
    /// highlights its whole word.
    pub fn highlighted(&self, closeness: Closeness) -> Value {
        let last = self.0.last().map(String::as_str).unwrap_or_default();
        let typed = match closeness {
            Closeness::AsTyped => json!({ "match": { "words": { "query": self.text(), "operator": "or" } } }),
            Closeness::WithTypos | Closeness::MostWords => typos("words", &self.text(), TWO_TYPOS_FROM, "or"),
        };
        any([typed, json!({ "match_bool_prefix": { "words": { "query": last, "operator": "and" } } })])
    }

    /// The tiers of names and search terms that have the words as typed.
    fn as_typed(&self) -> Vec<Value> {
        let text = self.text();
        let phrase = |field: &str| json!({ "match_phrase": { field: format!("{BEGIN} {text} {END}") } });
        vec![
            tier(WHOLE_NAME, phrase("wholeName")),
            tier(NAME_PREFIX, json!({ "match_phrase_prefix": { "wholeName": format!("{BEGIN} {text}") } })),
            tier(WHOLE_TERM, phrase("wholeTerms")),
            tier(IN_ORDER, self.in_order()),
            tier(AS_TYPED, self.named()),
        ]
    }

    /// The tiers of names and search terms that have the words with typos.
    fn with_typos(&self) -> [Value; 2] {
        [
            tier(ONE_TYPO, self.every(|word| typo(word, ONE_TYPO_FROM, ONE_TYPO_IN_PREFIX_FROM))),
            tier(TWO_TYPOS, self.every(|word| typo(word, TWO_TYPOS_FROM, TWO_TYPOS_IN_PREFIX_FROM))),
        ]
    }

    /// Names that have all words in their order, perhaps with other words between them.
    fn in_order(&self) -> Value {
        let intervals = self.each().map(|word| {
            if word.is_prefix {
                json!({ "prefix": { "prefix": word.text.replace(INNER, "") } })
            } else {
                json!({ "match": { "query": word.text } })
            }
        });
        let intervals: Vec<Value> = intervals.collect();
        json!({ "intervals": { "name": { "all_of": { "ordered": true, "intervals": intervals } } } })
    }

    /// Items that have more than half of the words. More and closer words give a higher score.
    fn most(&self, view: View) -> Value {
        let words = self.each().map(|word| {
            best([
                tier(3, as_typed(word)),
                tier(2, any([typo(word, TWO_TYPOS_FROM, TWO_TYPOS_IN_PREFIX_FROM), as_typed_anywhere(word, view)])),
                tier(1, typo_anywhere(word, view)),
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
        self.0.iter().enumerate().map(move |(index, text)| Word { text, is_prefix: index == last })
    }
}

impl Closeness {
    /// The closeness that is tried next for these words.
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
    /// Whether it may be a prefix: the client may still be typing the last word.
    is_prefix: bool,
}

/// Items with the word in the name or a search term.
fn as_typed(word: Word<'_>) -> Value {
    any(["name", "searchTerms"].map(|field| {
        let field = if word.is_prefix { format!("{field}.beginnings") } else { field.to_owned() };
        has(&field, word.text)
    }))
}

/// Items with the word in the name or a search term, with typos.
fn typo(word: Word<'_>, from: &str, in_prefix_from: &str) -> Value {
    let fields = ["name", "searchTerms"];
    let whole = fields.map(|field| typos(field, word.text, from, "and"));
    let prefixes = fields.map(|field| typos(&format!("{field}.beginnings"), word.text, in_prefix_from, "and"));
    any(whole.into_iter().chain(prefixes.into_iter().filter(|_| word.is_prefix)))
}

/// Items with the word in any field that this view may search.
fn as_typed_anywhere(word: Word<'_>, view: View) -> Value {
    let query = if word.is_prefix { "match_bool_prefix" } else { "match" };
    let texts = texts(view).iter().map(|field| json!({ query: { *field: { "query": word.text, "operator": "and" } } }));
    any(texts.chain([as_typed(word)]))
}

/// Items with the word in any field that this view may search, with one typo. With two typos, long texts would match
/// too many words.
fn typo_anywhere(word: Word<'_>, view: View) -> Value {
    let texts = texts(view).iter().map(|field| typos(field, word.text, ONE_TYPO_FROM, "and"));
    any(texts.chain([typo(word, TWO_TYPOS_FROM, TWO_TYPOS_IN_PREFIX_FROM)]))
}

const fn texts(view: View) -> &'static [&'static str] {
    match view {
        View::Visitor => &["words"],
        View::Administrator => &["words", "adminNotes"],
    }
}

/// Items whose field has the text. All parts of a word that the analyzer splits must occur.
fn has(field: &str, text: &str) -> Value {
    json!({ "match": { field: { "query": text, "operator": "and" } } })
}

/// Items whose field has the text with typos. The first letter must match. All terms within the distance count: the
/// default of the nearest 50 changes as items are written.
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

/// Items that match at least one tier, with the score of their best.
fn best(tiers: impl IntoIterator<Item = Value>) -> Value {
    let tiers: Vec<Value> = tiers.into_iter().collect();
    json!({ "dis_max": { "queries": tiers } })
}

/// Items that pass the filter, with this score.
fn tier(score: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": score } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_word_may_be_a_prefix() {
        let named = Words::parse("bedwell lak").unwrap().named();
        let fields = |word: usize| named["bool"]["filter"][word].to_string();
        assert!(!fields(0).contains("beginnings") && fields(1).contains("name.beginnings"), "{named}");
    }

    #[test]
    fn typos_are_searched_only_after_words_as_typed() {
        let words = Words::parse("bedwell").unwrap();
        assert!(!words.clause(View::Visitor, Closeness::AsTyped).to_string().contains("fuzziness"));
        assert!(words.clause(View::Visitor, Closeness::WithTypos).to_string().contains("fuzziness"));
        assert_eq!(Closeness::AsTyped.next(&words), Some(Closeness::WithTypos));
    }

    #[test]
    fn most_words_are_more_than_half_and_fewer_than_all() {
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
    fn punctuation_separates_words_and_apostrophes_do_not() {
        let words = |text: &str| Words::parse(text).unwrap().0;
        assert_eq!(words("Parc d'Oka/Île-Perrot"), ["Parc", "d'Oka", "Île", "Perrot"]);
        assert_eq!(words("Peak, Élan!"), ["Peak", "Élan"]);
    }

    #[test]
    fn only_administrators_search_the_notes() {
        let words = Words::parse("den of bears").unwrap();
        for closeness in [Closeness::AsTyped, Closeness::WithTypos, Closeness::MostWords] {
            assert!(words.clause(View::Administrator, closeness).to_string().contains("adminNotes"));
            assert!(!words.clause(View::Visitor, closeness).to_string().contains("adminNotes"));
        }
        assert!(!words.clause_for_names().to_string().contains("adminNotes"));
    }
}
