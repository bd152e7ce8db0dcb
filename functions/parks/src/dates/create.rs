//! `POST` of the dates of a product: creates the missing ones among some days.

use jiff::civil::Weekday;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Context, IfMatch, Json, Path, Problem, Route, Sample, problem};

use super::batch::{BATCH_TIMEOUT, Edit, at_member, days, edit_all};
use super::{ALL, DateStatus, ProductDate};
use crate::access::{CREATE_DATES, DATES, ITEM};
use crate::days::Day;
use crate::entity::{ItemPath, Product};
use crate::view::{ADMINISTRATORS, Cached, View};

/// The dates to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct NewProductDates {
    from: Day,
    /// At most 365 days later.
    to: Day,
    /// Only these days of each week.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 7, nullable = false)]
    weekdays: Option<Vec<DayOfWeek>>,
    #[schema(inline)]
    status: DateStatus,
    #[serde(default)]
    #[schema(max_length = 500, nullable = false)]
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DayOfWeek {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// The number of dates that were created, and of those that existed.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedProductDates {
    created: usize,
    existing: usize,
}

impl NewProductDates {
    fn includes(&self, day: Day) -> bool {
        self.weekdays.as_ref().is_none_or(|weekdays| weekdays.iter().any(|weekday| weekday.is(day.weekday())))
    }
}

impl DayOfWeek {
    fn is(self, weekday: Weekday) -> bool {
        self as i8 == weekday.to_monday_zero_offset()
    }
}

pub fn route() -> Route {
    Route::post("createProductDates", ALL, ADMINISTRATORS, create)
        .summary("Create the missing dates among some days; existing dates stay")
        .timeout(BATCH_TIMEOUT)
        .patterns(&[&ITEM, &DATES, &CREATE_DATES])
        .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(
            Sample::new("/parks/products/bcparks_1/dayuse/1/1/dates")
                .body(r#"{"from":"2025-12-01","to":"2026-01-31","status":"open"}"#),
        )
}

async fn create(
    cx: Context,
    Path(path): Path<ItemPath<Product>>,
    tag: IfMatch,
    Json(new): Json<NewProductDates>,
) -> Result<Cached<Json<CreatedProductDates>>, Problem> {
    let all = days(new.from, new.to, at_member)?;
    let created = edit_all(&cx, &CREATE_DATES, &path.key, &tag, all, at_member, |left, dates| {
        let missing = left.each().filter(|day| new.includes(*day) && !dates.contains_key(day));
        Ok(missing.map(|day| (day, Edit::Create(ProductDate::new(day, new.status, new.reason.clone())))).collect())
    })
    .await?;
    let included = all.each().filter(|day| new.includes(*day)).count();
    let existing = included.saturating_sub(created);
    Ok(Cached(View::Administrator, Json(CreatedProductDates { created, existing })))
}
