//! Questions to a grid at random, and what a naive filter answers to each.

use std::collections::BTreeMap;

use fastrand::Rng;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Issues as they were read, and what may be asked of them.
pub struct Naive {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// A column by its name in a query, with values that issues may have. Those of a choice are its labels in their order.
pub struct Column {
    name: String,
    kind: Kind,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    Name,
    State,
    Whole,
    Decimal,
    Date,
    Text,
    Choice,
}

/// A value as it is compared; a decimal in thousandths, an option or a state by its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Compared {
    Number(i64),
    Text(String),
}

/// An issue with what it has in each column.
struct Row {
    number: u64,
    values: Vec<Option<Compared>>,
}

/// What is asked of a grid. Columns are told by their places.
pub struct Question {
    sort: usize,
    backward: bool,
    filters: Vec<Filter>,
}

struct Filter {
    column: usize,
    operator: &'static str,
    operands: Vec<String>,
}

/// The operators in an order in which those of each kind of column follow each other.
static OPERATORS: [&str; 9] = ["empty", "notEmpty", "eq", "in", "lt", "lte", "gt", "gte", "prefix"];

impl Kind {
    fn operators(self) -> &'static [&'static str] {
        match self {
            Self::Text => &OPERATORS,
            Self::Whole | Self::Decimal | Self::Date => &OPERATORS[..8],
            Self::Choice => &OPERATORS[..4],
            Self::Name => &OPERATORS[2..],
            Self::Number => &OPERATORS[2..8],
            Self::State => &OPERATORS[2..4],
        }
    }
}

