//! Reads of places by id and by the words of a text.

use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt, stream};
use table::{Access, AccessPattern, Error, Key, Stored};

use super::item::Place;
use super::place_text::PlaceText;
use super::resolution::{self, Candidate, PlacesByWord};
use super::words::WordItem;
use crate::keys::{PLACE_PREFIX, PlaceWordKey};
use crate::names::PlaceId;
use crate::schema::ARCHIVE;

/// The concurrent reads of places.
const CONCURRENCY: usize = 16;

/// The most replacements that are followed from one place to the next.
const MAX_REPLACEMENTS: usize = 8;

/// Reads a place by its id, eventually consistent.
pub async fn find(
    access: &Access,
    pattern: &'static AccessPattern,
    id: PlaceId,
) -> Result<Option<(Stored, Place)>, Error> {
    read(access, pattern, id, false).await
}

/// Reads a place by its id, strongly consistent.
pub async fn find_consistent(
    access: &Access,
    pattern: &'static AccessPattern,
    id: PlaceId,
) -> Result<Option<(Stored, Place)>, Error> {
    read(access, pattern, id, true).await
}

/// Reads a place by its id, or the one that has replaced it.
pub async fn present(
    access: &Access,
    pattern: &'static AccessPattern,
    id: PlaceId,
) -> Result<Option<(Stored, Place)>, Error> {
    let mut wanted = id;
    for _ in 0..=MAX_REPLACEMENTS {
        match find(access, pattern, wanted).await? {
            Some((_, Place { replaced_by: Some(other), .. })) => wanted = other,
            found => return Ok(found),
        }
    }
    Ok(None)
}

/// Returns the one place that a text means, and the parts of the text that it does not use. It reads the table only.
pub async fn resolved(
    access: &Access,
    pattern: &'static AccessPattern,
    text: &PlaceText,
    within: Option<PlaceId>,
) -> Result<Option<(Place, Vec<String>)>, Error> {
    let words = text.lookups();
    if words.is_empty() {
        return Ok(None);
    }
    let keys: Vec<Key> = words.iter().map(|word| PlaceWordKey { word: (*word).clone() }.into()).collect();
    let stored = access.table(pattern, &ARCHIVE).batch_get(&keys).await?;
    let mut found = PlacesByWord::new();
    for (word, stored) in words.into_iter().zip(stored) {
        let places = stored.map(|stored| stored.read::<WordItem>()).transpose()?.map(|item| item.places);
        found.insert(word.clone(), places.unwrap_or_else(BTreeSet::new));
    }
    let wanted = stream::iter(resolution::candidates(&found)).map(|id| find(access, pattern, id));
    let places: Vec<Option<(Stored, Place)>> = wanted.buffered(CONCURRENCY).try_collect().await?;
    let mut places: Vec<Place> = places.into_iter().flatten().map(|(_, place)| place).collect();
    let candidates: Vec<Candidate> = places.iter().filter_map(Place::candidate).collect();
    let Some(meaning) = resolution::resolve(text, &found, &candidates, within.as_ref()) else { return Ok(None) };
    let chosen = places.iter().position(|place| place.id == meaning.place.id);
    Ok(chosen.map(|index| (places.swap_remove(index), meaning.unused)))
}

/// Its sort key follows from its name, so this is a query.
async fn read(
    access: &Access,
    pattern: &'static AccessPattern,
    id: PlaceId,
    consistent: bool,
) -> Result<Option<(Stored, Place)>, Error> {
    let query = access.table(pattern, &ARCHIVE).query(id.to_string()).begins_with(PLACE_PREFIX);
    let query = if consistent { query.consistent() } else { query };
    let Some(stored) = query.first().await? else { return Ok(None) };
    let place = stored.read()?;
    Ok(Some((stored, place)))
}
