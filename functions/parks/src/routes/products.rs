//! `/parks/products/{collection}/{activityType}/{activity}`: the products of an activity.

use web::{Route, Sample, problem};

use super::each_kind::{create, delete, get, list, restore, update};
use crate::access::{ALL_RELATIONSHIPS, CHANGE_PRODUCT, CREATE_ITEM, DATES, ITEM, NEXT_NUMBER};
use crate::dates::DATES_OUTSIDE;
use crate::entity::Product;
use crate::structure::BUSY;

/// A sample of a new product.
const NEW: &str = r#"{"displayName":"Day pass","rangeStart":"2025-12-01","rangeEnd":"2026-11-30","isVisible":true}"#;

pub fn routes() -> Vec<Route> {
    vec![
        list::<Product>("listProducts")
            .summary("The products of an activity by number")
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1")),
        create::<Product>("createProduct")
            .patterns(&[&NEXT_NUMBER, &CREATE_ITEM])
            .summary("Makes a product with the next number of its activity")
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1").body(NEW)),
        get::<Product>("getProduct")
            .summary("One product with the days on which it is open")
            .patterns(&[&ITEM])
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1")),
        update::<Product>("updateProduct")
            .summary("Changes what the merge patch names; no date may be left outside the range")
            .patterns(&[&ITEM, &CHANGE_PRODUCT, &ALL_RELATIONSHIPS, &DATES])
            .problems(&[problem::NOT_FOUND, DATES_OUTSIDE, BUSY, problem::CONFLICT])
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1").body(r#"{"maxStayDays":3}"#)),
        delete::<Product>("deleteProduct")
            .summary(
                "Deletes a product; `cascade=true` also deletes its relationships; its dates return with it when it is \
                 restored",
            )
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1")),
        restore::<Product>("restoreProduct")
            .summary("Brings a deleted product back as it was, with its dates")
            .sample(Sample::new("/parks/products/bcparks_1/dayuse/1/1/restore")),
    ]
}
