//! The sort and the filters of a grid, and the checkpoint of a walk through it.

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use table::Position;
use web::{Fault, Order, Problem};

use super::{Column, Filter, FilterFault, Sort, Test};
use crate::attributes::busy;
use crate::items::Status;
use crate::names::AttributeId;
use crate::options::{ChoiceOption, OptionId};
use crate::project::{Attribute, Schema};
use crate::values::Type;

/// The sort and the filters of a grid after validation.
#[derive(Debug)]
pub struct ParsedQuery {
    pub sort: Sort,
    pub filters: Vec<Filter>,
}

/// The checkpoint of a walk, as cursors carry it. It names a position and no item, so it stays valid after any deletion.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Checkpoint {
    pub segment: usize,
    /// In the table's index.
    pub position: Option<Position>,
    /// The sort values of a search.
    pub after: Option<Box<RawValue>>,
    /// The options of the sorted column in their order at the start of the walk; in a cursor without the retired ones,
    /// of which there may be hundreds: API Gateway takes 10 240 bytes of a request line and header values.
    pub order: Vec<OptionId>,
    /// In a cursor, the last of all options at the start of the walk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<OptionId>,
    /// The digest of the query at the start of the walk. Labels may name other options since, and columns may have another
    /// type.
    #[serde(default, rename = "asked")]
    pub digest: u64,
}

impl Checkpoint {
    /// The options of the sorted column in the order of the walk, those that were retired at its start last.
    pub fn options(&self, schema: &Schema, column: Column) -> Vec<OptionId> {
        let walked = |id: &OptionId| self.last.is_some_and(|last| *id <= last) && !self.order.contains(id);
        let mut retired: Vec<OptionId> =
            options(schema, column).into_iter().map(|option| option.id).filter(walked).collect();
        // The order of retired options may change during the walk, but not their ids.
        retired.sort_unstable();
        [self.order.clone(), retired].concat()
    }
}

impl ParsedQuery {
    /// Parses the sort and the filters of a query string.
    pub fn of_parameters(schema: &Schema, sort: &str, order: Order, filter: &[String]) -> Result<Self, Vec<Fault>> {
        let column = Column::parse(sort, schema).map_err(|detail| Fault::parameter("sort", detail));
        let filters = Filter::of_parameter(filter, schema);
        Self::of(column, order, filters.map_err(|faults| faults.into_iter().map(FilterFault::of_parameter).collect()))
    }

    /// Parses the sort and the filters of a body.
    pub fn of_body(schema: &Schema, sort: &str, order: Order, filter: &[String]) -> Result<Self, Vec<Fault>> {
        let column = Column::parse(sort, schema).map_err(|detail| Fault::pointer("/sort", detail));
        let filters = Filter::of_list(filter, schema);
        Self::of(column, order, filters.map_err(|faults| faults.into_iter().map(FilterFault::of_list).collect()))
    }

    fn of(
        column: Result<Column, Fault>,
        order: Order,
        filters: Result<Vec<Filter>, Vec<Fault>>,
    ) -> Result<Self, Vec<Fault>> {
        match (column, filters) {
            (Ok(column), Ok(filters)) => Ok(Self { sort: Sort { column, backward: order == Order::Desc }, filters }),
            (column, filters) => Err(column.err().into_iter().chain(filters.err().into_iter().flatten()).collect()),
        }
    }

    /// The digest of the query's meaning by this schema. A walk continues only while it stays the same. Cursors contain it,
    /// so a release that changes it ends the walks of its users.
    pub fn digest(&self, schema: &Schema) -> u64 {
        let sorted_as = self.sort.column.attribute(schema).map(|attribute| attribute.item.of);
        digest(sorted_as, &self.filters)
    }

    /// The checkpoint at the start of a walk. It lists all options, so that workers of the previous release walk
    /// through the retired ones, too.
    pub fn start(&self, schema: &Schema) -> Checkpoint {
        let order = options(schema, self.sort.column).into_iter().map(|option| option.id).collect();
        Checkpoint { order, digest: self.digest(schema), ..Checkpoint::default() }
    }

    /// [`ParsedQuery::start`] for a walk that cursors continue.
    pub fn start_for_cursors(&self, schema: &Schema) -> Checkpoint {
        let start = self.start(schema);
        let last = start.order.iter().max().copied();
        let live = options(schema, self.sort.column).into_iter().filter(|option| !option.retired);
        Checkpoint { order: live.map(|option| option.id).collect(), last, ..start }
    }

    /// 409 while a job writes the rows of a column on which the query depends: until its rows exist, an attribute cannot
    /// list the issues without a value, and while they are rewritten, it has no order.
    pub fn check_busy(&self, schema: &Schema) -> Result<(), Problem> {
        check_busy_column(schema, self.sort.column)?;
        check_busy_filters(schema, &self.filters)
    }
}

/// [`ParsedQuery::check_busy`] of one column whose blanks are needed, too.
pub fn check_busy_column(schema: &Schema, column: Column) -> Result<(), Problem> {
    if is_busy(schema, column, true) { Err(busy()) } else { Ok(()) }
}

/// [`ParsedQuery::check_busy`] of filters alone.
pub fn check_busy_filters(schema: &Schema, filters: &[Filter]) -> Result<(), Problem> {
    let is_busy = |filter: &Filter| is_busy(schema, filter.column, filter.test == Test::Empty);
    if filters.iter().any(is_busy) { Err(busy()) } else { Ok(()) }
}

/// `blanks` says whether the issues without a value are needed, too.
fn is_busy(schema: &Schema, column: Column, blanks: bool) -> bool {
    let status = column.attribute(schema).map(|attribute| attribute.item.status);
    status == Some(Status::Retyping) || blanks && status == Some(Status::Building)
}

/// The first eight bytes of a SHA-256 of the JSON.
fn digest(sorted_as: Option<Type>, filters: &[Filter]) -> u64 {
    let text = json!([sorted_as, filters]).to_string();
    Sha256::digest(text).iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The requested attributes in the project's order; all if none are requested. The error has the indexes of the unknown
/// ones.
pub fn columns<'a>(schema: &'a Schema, requested: Option<&[AttributeId]>) -> Result<Vec<&'a Attribute>, Vec<usize>> {
    let Some(requested) = requested else { return Ok(schema.columns().collect()) };
    let unknown = requested.iter().enumerate().filter(|(_, id)| schema.column(**id).is_none());
    let unknown: Vec<usize> = unknown.map(|(index, _)| index).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    Ok(schema.columns().filter(|attribute| requested.contains(&attribute.id)).collect())
}

/// The default of `sort`.
pub fn by_number() -> String {
    "number".to_owned()
}

/// The options of a choice in the order of the rows. Other columns have none.
fn options(schema: &Schema, column: Column) -> Vec<&ChoiceOption> {
    match column.attribute(schema) {
        Some(attribute) if attribute.item.of == Type::Choice => attribute.options().sorted(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Comparison;

    /// Cursors of the previous release contain these numbers.
    #[test]
    fn query_digest_is_stable_across_releases() {
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
