//! Reads of a table's stream: its shards in the order of their writes, and their records after a checkpoint.

use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::error::{DisplayErrorContext, ProvideErrorMetadata};
use aws_sdk_dynamodbstreams::types::{Record as Read, ShardIteratorType};
use jiff::Timestamp;

use super::checkpoint::{Checkpoints, Position};
use super::filter::Filter;
use super::record::Record;

/// A shard that is being read.
#[derive(Debug)]
pub struct Shard {
    pub id: String,
    parent: Option<String>,
    /// The iterator of the next page. If absent, the checkpoint determines it.
    iterator: Option<String>,
}

/// A page of a shard's records.
#[derive(Debug)]
pub struct Page {
    pub records: Vec<Record>,
    /// The sequence number of the last record, if the filter drops that record.
    pub last_filtered: Option<String>,
    /// Whether the shard had no further records at the time.
    pub at_end: bool,
    /// Whether the shard is closed and this is its last page.
    pub finished: bool,
}

/// Reading the stream failed. A retry may succeed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unread(String);

/// The maximum number of records on a page.
const MAX_PAGE: i32 = 1000;
/// DynamoDB ends a page at 1 MB. A page of at least this size may have a successor.
const LARGE_PAGE: usize = 500_000;

/// Returns the unfinished shards whose parents are finished.
pub async fn open(client: &Client, stream_arn: &str, checkpoints: &Checkpoints) -> Result<Vec<Shard>, Unread> {
    let mut shards = Vec::new();
    let mut after = None;
    loop {
        let request = client.describe_stream().stream_arn(stream_arn).set_exclusive_start_shard_id(after);
        let answer = request.send().await.map_err(|error| Unread(DisplayErrorContext(error).to_string()))?;
        let description = answer.stream_description.ok_or_else(|| missing("the description of a stream"))?;
        for shard in description.shards.unwrap_or_default() {
            let id = shard.shard_id.ok_or_else(|| missing("the id of a shard"))?;
            shards.push(Shard { id, parent: shard.parent_shard_id, iterator: None });
        }
        after = description.last_evaluated_shard_id;
        if after.is_none() {
            break;
        }
    }
    let known: Vec<String> = shards.iter().map(|shard| shard.id.clone()).collect();
    let finished = |id: &str| checkpoints.position(id) == Some(&Position::Finished);
    shards.retain(|shard| {
        // A parent that is no longer listed was trimmed with all its records.
        let ready = shard.parent.as_ref().is_none_or(|parent| finished(parent) || !known.contains(parent));
        ready && !finished(&shard.id)
    });
    Ok(shards)
}

impl Shard {
    /// Reads the page after the last one, or after the checkpoint.
    pub async fn read(
        &mut self,
        (client, stream_arn): (&Client, &str),
        filter: Option<&Filter>,
        checkpoints: &Checkpoints,
        now: Timestamp,
    ) -> Result<Page, Unread> {
        let iterator = match self.iterator.take() {
            Some(iterator) => iterator,
            None => self.find(client, stream_arn, checkpoints).await?,
        };
        let answer = client.get_records().shard_iterator(iterator).limit(MAX_PAGE).send().await;
        let answer = answer.map_err(|error| Unread(DisplayErrorContext(error).to_string()))?;
        let read = answer.records.unwrap_or_default();
        let count = read.len();
        let passes = |read: &&Read| filter.is_none_or(|filter| filter.lets_through(read));
        let passing = read.iter().filter(passes);
        let records: Option<Vec<Record>> = passing.map(|read| Record::new(read, stream_arn, now)).collect();
        let records = records.ok_or_else(|| missing("the sequence number of a record"))?;
        let size = |read: &Read| read.dynamodb()?.size_bytes();
        let bytes: i64 = read.iter().filter_map(size).sum();
        let bytes =
            usize::try_from(bytes).unwrap_or_default().max(records.iter().map(|record| record.json.len()).sum());
        let last = read.last().filter(|last| !passes(last)).and_then(|last| last.dynamodb()?.sequence_number());
        let last_filtered = last.map(str::to_owned);
        let finished = answer.next_shard_iterator.is_none();
        self.iterator = answer.next_shard_iterator;
        let at_end = !finished && i32::try_from(count).is_ok_and(|count| count < MAX_PAGE) && bytes < LARGE_PAGE;
        Ok(Page { records, last_filtered, at_end, finished })
    }

    async fn find(&self, client: &Client, stream_arn: &str, checkpoints: &Checkpoints) -> Result<String, Unread> {
        let request = || client.get_shard_iterator().stream_arn(stream_arn).shard_id(&self.id);
        let from_start = || request().shard_iterator_type(ShardIteratorType::TrimHorizon).send();
        let answer = match checkpoints.position(&self.id) {
            Some(Position::After(number)) => {
                let after = request().shard_iterator_type(ShardIteratorType::AfterSequenceNumber);
                match after.sequence_number(number).send().await {
                    Err(error) if error.code() == Some("TrimmedDataAccessException") => from_start().await,
                    answer => answer,
                }
            }
            _ => from_start().await,
        };
        let answer = answer.map_err(|error| Unread(DisplayErrorContext(error).to_string()))?;
        answer.shard_iterator.ok_or_else(|| missing("a shard iterator"))
    }
}

/// Returns the error of an answer that lacks a member.
fn missing(member: &str) -> Unread {
    Unread(format!("the answer of DynamoDB Streams lacks {member}"))
}
