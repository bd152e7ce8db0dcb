//! The ranges of the index that serve a grid, in the order of the walk.

use super::{Column, Filter, Range, Sort, Test};
use crate::items::State;
use crate::names::AttributeId;
use crate::options::OptionId;
use crate::project::Schema;
use crate::values::Type;

/// One range of one partition of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The partition: `project-{p}`, `state-{p}`, `value-{a}` or `blank-{a}`.
    pub partition: String,
    pub range: Range,
}

/// The segments of the index that serve a grid, in the order of the walk. None if only search can serve it. `order` has
/// the options of the sorted column.
pub fn from_table(schema: &Schema, sort: Sort, filters: &[Filter], order: &[OptionId]) -> Option<Vec<Segment>> {
    let mut segments = match sort.column {
        Column::Number => by_number(schema, filters)?,
        Column::State => by_state(schema, &on_itself(sort.column, filters)?)?,
        Column::Attribute(id) => {
            let of = schema.column(id)?.item.of;
            let tests = on_itself(sort.column, filters)?;
            return by_attribute(id, of, &tests, order, sort.backward);
        }
        Column::Name | Column::CreatedAt | Column::UpdatedAt => return None,
    };
    if sort.backward {
        segments.reverse();
    }
    Some(segments)
}

fn by_number(schema: &Schema, filters: &[Filter]) -> Option<Vec<Segment>> {
    if let [Filter { column, test }] = filters {
        match (column, test) {
            (Column::State, Test::Is(states)) => return exactly_one(states).map(|key| vec![state(schema, key)]),
            (Column::Attribute(id), Test::Is(keys)) => return exactly_one(keys).map(|key| vec![value(*id, key)]),
            (Column::Attribute(id), Test::Empty) => return Some(vec![blank(*id)]),
            (Column::Number, Test::Is(numbers)) => {
                let segment = |number: &String| of_project(schema, Range::Between(number.clone(), number.clone()));
                return Some(numbers.iter().map(segment).collect());
            }
            _ => {}
        }
    }
    let tests = on_itself(Column::Number, filters)?;
    Some(Range::of_numbers(&tests)?.map(|range| of_project(schema, range)).into_iter().collect())
}

fn by_state(schema: &Schema, tests: &[&Test]) -> Option<Vec<Segment>> {
    let states = State::ALL.into_iter().map(State::as_str);
    match tests {
        [] => Some(states.map(|key| state(schema, key)).collect()),
        [Test::Is(keys)] => {
            let asked = states.filter(|key| keys.iter().any(|asked| asked == key));
            Some(asked.map(|key| state(schema, key)).collect())
        }
        _ => None,
    }
}

fn by_attribute(
    id: AttributeId,
    of: Type,
    tests: &[&Test],
    order: &[OptionId],
    backward: bool,
) -> Option<Vec<Segment>> {
    let all_empty = tests.iter().all(|test| **test == Test::Empty);
    let mut values: Vec<Segment> = match (of, tests) {
        (_, [_, ..]) if all_empty => Vec::new(),
        (Type::Choice, tests) => {
            let holds = |key: &String, test: &Test| match test {
                Test::Is(keys) => keys.contains(key),
                test => *test == Test::NotEmpty,
            };
            let order = order.iter().map(OptionId::to_string);
            order.filter(|key| tests.iter().all(|test| holds(key, test))).map(|key| value(id, &key)).collect()
        }
        (_, [Test::Is(keys)]) => keys.iter().map(|key| value(id, key)).collect(),
        (_, tests) => {
            let segment = |range| Segment { partition: format!("value-{id}"), range };
            Range::of(tests)?.map(segment).into_iter().collect()
        }
    };
    if backward {
        values.reverse();
    }
    if all_empty {
        values.push(blank(id));
    }
    Some(values)
}

/// The tests of this column. None if a filter is on another column.
fn on_itself(column: Column, filters: &[Filter]) -> Option<Vec<&Test>> {
    filters.iter().map(|filter| (filter.column == column).then_some(&filter.test)).collect()
}

fn exactly_one(keys: &[String]) -> Option<&str> {
    match keys {
        [key] => Some(key),
        _ => None,
    }
}

fn of_project(schema: &Schema, range: Range) -> Segment {
    Segment { partition: schema.id.id(), range }
}

fn state(schema: &Schema, key: &str) -> Segment {
    Segment { partition: format!("state-{}", schema.id), range: Range::exactly(key) }
}

fn value(id: AttributeId, key: &str) -> Segment {
    Segment { partition: format!("value-{id}"), range: Range::exactly(key) }
}

fn blank(id: AttributeId) -> Segment {
    Segment { partition: format!("blank-{id}"), range: Range::All }
}
