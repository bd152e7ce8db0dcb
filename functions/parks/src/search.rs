//! Discovery: what people ask, the search that answers it, and the answer.

mod answer;
mod area;
mod extent;
mod facets;
mod features;
mod form;
mod highlight;
mod hits;
mod open;
mod order;
mod question;
mod request;
mod suggest;
mod words;

pub use answer::{Found, FoundItem, Total};
pub use area::{Area, POSITIONS};
pub use facets::Count;
pub use features::{FoundFeature, FoundFeatures, Link};
pub use form::{Form, ShapeForm, SuggestForm};
pub use highlight::{Marks, Piece};
pub use hits::SearchResponse;
pub use open::ACTIVITIES;
pub use question::{Question, Source, for_administrators};
pub use request::{SearchRequest, suggestions};
pub use suggest::{NAMES, Suggestion, Suggestions};
pub use words::Words;
