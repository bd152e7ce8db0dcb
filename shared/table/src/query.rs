//! Queries of one partition of a table or of an index, as a whole or by pages.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use serde::{Deserialize, Serialize};

use crate::access::{Call, TableAction};
use crate::error::Error;
use crate::expression::Placeholders;
use crate::item::{self, Item, Stored};
use crate::key::{Key, MAX_PARTITION_KEY, MAX_SORT_KEY};
use crate::read::TableAccess;
use crate::schema::{Index, Table};

/// The most items that one round of [`Query::page_of`] reads, unless more values are missing. So many of the largest items
/// fit into the memory of a function.
const MAX_ROUND: usize = 250;

/// The most items that [`Query::page_of`] reads for a page, apart from the rest of a round: less than a second's work.
const MAX_READ: usize = 5_000;

/// The bytes of its items in a response at which a page ends. A function's response has at most 6 MB.
const MAX_BYTES: usize = 4_000_000;

/// A query. By default it reads the table, in ascending order, eventually consistent.
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

/// The range of sort keys.
#[derive(Clone, Debug)]
enum Sort {
    All,
    BeginsWith(String),
    Between(String, String),
    Below(String),
    From(String),
}

/// The end of a page: the keys of its last item. Cursors contain it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Position(BTreeMap<String, String>);

/// The items of a page in order, and the position after them unless it is the last page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub items: Vec<Stored>,
    pub next: Option<Position>,
}

impl<'a> TableAccess<'a> {
    /// Returns a query of one partition of the table or of one of its indexes.
    pub fn query(self, pk: impl Into<String>) -> Query<'a> {
        let pk = pk.into();
        Query { on: self, index: None, pk, sort: Sort::All, backward: false, consistent: false, after: None }
    }
}

