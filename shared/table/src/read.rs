//! Reads of a table: single items, many items by key, and the numbers of a sequence.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use aws_sdk_dynamodb::operation::update_item::{UpdateItemError, UpdateItemOutput};
use aws_sdk_dynamodb::types::{
    ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};

use crate::access::{Access, AccessPattern, Call, TableAction};
use crate::backoff::Backoff;
use crate::error::{Cause, Error, Failed};
use crate::expression::Placeholders;
use crate::item::{self, Item, Stored};
use crate::key::Key;
use crate::schema::Table;
use crate::sequence::Sequence;

/// A table by one access pattern.
#[derive(Clone, Copy, Debug)]
pub struct TableAccess<'a> {
    pub(crate) access: &'a Access,
    pub(crate) pattern: &'static AccessPattern,
    pub(crate) table: &'static Table,
}

/// The most keys that DynamoDB takes in one `BatchGetItem`.
const MAX_BATCH_KEYS: usize = 100;

impl Access {
    /// Returns a table by this access pattern.
    pub fn table(&self, pattern: &'static AccessPattern, table: &'static Table) -> TableAccess<'_> {
        TableAccess { access: self, pattern, table }
    }
}

impl<'a> TableAccess<'a> {
    /// Reads an item eventually consistent, at half the cost.
    pub async fn get(&self, key: impl Into<Key>) -> Result<Option<Stored>, Error> {
        self.get_item(key.into(), false).await
    }

    /// Reads an item strongly consistent.
    pub async fn get_consistent(&self, key: impl Into<Key>) -> Result<Option<Stored>, Error> {
        self.get_item(key.into(), true).await
    }

    /// Reads the items of these keys eventually consistent. They are in the order of the keys, none for a missing item.
    pub async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Option<Stored>>, Error> {
        self.get_items(keys, false).await
    }

    /// Reads the items of these keys like [`TableAccess::batch_get`], but strongly consistent.
    pub async fn batch_get_consistent(&self, keys: &[Key]) -> Result<Vec<Option<Stored>>, Error> {
        self.get_items(keys, true).await
    }

