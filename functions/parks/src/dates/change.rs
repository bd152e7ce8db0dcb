//! `PATCH` and `DELETE` of the dates of a product among some days.

use serde::Serialize;
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::ProductDateFields;
use super::bulk::{DaysQuery, Edit, at_parameter, carry_out, days};
use crate::access::{CHANGE_DATES, DELETE_DATES};
use crate::change::Change;
use crate::entity::{ItemPath, Product};
use crate::view::View;

/// How many dates the patch has changed; those that were so already are not among them.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedProductDates {
    pub changed: usize,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedProductDates {
    pub deleted: usize,
}

pub async fn change(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<Product> = request.path()?;
    let change: Change<ProductDateFields> = request.json()?;
    let DaysQuery { from, to } = request.query()?;
    let product = Product::at(&path.parts).ok_or_else(Problem::not_found)?;
    let days = days(from, to, at_parameter)?;
    let changed = carry_out(&request, &CHANGE_DATES, &product, days, at_parameter, |_, dates| {
        let mut edits = Vec::new();
        for (day, read) in dates {
            let after = change.apply(&read.date).map_err(Problem::internal)?;
            if after != read.date {
                edits.push((day, Edit::Change(read, after)));
            }
        }
        Ok(edits)
    });
    let changed = changed.await?;
    Ok(View::Administrator.cached(Answer::ok(&ChangedProductDates { changed })))
}

pub async fn delete(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<Product> = request.path()?;
    let DaysQuery { from, to } = request.query()?;
    let product = Product::at(&path.parts).ok_or_else(Problem::not_found)?;
    let days = days(from, to, at_parameter)?;
    let deleted = carry_out(&request, &DELETE_DATES, &product, days, at_parameter, |_, dates| {
        Ok(dates.into_iter().map(|(day, read)| (day, Edit::Delete(read))).collect())
    });
    let deleted = deleted.await?;
    Ok(View::Administrator.cached(Answer::ok(&DeletedProductDates { deleted })))
}
