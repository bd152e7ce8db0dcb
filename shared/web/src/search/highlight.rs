//! Highlights as pieces instead of markup, so that the client styles a hit and stored text cannot imitate one.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::Highlights;

/// A piece of a fragment: a matched text or the text between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Piece {
    pub text: String,
    pub hit: bool,
}

/// The marks around hits in OpenSearch's response to one request. They are random, so that no stored text contains them.
#[derive(Clone, Debug)]
pub struct Marks {
    before: String,
    after: String,
}

impl Marks {
    pub fn random() -> Self {
        let id = Uuid::now_v7().simple();
        Self { before: format!("<{id}>"), after: format!("</{id}>") }
    }

    /// Returns the `highlight` of a search request: these fields, with the matches of this query marked in all of them.
    pub fn request(&self, fields: Value, query: Value) -> Value {
        json!({
            "type": "unified",
            "pre_tags": [self.before],
            "post_tags": [self.after],
            "require_field_match": false,
            "highlight_query": query,
            "fields": fields,
        })
    }

    /// Splits the fragments of a hit into pieces.
    pub fn read(&self, marked: &BTreeMap<String, Vec<String>>) -> Highlights {
        let pieces = |fragments: &[String]| fragments.iter().map(|fragment| self.pieces(fragment)).collect();
        marked.iter().map(|(field, fragments)| (field.clone(), pieces(fragments))).collect()
    }

    /// Splits a marked fragment into pieces, which concatenate to the stored text.
    pub fn pieces(&self, fragment: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut piece = |text: &str, hit: bool| {
            if !text.is_empty() {
                pieces.push(Piece { text: text.to_owned(), hit });
            }
        };
        let mut rest = fragment;
        while let Some((between, marked)) = rest.split_once(&self.before) {
            let (hit, after) = marked.split_once(&self.after).unwrap_or((marked, ""));
            piece(between, false);
            piece(hit, true);
            rest = after;
        }
        piece(rest, false);
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_concatenate_to_the_stored_text() {
        let marks = Marks { before: "«".to_owned(), after: "»".to_owned() };
        let pieces = marks.pieces("<img onerror=1> «fern» and «moss»");
        let hits: Vec<_> = pieces.iter().filter(|piece| piece.hit).map(|piece| piece.text.as_str()).collect();
        assert_eq!(hits, ["fern", "moss"]);
        let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(joined, "<img onerror=1> fern and moss");
    }

    #[test]
    fn marks_of_two_requests_differ() {
        assert_ne!(Marks::random().before, Marks::random().before);
    }
}
