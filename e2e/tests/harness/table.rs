//! Direct access to a table, as through the AWS console, without the platform and its rules.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use serde::Serialize;
use serde_json::{Value, json};
use table::{Clock, Engines, Key, item};

/// A table.
pub struct Table {
    pub engines: Arc<Engines>,
    pub table: &'static table::schema::Table,
}

pub type Item = HashMap<String, AttributeValue>;

pub fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// Returns an item as its table keeps it.
pub fn stored(table: &table::schema::Table, key: &Key, value: &impl Serialize) -> Item {
    let mut stored = item::to_item(value).unwrap();
    stored.extend(item::key_item(table, key));
    stored.insert("rev".to_owned(), item::number(Clock::system().micros() * 2));
    stored
}

impl Table {
    fn name(&self) -> String {
        self.engines.config.table(self.table.name)
    }

    pub async fn get(&self, pk: &str, sk: &str) -> Option<Item> {
        let get = self.engines.dynamodb().get_item().table_name(self.name()).consistent_read(true);
        get.set_key(Some(self.key(pk, sk))).send().await.unwrap().item
    }

    /// Returns the present item with this item's key.
    pub async fn present(&self, item: &Item) -> Item {
        let get = self.engines.dynamodb().get_item().table_name(self.name()).consistent_read(true);
        get.set_key(Some(self.key_of(item))).send().await.unwrap().item.unwrap()
    }

    pub async fn put(&self, item: Item) {
        self.engines.dynamodb().put_item().table_name(self.name()).set_item(Some(item)).send().await.unwrap();
    }

    /// Puts many items without conditions.
    pub async fn put_all(&self, items: Vec<Item>) {
        for batch in items.chunks(25) {
            let put = |item: &Item| PutRequest::builder().set_item(Some(item.clone())).build().unwrap();
            let requests = batch.iter().map(|item| WriteRequest::builder().put_request(put(item)).build()).collect();
            let written =
                self.engines.dynamodb().batch_write_item().request_items(self.name(), requests).send().await.unwrap();
            assert!(written.unprocessed_items().is_none_or(HashMap::is_empty));
        }
    }

    pub async fn delete(&self, pk: &str, sk: &str) {
        let delete = self.engines.dynamodb().delete_item().table_name(self.name());
        delete.set_key(Some(self.key(pk, sk))).send().await.unwrap();
    }

    /// Deletes the item with this item's key.
    pub async fn delete_item(&self, item: &Item) {
        let delete = self.engines.dynamodb().delete_item().table_name(self.name());
        delete.set_key(Some(self.key_of(item))).send().await.unwrap();
    }

    /// Returns an item's key as text.
    pub fn name_of(&self, item: &Item) -> String {
        let names = [Some(self.table.pk), self.table.sk];
        let parts = names.into_iter().flatten().map(|name| item[name].as_s().unwrap().as_str());
        parts.collect::<Vec<_>>().join("#")
    }

    /// Returns a key as attributes. A table without a sort key ignores `sk`.
    pub fn key(&self, pk: &str, sk: &str) -> Item {
        item::key_item(self.table, &Key::new(pk, sk))
    }

    fn key_of(&self, item: &Item) -> Item {
        let names = [Some(self.table.pk), self.table.sk];
        names.into_iter().flatten().map(|name| (name.to_owned(), item[name].clone())).collect()
    }

    /// Returns all items.
    pub async fn items(&self) -> Vec<Item> {
        let (mut items, mut start) = (Vec::new(), None);
        loop {
            let scan = self.engines.dynamodb().scan().table_name(self.name()).consistent_read(true);
            // An engine takes long for a page of a large table.
            let patient = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(60)).build();
            let patient = aws_sdk_dynamodb::config::Builder::new().timeout_config(patient);
            let scan = scan.set_exclusive_start_key(start).customize().config_override(patient);
            let page = scan.send().await.unwrap();
            items.extend(page.items.unwrap());
            start = page.last_evaluated_key.filter(|last| !last.is_empty());
            if start.is_none() {
                return items;
            }
        }
    }

    /// Returns the partition keys of all items.
    pub async fn partitions(&self) -> Vec<String> {
        self.items().await.iter().map(|item| item[self.table.pk].as_s().unwrap().clone()).collect()
    }

    /// Returns a name for the table's stream, in the form of stream ARNs.
    pub fn stream_arn(&self) -> String {
        format!("arn:aws:dynamodb:local:000000000000:table/{}/stream/2026-01-01T00:00:00.000", self.name())
    }

    /// Returns the stream record of the item's creation.
    pub fn insert_record(&self, item: &Item, sequence: usize) -> Value {
        self.record("INSERT", "NewImage", item, sequence)
    }

    /// Returns the stream record of the item's removal.
    pub fn remove_record(&self, item: &Item, sequence: usize) -> Value {
        self.record("REMOVE", "OldImage", item, sequence)
    }

    fn record(&self, name: &str, image: &str, item: &Item, sequence: usize) -> Value {
        let whole = dynamodb_json(item);
        let keys = dynamodb_json(&self.key_of(item));
        json!({
            "eventName": name, "eventSource": "aws:dynamodb", "eventSourceARN": self.stream_arn(),
            "dynamodb": {
                "Keys": keys, image: whole,
                "SequenceNumber": format!("{:021}", sequence + 1), "ApproximateCreationDateTime": 1,
                "SizeBytes": 100, "StreamViewType": "NEW_AND_OLD_IMAGES"
            }
        })
    }
}

/// Returns an item in the form of a stream record.
fn dynamodb_json(item: &Item) -> Value {
    fn value(attribute: &AttributeValue) -> Value {
        match attribute {
            AttributeValue::S(text) => json!({ "S": text }),
            AttributeValue::N(number) => json!({ "N": number }),
            AttributeValue::Bool(flag) => json!({ "BOOL": flag }),
            AttributeValue::L(list) => json!({ "L": list.iter().map(value).collect::<Vec<_>>() }),
            AttributeValue::M(map) => json!({ "M": dynamodb_json(map) }),
            AttributeValue::Ss(texts) => json!({ "SS": texts }),
            other => panic!("{other:?} is in no item of these tests"),
        }
    }
    item.iter().map(|(name, attribute)| (name.clone(), value(attribute))).collect()
}
