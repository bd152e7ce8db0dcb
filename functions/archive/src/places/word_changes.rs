//! The words that a place gets and loses, as actions of the transaction that changes the place.

use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt, stream};
use table::{Access, AccessPattern, Action, Error, Key, Stored};

use super::item::Place;
use super::lookup::find;
use super::words::{MAX_PLACES, WordItem};
use crate::keys::PlaceWordKey;
use crate::names::{PlaceId, PlaceWord};
use crate::schema::ARCHIVE;

/// The concurrent reads of places.
const CONCURRENCY: usize = 16;

/// Returns the actions by which a place gets and loses words. They fail if another request changes the words meanwhile.
pub async fn word_changes(
    access: &Access,
    pattern: &'static AccessPattern,
    place: &Place,
    [lost, gained]: [&BTreeSet<PlaceWord>; 2],
) -> Result<Vec<Action>, Error> {
    let words: Vec<&PlaceWord> = lost.symmetric_difference(gained).collect();
    let keys: Vec<Key> = words.iter().map(|word| PlaceWordKey { word: (*word).clone() }.into()).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let stored = access.table(pattern, &ARCHIVE).batch_get_consistent(&keys).await?;
    let mut actions = Vec::new();
    for (word, stored) in words.into_iter().zip(stored) {
        let mut item = stored.as_ref().map(Stored::read::<WordItem>).transpose()?.unwrap_or_default();
        if gained.contains(word) {
            item.places.insert(place.id);
        } else {
            item.places.remove(&place.id);
        }
        if item.places.len() > MAX_PLACES {
            let lightest = lightest(access, pattern, place, &item.places).await?;
            item.places.remove(&lightest);
        }
        actions.extend(item.replacing(word, stored.as_ref())?);
    }
    Ok(actions)
}

/// Returns the lightest of these places. One that no longer exists is the lightest.
async fn lightest(
    access: &Access,
    pattern: &'static AccessPattern,
    new: &Place,
    places: &BTreeSet<PlaceId>,
) -> Result<PlaceId, Error> {
    let others = places.iter().copied().filter(|id| *id != new.id);
    let weights = stream::iter(others).map(|id| async move {
        let found = find(access, pattern, id).await?;
        Ok::<_, Error>((found.map(|(_, place)| place.weight), id))
    });
    let weights: Vec<(Option<u64>, PlaceId)> = weights.buffer_unordered(CONCURRENCY).try_collect().await?;
    Ok(weights.into_iter().chain([(Some(new.weight), new.id)]).min().map_or(new.id, |(_, id)| id))
}