    async fn get_items(&self, keys: &[Key], consistent: bool) -> Result<Vec<Option<Stored>>, Error> {
        self.permit(TableAction::BatchGetItem)?;
        let mut wanted: Vec<&Key> = keys.iter().filter(|key| key.check_length().is_ok()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut found = HashMap::new();
        for chunk in wanted.chunks(MAX_BATCH_KEYS) {
            for item in self.get_chunk(chunk, consistent).await? {
                let stored = Stored::new(self.table, item)?;
                found.insert(stored.key.clone(), stored);
            }
        }
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    /// Allocates the next `count` numbers of a sequence. They are never allocated again, used or not. The call waits
    /// for a concurrent transaction on the sequence. Fails with [`Cause::Unmet`] and allocates nothing if the sequence
    /// does not have as many numbers left.
    pub async fn next_numbers(&self, sequence: impl Into<Sequence>, count: u32) -> Result<RangeInclusive<u64>, Error> {
        let (sequence, call) = (sequence.into(), self.permit(TableAction::UpdateItem)?);
        let mut backoff = Backoff::new();
        let output = loop {
            match self.add(&sequence, count).await {
                Ok(output) => break output,
                Err(error) => {
                    self.record(call, None);
                    let busy = matches!(error, Error::Conflict | Error::Throttled);
                    if !busy || !backoff.wait().await {
                        return Err(error);
                    }
                }
            }
        };
        self.record(call, output.consumed_capacity());
        let Sequence { attribute, .. } = sequence;
        let last = output.attributes.as_ref().and_then(|item| item.get(attribute)?.as_n().ok()?.parse::<u64>().ok());
        let last =
            last.ok_or_else(|| Error::Misfit(format!("attribute `{attribute}` of a sequence is not a whole number")))?;
        Ok(last.saturating_sub(u64::from(count)) + 1..=last)
    }

    /// Adds to a sequence in one attempt.
    async fn add(&self, sequence: &Sequence, count: u32) -> Result<UpdateItemOutput, Error> {
        let mut placeholders = Placeholders::default();
        let (value, pk) = (placeholders.name(sequence.attribute), placeholders.name(self.table.pk));
        let add = format!("ADD {value} {}", placeholders.value(item::number(count)));
        let mut condition = format!("attribute_exists({pk})");
        if let Some(max) = sequence.max {
            let highest = placeholders.value(item::number(i128::from(max) - i128::from(count)));
            condition.push_str(&format!(" AND {value} <= {highest}"));
        }
        let (names, values) = placeholders.into_parts();
        let sent = self
            .dynamodb()
            .update_item()
            .table_name(self.name())
            .set_key(Some(item::key_item(self.table, &sequence.key)))
            .update_expression(add)
            .condition_expression(condition)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .return_values(ReturnValue::UpdatedNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        sent.map_err(|error| match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => match failed.item.clone() {
                Some(item) => Error::ConditionFailed(vec![Failed { index: 0, cause: Cause::Unmet, item: Some(item) }]),
                None => Error::NotFound,
            },
            Some(UpdateItemError::TransactionConflictException(_)) => Error::Conflict,
            _ => Error::of_dynamodb(error),
        })
    }

    async fn get_item(&self, key: Key, consistent: bool) -> Result<Option<Stored>, Error> {
        let call = self.permit(TableAction::GetItem)?;
        // An item with a key over the limits cannot exist.
        if key.check_length().is_err() {
            return Ok(None);
        }
        let sent = self
            .dynamodb()
            .get_item()
            .table_name(self.name())
            .set_key(Some(item::key_item(self.table, &key)))
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        self.record(call, sent.as_ref().ok().and_then(|output| output.consumed_capacity()));
        let item = sent.map_err(Error::of_dynamodb)?.item.filter(|item| self.is_alive(item));
        item.map(|item| Stored::new(self.table, item)).transpose()
    }

    /// Sends a `BatchGetItem`, and repeats it for keys that DynamoDB leaves unprocessed.
    async fn get_chunk(&self, keys: &[&Key], consistent: bool) -> Result<Vec<Item>, Error> {
        let call = Call::Table { table: self.table.name, action: TableAction::BatchGetItem };
        let keys = keys.iter().map(|key| item::key_item(self.table, key)).collect();
        let asked = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(consistent)
            .build()
            .map_err(|error| Error::Engine { engine: "DynamoDB", source: Box::new(error) })?;
        let mut unprocessed = HashMap::from([(self.name(), asked)]);
        let mut items = Vec::new();
        let mut backoff = Backoff::new();
        loop {
            let sent = self
                .dynamodb()
                .batch_get_item()
                .set_request_items(Some(unprocessed))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            self.record(call, sent.as_ref().ok().and_then(|output| output.consumed_capacity().first()));
            let output = sent.map_err(Error::of_dynamodb)?;
            items.extend(output.responses.into_iter().flatten().flat_map(|(_, items)| items));
            unprocessed = output.unprocessed_keys.unwrap_or_default();
            if unprocessed.is_empty() {
                items.retain(|item| self.is_alive(item));
                return Ok(items);
            }
            if !backoff.wait().await {
                return Err(Error::Throttled);
            }
        }
    }

    pub(crate) fn permit(&self, action: TableAction) -> Result<Call, Error> {
        let call = Call::Table { table: self.table.name, action };
        self.access.permit(self.pattern, call)?;
        Ok(call)
    }

    /// Records a call with the read or write units that it consumed.
    pub(crate) fn record(&self, call: Call, consumed: Option<&ConsumedCapacity>) {
        let units = consumed.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
        let reads = match call {
            Call::Table { action, .. } => {
                matches!(action, TableAction::GetItem | TableAction::BatchGetItem | TableAction::Query)
            }
            _ => true,
        };
        self.access.record(self.pattern, call, if reads { (units, 0.0) } else { (0.0, units) });
    }

    pub(crate) fn is_alive(&self, item: &Item) -> bool {
        !item::expired(item, self.access.engines().clock.seconds())
    }

    pub(crate) fn name(&self) -> String {
        self.access.engines().config.table(self.table.name)
    }

    pub(crate) fn dynamodb(&self) -> &'a aws_sdk_dynamodb::Client {
        self.access.engines().dynamodb()
    }
}
