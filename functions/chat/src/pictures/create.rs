//! `POST /chat/pictures`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::objects::Declared;
use table::{AccessPattern, Action, EntityKey};
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Sample, problem};

use super::{INCOMING, MAX_BYTES, Picture, PictureKind, PictureStatus, RETENTION_SECONDS, incoming};
use crate::access::{CALLER, COMMUNITIES, LIVE};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::Community;
use crate::keys::{CommunityKey, PictureKey};
use crate::names::{CommunityId, PictureId};
use crate::rates::{self, COUNT, count};
use crate::schema::{self, BUCKET};

/// The community whose picture is uploaded.
const COMMUNITY: AccessPattern = AccessPattern::new("communityOfPicture", &[COMMUNITIES.get()]);

/// A new picture with the signed link for its file.
const CREATE_PICTURE: AccessPattern = AccessPattern::new("createPicture", &[LIVE.put(), LIVE.get(), INCOMING.put()]);

const PATH: &str = "/chat/pictures";

/// A picture to upload.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewPicture {
    kind: PictureKind,
    /// The community of a `communityAvatar` or `communityCover`.
    #[serde(default)]
    #[schema(nullable = false)]
    community_id: Option<CommunityId>,
    /// The exact size of the file, at most 5 MiB.
    #[schema(minimum = 1)]
    bytes: u64,
}

/// The link for the file of a picture.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PictureLink {
    id: PictureId,
    status: PictureStatus,
    /// Accepts one `PUT` within 15 minutes.
    link: String,
    /// The header fields of the `PUT`.
    headers: BTreeMap<String, String>,
}

pub fn route() -> Route {
    Route::post("createPicture", PATH, SIGNED_IN, create)
        .summary("Create a link that takes a PNG, JPEG or WebP file of up to 5 MiB, which becomes a picture")
        .patterns(&[&CALLER, &COUNT, &COMMUNITY, &CREATE_PICTURE])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            problem::TOO_LARGE,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new(PATH).body(r#"{"kind":"avatar","bytes":20000}"#))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Json(new): Json<NewPicture>,
) -> Result<Created<PictureLink>, Problem> {
    let caller = Caller::load(&cx).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_PICTURE, &schema::LIVE).await? {
        return Ok(earlier);
    }
    count(&cx, &rates::PICTURES, &[&caller.id.to_string()]).await?;
    match (new.kind.is_of_community(), new.community_id) {
        (true, Some(community)) => require_founder(&cx, &caller, community).await?,
        (true, None) => return Err(fault("/communityId", "is required for a picture of a community")),
        (false, Some(_)) => return Err(fault("/communityId", "is for pictures of communities only")),
        (false, None) => {}
    }
    if new.bytes > MAX_BYTES {
        return Err(Problem::too_large(format!("The file of a picture has at most {MAX_BYTES} bytes.")));
    }
    let clock = &cx.engines().clock;
    let id = PictureId::now(clock);
    let picture = Picture {
        kind: new.kind,
        community_id: new.community_id,
        bytes: new.bytes,
        status: PictureStatus::Awaiting,
        reason: None,
        replaces: None,
        created_at: id.time().to_string(),
        expires: Some(clock.seconds() + RETENTION_SECONDS),
    };
    let files = cx.access().objects(&CREATE_PICTURE, BUCKET, INCOMING.prefix);
    let link = files.put_link(&incoming(caller.id, id), Declared { bytes: new.bytes, sha256: None }).await?;
    let actions = vec![Action::create(&schema::LIVE, PictureKey { user: caller.id, picture: id }.key(), &picture)?];
    let view = PictureLink { id, status: picture.status, link: link.url, headers: link.headers.into_iter().collect() };
    let location = format!("/chat/me/pictures/{id}");
    Ok(once.create(&cx, &CREATE_PICTURE, &schema::LIVE, actions, location, &view).await?)
}

/// 404 without the community, 403 for a caller who is not its founder.
async fn require_founder(cx: &Context, caller: &Caller, community: CommunityId) -> Result<(), Problem> {
    let stored = cx.access().table(&COMMUNITY, &schema::COMMUNITIES).get_consistent(CommunityKey { community }).await?;
    let community: Community = stored.ok_or_else(Problem::not_found)?.read()?;
    if community.deleting_at.is_some() {
        return Err(Problem::not_found());
    }
    if community.founder == caller.id {
        return Ok(());
    }
    Err(Problem::forbidden("Only the founder of a community changes its pictures."))
}

fn fault(pointer: &str, detail: &str) -> Problem {
    Problem::faults(vec![Fault::pointer(pointer, detail)])
}
