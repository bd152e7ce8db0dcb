//! `DELETE` of a relationship

use table::{Action, Cause};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{ONE, RelationshipPath, SAMPLE};
use crate::access::DELETE_RELATIONSHIP;
use crate::cascade::counters;
use crate::schema::PARKS;
use crate::view::ADMINISTRATORS;

pub fn route() -> Route {
    Route::delete("deleteRelationship", ONE, ADMINISTRATORS, delete)
        .summary("Delete a relationship of two items in either order")
        .patterns(&[&DELETE_RELATIONSHIP])
        .problems(&[problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(cx: Context, Path(path): Path<RelationshipPath>, tag: IfMatch) -> Result<NoContent, Problem> {
    let pair = path.existing_pair()?;
    let mut delete = Action::delete(&PARKS, pair.key());
    if tag.names_tags() {
        let stored = cx.access().table(&DELETE_RELATIONSHIP, &PARKS).get_consistent(pair.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        delete = delete.if_unchanged(&stored);
    }
    let actions = [
        delete,
        counters::add(counters::of_relationships(&pair.first), -1),
        counters::add(counters::of_relationships(&pair.second), -1),
    ];
    match cx.access().transact(&DELETE_RELATIONSHIP, &actions).await {
        Ok(_) => Ok(NoContent),
        Err(error) => Err(match error.failed(0).map(|failed| failed.cause) {
            Some(Cause::Missing) => Problem::not_found(),
            Some(Cause::Stale) => Problem::stale(),
            _ => error.into(),
        }),
    }
}
