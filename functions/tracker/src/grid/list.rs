//! `GET` of a grid: which page, served by the table or by search, and how many issues there are in all.

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use table::search::SearchError;
use table::{Access, Position};
use utoipa::ToSchema;
use web::search::Total;
use web::{Answer, Fault, Limit, Order, Problem, Request};

use super::page::{Page, Source};
use super::{Column, Filter, Sort, Test, from_table, searched};
use crate::attributes::retype;
use crate::callers::at_least;
use crate::items::{Role, State, Status};
use crate::names::AttributeId;
use crate::options::OptionId;
use crate::project::{Attribute, Gates, Read, Schema};
use crate::projects::{self, ProjectPath};
use crate::values::Type;
use crate::views::{GridRow, values};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridQuery {
    /// `number`, `name`, `state`, or the id of an attribute.
    #[serde(default = "by_number")]
    #[schema(default = "number", max_length = 50)]
    sort: String,
    #[serde(default)]
    order: Order,
    /// At most 10 of `column:op:value`, all of which hold: `eq in lt lte gt gte prefix`, and `column:empty`,
    /// `column:notEmpty`. The values of `in` have commas between; in a value a comma or backslash has a backslash before it.
    #[serde(default)]
    filter: Vec<String>,
    /// The ids of the attributes to answer; all if absent.
    #[serde(default)]
    #[schema(nullable = false, max_items = 100)]
    columns: Option<Vec<AttributeId>>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
    cursor: Option<String>,
    /// Whether to count all issues that the filters let through.
    #[serde(default)]
    count: bool,
}

pub fn by_number() -> String {
    "number".to_owned()
}

/// What answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServedBy {
    Table,
    Search,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grid {
    items: Vec<GridRow>,
    served_by: ServedBy,
    /// Where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    total: Option<Counted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

/// How many issues there are; null while search, which counts them, does not answer.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum Counted {
    Known(Total),
    Unknown,
}

/// Where a walk is: what a cursor carries. A position, and not an item, so that it outlives every issue.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct At {
    pub segment: usize,
    /// In the table's index.
    pub position: Option<Position>,
    /// In a search.
    pub after: Option<Box<RawValue>>,
    /// The options of the column that is sorted by, in the order with which the walk began.
    pub order: Vec<OptionId>,
    /// What the question came to then: labels may have become other options', columns may have got another type.
    #[serde(default)]
    pub asked: u64,
}

/// What is asked of a project's grid.
#[derive(Debug)]
pub struct Question {
    pub sort: Sort,
    pub filters: Vec<Filter>,
}

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Viewer).await?;
    let query: GridQuery = request.query()?;
    let at: Option<At> = request.cursor(query.cursor.as_deref())?;
    let mut schema = projects::read(&request, tenant_id, project_id, Read::Eventual).await?;
    let question = match query.read(&schema, at.as_ref()) {
        Ok(question) => question,
        // What a read of some moments ago lacks may be there.
        Err(_) => {
            schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
            query.read(&schema, at.as_ref())?
        }
    };
    check_busy(&schema, Some(question.sort.column), &question.filters)?;
    let columns = columns(&schema, query.columns.as_deref()).map_err(unknown_column)?;
    let at = at.unwrap_or_else(|| question.begin(&schema));
    let source = question.source(&schema, &at);
    let served_by = match source {
        Source::Table(_) => ServedBy::Table,
        Source::Search(_) => ServedBy::Search,
    };
    let row = |id, issue: &crate::items::Issue| GridRow {
        id,
        number: issue.num,
        name: issue.name.clone(),
        state: issue.state,
        values: values(columns.iter().copied(), issue),
        import: issue.import,
    };
    let Page { rows, next } = source.page(request.access(), &schema, &question, at, query.limit.0, row).await?;
    let next_cursor = next.map(|at| request.next_cursor(&at)).transpose()?;
    let total = if query.count {
        Some(total(request.access(), &schema, &question.filters).await?.map_or(Counted::Unknown, Counted::Known))
    } else {
        None
    };
    Ok(Answer::ok(&Grid { items: rows, served_by, total, next_cursor }))
}

impl GridQuery {
    /// What is asked, if the project has all that it names, and it is what a walk that is here has asked.
    fn read(&self, schema: &Schema, at: Option<&At>) -> Result<Question, Problem> {
        let question = Question::read(schema, &self.sort, self.order, &self.filter).map_err(|faults| {
            let fault = |(name, detail)| Fault::parameter(name, detail);
            Problem::faults(faults.into_iter().map(fault).collect())
        })?;
        columns(schema, self.columns.as_deref()).map_err(unknown_column)?;
        if at.is_some_and(|at| at.asked != question.asked(schema)) {
            let detail = "is of a walk whose columns have changed since; begin without it";
            return Err(Problem::faults(vec![Fault::parameter("cursor", detail)]));
        }
        Ok(question)
    }
}

