//! The contract tests for the engines of a configuration.

use aws_sdk_dynamodb::types::AttributeValue;
use http::HeaderMap;
use opensearch::http::Method;
use serde_json::Value;
use table::schema::{System, Table, failures_bucket};
use table::{Engines, Key};

use super::{Broken, Fixture, failures, index, items, quarantine, state};
use crate::engines::{DynamoItems, DynamoState, ObjectFailures, ObjectQuarantine, OpenSearchIndex};
use crate::item::attribute_value;
use crate::ports::Fault;

struct Real<'e> {
    engines: &'e Engines,
    system: &'static System,
}

/// Checks OpenSearch, with names that start with `alias` and do not exist yet.
pub async fn search(engines: &Engines, system: &'static System, alias: &str) -> Result<(), Broken> {
    index(&OpenSearchIndex::new(engines)?, &Real { engines, system }, alias).await
}

/// Checks DynamoDB. The system's tables must exist and be empty, and the first must have a sort key.
pub async fn tables(engines: &Engines, system: &'static System) -> Result<(), Broken> {
    let table = system.tables.first().ok_or_else(|| Broken("the system has no table".to_owned()))?;
    items(&DynamoItems::new(engines), &Real { engines, system }, table).await?;
    state(&DynamoState::new(engines, system), table).await
}

/// Checks S3. The system's bucket and the one of its failures must exist, and the latter must be empty.
pub async fn objects(engines: &Engines, system: &'static System) -> Result<(), Broken> {
    quarantine(&ObjectQuarantine::new(engines, system), &Real { engines, system }).await?;
    failures(&ObjectFailures::new(engines, system), &Real { engines, system }).await
}

fn fault(error: impl ToString) -> Fault {
    Fault::lasting("contract", error)
}

impl Fixture for Real<'_> {
    async fn put(&self, table: &'static Table, item: &str) -> Result<(), Fault> {
        let Some(AttributeValue::M(item)) = attribute_value(&format!(r#"{{"M":{item}}}"#)) else {
            return Err(fault("not an item"));
        };
        let request = self.engines.dynamodb().put_item().table_name(self.engines.config.table(table.name));
        request.set_item(Some(item)).send().await.map(drop).map_err(fault)
    }

    async fn remove(&self, table: &'static Table, key: &Key) -> Result<(), Fault> {
        let request = self.engines.dynamodb().delete_item().table_name(self.engines.config.table(table.name));
        let request = request.key(table.pk, AttributeValue::S(key.pk.clone()));
        let request = match table.sk.zip(key.sk.clone()) {
            Some((name, sk)) => request.key(name, AttributeValue::S(sk)),
            None => request,
        };
        request.send().await.map(drop).map_err(fault)
    }

    async fn visible(&self, alias: &str) -> Result<Vec<String>, Fault> {
        let transport = self.engines.search().map_err(fault)?.transport();
        let path = format!("/{alias}/_search?size=100&_source=false");
        let answer = transport.send(Method::Get, &path, HeaderMap::new(), None::<&()>, None::<String>, None).await;
        let answer: Value = answer.map_err(fault)?.json().await.map_err(fault)?;
        let hits = answer.pointer("/hits/hits").and_then(Value::as_array).ok_or_else(|| fault(&answer))?;
        let ids = hits.iter().filter_map(|hit| hit.get("_id")?.as_str().map(str::to_owned));
        let mut ids: Vec<_> = ids.collect();
        ids.sort();
        Ok(ids)
    }

    async fn kept(&self, name: &str) -> Result<String, Fault> {
        let bucket = self.engines.config.bucket(self.system.name);
        let object = self.engines.s3().get_object().bucket(bucket).key(name).send().await.map_err(fault)?;
        let bytes = object.body.collect().await.map_err(fault)?.into_bytes();
        String::from_utf8(bytes.into()).map_err(fault)
    }

    async fn give_up(&self, name: &str, body: &str) -> Result<(), Fault> {
        let bucket = self.engines.config.bucket(&failures_bucket(self.system.name));
        let request = self.engines.s3().put_object().bucket(bucket).key(name).body(body.as_bytes().to_vec().into());
        request.send().await.map(drop).map_err(fault)
    }

    fn micros(&self) -> i64 {
        self.engines.clock.micros()
    }
}
