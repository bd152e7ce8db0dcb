//! Grids that the index cannot serve: searches in the documents of issues, whose keys compare as those of the index.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::Access;
use table::search::SearchError;
use web::search::{One, SearchResponse};

use super::query::ParsedQuery;
use super::{Column, Comparison, Filter, Sort, Test};
use crate::access::{ALIAS, SEARCH};
use crate::issues::MAX_NUMBER;
use crate::items::State;
use crate::names::IssueId;
use crate::options::OptionId;
use crate::project::Schema;
use crate::values::{Type, number_of};

/// The issues that pass one more test of the sorted column, in the order of that column or of numbers alone.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSegment {
    only: Option<Filter>,
    by_value: bool,
}

/// The segments of a walk by search. Engines sort missing values differently, so these are a segment of their own.
pub fn segments(schema: &Schema, sort: Sort, order: &[OptionId]) -> Vec<SearchSegment> {
    let column = sort.column;
    let only = |test: Test| Some(Filter { column, test });
    let equal = |key: String| SearchSegment { only: only(Test::Is(vec![key])), by_value: false };
    let of = column.attribute(schema).map(|attribute| attribute.item.of);
    let mut segments: Vec<SearchSegment> = match of {
        Some(Type::Choice) => order.iter().map(|option| equal(option.to_string())).collect(),
        Some(_) => vec![SearchSegment { only: only(Test::NotEmpty), by_value: true }],
        None if column == Column::State => State::ALL.iter().map(|state| equal(state.as_str().to_owned())).collect(),
        None => vec![SearchSegment { only: None, by_value: true }],
    };
    if sort.backward {
        segments.reverse();
    }
    if of.is_some() {
        segments.push(SearchSegment { only: only(Test::Empty), by_value: false });
    }
    segments
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Fields {
    pk: One<String>,
}

/// Up to `limit` issues of a segment, each with the sort values after which a search continues, and whether more follow.
pub async fn hits(
    access: &Access,
    schema: &Schema,
    query: &ParsedQuery,
    segment: &SearchSegment,
    after: Option<&RawValue>,
    limit: usize,
) -> Result<(Vec<(IssueId, Option<Box<RawValue>>)>, bool), SearchError> {
    let filters = query.filters.iter().chain(&segment.only);
    let mut request = json!({
        "query": { "bool": { "filter": clauses(schema, filters) } },
        "sort": sort(schema, query.sort, segment),
        "size": limit + 1,
        "_source": false,
        "fields": ["pk"],
        "track_total_hits": 1,
    });
    if let (Some(after), Some(request)) = (after, request.as_object_mut()) {
        request.insert("search_after".to_owned(), json!(after));
    }
    let response: SearchResponse<Fields> = access.search(&SEARCH, ALIAS, &request).await?;
    let mut hits = response.hits();
    let more = hits.len() > limit;
    hits.truncate(limit);
    let issue = |hit: web::search::Hit<Fields>| Some((IssueId::parse_id(&hit.fields.pk.get()?)?, hit.sort));
    Ok((hits.into_iter().filter_map(issue).collect(), more))
}

/// The number of documents that match all filters.
pub async fn count(access: &Access, schema: &Schema, filters: &[Filter]) -> Result<u64, SearchError> {
    let request = json!({
        "query": { "bool": { "filter": clauses(schema, filters.iter()) } },
        "size": 0,
        "track_total_hits": true,
    });
    let response: SearchResponse<Fields> = access.search(&SEARCH, ALIAS, &request).await?;
    Ok(response.total().value)
}

/// The sort by the column, then by numbers. Two issues have one number only until search sees a renumbering; then the key
/// decides.
fn sort(schema: &Schema, sort: Sort, segment: &SearchSegment) -> Value {
    let direction = if sort.backward { "desc" } else { "asc" };
    let mut fields = vec![];
    if segment.by_value && sort.column != Column::Number {
        fields.push(json!({ field(schema, sort.column): direction }));
    }
    fields.push(json!({ "number": direction }));
    fields.push(json!({ "pk": direction }));
    Value::Array(fields)
}

/// The filters of a search, first of all the tenant and the project.
pub fn clauses<'a>(schema: &Schema, filters: impl Iterator<Item = &'a Filter>) -> Vec<Value> {
    let own = [
        json!({ "term": { "entity": "issue" } }),
        json!({ "term": { "tenantId": schema.tenant.id() } }),
        json!({ "term": { "projectId": schema.id.id() } }),
    ];
    own.into_iter().chain(filters.map(|filter| clause(schema, filter))).collect()
}

pub fn clause(schema: &Schema, Filter { column, test }: &Filter) -> Value {
    let field = field(schema, *column);
    let operand = |key: &String| match column {
        Column::Number => json!(issue_number(key)),
        _ => json!(key),
    };
    match test {
        Test::Is(keys) => json!({ "terms": { field: keys.iter().map(operand).collect::<Vec<_>>() } }),
        Test::Prefix(prefix) => json!({ "prefix": { field: prefix } }),
        Test::Empty => json!({ "bool": { "must_not": { "exists": { "field": field } } } }),
        Test::NotEmpty => json!({ "exists": { "field": field } }),
        Test::Compare(comparison, key) => {
            let bound = match comparison {
                Comparison::Below => "lt",
                Comparison::UpTo => "lte",
                Comparison::Above => "gt",
                Comparison::From => "gte",
            };
            json!({ "range": { field: { bound: operand(key) } } })
        }
    }
}

/// The number of a key, at most the first that no issue has. A key without one, which no filter has, matches nothing.
fn issue_number(key: &str) -> u64 {
    let none = MAX_NUMBER + 1;
    number_of(key).map_or_else(
        || {
            table::never!("a filter by the number {key:?}");
            none
        },
        |number| number.min(none),
    )
}

/// The field of the documents that holds a column.
pub fn field(schema: &Schema, column: Column) -> String {
    match column {
        Column::Number => "number".to_owned(),
        Column::Name => "nameKey".to_owned(),
        Column::State => "state".to_owned(),
        Column::CreatedAt => "createdAt".to_owned(),
        Column::UpdatedAt => "updatedAt".to_owned(),
        Column::Attribute(_) => match column.attribute(schema) {
            Some(attribute) => format!("k{:02}", attribute.item.slot),
            None => {
                // No document has this field.
                table::never!("a query by {column}, which is no attribute of {}", schema.id.id());
                "none".to_owned()
            }
        },
    }
}
