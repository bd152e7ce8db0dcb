//! `GET /archive/posts/{postId}/households/{household}`

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::{HouseholdView, Members, members_of, view};
use crate::access::{CALLER, HOUSEHOLD, ONE};
use crate::keys::RecordHouseholdKey;
use crate::names::{Household, PostId};
use crate::schema::ARCHIVE;
use crate::viewer::{READERS, Viewer, published, require_published};

/// The path of a household.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HouseholdPath {
    pub post_id: PostId,
    pub household: Household,
}

pub fn route() -> Route {
    Route::get("getHousehold", "/archive/posts/{postId}/households/{household}", READERS, get)
        .summary("Get a household of a published post with its members in the order of the rows")
        .patterns(&[&CALLER, &ONE, &HOUSEHOLD])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/households/14"))
}

async fn get(cx: Context, Path(path): Path<HouseholdPath>) -> Result<Json<HouseholdView>, Problem> {
    let HouseholdPath { post_id: post, household } = path;
    let viewer = Viewer::load(&cx).await?;
    let table = cx.access().table(&HOUSEHOLD, &ARCHIVE);
    cx.retry(|| async {
        let (_, run) = published(&cx, post).await?;
        let stored = table.get(RecordHouseholdKey { post, household: household.clone() }).await?;
        let members = stored.map(|stored| members_of(&stored, run)).transpose()?.unwrap_or_default();
        if members.is_empty() {
            require_published(&cx, post, run).await?;
            return Err(Problem::not_found());
        }
        let members = Members { post, household: household.clone(), members };
        view(table, &viewer, members, false).await?.map(Json).ok_or_else(Problem::not_found)
    })
    .await
}
