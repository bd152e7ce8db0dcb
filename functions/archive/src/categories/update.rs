//! `PATCH /archive/categories/{categoryId}`

use serde::Deserialize;
use table::{Action, Cause, Changes};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{CategoryPath, CategoryView, ONE, SAMPLE, folded, name_faults, taken};
use crate::access::{CALLER, ONE as ONE_ITEM, UPDATE_CATEGORY};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::{Category, CategoryName};
use crate::keys::{CategoryKey, CategoryNameKey};
use crate::names::Role;
use crate::schema::ARCHIVE;

/// The fields of a category that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CategoryPatch {
    /// Unique without regard to case, accents and punctuation. It has a letter or a digit.
    #[schema(min_length = 1, max_length = 100, nullable = false)]
    name: Option<String>,
    #[schema(max_length = 2000, nullable = false)]
    description: Option<String>,
}

impl Rules for CategoryPatch {
    fn faults(&self) -> Vec<Fault> {
        self.name.as_deref().map(name_faults).unwrap_or_default()
    }
}

pub fn route() -> Route {
    Route::patch("updateCategory", ONE, SIGNED_IN, update)
        .summary("Update a category's name or description")
        .patterns(&[&CALLER, &ONE_ITEM, &UPDATE_CATEGORY])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Baptisms"}"#))
}

async fn update(
    cx: Context,
    Path(CategoryPath { category_id: id }): Path<CategoryPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<CategoryPatch>>,
) -> Result<Tagged<CategoryView>, Problem> {
    Caller::with_role(&cx, Role::Editor).await?;
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CategoryKey { category: id }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let before: Category = stored.read()?;
        let name = patch.name.clone().unwrap_or_else(|| before.name.clone());
        let description = patch.description.clone().unwrap_or_else(|| before.description.clone());
        let after = Category { listed_by: name.clone(), name, description, ..before.clone() };
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let after = Category { updated_at: now(&cx), ..after };
        let changes = Changes::between(&before, &after)?;
        let mut actions = vec![Action::update(&ARCHIVE, stored.key.clone(), changes).if_unchanged(&stored)];
        let unique = |name: &str| folded(name).map_err(|fault| Problem::faults(vec![fault]));
        let (old, new) = (unique(&before.name)?, unique(&after.name)?);
        if old != new {
            actions.push(Action::create(&ARCHIVE, CategoryNameKey { name: new }, &CategoryName { category_id: id })?);
            actions.push(Action::delete(&ARCHIVE, CategoryNameKey { name: old }));
        }
        match cx.access().transact(&UPDATE_CATEGORY, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) => Err(match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
                (Some(Cause::Missing), _) => Problem::not_found(),
                (Some(_), _) => Problem::stale(),
                (None, Some(_)) => taken(),
                (None, None) => error.into(),
            }),
        }
    })
    .await
}