impl Question {
    /// What is asked, or what is wrong with `sort` and `filter`.
    pub fn read(
        schema: &Schema,
        sort: &str,
        order: Order,
        filter: &[String],
    ) -> Result<Self, Vec<(&'static str, String)>> {
        let column = Column::parse(sort, schema).map_err(|detail| ("sort", detail));
        // Values may hold commas, at which a query string's list was taken apart.
        let filters = match filter {
            [] => Ok(Vec::new()),
            filters => Filter::parse_all(&filters.join(","), schema).map_err(|detail| ("filter", detail)),
        };
        match (column, filters) {
            (Ok(column), Ok(filters)) => Ok(Self { sort: Sort { column, backward: order == Order::Desc }, filters }),
            (column, filters) => Err([column.err(), filters.err()].into_iter().flatten().collect()),
        }
    }

    /// A number that stands for what it comes to by this schema: a walk goes on only where that is the same. It is part
    /// of cursors, so a release that changes it ends the walks of its users.
    pub fn asked(&self, schema: &Schema) -> u64 {
        let sorted_as = self.sort.column.attribute(schema).map(|attribute| attribute.item.of);
        digest(sorted_as, &self.filters)
    }

    /// Where a walk begins.
    pub fn begin(&self, schema: &Schema) -> At {
        At { order: options(schema, self.sort.column), asked: self.asked(schema), ..At::default() }
    }

    /// What serves a walk that is here.
    pub fn source(&self, schema: &Schema, at: &At) -> Source {
        match from_table(schema, self.sort, &self.filters, &at.order) {
            Some(segments) => Source::Table(segments),
            None => Source::Search(searched::segments(schema, self.sort, &at.order)),
        }
    }
}

/// The first eight bytes of a SHA-256 of the JSON.
fn digest(sorted_as: Option<Type>, filters: &[Filter]) -> u64 {
    let text = json!([sorted_as, filters]).to_string();
    Sha256::digest(text).iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn unknown_column(_: usize) -> Problem {
    Problem::faults(vec![Fault::parameter("columns", "names an attribute that the project has not")])
}

/// The columns that are wanted, in the project's order; else the place of one that the project has not.
pub fn columns<'a>(schema: &'a Schema, wanted: Option<&[AttributeId]>) -> Result<Vec<&'a Attribute>, usize> {
    let Some(wanted) = wanted else { return Ok(schema.columns().collect()) };
    if let Some(place) = wanted.iter().position(|id| schema.column(*id).is_none()) {
        return Err(place);
    }
    Ok(schema.columns().filter(|attribute| wanted.contains(&attribute.id)).collect())
}

/// The options of a choice in the order of a walk: those that are retired last.
fn options(schema: &Schema, column: Column) -> Vec<OptionId> {
    let choice = column.attribute(schema).filter(|attribute| attribute.item.of == Type::Choice);
    choice.map(|attribute| attribute.options().all().iter().map(|option| option.id).collect()).unwrap_or_default()
}

/// While its rows are made an attribute cannot say who has no value, and while they are rewritten it has no order.
pub fn check_busy(schema: &Schema, sorted: Option<Column>, filters: &[Filter]) -> Result<(), Problem> {
    let busy = |column: Column, building: bool| {
        let status = column.attribute(schema).map(|attribute| attribute.item.status);
        status == Some(Status::Retyping) || building && status == Some(Status::Building)
    };
    let sorted = sorted.is_some_and(|column| busy(column, true));
    if sorted || filters.iter().any(|filter| busy(filter.column, filter.test == Test::Empty)) {
        return Err(retype::busy());
    }
    Ok(())
}

/// How many issues there are: exactly from the gates, or as many as search finds; none while it does not answer.
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
        return match searched::count(access, schema, filters).await {
            Ok(value) => Ok(Some(Total { value, exact: false })),
            Err(SearchError::Unavailable(_)) => Ok(None),
            Err(error) => Err(error.into()),
        };
    };
    let gates = Gates::read(access, schema.id).await?;
    let value = match state {
        None => gates.live(),
        Some(State::Open) => gates.open(),
        Some(State::Closed) => gates.live() - gates.open(),
    };
    Ok(Some(Total { value: u64::try_from(value).unwrap_or_default(), exact: true }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Comparison;

    /// Cursors of the release before this one hold these numbers.
    #[test]
    fn a_question_keeps_its_digest_over_releases() {
        let status = Column::Attribute(AttributeId::parse_id("xattrib-0001").unwrap());
        let all = [
            Filter { column: Column::Number, test: Test::Compare(Comparison::From, "7".to_owned()) },
            Filter { column: Column::Name, test: Test::Prefix("a".to_owned()) },
            Filter { column: Column::State, test: Test::Is(vec!["open".to_owned()]) },
            Filter { column: status, test: Test::NotEmpty },
        ];
        assert_eq!(
            (digest(None, &[]), digest(Some(Type::Int), &all)),
            (10_892_324_059_943_549_057, 7_159_595_551_771_445_444)
        );
    }
}
