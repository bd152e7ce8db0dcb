//! `/parks/products/{collection}/{activityType}/{activity}/{number}/dates`: the dates of a product.

use std::time::Duration;

use web::{Page, Route, Sample, problem};

use super::{ADMINISTRATORS, BOTH};
use crate::access::{CHANGE_DATE, CHANGE_DATES, DATE, DATES, DELETE_DATE, DELETE_DATES, ITEM, SEED_DATES};
use crate::change::Change;
use crate::dates::{
    ChangedProductDates, DateQuery, DatesQuery, DaysQuery, DeletedProductDates, NewProductDates, OfDate,
    ProductDateFields, ProductDateView, SeededProductDates, change, change_one, delete, delete_one, get, list, seed,
};
use crate::entity::{ItemPath, Product};

const DATES_OF: &str = "/parks/products/{collection}/{activityType}/{activity}/{number}/dates";
const ONE_DATE: &str = "/parks/products/{collection}/{activityType}/{activity}/{number}/dates/{date}";

/// A year takes four transactions, each of which may have to wait for others.
const MANY_DAYS: Duration = Duration::from_secs(29);

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listProductDates", DATES_OF, BOTH, list)
            .summary("The dates of a product in order")
            .patterns(&[&ITEM, &DATES])
            .path::<ItemPath<Product>>()
            .query::<DatesQuery>()
            .answers::<Page<ProductDateView>>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates?from=2025-12-01&to=2025-12-31")),
        Route::post("seedProductDates", DATES_OF, ADMINISTRATORS, seed)
            .summary("Makes the dates that are missing among some days, and leaves the others alone")
            .timeout(MANY_DAYS)
            .patterns(&[&ITEM, &DATES, &SEED_DATES])
            .path::<ItemPath<Product>>()
            .takes::<NewProductDates>()
            .if_match()
            .answers::<SeededProductDates>(200)
            .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
            .sample(
                Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates")
                    .body(r#"{"from":"2025-12-01","to":"2026-01-31","status":"open"}"#),
            ),
        Route::patch("changeProductDates", DATES_OF, ADMINISTRATORS, change)
            .summary("One merge patch for all dates that exist among some days")
            .timeout(MANY_DAYS)
            .patterns(&[&ITEM, &DATES, &CHANGE_DATES])
            .path::<ItemPath<Product>>()
            .query::<DaysQuery>()
            .takes_patch::<Change<ProductDateFields>>()
            .if_match()
            .answers::<ChangedProductDates>(200)
            .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
            .sample(
                Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates?from=2025-12-25&to=2025-12-25")
                    .body(r#"{"status":"closed","reason":"holiday"}"#),
            ),
        Route::delete("deleteProductDates", DATES_OF, ADMINISTRATORS, delete)
            .summary("Deletes all dates that exist among some days")
            .timeout(MANY_DAYS)
            .patterns(&[&ITEM, &DATES, &DELETE_DATES])
            .path::<ItemPath<Product>>()
            .query::<DaysQuery>()
            .if_match()
            .answers::<DeletedProductDates>(200)
            .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates?from=2026-01-01&to=2026-01-31")),
        Route::get("getProductDate", ONE_DATE, BOTH, get)
            .summary("One date")
            .patterns(&[&ITEM, &DATE])
            .path::<ItemPath<Product, OfDate>>()
            .query::<DateQuery>()
            .if_none_match()
            .answers::<ProductDateView>(200)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates/2025-12-31")),
        Route::patch("updateProductDate", ONE_DATE, ADMINISTRATORS, change_one)
            .summary("Changes what the merge patch names")
            .patterns(&[&ITEM, &DATE, &CHANGE_DATE])
            .path::<ItemPath<Product, OfDate>>()
            .takes_patch::<Change<ProductDateFields>>()
            .if_match()
            .tagged()
            .answers::<ProductDateView>(200)
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(
                Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates/2025-12-31")
                    .body(r#"{"status":"closed","reason":"wildfire"}"#),
            ),
        Route::delete("deleteProductDate", ONE_DATE, ADMINISTRATORS, delete_one)
            .summary("Deletes one date")
            .patterns(&[&ITEM, &DATE, &DELETE_DATE])
            .path::<ItemPath<Product, OfDate>>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates/2025-12-31")),
    ]
}
