//! The spellings of the place settings, which every text of a place needs. A process reads them every five minutes.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use table::{Access, Key};
use web::Problem;

use super::place_text::Spellings;
use crate::access::PLACE_SETTINGS;
use crate::keys::PlaceSettingsKey;
use crate::schema::ARCHIVE;
use crate::settings;
use crate::settings::places::PlaceSettings;

/// The time after which the settings are read again.
const MAX_AGE: SignedDuration = SignedDuration::from_mins(5);

/// The spellings by endpoint and table: several platforms may run in one process.
static CACHE: LazyLock<Mutex<HashMap<String, Cached>>> = LazyLock::new(Mutex::default);

/// Spellings, and when they were read.
type Cached = (Timestamp, Arc<Spellings>);

/// Returns the spellings, at most five minutes old. The route declares [`PLACE_SETTINGS`].
pub async fn spellings(access: &Access) -> Result<Arc<Spellings>, Problem> {
    let (config, now) = (&access.engines().config, access.engines().clock.now());
    let key = format!("{} {}", config.dynamodb.as_deref().unwrap_or_default(), config.table(ARCHIVE.name));
    let cached = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    if let Some((at, spellings)) = cached
        && now.duration_since(at) < MAX_AGE
    {
        return Ok(spellings);
    }
    let table = access.table(&PLACE_SETTINGS, &ARCHIVE);
    let (settings, _) = settings::read::<PlaceSettings>(table, Key::from(PlaceSettingsKey {})).await?;
    let spellings = Arc::new(Spellings::new(&settings.noise_words, &settings.abbreviations));
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (now, Arc::clone(&spellings)));
    Ok(spellings)
}
