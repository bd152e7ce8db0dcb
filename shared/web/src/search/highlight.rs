//! Highlights in pieces, never as markup: a client decides how a hit looks, and stored text cannot pass for one.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::Highlights;

/// A piece of a fragment: text that was looked for, or text between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Piece {
    pub text: String,
    pub hit: bool,
}

/// What stands round hits in OpenSearch's answer to one request. Random, so that no stored text can hold it.
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

    /// What is asked for: these fields, with what this query finds in any of them marked.
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

    /// The fragments of a hit, each in pieces.
    pub fn read(&self, marked: &BTreeMap<String, Vec<String>>) -> Highlights {
        let pieces = |fragments: &[String]| fragments.iter().map(|fragment| self.pieces(fragment)).collect();
        marked.iter().map(|(field, fragments)| (field.clone(), pieces(fragments))).collect()
    }

    /// A marked fragment in pieces; joined they are the text that was stored.
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
    fn pieces_joined_are_the_text() {
        let marks = Marks { before: "«".to_owned(), after: "»".to_owned() };
        let pieces = marks.pieces("<img onerror=1> «fern» and «moss»");
        let hits: Vec<_> = pieces.iter().filter(|piece| piece.hit).map(|piece| piece.text.as_str()).collect();
        assert_eq!(hits, ["fern", "moss"]);
        let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(joined, "<img onerror=1> fern and moss");
    }

    #[test]
    fn marks_differ_from_request_to_request() {
        assert_ne!(Marks::random().before, Marks::random().before);
    }
}
