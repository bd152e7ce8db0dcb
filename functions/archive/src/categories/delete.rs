//! `DELETE /archive/categories/{categoryId}`

use table::{Action, Cause};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{CategoryPath, ONE, SAMPLE, folded};
use crate::access::{CALLER, DELETE_CATEGORY, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::category_use;
use crate::item::Category;
use crate::keys::{CategoryKey, CategoryNameKey};
use crate::names::Role;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::delete("deleteCategory", ONE, SIGNED_IN, delete)
        .summary("Delete a category without collections")
        .patterns(&[&CALLER, &ONE_ITEM, &DELETE_CATEGORY])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(CategoryPath { category_id: id }): Path<CategoryPath>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    Caller::with_role(&cx, Role::Editor).await?;
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CategoryKey { category: id }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let name = folded(&stored.read::<Category>()?.name).map_err(|fault| Problem::internal(fault.detail))?;
        let actions = [
            // A category that was renamed since then has another name to delete.
            Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored),
            Action::delete(&ARCHIVE, CategoryNameKey { name }),
            category_use::removed(id),
        ];
        let Err(error) = cx.access().transact(&DELETE_CATEGORY, &actions).await else { return Ok(NoContent) };
        Err(match (error.failed(0).map(|failed| failed.cause), error.failed(2)) {
            (Some(Cause::Missing), _) => Problem::not_found(),
            (Some(_), _) => Problem::stale(),
            (None, Some(counts)) => {
                let collections = category_use::collections(counts.item.as_ref(), id);
                Problem::has_dependents(&[("collections", collections)])
            }
            (None, None) => error.into(),
        })
    })
    .await
}
