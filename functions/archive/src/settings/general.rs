//! `GET` and `PUT /archive/settings`

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use table::Key;
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, Json, Problem, Route, Rules, Sample, Tagged, Valid, Who, problem};

use super::metadata::MetadataField;
use super::{Setting, put, read};
use crate::access::{CALLER, CREATE_USER, NEXT_IDS, PUT_SETTINGS, SETTINGS};
use crate::authorization::{Caller, SIGNED_IN};
use crate::keys::SettingsKey;
use crate::names::{Role, UserId};
use crate::schema::ARCHIVE;

const PATH: &str = "/archive/settings";

/// The name by which the index lists the settings.
const NAME: &str = "general";

/// The settings as the table stores them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    #[serde(rename = "GSISK")]
    listed_by: String,
    pub title: String,
    pub post_metadata: Vec<MetadataField>,
    created_at: String,
    updated_at: String,
    created_by: Option<UserId>,
}

/// The settings of the archive.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Settings)]
pub struct SettingsView {
    /// The name of the archive.
    #[schema(max_length = 200)]
    title: String,
    /// What volunteers state about a post.
    #[schema(max_items = 20)]
    post_metadata: Vec<MetadataField>,
}

impl Setting for Settings {
    fn audited(self, replaced: Option<&Self>, at: &str, by: UserId) -> Self {
        Self {
            listed_by: NAME.to_owned(),
            created_at: replaced.map_or_else(|| at.to_owned(), |replaced| replaced.created_at.clone()),
            updated_at: at.to_owned(),
            created_by: replaced.map_or(Some(by), |replaced| replaced.created_by),
            ..self
        }
    }
}

impl From<Settings> for SettingsView {
    fn from(settings: Settings) -> Self {
        Self { title: settings.title, post_metadata: settings.post_metadata }
    }
}

impl Rules for SettingsView {
    fn faults(&self) -> Vec<Fault> {
        let mut names = HashSet::new();
        let mut faults = Vec::new();
        for (index, field) in self.post_metadata.iter().enumerate() {
            let pointer = format!("/postMetadata/{index}/name");
            faults.extend(name_fault(&pointer, &field.name));
            if !names.insert(&field.name) {
                faults.push(Fault::pointer(pointer, "is the name of an earlier field"));
            }
        }
        faults
    }
}

pub fn get_route() -> Route {
    Route::get("getSettings", PATH, Who::Public, get)
        .summary("Get the settings of the archive")
        .patterns(&[&SETTINGS])
        .sample(Sample::new(PATH))
}

pub fn put_route() -> Route {
    Route::put("putSettings", PATH, SIGNED_IN, replace)
        .summary("Replace the settings of the archive")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &SETTINGS, &PUT_SETTINGS])
        .problems(&[problem::FORBIDDEN, problem::CONFLICT])
        .sample(Sample::new(PATH).body(
            r#"{"title":"County Archive","postMetadata":[{"name":"Source","type":"string","tooltip":"Where it is"}]}"#,
        ))
}

async fn get(cx: Context) -> Result<Tagged<SettingsView>, Problem> {
    let (settings, rev) = read::<Settings>(cx.access().table(&SETTINGS, &ARCHIVE), Key::from(SettingsKey {})).await?;
    Ok(Tagged::new(&settings.into(), rev))
}

async fn replace(
    cx: Context,
    tag: IfMatch,
    Valid(Json(new)): Valid<Json<SettingsView>>,
) -> Result<Tagged<SettingsView>, Problem> {
    let user = Caller::with_role(&cx, Role::Administrator).await?.into_user(&cx).await?;
    let new = Settings { title: new.title, post_metadata: new.post_metadata, ..Settings::default() };
    let at = (cx.access().table(&SETTINGS, &ARCHIVE), Key::from(SettingsKey {}));
    let (settings, rev) = put(&cx, &tag, at, (new, user.id)).await?;
    Ok(Tagged::new(&settings.into(), rev))
}
