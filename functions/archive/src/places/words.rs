//! The items of words: the places whose whole name or alternative name is a word.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::{Action, Changes, Error, Stored};

use crate::keys::PlaceWordKey;
use crate::names::{PlaceId, PlaceWord};
use crate::schema::ARCHIVE;

/// The most places of a word. The heaviest are kept.
pub const MAX_PLACES: usize = 300;

/// The places with a word.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WordItem {
    #[serde(serialize_with = "serde_dynamo::string_set::serialize")]
    pub places: BTreeSet<PlaceId>,
}

impl WordItem {
    /// Returns the action that turns the stored item into this one, unless they are equal. A set cannot be empty, so a
    /// word without places has no item.
    pub fn replacing(&self, word: &PlaceWord, stored: Option<&Stored>) -> Result<Option<Action>, Error> {
        let key = PlaceWordKey { word: word.clone() };
        let Some(stored) = stored else {
            return if self.places.is_empty() { Ok(None) } else { Action::create(&ARCHIVE, key, self).map(Some) };
        };
        let before: Self = stored.read()?;
        if before == *self {
            return Ok(None);
        }
        let action = if self.places.is_empty() {
            Action::delete(&ARCHIVE, key)
        } else {
            Action::update(&ARCHIVE, key, Changes::between(&before, self)?)
        };
        Ok(Some(action.if_unchanged(stored)))
    }
}
