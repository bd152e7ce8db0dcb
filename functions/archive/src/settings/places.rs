//! `GET` and `PUT /archive/place-settings`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::Key;
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, Json, Problem, Route, Rules, Sample, Tagged, Valid, Who, problem};

use super::{Setting, put, read};
use crate::access::{CALLER, CREATE_USER, NEXT_IDS, PLACE_SETTINGS, PUT_SETTINGS};
use crate::authorization::{Caller, SIGNED_IN};
use crate::fold::fold;
use crate::keys::PlaceSettingsKey;
use crate::names::{Role, UserId};
use crate::schema::ARCHIVE;

const PATH: &str = "/archive/place-settings";

/// The most abbreviations, and the most noise words.
const MAX_WORDS: usize = 500;

/// The longest abbreviation and the longest expansion in characters.
const MAX_CHARACTERS: usize = 120;

/// The largest body in bytes. An item has at most 400 KB, which are up to three times as long in escaped
/// JSON.
const MAX_BODY: usize = 1536 * 1024;

/// The settings of places as the table stores them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceSettings {
    /// Words and what they stand for.
    pub abbreviations: BTreeMap<String, String>,
    /// Words that name no place.
    pub noise_words: Vec<String>,
    created_at: String,
    updated_at: String,
    created_by: Option<UserId>,
}

/// How texts of places are understood.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlaceSettings)]
pub struct PlaceSettingsView {
    /// Words and what they stand for, such as `Glos` and `Gloucestershire`: at most 500.
    abbreviations: BTreeMap<String, String>,
    /// Words that name no place, such as `near`.
    #[schema(max_items = 500)]
    noise_words: Vec<String>,
}

impl Setting for PlaceSettings {
    fn audited(self, replaced: Option<&Self>, at: &str, by: UserId) -> Self {
        Self {
            created_at: replaced.map_or_else(|| at.to_owned(), |replaced| replaced.created_at.clone()),
            updated_at: at.to_owned(),
            created_by: replaced.map_or(Some(by), |replaced| replaced.created_by),
            ..self
        }
    }
}

impl From<PlaceSettings> for PlaceSettingsView {
    fn from(settings: PlaceSettings) -> Self {
        Self { abbreviations: settings.abbreviations, noise_words: settings.noise_words }
    }
}

impl Rules for PlaceSettingsView {
    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.abbreviations.len() > MAX_WORDS {
            faults.push(Fault::pointer("/abbreviations", format!("must have at most {MAX_WORDS} members")));
        }
        for (short, long) in &self.abbreviations {
            if !is_word(short) || !is_word(long) {
                let pointer = format!("/abbreviations{}", web::fault::pointer_step(short));
                faults.push(Fault::pointer(pointer, WORD));
            }
        }
        let noise = self.noise_words.iter().enumerate().filter(|(_, word)| !is_word(word));
        faults.extend(noise.map(|(index, _)| Fault::pointer(format!("/noiseWords/{index}"), WORD)));
        faults
    }
}

const WORD: &str = "must have a letter or a digit and at most 120 characters";

fn is_word(text: &str) -> bool {
    text.chars().count() <= MAX_CHARACTERS && !fold(text).is_empty()
}

pub fn get_route() -> Route {
    Route::get("getPlaceSettings", PATH, Who::Public, get)
        .summary("Get the abbreviations and noise words of places")
        .patterns(&[&PLACE_SETTINGS])
        .sample(Sample::new(PATH))
}

pub fn put_route() -> Route {
    Route::put("putPlaceSettings", PATH, SIGNED_IN, replace)
        .summary("Replace the abbreviations and noise words of places")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &PLACE_SETTINGS, &PUT_SETTINGS])
        .body_limit(MAX_BODY)
        .problems(&[problem::FORBIDDEN, problem::CONFLICT])
        .sample(Sample::new(PATH).body(r#"{"abbreviations":{"Glos":"Gloucestershire"},"noiseWords":["near"]}"#))
}

async fn get(cx: Context) -> Result<Tagged<PlaceSettingsView>, Problem> {
    let table = cx.access().table(&PLACE_SETTINGS, &ARCHIVE);
    let (settings, rev) = read::<PlaceSettings>(table, Key::from(PlaceSettingsKey {})).await?;
    Ok(Tagged::new(&settings.into(), rev))
}

async fn replace(
    cx: Context,
    tag: IfMatch,
    Valid(Json(new)): Valid<Json<PlaceSettingsView>>,
) -> Result<Tagged<PlaceSettingsView>, Problem> {
    let user = Caller::with_role(&cx, Role::Administrator).await?.into_user(&cx).await?;
    let new =
        PlaceSettings { abbreviations: new.abbreviations, noise_words: new.noise_words, ..PlaceSettings::default() };
    let at = (cx.access().table(&PLACE_SETTINGS, &ARCHIVE), Key::from(PlaceSettingsKey {}));
    let (settings, rev) = put(&cx, &tag, at, (new, user.id)).await?;
    Ok(Tagged::new(&settings.into(), rev))
}
