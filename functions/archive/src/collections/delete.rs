//! `DELETE /archive/collections/{collectionId}`

use table::{Action, Cause, Condition, item};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{CollectionPath, ONE, SAMPLE};
use crate::access::{CALLER, DELETE_COLLECTION, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::category_use;
use crate::item::{Collection, CollectionUse};
use crate::keys::{CollectionCategoryKey, CollectionKey, CollectionUseKey};
use crate::names::Role;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::delete("deleteCollection", ONE, SIGNED_IN, delete)
        .summary("Delete a collection without posts")
        .patterns(&[&CALLER, &ONE_ITEM, &DELETE_COLLECTION])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(CollectionPath { collection_id: id }): Path<CollectionPath>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    Caller::with_role(&cx, Role::Editor).await?;
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CollectionKey { collection: id }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let categories = stored.read::<Collection>()?.category_ids;
        let unused = Condition::Equals("posts", item::number(0));
        let mut actions = vec![
            // Its rows are those of the categories that were read.
            Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored),
            Action::delete(&ARCHIVE, CollectionUseKey { collection: id }).when(unused),
            category_use::counted(&[], &categories),
        ];
        let row = |category: &_| CollectionCategoryKey { collection: id, category: *category };
        actions.extend(categories.iter().map(|category| Action::delete(&ARCHIVE, row(category))));
        let Err(error) = cx.access().transact(&DELETE_COLLECTION, &actions).await else { return Ok(NoContent) };
        Err(
            match (error.failed(0).map(|failed| failed.cause), error.failed(1).and_then(|failed| failed.item.clone())) {
                (Some(Cause::Missing), _) => Problem::not_found(),
                (Some(_), _) => Problem::stale(),
                (None, Some(counts)) => {
                    let counts: CollectionUse = item::from_item(counts)?;
                    Problem::has_dependents(&[("posts", counts.posts)])
                }
                (None, None) => error.into(),
            },
        )
    })
    .await
}
