//! `GET /archive/categories/{categoryId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, Who, problem};

use super::{CategoryPath, CategoryView, ONE, SAMPLE};
use crate::access::{CATEGORY_USE, ONE as ONE_ITEM};
use crate::category_use;
use crate::item::Category;
use crate::keys::{CategoryKey, CategoryUseKey};
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::get("getCategory", ONE, Who::Public, get)
        .summary("Get a category with its number of collections")
        .patterns(&[&ONE_ITEM, &CATEGORY_USE])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(
    cx: Context,
    Path(CategoryPath { category_id: id }): Path<CategoryPath>,
) -> Result<Tagged<CategoryView>, Problem> {
    let category = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CategoryKey { category: id }).await?;
    let category = category.ok_or_else(Problem::not_found)?;
    let counts = cx.access().table(&CATEGORY_USE, &ARCHIVE).get(CategoryUseKey {}).await?;
    let collections = category_use::collections(counts.as_ref().map(|stored| &stored.item), id);
    let view = CategoryView { collections: Some(collections), ..category.read::<Category>()?.into() };
    Ok(Tagged::new(&view, category.rev))
}
