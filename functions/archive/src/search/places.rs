//! The places that a query names by id or by text. They are read from the table alone.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::Access;
use web::Problem;

use super::query::{RecordQuery, ResolvedPlace};
use crate::names::PlaceId;
use crate::places::item::Place;
use crate::places::place_text::PlaceText;
use crate::places::spellings::spellings;
use crate::places::{PLACES_BY_NAME, present, resolved};

/// The places that are looked up at once.
const CONCURRENCY: usize = 4;

/// The places of a query, by the texts and ids that name them.
#[derive(Debug, Default)]
pub struct QueriedPlaces(BTreeMap<String, Place>);

impl QueriedPlaces {
    /// Loads the places of a query.
    pub async fn load(access: &Access, query: &RecordQuery) -> Result<Self, Problem> {
        let texts = query.place_texts();
        let lookups = texts.into_iter().map(|text| async move {
            let place = match text.parse() {
                Ok(id) => present(access, &PLACES_BY_NAME, id).await?.map(|(_, place)| place),
                Err(_) => {
                    let parsed = PlaceText::parse(text, &*spellings(access).await?);
                    resolved(access, &PLACES_BY_NAME, &parsed, None).await?.map(|(place, _)| place)
                }
            };
            Ok::<_, Problem>(place.map(|place| (text.to_owned(), place)))
        });
        let lookups = stream::iter(lookups.collect::<Vec<_>>()).buffered(CONCURRENCY);
        let found: Vec<Option<(String, Place)>> = lookups.try_collect().await?;
        Ok(Self(found.into_iter().flatten().collect()))
    }

    /// Returns the places as the criteria need them.
    pub fn resolved(&self) -> BTreeMap<String, ResolvedPlace> {
        let place = |place: &Place| ResolvedPlace { id: place.id.to_string(), location: location(place) };
        self.0.iter().map(|(text, found)| (text.clone(), place(found))).collect()
    }

    /// Returns the texts and ids that name no place, and that of `near` if its place has no location.
    pub fn unresolved(&self, query: &RecordQuery) -> Vec<String> {
        let is_nowhere = |text: &str| match self.0.get(text) {
            None => true,
            Some(place) => query.near.as_deref() == Some(text) && location(place).is_none(),
        };
        query.place_texts().into_iter().filter(|text| is_nowhere(text)).map(str::to_owned).collect()
    }

    /// Returns the path of the place of any event, whose children the facet of places counts.
    pub fn parent_path(&self, query: &RecordQuery) -> Option<String> {
        let place = self.0.get(query.place.as_deref()?)?;
        Some(place.path.iter().map(PlaceId::to_string).collect::<Vec<_>>().join("/"))
    }
}

fn location(place: &Place) -> Option<[f64; 2]> {
    let degrees = |text: &Option<String>| text.as_deref()?.parse().ok();
    Some([degrees(&place.lat)?, degrees(&place.lon)?])
}
