//! The highlighted fields of a view.

use serde_json::{Value, json};
use web::search::Marks;

use super::words::{Closeness, Words};
use crate::view::View;

/// The request for highlights: short fields as a whole, descriptions and notes in up to three fragments.
pub fn request(marks: &Marks, words: &Words, view: View, closeness: Closeness) -> Value {
    let whole = json!({ "number_of_fragments": 0 });
    let fragments = json!({ "fragment_size": 150, "number_of_fragments": 3 });
    let mut fields = json!({ "name": whole, "searchTerms": whole, "address": whole, "description": fragments });
    if let (View::Administrator, Some(fields)) = (view, fields.as_object_mut()) {
        fields.insert("adminNotes".to_owned(), fragments);
    }
    marks.request(fields, words.highlighted(closeness))
}
