//! Discovery: what people ask, the search that answers it, and the answer.

mod answer;
mod area;
mod boundary;
mod circle;
mod extent;
mod facets;
mod features;
mod find;
mod form;
mod highlight;
mod hits;
mod open;
mod order;
mod question;
mod request;
mod suggest;
mod words;

use table::access::{AccessPattern, Call};

pub use answer::Found;
pub use features::FoundFeatures;
pub use find::{NARROW_SEARCH, search, search_by_shape};
pub use form::{SearchForm, ShapeForm, SuggestForm};
pub use suggest::{Suggestions, suggest};

/// The alias behind which the system's documents are.
const ALIAS: &str = "parks";

/// One search, or two where activities are joined to their open products.
pub const SEARCH: AccessPattern = AccessPattern { name: "search", calls: &[Call::Search { alias: ALIAS }] };
