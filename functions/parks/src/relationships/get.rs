//! `GET` of a relationship

use serde::Deserialize;
use table::Stored;
use utoipa::ToSchema;
use web::{Context, Path, Problem, Query, Route, Sample, Tagged, problem};

use super::{ONE, Relationship, RelationshipPath, RelationshipView, SAMPLE};
use crate::access::ITEM;
use crate::schema::PARKS;
use crate::view::{EVERYONE, View, ViewParameter};

#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipQuery {
    /// `public` shows an administrator the visitors' view.
    view: Option<ViewParameter>,
}

pub fn route() -> Route {
    Route::get("getRelationship", ONE, EVERYONE, get)
        .summary("Get a relationship of two items in either order")
        .patterns(&[&ITEM])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(
    cx: Context,
    Path(path): Path<RelationshipPath>,
    Query(query): Query<RelationshipQuery>,
) -> Result<Tagged<RelationshipView>, Problem> {
    let pair = path.existing_pair()?;
    let view = View::of(&cx, query.view);
    let parks = cx.access().table(&ITEM, &PARKS);
    let stored = match view {
        View::Visitor => parks.get(pair.key()).await?,
        View::Administrator => parks.get_consistent(pair.key()).await?,
    };
    let stored = stored.ok_or_else(Problem::not_found)?;
    if view == View::Visitor && !Relationship::read(&stored)?.public() {
        return Err(Problem::not_found());
    }
    Ok(tagged(&stored, view)?)
}

/// The response with a stored relationship.
pub fn tagged(stored: &Stored, view: View) -> Result<Tagged<RelationshipView>, table::Error> {
    let body = RelationshipView::new(&Relationship::read(stored)?, view);
    Ok(Tagged::new(&body, view.tag(stored.rev.into())).map(|answer| view.cached(answer)))
}
