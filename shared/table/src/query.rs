//! Queries: one partition of a table or of an index, whole or by pages.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use serde::{Deserialize, Serialize};

use crate::access::{Call, TableAction};
use crate::error::Error;
use crate::expression::Placeholders;
use crate::item::{self, Item, Stored};
use crate::read::TableAccess;
use crate::schema::Index;

/// A query in the making: of the table, forward, eventually consistent, unless it is told otherwise.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    on: TableAccess<'a>,
    index: Option<&'static str>,
    pk: String,
    sort: Sort,
    backward: bool,
    consistent: bool,
    after: Option<Position>,
}

/// Which sort keys are wanted.
#[derive(Clone, Debug)]
enum Sort {
    All,
    BeginsWith(String),
    Between(String, String),
    Below(String),
    From(String),
}

/// Where a page ended: the keys of its last item. What a cursor carries.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Position(BTreeMap<String, String>);

/// Some items in order, and where the next begin; nothing on the last page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub items: Vec<Stored>,
    pub next: Option<Position>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(on: TableAccess<'a>, pk: String) -> Self {
        Self { on, index: None, pk, sort: Sort::All, backward: false, consistent: false, after: None }
    }

    /// Of this index instead of the table.
    pub fn index(self, name: &'static str) -> Self {
        Self { index: Some(name), ..self }
    }

    /// Only sort keys that begin so.
    pub fn begins_with(self, prefix: impl Into<String>) -> Self {
        Self { sort: Sort::BeginsWith(prefix.into()), ..self }
    }

    /// Only sort keys from one to the other, both included.
    pub fn between(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { sort: Sort::Between(from.into(), to.into()), ..self }
    }

    /// Only sort keys before this one.
    pub fn below(self, end: impl Into<String>) -> Self {
        Self { sort: Sort::Below(end.into()), ..self }
    }

    /// Only this sort key and those after it.
    pub fn from(self, begin: impl Into<String>) -> Self {
        Self { sort: Sort::From(begin.into()), ..self }
    }

    /// The last sort key first.
    pub fn backward(self) -> Self {
        Self { backward: true, ..self }
    }

    /// With every write that was answered; an index cannot.
    pub fn consistent(self) -> Self {
        Self { consistent: true, ..self }
    }

    /// What follows a page.
    pub fn after(self, position: Option<Position>) -> Self {
        Self { after: position, ..self }
    }

    /// Up to this many items. Reads one more, so that the last page is known to be the last.
    pub async fn page(&self, limit: u32) -> Result<Page, Error> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut items = self.collect(Some(limit.saturating_add(1))).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).and_then(|last| self.position_of(last));
        Ok(Page { items, next })
    }

    /// Up to this many of what `keep` makes of the items, in their order. What it makes nothing of does not count, so that
    /// no page is short but the last, and there is a next one only where something stands on it.
    pub async fn page_of<T, E, F, Kept>(&self, limit: u32, keep: F) -> Result<(Vec<T>, Option<Position>), E>
    where
        E: From<Error>,
        F: Fn(Vec<Stored>) -> Kept,
        Kept: Future<Output = Result<Vec<Option<T>>, E>>,
    {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut kept: Vec<(T, Option<Position>)> = Vec::new();
        let mut rest = self.clone();
        loop {
            let missing = limit.saturating_add(1) - kept.len();
            let page = rest.page(u32::try_from(missing).unwrap_or(u32::MAX)).await?;
            let positions: Vec<_> = page.items.iter().map(|stored| self.position_of(stored)).collect();
            let made = keep(page.items).await?;
            kept.extend(made.into_iter().zip(positions).filter_map(|(made, position)| Some((made?, position))));
            if kept.len() > limit || page.next.is_none() {
                break;
            }
            rest = rest.after(page.next);
        }
        let more = kept.len() > limit;
        kept.truncate(limit);
        let next = kept.last().filter(|_| more).and_then(|(_, position)| position.clone());
        Ok((kept.into_iter().map(|(made, _)| made).collect(), next))
    }

    /// The first item alone.
    pub async fn first(&self) -> Result<Option<Stored>, Error> {
        Ok(self.collect(Some(1)).await?.into_iter().next())
    }

    /// Every item: for what cannot grow without bounds.
    pub async fn all(&self) -> Result<Vec<Stored>, Error> {
        self.collect(None).await
    }

    /// Asks until there are enough items: one answer has at most 1 MB, and expired items do not count.
    async fn collect(&self, enough: Option<usize>) -> Result<Vec<Stored>, Error> {
        let call = self.call();
        self.on.access.permit(self.on.pattern, call)?;
        let mut items = Vec::new();
        let mut start = self.after.as_ref().map(Position::start);
        loop {
            let missing = enough.map(|enough| enough.saturating_sub(items.len()));
            let (answer, last) = self.ask(call, start, missing).await?;
            for item in answer.into_iter().filter(|item| self.on.is_alive(item)) {
                items.push(Stored::new(self.on.table, item)?);
            }
            if last.is_none() || enough.is_some_and(|enough| items.len() >= enough) {
                return Ok(items);
            }
            start = last;
        }
    }

    async fn ask(
        &self,
        call: Call,
        start: Option<Item>,
        limit: Option<usize>,
    ) -> Result<(Vec<Item>, Option<Item>), Error> {
        let mut placeholders = Placeholders::default();
        let condition = self.key_condition(&mut placeholders);
        let (names, values) = placeholders.into_parts();
        let sent = self
            .on
            .dynamodb()
            .query()
            .table_name(self.on.name())
            .set_index_name(self.index.map(str::to_owned))
            .key_condition_expression(condition)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .scan_index_forward(!self.backward)
            .consistent_read(self.consistent)
            .set_exclusive_start_key(start)
            .set_limit(limit.and_then(|limit| i32::try_from(limit).ok()))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        self.on.record(call, sent.as_ref().ok().and_then(|output| output.consumed_capacity()));
        let output = sent.map_err(Error::of_dynamodb)?;
        Ok((output.items.unwrap_or_default(), output.last_evaluated_key.filter(|last| !last.is_empty())))
    }

    fn key_condition(&self, placeholders: &mut Placeholders) -> String {
        let (pk, sk) = match self.declared_index() {
            Some(index) => (index.pk, index.sk),
            None => (self.on.table.pk, self.on.table.sk),
        };
        let partition = format!("{} = {}", placeholders.name(pk), placeholders.value(item::text(&self.pk)));
        let mut value = |text: &String| placeholders.value(item::text(text));
        let sort = match &self.sort {
            Sort::All => return partition,
            Sort::BeginsWith(prefix) => ("begins_with(", format!(", {})", value(prefix))),
            Sort::Between(from, to) => ("", format!(" BETWEEN {} AND {}", value(from), value(to))),
            Sort::Below(end) => ("", format!(" < {}", value(end))),
            Sort::From(begin) => ("", format!(" >= {}", value(begin))),
        };
        let sk = placeholders.name(sk.unwrap_or_default());
        format!("{partition} AND {}{sk}{}", sort.0, sort.1)
    }

    fn call(&self) -> Call {
        let table = self.on.table.name;
        match self.index {
            Some(index) => Call::Index { table, index },
            None => Call::Table { table, action: TableAction::Query },
        }
    }

    fn declared_index(&self) -> Option<&'static Index> {
        self.on.table.indexes.iter().find(|index| Some(index.name) == self.index)
    }

    /// Where a page would end whose last item this is.
    pub fn position_of(&self, item: &Stored) -> Option<Position> {
        let table = self.on.table;
        let of_index = self.declared_index().map(|index| (index.pk, index.sk));
        let names = [Some((table.pk, table.sk)), of_index];
        let names = names.into_iter().flatten().flat_map(|(pk, sk)| [Some(pk), sk]).flatten();
        names
            .map(|name| Some((name.to_owned(), item.item.get(name)?.as_s().ok()?.clone())))
            .collect::<Option<_>>()
            .map(Position)
    }
}

impl Position {
    fn start(&self) -> Item {
        self.0.iter().map(|(name, value)| (name.clone(), item::text(value))).collect()
    }
}
