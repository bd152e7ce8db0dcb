//! The system's tables: consistent reads, and writes of `rev`, the only attribute that the mirror may write.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use table::schema::Table;
use table::{Config, Engines, Key, Rev, rev};

use super::{condition_held, fault};
use crate::item::{Item, attribute_value};
use crate::ports::{Fault, Items, Page, Segment};

#[derive(Debug)]
pub struct DynamoItems<'e> {
    client: &'e Client,
    config: &'e Config,
}

const ENGINE: &str = "dynamodb";

/// The maximum number of items on a page of a scan. DynamoDB also ends a page at 1 MB, before which a local engine
/// reads every item that the page may have.
const MAX_ITEMS: i32 = 1000;

impl<'e> DynamoItems<'e> {
    pub fn new(engines: &'e Engines) -> Self {
        Self { client: engines.dynamodb(), config: &engines.config }
    }
}

impl Items for DynamoItems<'_> {
    async fn read(&self, table: &'static Table, key: &Key) -> Result<Option<Item>, Fault> {
        let request = self.client.get_item().table_name(self.config.table(table.name)).consistent_read(true);
        let answer = request.set_key(Some(attributes(table, key))).send().await;
        let found = answer.map_err(|error| fault(ENGINE, &error))?;
        Ok(found.item.as_ref().map(Item::from_attributes))
    }

    async fn stamp(&self, table: &'static Table, key: &Key, seen: Option<&str>, rev: Rev) -> Result<bool, Fault> {
        let unknown = || Fault::poison(ENGINE, "`rev` has an unknown type");
        let seen = seen.map(|seen| attribute_value(seen).ok_or_else(unknown)).transpose()?;
        let still = if seen.is_some() { "#rev = :seen" } else { "attribute_not_exists(#rev)" };
        let request = self
            .client
            .update_item()
            .table_name(self.config.table(table.name))
            .set_key(Some(attributes(table, key)))
            .update_expression("SET #rev = :rev")
            // Without the first part a deleted item would be created again.
            .condition_expression(format!("attribute_exists(#pk) AND {still}"))
            .expression_attribute_names("#pk", table.pk)
            .expression_attribute_names("#rev", rev::ATTRIBUTE)
            .expression_attribute_values(":rev", AttributeValue::N(rev.to_string()));
        let request = match seen {
            Some(seen) => request.expression_attribute_values(":seen", seen),
            None => request,
        };
        let answer = request.send().await;
        let poison = answer.as_ref().is_err_and(too_large);
        condition_held(ENGINE, answer).map_err(|fault| Fault { poison, ..fault })
    }

    async fn scan(&self, table: &'static Table, segment: Segment, after: Option<&Key>) -> Result<Page, Fault> {
        let number = |number: u32| i32::try_from(number).map_err(|error| Fault::lasting(ENGINE, error));
        let answer = self
            .client
            .scan()
            .limit(MAX_ITEMS)
            .table_name(self.config.table(table.name))
            .consistent_read(true)
            .segment(number(segment.number)?)
            .total_segments(number(segment.of)?)
            .set_exclusive_start_key(after.map(|key| attributes(table, key)))
            .send()
            .await
            .map_err(|error| fault(ENGINE, &error))?;
        let items = answer.items().iter().map(Item::from_attributes).collect();
        let next = answer.last_evaluated_key.map(|attributes| key(table, &attributes)).transpose()?;
        Ok(Page { items, next })
    }
}

/// Whether the attribute would make the item, or the items of its partition key, larger than DynamoDB allows.
fn too_large(error: &SdkError<UpdateItemError, HttpResponse>) -> bool {
    match error.code() {
        Some("ItemCollectionSizeLimitExceededException") => true,
        // DynamoDB has no separate code for this error.
        Some("ValidationException") => error.message().is_some_and(|message| message.contains("Item size")),
        _ => false,
    }
}

fn attributes(table: &Table, key: &Key) -> HashMap<String, AttributeValue> {
    let text = |name: &str, value: &str| (name.to_owned(), AttributeValue::S(value.to_owned()));
    let sk = table.sk.zip(key.sk.as_deref()).map(|(name, value)| text(name, value));
    std::iter::once(text(table.pk, &key.pk)).chain(sk).collect()
}

fn key(table: &Table, attributes: &HashMap<String, AttributeValue>) -> Result<Key, Fault> {
    let text = |name: &str| match attributes.get(name) {
        Some(AttributeValue::S(text)) => Ok(text.clone()),
        _ => Err(Fault::lasting(ENGINE, format_args!("the key attribute `{name}` is not a string"))),
    };
    Ok(Key { pk: text(table.pk)?, sk: table.sk.map(text).transpose()? })
}