impl Column {
    pub fn new(name: impl Into<String>, kind: Kind, values: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { name: name.into(), kind, values: values.into_iter().map(Into::into).collect() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// One that an issue may have.
    pub fn value(&self, random: &mut Rng) -> &str {
        random.choice(&self.values).unwrap()
    }

    /// What an issue has in this column.
    fn of(&self, issue: &Value) -> Option<Compared> {
        let value = match self.kind {
            Kind::Number => return issue["number"].as_i64().map(Compared::Number),
            Kind::Name => &issue["name"],
            Kind::State => &issue["state"],
            Kind::Choice => &issue["values"][&self.name]["label"],
            _ => &issue["values"][&self.name],
        };
        value.as_str().map(|text| self.compared(text))
    }

    fn compared(&self, text: &str) -> Compared {
        match self.kind {
            Kind::Number | Kind::Whole => Compared::Number(text.parse().unwrap()),
            Kind::Decimal => Compared::Number((text.parse::<f64>().unwrap() * 1000.0).round() as i64),
            Kind::State | Kind::Choice => {
                Compared::Number(self.values.iter().position(|value| value == text).unwrap() as i64)
            }
            Kind::Name | Kind::Date | Kind::Text => Compared::Text(text.to_lowercase()),
        }
    }

    /// A value, or the beginning of one; the case of a text says nothing.
    fn operand(&self, operator: &str, random: &mut Rng) -> String {
        let mut operand = self.value(random).to_owned();
        if operator == "prefix" {
            let kept = random.usize(1..=operand.chars().count());
            operand = operand.chars().take(kept).collect::<String>().trim_end().to_owned();
        }
        let any_case = matches!(self.kind, Kind::Name | Kind::Text);
        if any_case && random.bool() { operand.to_uppercase() } else { operand }
    }
}

impl Filter {
    fn random(columns: &[Column], random: &mut Rng) -> Self {
        let place = random.usize(..columns.len());
        let column = &columns[place];
        let operator = *random.choice(column.kind.operators()).unwrap();
        let operands = match operator {
            "empty" | "notEmpty" => 0,
            "in" => random.usize(1..=4),
            _ => 1,
        };
        let operands = (0..operands).map(|_| column.operand(operator, random)).collect();
        Self { column: place, operator, operands }
    }

    /// As it stands in a query.
    fn told(&self, columns: &[Column]) -> String {
        let operands: Vec<_> =
            self.operands.iter().map(|operand| utf8_percent_encode(operand, NON_ALPHANUMERIC).to_string()).collect();
        let told = format!("{}:{}", columns[self.column].name, self.operator);
        if operands.is_empty() { told } else { format!("{told}:{}", operands.join(",")) }
    }

    fn holds(&self, columns: &[Column], row: &Row) -> bool {
        let column = &columns[self.column];
        let Some(value) = &row.values[self.column] else { return self.operator == "empty" };
        let mut operands = self.operands.iter().map(|operand| column.compared(operand));
        match self.operator {
            "empty" => false,
            "notEmpty" => true,
            "lt" => operands.any(|operand| *value < operand),
            "lte" => operands.any(|operand| *value <= operand),
            "gt" => operands.any(|operand| *value > operand),
            "gte" => operands.any(|operand| *value >= operand),
            "prefix" => operands.any(|operand| begins(value, &operand)),
            _ => operands.any(|operand| *value == operand),
        }
    }
}

fn begins(value: &Compared, with: &Compared) -> bool {
    matches!((value, with), (Compared::Text(value), Compared::Text(with)) if value.starts_with(with.as_str()))
}

impl Naive {
    /// These issues, as they are read one by one.
    pub fn new(columns: Vec<Column>, issues: &[Value]) -> Self {
        let row = |issue: &Value| Row {
            number: issue["number"].as_u64().unwrap(),
            values: columns.iter().map(|column| column.of(issue)).collect(),
        };
        let rows = issues.iter().map(row).collect();
        Self { columns, rows }
    }

    /// By any column, with up to three filters.
    pub fn question(&self, random: &mut Rng) -> Question {
        let mut filters: Vec<Filter> = Vec::new();
        for _ in 0..random.usize(..4) {
            let filter = Filter::random(&self.columns, random);
            let alike = |other: &Filter| (other.column, other.operator) == (filter.column, filter.operator);
            if !filters.iter().any(alike) {
                filters.push(filter);
            }
        }
        Question { sort: random.usize(..self.columns.len()), backward: random.bool(), filters }
    }

    /// A question as the grid takes it.
    pub fn query(&self, question: &Question) -> String {
        let filters: Vec<String> = question.filters.iter().map(|filter| filter.told(&self.columns)).collect();
        let filter = if filters.is_empty() { String::new() } else { format!("&filter={}", filters.join(",")) };
        let order = if question.backward { "desc" } else { "asc" };
        format!("sort={}&order={order}{filter}", self.columns[question.sort].name)
    }

    /// A column whose values group issues.
    pub fn grouping(&self, random: &mut Rng) -> usize {
        let is_fit = |kind| !matches!(kind, Kind::Number | Kind::Name | Kind::Text);
        let fit: Vec<usize> = (0..self.columns.len()).filter(|place| is_fit(self.columns[*place].kind)).collect();
        *random.choice(&fit).unwrap()
    }

    pub fn column(&self, place: usize) -> &str {
        &self.columns[place].name
    }

    /// The counts of the issues that match, by their values in a column, in ascending order; and of those without a value.
    pub fn groups(&self, question: &Question, place: usize) -> (Vec<u64>, u64) {
        let holds = |row: &&Row| question.filters.iter().all(|filter| filter.holds(&self.columns, row));
        let (mut counts, mut without) = (BTreeMap::<&Compared, u64>::new(), 0);
        for row in self.rows.iter().filter(holds) {
            match &row.values[place] {
                Some(value) => *counts.entry(value).or_default() += 1,
                None => without += 1,
            }
        }
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable();
        (counts, without)
    }

    /// The numbers of the issues that the grid has to show, in its order: those without a value last, whatever the
    /// direction, and alike ones by number.
    pub fn answer(&self, question: &Question) -> Vec<u64> {
        let holds = |row: &&Row| question.filters.iter().all(|filter| filter.holds(&self.columns, row));
        let mut rows: Vec<&Row> = self.rows.iter().filter(holds).collect();
        rows.sort_by_key(|row| (row.values[question.sort].clone(), row.number));
        if question.backward {
            rows.reverse();
        }
        rows.sort_by_key(|row| row.values[question.sort].is_none());
        rows.into_iter().map(|row| row.number).collect()
    }
}
