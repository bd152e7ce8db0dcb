//! `GET /tracker/tenants/{tenantId}/projects/{projectId}/grid`: a page from the table or from search, and the number of
//! issues.

use serde::{Deserialize, Serialize};
use table::Access;
use table::search::SearchError;
use utoipa::ToSchema;
use web::search::Total;
use web::{Context, Fault, Json, Limit, Order, Path, Problem, Query, Route, Sample, problem};

use super::groups::{self, Groups};
use super::page::{Page, Source};
use super::query::{Checkpoint, ParsedQuery, by_number, check_busy_column, columns};
use super::{Column, Filter, Test, count};
use crate::access::{ENTRIES, ISSUES, MEMBERSHIP, PROJECT, SEARCH, TOTALS};
use crate::attributes::ATTRIBUTE_BUSY;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Issue, State};
use crate::names::AttributeId;
use crate::project::{Consistency, Gates, Schema};
use crate::projects::ProjectPath;
use crate::views::GridRow;

/// The query string as sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridQuery {
    /// `number`, `name`, `state`, `createdAt`, `updatedAt`, or the id of an attribute.
    #[serde(default = "by_number")]
    #[schema(default = "number", max_length = 50)]
    sort: String,
    #[serde(default)]
    order: Order,
    /// At most 10 filters `column:op:value`, all of which must match: `eq in lt lte gt gte prefix`, and `column:empty`,
    /// `column:notEmpty`. Commas separate the values of `in`; a comma or backslash in a value is escaped with a backslash.
    #[serde(default)]
    filter: Vec<String>,
    /// The ids of the attributes in the response; all if absent.
    #[schema(max_items = 100)]
    columns: Option<Vec<AttributeId>>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// Whether to count all issues that match the filters.
    #[serde(default)]
    count: bool,
    /// `state`, or the id of an attribute that is no text: also counts all issues that match the filters by their value in
    /// this column.
    #[schema(min_length = 1, max_length = 50)]
    group_by: Option<String>,
}

/// The engine that a page comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServedBy {
    Table,
    Search,
}

/// A page of the grid.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grid {
    items: Vec<GridRow>,
    served_by: ServedBy,
    /// Only with `count=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Counted>,
    /// Only with `groupBy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Grouped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The number of issues; null while search, which counts them, is unavailable.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Counted {
    Known(Total),
    Unknown,
}

/// The numbers of issues by value; null while search is unavailable.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Grouped {
    Known(Groups),
    Unknown,
}

pub fn route() -> Route {
    Route::get("listIssues", "/tracker/tenants/{tenantId}/projects/{projectId}/grid", SIGNED_IN, list)
        .summary("List issues with their values, sorted and filtered by any column")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ENTRIES, &ISSUES, &TOTALS, &SEARCH])
        .problems(&[problem::NOT_FOUND, ATTRIBUTE_BUSY, problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/grid?sort=xattrib-3fe6&count=true"))
}

async fn list(
    cx: Context,
    Path(path): Path<ProjectPath>,
    Query(query): Query<GridQuery>,
) -> Result<Json<Grid>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?;
    let checkpoint: Option<Checkpoint> = cx.cursor(query.cursor.as_deref())?;
    let mut schema = path.load(&cx, Consistency::Eventual).await?;
    let (parsed, grouped_by) = match query.parse(&schema, checkpoint.as_ref()) {
        Ok(parsed) => parsed,
        // An eventually consistent read may miss a new attribute or option.
        Err(_) => {
            schema = path.load(&cx, Consistency::Strong).await?;
            query.parse(&schema, checkpoint.as_ref())?
        }
    };
    parsed.check_busy(&schema)?;
    if let Some(column) = grouped_by {
        check_busy_column(&schema, column)?;
    }
    let columns = columns(&schema, query.columns.as_deref()).map_err(unknown_column)?;
    let checkpoint = checkpoint.unwrap_or_else(|| parsed.start_for_cursors(&schema));
    let source = Source::new(&schema, &parsed, &checkpoint);
    let served_by = match source {
        Source::Table(_) => ServedBy::Table,
        Source::Search(_) => ServedBy::Search,
    };
    let row = |id, rev, issue: &Issue| GridRow::new(id, rev, issue, columns.iter().copied());
    let Page { rows, next } = source.page(cx.access(), &schema, &parsed, checkpoint, query.limit.0, row).await?;
    let next_cursor = cx.cursor_to(next)?;
    let total = if query.count {
        Some(total(cx.access(), &schema, &parsed.filters).await?.map_or(Counted::Unknown, Counted::Known))
    } else {
        None
    };
    let groups = match grouped_by {
        Some(column) => match Groups::load(cx.access(), &schema, column, &parsed.filters).await {
            Ok(groups) => Some(Grouped::Known(groups)),
            Err(SearchError::Unavailable(_)) => Some(Grouped::Unknown),
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    Ok(Json(Grid { items: rows, served_by, total, groups, next_cursor }))
}

impl GridQuery {
    /// Parses the query and the column of `groupBy` by the project's attributes. A cursor must come from a query with the
    /// same meaning.
    fn parse(
        &self,
        schema: &Schema,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<(ParsedQuery, Option<Column>), Problem> {
        let parsed = ParsedQuery::of_parameters(schema, &self.sort, self.order, &self.filter);
        let parsed = parsed.map_err(Problem::faults)?;
        columns(schema, self.columns.as_deref()).map_err(unknown_column)?;
        let grouped_by = self.group_by.as_deref().map(|name| groups::parse(name, schema)).transpose();
        let grouped_by = grouped_by.map_err(|detail| Problem::faults(vec![Fault::parameter("groupBy", detail)]))?;
        if checkpoint.is_some_and(|checkpoint| checkpoint.digest != parsed.digest(schema)) {
            let detail = "belongs to columns that have changed since; start again without it";
            return Err(Problem::faults(vec![Fault::parameter("cursor", detail)]));
        }
        Ok((parsed, grouped_by))
    }
}

fn unknown_column(indexes: Vec<usize>) -> Problem {
    let fault = |index| Fault::element("columns", index, "names an attribute that the project does not have");
    Problem::faults(indexes.into_iter().map(fault).collect())
}

/// The number of issues that match: exact from the gates where they count it, otherwise as search counts it. None while
/// search is unavailable.
pub async fn total(access: &Access, schema: &Schema, filters: &[Filter]) -> Result<Option<Total>, Problem> {
    let state = match filters {
        [] => Some(None),
        [Filter { column: Column::State, test: Test::Is(states) }] => match states.as_slice() {
            [state] => State::parse(state).map(Some),
            [_, _] => Some(None),
            _ => None,
        },
        _ => None,
    };
    let Some(state) = state else {
        return match count(access, schema, filters).await {
            Ok(value) => Ok(Some(Total { value, exact: false })),
            Err(SearchError::Unavailable(_)) => Ok(None),
            Err(error) => Err(error.into()),
        };
    };
    let gates = Gates::load(access, schema.id).await?;
    let value = match state {
        None => gates.live(),
        Some(State::Open) => gates.open(),
        Some(State::Closed) => gates.live() - gates.open(),
    };
    // Each write chooses a gate, so a sum of gates that were read one after the other may be negative for a moment.
    Ok(Some(Total { value: u64::try_from(value).unwrap_or(0), exact: true }))
}