impl Query<'_> {
    /// Reads this index instead of the table.
    pub fn index(self, name: &'static str) -> Self {
        Self { index: Some(name), ..self }
    }

    /// Selects sort keys with this prefix.
    pub fn begins_with(self, prefix: impl Into<String>) -> Self {
        Self { sort: Sort::BeginsWith(prefix.into()), ..self }
    }

    /// Selects sort keys from one to the other, inclusive.
    pub fn between(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { sort: Sort::Between(from.into(), to.into()), ..self }
    }

    /// Selects sort keys before this one.
    pub fn below(self, end: impl Into<String>) -> Self {
        Self { sort: Sort::Below(end.into()), ..self }
    }

    /// Selects this sort key and those after it.
    pub fn from(self, begin: impl Into<String>) -> Self {
        Self { sort: Sort::From(begin.into()), ..self }
    }

    /// Reads in descending order.
    pub fn backward(self) -> Self {
        Self { backward: true, ..self }
    }

    /// Reads strongly consistent, which an index does not support.
    pub fn consistent(self) -> Self {
        Self { consistent: true, ..self }
    }

    /// Starts after a position.
    pub fn after(self, position: Option<Position>) -> Self {
        Self { after: position, ..self }
    }

    /// Reads a page of up to `limit` items, or fewer if these are large. It reads one item more, so that it knows whether
    /// the page is the last.
    pub async fn page(&self, limit: u32) -> Result<Page, Error> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut items, is_full) = self.collect(Some(limit.saturating_add(1)), MAX_BYTES).await?;
        let more = is_full || items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| self.end_at(last)).transpose()?;
        Ok(Page { items, next })
    }

    /// Reads a page of up to `limit` values, which `keep` computes from the items in their order. Items without a value
    /// do not count. So only the last page is short, and a next position is returned only if the next page has values,
    /// unless the items are large, or thousands have no value: then the page ends at the last item that was read.
    ///
    /// It reads as many items as values are missing, and more with each round, since few values may be far apart.
    pub async fn page_of<T, E, F, Kept>(&self, limit: u32, keep: F) -> Result<(Vec<T>, Option<Position>), E>
    where
        E: From<Error>,
        F: Fn(Vec<Stored>) -> Kept,
        Kept: Future<Output = Result<Vec<Option<T>>, E>>,
    {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut kept: Vec<(T, Position)> = Vec::new();
        let (mut rest, mut least, mut read, mut bytes) = (self.clone(), 1, 0, 0);
        let unread = loop {
            let missing = limit.saturating_add(1) - kept.len();
            let page = rest.page(u32::try_from(missing.max(least)).unwrap_or(u32::MAX)).await?;
            least = (2 * least).min(MAX_ROUND);
            read += page.items.len();
            let end = |stored: &Stored| Ok((self.end_at(stored)?, item::response_bytes(&stored.item)));
            let ends = page.items.iter().map(end).collect::<Result<Vec<_>, Error>>()?;
            for (made, (position, size)) in keep(page.items).await?.into_iter().zip(ends) {
                let Some(made) = made else { continue };
                kept.push((made, position));
                bytes += size;
            }
            // One round more must fit.
            if kept.len() > limit || page.next.is_none() || read >= MAX_READ || bytes >= MAX_BYTES / 4 {
                break page.next;
            }
            rest = rest.after(page.next);
        };
        let next = if kept.len() > limit {
            kept.truncate(limit);
            kept.last().map(|(_, position)| position.clone())
        } else {
            unread
        };
        Ok((kept.into_iter().map(|(made, _)| made).collect(), next))
    }

    /// Reads the first item.
    pub async fn first(&self) -> Result<Option<Stored>, Error> {
        Ok(self.collect(Some(1), usize::MAX).await?.0.into_iter().next())
    }

    /// Reads every item. Only for partitions of bounded size.
    pub async fn all(&self) -> Result<Vec<Stored>, Error> {
        Ok(self.collect(None, usize::MAX).await?.0)
    }

    /// Sends requests until there are enough items, or so many bytes of them. Returns whether the bytes ended it before the
    /// last item. One answer has at most 1 MB, and expired items do not count.
    async fn collect(&self, enough: Option<usize>, max_bytes: usize) -> Result<(Vec<Stored>, bool), Error> {
        let call = self.call();
        self.on.access.permit(self.on.pattern, call)?;
        let (mut items, mut bytes) = (Vec::new(), 0);
        if self.has_no_item() {
            return Ok((items, false));
        }
        let mut start = self.after.as_ref().map(Position::start);
        loop {
            let missing = enough.map(|enough| enough.saturating_sub(items.len()));
            let (answer, last) = self.ask(call, start, missing).await?;
            let mut alive = answer.into_iter().filter(|item| self.on.is_alive(item)).peekable();
            while let Some(item) = alive.next() {
                bytes += item::response_bytes(&item);
                items.push(Stored::new(self.on.table, item)?);
                if bytes >= max_bytes && (last.is_some() || alive.peek().is_some()) {
                    return Ok((items, true));
                }
            }
            if last.is_none() || enough.is_some_and(|enough| items.len() >= enough) {
                return Ok((items, false));
            }
            start = last;
        }
    }

    /// Whether no item can have the key. DynamoDB refuses to look for it.
    fn has_no_item(&self) -> bool {
        let too_long = |prefix: &str| prefix.len() > MAX_SORT_KEY;
        self.pk.is_empty()
            || self.pk.len() > MAX_PARTITION_KEY
            || matches!(&self.sort, Sort::BeginsWith(prefix) if too_long(prefix))
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
        let Some(sk) = sk else {
            // DynamoDB refuses the request, since no expression uses its values.
            crate::never!("a condition on the sort key of `{}`, which has none", self.on.table.name);
            return partition;
        };
        let sk = placeholders.name(sk);
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
        let name = self.index?;
        let declared = self.on.table.indexes.iter().find(|index| index.name == name);
        if declared.is_none() {
            crate::never!("table `{}` has no index `{name}`", self.on.table.name);
        }
        declared
    }

    /// Returns the position after an item of this query.
    fn end_at(&self, item: &Stored) -> Result<Position, Error> {
        let missing = || Error::Misfit(format!("an item of table `{}` lacks key attributes", self.on.table.name));
        self.position_of(item).ok_or_else(missing)
    }

    /// Returns the position after an item. Returns none if the item lacks its key attributes.
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
    /// Returns the position after the item with this key.
    pub fn after(table: &Table, key: &Key) -> Self {
        let pk = (table.pk.to_owned(), key.pk.clone());
        let sk = table.sk.zip(key.sk.clone()).map(|(name, sk)| (name.to_owned(), sk));
        Self([pk].into_iter().chain(sk).collect())
    }

    /// Returns the key of the last item.
    pub fn key(&self, table: &Table) -> Option<Key> {
        item::key(table, &self.start())
    }

    fn start(&self) -> Item {
        self.0.iter().map(|(name, value)| (name.clone(), item::text(value))).collect()
    }
}
