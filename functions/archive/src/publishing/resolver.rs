//! The places of the texts of a file. It reads the table only, so a run needs no search.

use futures::stream::{self, StreamExt, TryStreamExt};
use table::Access;
use web::Problem;

use crate::access::PLACE_SETTINGS;
use crate::keys::PlaceSettingsKey;
use crate::names::PlaceId;
use crate::places::item::Place;
use crate::places::place_text::{PlaceText, Spellings};
use crate::places::{PLACES_BY_NAME, resolved};
use crate::record::Event;
use crate::schema::ARCHIVE;
use crate::settings::places::PlaceSettings;

/// Texts that are looked up at once.
const CONCURRENCY: usize = 8;

/// Finds places within the place of a collection, if it has one.
#[derive(Debug)]
pub struct Resolver {
    spellings: Spellings,
    within: Option<PlaceId>,
}

/// The place of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    id: PlaceId,
    path: Vec<PlaceId>,
    lat: Option<String>,
    lon: Option<String>,
    /// Whether some words of the text name nothing.
    pub is_partial: bool,
}

impl Resolver {
    /// Loads the spellings of places.
    pub async fn load(access: &Access, within: Option<PlaceId>) -> Result<Self, Problem> {
        let stored = access.table(&PLACE_SETTINGS, &ARCHIVE).get(PlaceSettingsKey {}).await?;
        let settings: PlaceSettings = stored.map(|stored| stored.read()).transpose()?.unwrap_or_default();
        Ok(Self { spellings: Spellings::new(&settings.noise_words, &settings.abbreviations), within })
    }

    /// Returns the place of each text, if it has one.
    pub async fn resolve_all(
        &self,
        access: &Access,
        texts: &[&str],
    ) -> Result<Vec<(String, Option<Resolved>)>, Problem> {
        let lookups = texts.iter().map(|text| async move {
            let parsed = PlaceText::parse(text, &self.spellings);
            let found = resolved(access, &PLACES_BY_NAME, &parsed, self.within).await?;
            Ok::<_, Problem>(((*text).to_owned(), found.map(|(place, unused)| Resolved::new(place, &unused))))
        });
        stream::iter(lookups.collect::<Vec<_>>()).buffered(CONCURRENCY).try_collect().await
    }
}

impl Resolved {
    fn new(place: Place, unused: &[String]) -> Self {
        let Place { id, path, lat, lon, .. } = place;
        Self { id, path, lat, lon, is_partial: !unused.is_empty() }
    }

    /// Sets the place of an event.
    pub fn apply(&self, event: &mut Event) {
        event.place_id = Some(self.id);
        event.place_path.clone_from(&self.path);
        event.lat.clone_from(&self.lat);
        event.lon.clone_from(&self.lon);
    }
}
