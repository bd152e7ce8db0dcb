//! The words of a query, as clauses on the fields of a document.

use serde_json::{Value, json};
use web::Fault;
use web::search::{Highlights, Marks, typos, words};

/// The characters of the fragments of a long text that are returned with a hit.
const FRAGMENT: u32 = 160;

/// The words of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

/// A field of texts, and its points for each word of a query.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    /// For the word itself.
    pub word: u32,
    /// For a word that starts with it.
    pub prefix: u32,
    /// For a word that differs by typos.
    pub typo: u32,
    /// Whether the text is long, so that only fragments of it are returned with a hit.
    pub is_long: bool,
}

impl Words {
    /// Splits the parameter `q` at spaces.
    pub fn parse(q: &str) -> Result<Self, Fault> {
        words(q).map(Self).map_err(|detail| Fault::parameter("q", detail))
    }

    /// Returns a clause for each word: the best of what the word is in the fields counts. `others` are more clauses for a
    /// word.
    pub fn clauses(&self, fields: &[Field], others: impl Fn(&str) -> Vec<Value>) -> Vec<Value> {
        let clause = |word: &String| {
            let of_fields = fields.iter().flat_map(|field| {
                [
                    scored(field.word, json!({ "match": { field.name: { "query": word, "operator": "and" } } })),
                    scored(field.prefix, prefix(field.name, word)),
                    scored(field.typo, typos(field.name, word, "and")),
                ]
            });
            json!({ "dis_max": { "queries": of_fields.chain(others(word)).collect::<Vec<_>>() } })
        };
        self.0.iter().map(clause).collect()
    }

    /// Returns the `highlight` of a request, which marks the words in the fields.
    pub fn highlight(&self, fields: &[Field], marks: &Marks) -> Value {
        let clauses = |field: &Field| {
            let prefixes = self.0.iter().map(|word| prefix(field.name, word));
            prefixes.chain([typos(field.name, &self.0.join(" "), "or")]).collect::<Vec<_>>()
        };
        let should: Vec<Value> = fields.iter().flat_map(clauses).collect();
        marks.request(highlighted(fields), json!({ "bool": { "should": should } }))
    }

    /// Returns the words with single spaces.
    pub fn joined(&self) -> String {
        self.0.join(" ")
    }
}

/// Removes the fragments that are not in the present text of their field. They are of an earlier text, which was changed
/// since its document was written.
pub fn keep_present<'a>(highlights: &mut Highlights, text_of: impl Fn(&str) -> Option<&'a str>) {
    for (field, fragments) in highlights.iter_mut() {
        let present = text_of(field).unwrap_or_default();
        fragments.retain(|pieces| {
            let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            present.contains(&text)
        });
    }
    highlights.retain(|_, fragments| !fragments.is_empty());
}

/// Returns a clause with constant points.
pub fn scored(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}

/// Returns the fields of the `highlight` of a request.
pub fn highlighted(fields: &[Field]) -> Value {
    let form = |field: &Field| match field.is_long {
        true => json!({ "fragment_size": FRAGMENT, "number_of_fragments": 3 }),
        false => json!({ "number_of_fragments": 0 }),
    };
    fields.iter().map(|field| (field.name.to_owned(), form(field))).collect()
}

fn prefix(field: &str, word: &str) -> Value {
    json!({ "match_bool_prefix": { field: { "query": word, "operator": "and" } } })
}

#[cfg(test)]
mod tests {
    use web::search::Piece;

    use super::*;

    #[test]
    fn fragments_of_an_earlier_text_are_removed() {
        let piece = |text: &str| vec![Piece { text: text.to_owned(), hit: true }];
        let mut highlights = Highlights::from([
            ("name".to_owned(), vec![piece("Moss")]),
            ("bio".to_owned(), vec![piece("secret"), piece("fern")]),
            ("other".to_owned(), vec![piece("moss")]),
        ]);
        keep_present(&mut highlights, |field| match field {
            "name" => Some("Fern"),
            "bio" => Some("likes fern"),
            _ => None,
        });
        assert_eq!(highlights, Highlights::from([("bio".to_owned(), vec![piece("fern")])]));
    }
}
