//! `PATCH` of a date of a product

use table::{Action, Rev, Stored};
use web::{Context, IfMatch, MergePatch, Path, Problem, Route, Sample, Tagged, problem};

use super::product::LoadedProduct;
use super::{DatePath, LoadedDate, ONE, ProductDateFields, ProductDateView, SAMPLE, write_one};
use crate::access::{DATE, ITEM, UPDATE_DATE};
use crate::entity::{ItemPath, Product};
use crate::fields::MAX_FIELDS_BODY;
use crate::patch::FieldsPatch;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, View};

pub fn route() -> Route {
    Route::patch("updateProductDate", ONE, ADMINISTRATORS, update)
        .summary("Update the fields of a date that the merge patch names")
        .patterns(&[&ITEM, &DATE, &UPDATE_DATE])
        .body_limit(MAX_FIELDS_BODY)
        .problems(&[problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"status":"closed","reason":"wildfire"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<ItemPath<Product, DatePath>>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<FieldsPatch<ProductDateFields>>,
) -> Result<Tagged<ProductDateView>, Problem> {
    cx.retry_stale(&tag, || async {
        let product = LoadedProduct::load(&cx, &path.key).await?;
        let loaded = LoadedDate::load(&cx, &path.key, path.below.date, View::Administrator).await?;
        tag.check(loaded.tag())?;
        let after = patch.apply(&loaded.date).map_err(Problem::internal)?;
        if after == loaded.date {
            return Ok(tagged(&loaded));
        }
        let update = Action::update(&PARKS, loaded.stored.key.clone(), loaded.changes_to(&after)?);
        let rev: Rev = write_one(&cx, &UPDATE_DATE, product, &loaded, update, Some(&after)).await?;
        let stored = Stored { rev: Some(rev), ..loaded.stored };
        Ok(tagged(&LoadedDate { stored, date: after, ..loaded }))
    })
    .await
}

fn tagged(loaded: &LoadedDate) -> Tagged<ProductDateView> {
    let view = View::Administrator;
    Tagged::new(&loaded.view(view), loaded.tag()).map(|answer| view.cached(answer))
}
