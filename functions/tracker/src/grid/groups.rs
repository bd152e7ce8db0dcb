//! The issues that match a grid's filters, counted by their values in one column.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::json;
use table::Access;
use table::ordered::parse_number;
use table::search::SearchError;
use utoipa::ToSchema;
use web::search::{Count, SearchResponse};

use super::searched::{Fields, clauses, field};
use super::{Column, Filter};
use crate::access::{ALIAS, SEARCH};
use crate::items::State;
use crate::options::ChoiceOption;
use crate::project::Schema;
use crate::values::Type;
use crate::views::ValueView;

/// Groups in a response; a choice never has more options.
const MAX_GROUPS: u16 = 1000;

/// The numbers of issues by their values in a column, as search counts them.
#[derive(Debug, Serialize, ToSchema)]
pub struct Groups {
    /// Options and states in their order, other values by descending count.
    values: Vec<Group>,
    /// The issues without a value.
    without: u64,
    /// The issues of further values, if there are more than 1000.
    others: u64,
}

/// A value with the number of issues that have it.
#[derive(Debug, Serialize, ToSchema)]
struct Group {
    value: ValueView,
    count: u64,
}

/// Parses the name of a column whose values group issues. The error completes "must be ...".
pub fn parse(name: &str, schema: &Schema) -> Result<Column, String> {
    let column = Column::parse(name, schema).ok();
    let groups = column.filter(|column| match column.attribute(schema).map(|attribute| attribute.item.of) {
        // Search knows a text only by its key, which has lost its case.
        Some(Type::Text) => false,
        Some(_) => true,
        None => *column == Column::State,
    });
    groups.ok_or_else(|| "must be `state`, or the id of an attribute that is no text".to_owned())
}

impl Groups {
    pub async fn load(
        access: &Access,
        schema: &Schema,
        column: Column,
        filters: &[Filter],
    ) -> Result<Self, SearchError> {
        let field = field(schema, column);
        let by_value = [json!({ "_count": "desc" }), json!({ "_key": "asc" })];
        let request = json!({
            "query": { "bool": { "filter": clauses(schema, filters.iter()) } },
            "size": 0,
            "track_total_hits": true,
            "aggs": {
                "groups": {
                    "filter": { "match_all": {} },
                    "aggs": { "values": { "terms": { "field": field, "size": MAX_GROUPS, "order": by_value } } },
                },
                // Each of these documents has the same entity, so its count is theirs.
                "without": {
                    "filter": { "bool": { "must_not": { "exists": { "field": field } } } },
                    "aggs": { "values": { "terms": { "field": "entity", "size": 1 } } },
                },
            },
        });
        let mut response: SearchResponse<Fields> = access.search(&SEARCH, ALIAS, &request).await?;
        let without = response.take_count("without").iter().map(|counted| counted.count).sum();
        let counts = response.take_count("groups");
        let counted: u64 = without + counts.iter().map(|counted| counted.count).sum::<u64>();
        let others = response.total().value.saturating_sub(counted);
        Ok(Self { values: groups(schema, column, counts), without, others })
    }
}

/// The groups in their order, each with its value as issues show it.
fn groups(schema: &Schema, column: Column, counts: Vec<Count>) -> Vec<Group> {
    let Some(attribute) = column.attribute(schema) else {
        return in_order(counts, State::ALL.map(|state| (state.as_str().to_owned(), text(state.as_str()))));
    };
    match attribute.item.of {
        Type::Choice => {
            let value = |option: &ChoiceOption| {
                let id = option.id.to_string();
                (id.clone(), ValueView::Choice { id, label: option.label.clone() })
            };
            in_order(counts, attribute.options().sorted().into_iter().map(value))
        }
        Type::Int | Type::Decimal => {
            let number = |key: &str| parse_number(key).unwrap_or_else(|| key.to_owned());
            counts.into_iter().map(|Count { value, count }| Group { value: text(&number(&value)), count }).collect()
        }
        Type::Date | Type::DateTime | Type::Text => {
            counts.into_iter().map(|Count { value, count }| Group { value: text(&value), count }).collect()
        }
    }
}

/// The counted ones of these values, in their order.
fn in_order(counts: Vec<Count>, values: impl IntoIterator<Item = (String, ValueView)>) -> Vec<Group> {
    let mut counts: HashMap<String, u64> = counts.into_iter().map(|Count { value, count }| (value, count)).collect();
    values.into_iter().filter_map(|(key, value)| Some(Group { value, count: counts.remove(&key)? })).collect()
}

fn text(value: &str) -> ValueView {
    ValueView::Text(value.to_owned())
}
