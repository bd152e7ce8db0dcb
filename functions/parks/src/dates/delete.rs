//! `DELETE` of a date of a product

use table::Action;
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::product::LoadedProduct;
use super::{DatePath, LoadedDate, ONE, SAMPLE, write_one};
use crate::access::{DATE, DELETE_DATE, ITEM};
use crate::entity::{ItemPath, Product};
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, View};

pub fn route() -> Route {
    Route::delete("deleteProductDate", ONE, ADMINISTRATORS, delete)
        .summary("Delete a date of a product")
        .patterns(&[&ITEM, &DATE, &DELETE_DATE])
        .problems(&[problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(path): Path<ItemPath<Product, DatePath>>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    cx.retry_stale(&tag, || async {
        let product = LoadedProduct::load(&cx, &path.key).await?;
        let loaded = LoadedDate::load(&cx, &path.key, path.below.date, View::Administrator).await?;
        tag.check(loaded.tag())?;
        let delete = Action::delete(&PARKS, loaded.stored.key.clone());
        write_one(&cx, &DELETE_DATE, product, &loaded, delete, None).await?;
        Ok(NoContent)
    })
    .await
}
