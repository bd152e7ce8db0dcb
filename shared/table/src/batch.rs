//! Deletes of many items at once.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{DeleteRequest, ReturnConsumedCapacity, WriteRequest};

use crate::access::TableAction;
use crate::backoff::Backoff;
use crate::error::Error;
use crate::item;
use crate::key::Key;
use crate::read::TableAccess;

/// The most writes that DynamoDB takes in one `BatchWriteItem`.
const MAX_BATCH_WRITES: usize = 25;

impl TableAccess<'_> {
    /// Deletes these items unconditionally, since `BatchWriteItem` takes no conditions. A call that fails may have
    /// deleted any of them, so the caller must be able to find the others again.
    pub async fn batch_delete(&self, keys: &[Key]) -> Result<(), Error> {
        let call = self.permit(TableAction::BatchWriteItem)?;
        let mut keys: Vec<&Key> = keys.iter().filter(|key| key.check_length().is_ok()).collect();
        keys.sort_unstable();
        keys.dedup();
        for chunk in keys.chunks(MAX_BATCH_WRITES) {
            let deletes: Result<Vec<_>, Error> = chunk.iter().map(|key| self.delete_request(key)).collect();
            let mut unprocessed = HashMap::from([(self.name(), deletes?)]);
            let mut backoff = Backoff::new();
            while !unprocessed.is_empty() {
                let sent = self
                    .dynamodb()
                    .batch_write_item()
                    .set_request_items(Some(unprocessed))
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send()
                    .await;
                self.record(call, sent.as_ref().ok().and_then(|output| output.consumed_capacity().first()));
                unprocessed = sent.map_err(Error::of_dynamodb)?.unprocessed_items.unwrap_or_default();
                if !unprocessed.is_empty() && !backoff.wait().await {
                    return Err(Error::Throttled);
                }
            }
        }
        Ok(())
    }

    fn delete_request(&self, key: &Key) -> Result<WriteRequest, Error> {
        let delete = DeleteRequest::builder().set_key(Some(item::key_item(self.table, key))).build();
        let delete = delete.map_err(|error| Error::Engine { engine: "DynamoDB", source: Box::new(error) })?;
        Ok(WriteRequest::builder().delete_request(delete).build())
    }
}
