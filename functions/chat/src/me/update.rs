//! `PATCH /chat/me`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Patch, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{ME, Me};
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::locations::{LocationPatch, patched};
use crate::pictures::{REMOVE_OWN_PICTURES, dropped, remove_own};
use crate::schema;
use crate::texts::text_fault;
use crate::users::User;

/// The profile of the caller.
const UPDATE_ME: AccessPattern = AccessPattern::new("updateMe", &[USERS.update()]);

/// The fields of the profile. `null` removes one.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MePatch {
    #[schema(min_length = 1, max_length = 80, nullable = false)]
    name: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 500)]
    bio: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<LocationPatch>)]
    location: Patch<LocationPatch>,
    /// The URL of a picture. The service never fetches it.
    #[serde(default, rename = "avatarURL")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2048)]
    avatar_url: Patch<String>,
    #[serde(default, rename = "coverPhotoURL")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2048)]
    cover_photo_url: Patch<String>,
}

impl Rules for MePatch {
    fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> = self.name.iter().filter_map(|name| name_fault("/name", name)).collect();
        if let Patch::Set(bio) = &self.bio {
            faults.extend(text_fault("/bio", bio));
        }
        if let Patch::Set(location) = &self.location {
            faults.extend(location.faults("/location"));
        }
        for (pointer, url) in [("/avatarURL", &self.avatar_url), ("/coverPhotoURL", &self.cover_photo_url)] {
            if let Patch::Set(url) = url
                && !is_https(url)
            {
                faults.push(Fault::pointer(pointer, "must be a URL that begins with `https://`"));
            }
        }
        faults
    }
}

pub fn route() -> Route {
    Route::patch("updateMe", ME, SIGNED_IN, update)
        .summary("Update the caller's profile")
        .patterns(&[&CALLER, &UPDATE_ME, &REMOVE_OWN_PICTURES])
        .problems(&[problem::FORBIDDEN, BANNED, problem::CONFLICT])
        .elsewhere("username", "is changed by PUT /chat/me/username")
        .elsewhere("email", "is changed by PUT /chat/me/email")
        .elsewhere("password", "is changed by PUT /chat/me/password")
        .sample(Sample::new(ME).body(r#"{"bio":"Reads the samples."}"#))
}

async fn update(
    cx: Context,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<MePatch>>,
) -> Result<Tagged<Me>, Problem> {
    cx.retry_stale(&tag, || async {
        let caller = Caller::load(&cx).await?;
        tag.check(caller.stored.rev)?;
        let role = caller.role();
        let (patch, before) = (patch.clone(), caller.user);
        let after = User {
            name: patch.name.or_else(|| before.name.clone()),
            bio: patch.bio.apply(before.bio.clone()),
            location: patched(patch.location, before.location.as_ref())?,
            avatar_url: patch.avatar_url.apply(before.avatar_url.clone()),
            cover_photo_url: patch.cover_photo_url.apply(before.cover_photo_url.clone()),
            ..before.clone()
        };
        if after == before {
            return Ok(Tagged::new(&Me::with_role(before, role), caller.stored.rev));
        }
        let changes = Changes::between(&before, &after)?;
        let update = Action::update(&schema::USERS, caller.stored.key.clone(), changes).if_unchanged(&caller.stored);
        let rev = cx.access().write(&UPDATE_ME, update).await?;
        let (had, has) = ([&before.avatar_url, &before.cover_photo_url], [&after.avatar_url, &after.cover_photo_url]);
        for picture in dropped(had, &has) {
            remove_own(cx.access(), caller.id, picture).await?;
        }
        Ok(Tagged::new(&Me::with_role(after, role), rev))
    })
    .await
}

/// Whether a text is a URL with a host, by https and without white space.
fn is_https(url: &str) -> bool {
    let host = url.strip_prefix("https://").and_then(|rest| rest.split(['/', '?', '#']).next());
    host.is_some_and(|host| host.len() > 1)
        && !url.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}
