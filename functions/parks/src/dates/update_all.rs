//! `PATCH` of the dates of a product among some days

use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, IfMatch, Json, MergePatch, Path, Problem, Query, Route, Sample, problem};

use super::batch::{BATCH_TIMEOUT, DaysQuery, Edit, at_parameter, days, edit_all};
use super::{ALL, ProductDateFields};
use crate::access::{DATES, ITEM, UPDATE_DATES};
use crate::entity::{ItemPath, Product};
use crate::fields::MAX_FIELDS_BODY;
use crate::patch::FieldsPatch;
use crate::view::{ADMINISTRATORS, Cached, View};

/// The number of dates that the patch has changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct UpdatedProductDates {
    changed: usize,
}

pub fn route() -> Route {
    Route::patch("updateProductDates", ALL, ADMINISTRATORS, update_all)
        .summary("Update all existing dates among some days by one merge patch")
        .timeout(BATCH_TIMEOUT)
        .patterns(&[&ITEM, &DATES, &UPDATE_DATES])
        .body_limit(MAX_FIELDS_BODY)
        .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(
            Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates?from=2025-12-25&to=2025-12-25")
                .body(r#"{"status":"closed","reason":"holiday"}"#),
        )
}

async fn update_all(
    cx: Context,
    Path(path): Path<ItemPath<Product>>,
    Query(query): Query<DaysQuery>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<FieldsPatch<ProductDateFields>>,
) -> Result<Cached<Json<UpdatedProductDates>>, Problem> {
    let days = days(query.from, query.to, at_parameter)?;
    let changed = edit_all(&cx, &UPDATE_DATES, &path.key, &tag, days, at_parameter, |_, dates| {
        let mut edits = Vec::new();
        for (day, loaded) in dates {
            let after = patch.apply(&loaded.date).map_err(Problem::internal)?;
            if after != loaded.date {
                edits.push((day, Edit::Update(loaded, after)));
            }
        }
        Ok(edits)
    })
    .await?;
    Ok(Cached(View::Administrator, Json(UpdatedProductDates { changed })))
}
