//! `POST` of a product's dates: what is missing is made, the rest left alone.

use jiff::civil::Weekday;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::bulk::{Edit, at_member, carry_out, days};
use super::{DateStatus, ProductDate};
use crate::access::SEED_DATES;
use crate::days::Day;
use crate::entity::{ItemPath, Product};
use crate::view::View;

/// The dates to be made.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct NewProductDates {
    pub from: Day,
    /// At most 365 days later.
    pub to: Day,
    /// Only these days of each week.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 7, nullable = false)]
    pub weekdays: Option<Vec<DayOfWeek>>,
    #[schema(inline)]
    pub status: DateStatus,
    #[serde(default)]
    #[schema(max_length = 500, nullable = false)]
    pub reason: Option<String>,
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

/// How many dates were made, and how many were there.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeededProductDates {
    pub created: usize,
    pub existing: usize,
}

impl NewProductDates {
    fn wants(&self, day: Day) -> bool {
        self.weekdays.as_ref().is_none_or(|weekdays| weekdays.iter().any(|weekday| weekday.is(day.weekday())))
    }
}

impl DayOfWeek {
    fn is(self, weekday: Weekday) -> bool {
        self as i8 == weekday.to_monday_zero_offset()
    }
}

pub async fn seed(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<Product> = request.path()?;
    let seed: NewProductDates = request.json()?;
    let product = Product::at(&path.parts).ok_or_else(Problem::not_found)?;
    let all = days(seed.from, seed.to, at_member)?;
    let created = carry_out(&request, &SEED_DATES, &product, all, at_member, |left, dates| {
        let missing = left.each().filter(|day| seed.wants(*day) && !dates.contains_key(day));
        Ok(missing.map(|day| (day, Edit::Make(ProductDate::new(day, seed.status, seed.reason.clone())))).collect())
    });
    let created = created.await?;
    let wanted = all.each().filter(|day| seed.wants(*day)).count();
    Ok(View::Administrator
        .cached(Answer::ok(&SeededProductDates { created, existing: wanted.saturating_sub(created) })))
}
