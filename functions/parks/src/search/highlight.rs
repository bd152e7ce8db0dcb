//! Which fields are highlighted, and for whom.

use serde_json::{Value, json};
use web::search::Marks;

use super::words::{Closeness, Words};
use crate::view::View;

/// Short fields whole, descriptions in up to three fragments.
pub fn request(marks: &Marks, words: &Words, view: View, closeness: Closeness) -> Value {
    let whole = json!({ "number_of_fragments": 0 });
    let some = json!({ "fragment_size": 150, "number_of_fragments": 3 });
    let mut fields = json!({ "name": whole, "searchTerms": whole, "address": whole, "description": some });
    if let (View::Administrator, Some(fields)) = (view, fields.as_object_mut()) {
        fields.insert("adminNotes".to_owned(), some);
    }
    marks.request(fields, words.highlighted(closeness))
}
