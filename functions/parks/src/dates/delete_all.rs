//! `DELETE` of the dates of a product among some days

use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, IfMatch, Json, Path, Problem, Query, Route, Sample, problem};

use super::ALL;
use super::batch::{BATCH_TIMEOUT, DaysQuery, Edit, at_parameter, days, edit_all};
use crate::access::{DATES, DELETE_DATES, ITEM};
use crate::entity::{ItemPath, Product};
use crate::view::{ADMINISTRATORS, Cached, View};

#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedProductDates {
    deleted: usize,
}

pub fn route() -> Route {
    Route::delete("deleteProductDates", ALL, ADMINISTRATORS, delete_all)
        .summary("Delete all existing dates among some days")
        .timeout(BATCH_TIMEOUT)
        .patterns(&[&ITEM, &DATES, &DELETE_DATES])
        .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates?from=2026-01-01&to=2026-01-31"))
}

async fn delete_all(
    cx: Context,
    Path(path): Path<ItemPath<Product>>,
    Query(query): Query<DaysQuery>,
    tag: IfMatch,
) -> Result<Cached<Json<DeletedProductDates>>, Problem> {
    let days = days(query.from, query.to, at_parameter)?;
    let deleted = edit_all(&cx, &DELETE_DATES, &path.key, &tag, days, at_parameter, |_, dates| {
        Ok(dates.into_iter().map(|(day, loaded)| (day, Edit::Delete(loaded))).collect())
    })
    .await?;
    Ok(Cached(View::Administrator, Json(DeletedProductDates { deleted })))
}
