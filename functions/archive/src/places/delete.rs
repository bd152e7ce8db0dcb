//! `DELETE /archive/places/{placeId}`

use std::collections::BTreeSet;

use serde::Deserialize;
use table::{Action, Changes, Condition, item as attribute};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::item::Place;
use super::update::require_childless;
use super::uses::{IN_USE, require_unused};
use super::word_changes::word_changes;
use super::{
    DELETE_PLACE, MAX_CHANGED_NAMES, ONE, PlacePath, SAMPLE, count_children, find_consistent, of_transaction,
    too_many_names,
};
use crate::access::{CALLER, SEARCH};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::names::{PlaceId, Role};
use crate::schema::ARCHIVE;
use crate::word_search::TIMEOUT;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletePlaceQuery {
    /// The place that replaces it. From then on, the deleted place's id leads to that place.
    replaced_by: Option<PlaceId>,
}

pub fn route() -> Route {
    Route::delete("deletePlace", ONE, SIGNED_IN, delete)
        .summary("Delete a place that is not used and has no places inside, or replace it by another place")
        .patterns(&[&CALLER, &DELETE_PLACE, &SEARCH])
        .timeout(TIMEOUT)
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::HAS_DEPENDENTS,
            IN_USE,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(path): Path<PlacePath>,
    Query(query): Query<DeletePlaceQuery>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    Caller::with_role(&cx, Role::Administrator).await?;
    cx.retry_stale(&tag, || async {
        let found = find_consistent(cx.access(), &DELETE_PLACE, path.place_id).await?;
        let (stored, place) = found.filter(|(_, place)| place.replaced_by.is_none()).ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        require_childless(&place)?;
        if query.replaced_by.is_none() {
            require_unused(cx.access(), place.id).await?;
        }
        let lost = place.words();
        if lost.len() > MAX_CHANGED_NAMES + 1 {
            return Err(too_many_names(lost.len()));
        }
        let mut actions = match query.replaced_by {
            None => vec![Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored)],
            Some(id) => {
                let other = replacement(&cx, &place, id).await?;
                // Without `GSISK` the index lists it no more, and it has no document.
                let changes = Changes::new()
                    .remove("GSISK")
                    .set("replacedBy", attribute::text(id.to_string()))
                    .set("updatedAt", attribute::text(now(&cx)));
                let replace = Action::update(&ARCHIVE, stored.key.clone(), changes).if_unchanged(&stored);
                let check = other.key().map(|key| Action::check(&ARCHIVE, key).when(Condition::Absent("replacedBy")));
                [Some(replace), check].into_iter().flatten().collect()
            }
        };
        if let Some(parent) = place.parent_id
            && let Some((_, parent)) = find_consistent(cx.access(), &DELETE_PLACE, parent).await?
        {
            match query.replaced_by {
                // One item cannot be in two actions. The count asserts that the parent exists.
                Some(other) if other == parent.id => {
                    actions.truncate(1);
                    actions.push(count_children(&parent, -1)?);
                }
                _ => actions.push(count_children(&parent, -1)?),
            }
        }
        actions.extend(word_changes(cx.access(), &DELETE_PLACE, &place, [&lost, &BTreeSet::new()]).await?);
        match cx.access().transact(&DELETE_PLACE, &actions).await {
            Ok(_) => Ok(NoContent),
            Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
            Err(error) => Err(of_transaction(error)),
        }
    })
    .await
}

/// Reads the place that replaces another.
async fn replacement(cx: &Context, place: &Place, id: PlaceId) -> Result<Place, Problem> {
    let fault = |detail: String| Problem::unprocessable(vec![Fault::parameter("replacedBy", detail)]);
    if id == place.id {
        return Err(fault("must name another place".to_owned()));
    }
    let found = find_consistent(cx.access(), &DELETE_PLACE, id).await?;
    let other = found.map(|(_, other)| other).filter(|other| other.replaced_by.is_none());
    other.ok_or_else(|| fault(format!("names the place {id}, which does not exist")))
}
